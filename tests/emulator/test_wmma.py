"""wmma: every type and shape, matrices in either order."""

from __future__ import annotations

import re

import numpy as np
import pytest

from prismc.emulator.api import run_ptx
from prismc.emulator.report import text_of
from support.numbers import bf16_bits

Array = np.ndarray

# PTX is written by hand: nvcc would bring its own layouts and loops.
_TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry product(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{{
    .reg .b64 %p<4>;
    .reg .b{abits} %a<{an}>;
    .reg .b{abits} %b<{bn}>;
    .reg .b{cbits} %c<{cn}>;
    ld.param.u64 %p0, [a];
    ld.param.u64 %p1, [b];
    ld.param.u64 %p2, [c];
    ld.param.u64 %p3, [d];
    wmma.load.a.sync.aligned.{left}.{shape}.global.{first} {{{a}}}, [%p0];
    wmma.load.b.sync.aligned.{right}.{shape}.global.{first} {{{b}}}, [%p1];
    wmma.load.c.sync.aligned.row.{shape}.global.{result} {{{c}}}, [%p2];
    wmma.mma.sync.aligned.{left}.{right}.{shape}{rn}.{types} {{{c}}}, {{{a}}}, {{{b}}}, {{{c}}};
    wmma.store.d.sync.aligned.col.{shape}.global.{result} [%p3], {{{c}}};
    ret;
}}
"""


_STORE = {
    "f16": lambda x: x.astype(np.float16), "bf16": bf16_bits,
    "tf32": lambda x: x.astype(np.float32),
    "s8": lambda x: x.astype(np.int8), "u8": lambda x: np.abs(x).astype(np.uint8),
    "f64": lambda x: x.astype(np.float64),
}  # fmt: skip
_RESULTS = {"f16": np.float16, "f32": np.float32, "s32": np.int32, "f64": np.float64}


@pytest.mark.parametrize("left", ["row", "col"])
@pytest.mark.parametrize("right", ["row", "col"])
@pytest.mark.parametrize(
    ("first", "result", "shape", "registers"),
    [
        ("f16", "f32", "m16n16k16", (8, 8, 8)),
        ("f16", "f16", "m16n16k16", (8, 8, 4)),
        ("f16", "f32", "m8n32k16", (8, 8, 8)),
        ("f16", "f32", "m32n8k16", (8, 8, 8)),
        ("bf16", "f32", "m16n16k16", (4, 4, 8)),
        ("tf32", "f32", "m16n16k8", (4, 4, 8)),
        ("s8", "s32", "m16n16k16", (2, 2, 8)),
        ("u8", "s32", "m32n8k16", (4, 1, 8)),
        ("f64", "f64", "m8n8k4", (1, 1, 2)),
    ],
)
def test_products(
    first: str, result: str, shape: str, registers: tuple[int, int, int], left: str, right: str
) -> None:
    m, n, k = map(int, re.findall(r"\d+", shape))
    random = np.random.default_rng(m * n * k)
    a, b, c = (random.integers(-9, 10, extent) for extent in ((m, k), (k, n), (m, n)))
    if first == "u8":
        a, b = np.abs(a), np.abs(b)
    names = {
        letter: ", ".join(f"%{letter}{i}" for i in range(count))
        for letter, count in zip("abc", registers, strict=True)
    }
    text = _TEXT.format(
        **names, left=left, right=right, shape=shape, first=first, result=result,
        an=registers[0], bn=registers[1], cn=registers[2],
        abits=64 if first == "f64" else 32, cbits=64 if first == "f64" else 32,
        rn=".rn" if first == "f64" else "",
        types=f"{result}.{result}" if first == "f16" else f"{result}.{first}.{first}.{result}",
    )  # fmt: skip
    stored = [
        np.ascontiguousarray(x if order == "row" else x.T)
        for x, order in ((_STORE[first](a), left), (_STORE[first](b), right))
    ]
    start = c.astype(_RESULTS[result])
    launched = run_ptx(text, None, 1, 32, [*stored, start, np.zeros((n, m), start.dtype)])
    assert not launched.findings, text_of(launched)
    np.testing.assert_array_equal(launched.array(3), (a @ b + c).T)
