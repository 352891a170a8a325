"""std.mma on the PTX machine: whole products, from the fragments that the doc comments describe."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from support.groups import PLANS, draws
from support.numbers import bf16_bits
from support.running import Array, Compiled, compile_texts

TF32 = """
from std.mma import mma_m16n8k8_tf32

@requires(grid[1], block[1], thread[32])
kernel k(A: ptr(const f32[16, 8]), B: ptr(const f32[8, 8]), C: ptr(i32)):
    lane: int @ thread[1] = id()
    g: int @ thread[1] = lane / 4
    t: int @ thread[1] = lane % 4
    c: f32[4] @ thread[1] = 1
    a: u32[4] @ thread[1]
    b: u32[2] @ thread[1]
    static for i in range(4):
        a[i] = bits(tf32(A[g + i % 2 * 8, t + i / 2 * 4]))
    static for i in range(2):
        b[i] = bits(tf32(B[t + i * 4, g]))
    group thread[32]:
        mma_m16n8k8_tf32(c, a, b)
    partition C as mine @ thread[1] at g * 8 + t * 2:
        static for i in range(4):
            mine[i / 2 * 64 + i % 2] = int(c[i])
"""

# The words of a and b: elements that stand side by side in a row of a, below each other in b.
PACKED = """
from std.mma import mma_m16n8k{depth}_{name}

const K: int = {depth}
const W: int = {words}

@requires(grid[1], block[1], thread[32])
kernel k(A: ptr(const {word}), B: ptr(const {word}), C: ptr(i32)):
    lane: int @ thread[1] = id()
    g: int @ thread[1] = lane / 4
    t: int @ thread[1] = lane % 4
    c: {sum}[4] @ thread[1] = 1
    a: u32[4] @ thread[1]
    b: u32[4] @ thread[1] = 0
    static for i in range(4):
        a[i] = A[(g + i % 2 * 8) * (K / W) + t + i / 2 * 4]
    static for i in range(2):
        b[2 + i] = B[g * (K / W) + t + i * 4]
    group thread[32]:
        mma_m16n8k{depth}_{name}(c, a, b, 2)
    partition C as mine @ thread[1] at g * 8 + t * 2:
        static for i in range(4):
            mine[i / 2 * 64 + i % 2] = int(c[i])
"""


def matrices(depth: int, seed: int) -> tuple[Array, Array]:
    """Small integers, which every format holds exactly."""
    chance = np.random.default_rng(seed)
    return chance.integers(-4, 5, (16, depth)), chance.integers(-4, 5, (depth, 8))


@cache
def tf32() -> Compiled:
    return compile_texts({"k.prism": TF32}, "k.prism", "--target sm_80")


@pytest.mark.parametrize("seed", draws())
def test_tf32(seed: int) -> None:
    a, b = matrices(8, seed)
    given = {"A": a.astype(np.float32), "B": b.astype(np.float32), "C": np.zeros(128, np.int32)}
    for plan in PLANS:
        found = tf32().run(1, given, plan=plan)["C"].reshape(16, 8)
        assert np.array_equal(found, a @ b + 1)


@cache
def packed(name: str, depth: int) -> Compiled:
    is_whole = name == "i8"
    text = PACKED.format(
        name=name,
        depth=depth,
        words=4 if is_whole else 2,
        word="u32",
        sum="i32" if is_whole else "f32",
    )
    return compile_texts({"k.prism": text}, "k.prism", "--target sm_80")


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize("name", ["f16", "bf16", "i8"])
def test_packed(name: str, seed: int) -> None:
    depth = 32 if name == "i8" else 16
    a, b = matrices(depth, seed)
    encode = {
        "f16": lambda values: np.ascontiguousarray(values, np.float16),
        "bf16": bf16_bits,
        "i8": lambda values: np.ascontiguousarray(values, np.int8),
    }[name]
    given = {
        "A": encode(a).view(np.uint32).ravel(),
        "B": encode(b.T).view(np.uint32).ravel(),
        "C": np.zeros(128, np.int32),
    }
    for plan in PLANS:
        found = packed(name, depth).run(1, given, plan=plan)["C"].reshape(16, 8)
        assert np.array_equal(found, a @ b + 1)
