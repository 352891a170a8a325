"""Loads that a compiler has widened: what nobody uses is not read."""

from __future__ import annotations

import numpy as np
import pytest

from emulator.compilers import ptx_of
from prismc.emulator.api import RunResult, run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.host import Buffer
from prismc.emulator.report import text_of

KERNEL = """
extern "C" __global__ void k(const float* in, float* out) {
    __shared__ __align__(16) float s[SIZE];
    int t = threadIdx.x;
    if (FILLED) s[t] = in[t];
    __syncthreads();
    out[t] = SUM;
    LATE
}
"""
THREE = {"SIZE": "3", "FILLED": "t < 3", "SUM": "s[0] + s[1] + s[2]", "LATE": ""}
GAP = {"SIZE": "4", "FILLED": "t < 4 && t != 2", "SUM": "s[0] + s[1] + s[3]", "LATE": ""}


def _run(changes: dict[str, str]) -> tuple[str, RunResult]:
    source = KERNEL
    for name, text in changes.items():
        source = source.replace(name, text)
    ptx = ptx_of(source)
    data = np.arange(1, 5, dtype=np.float32)
    return ptx, run_ptx(ptx, None, 1, 32, [data, np.zeros(32, np.float32)])


@pytest.mark.parametrize(("changes", "total"), [(THREE, 6), (GAP, 7)])
def test_a_vector_with_an_element_too_many(changes: dict[str, str], total: int) -> None:
    ptx, result = _run(changes)
    assert "ld.shared.v4.f32" in ptx
    assert not result.findings, text_of(result)
    assert (result.array(1) == total).all()


@pytest.mark.parametrize("changes", [THREE | {"FILLED": "t < 2"}, GAP | {"FILLED": "t < 3"}])
def test_an_element_that_is_used_must_be_there(changes: dict[str, str]) -> None:
    ptx, result = _run(changes)
    assert "ld.shared.v4.f32" in ptx
    assert {finding.kind for finding in result.findings} == {Kind.UNINIT}


def test_what_is_not_read_does_not_race() -> None:
    # The store to s[2] comes after everybody's load, which holds s[2] without using it.
    ptx, result = _run(GAP | {"LATE": "if (t == 5) s[2] = 1; __syncthreads(); out[t] += s[2];"})
    assert "ld.shared.v4.f32" in ptx
    assert not result.findings, text_of(result)
    _, result = _run(GAP | {"LATE": "if (t == 5) s[3] = 9; __syncthreads(); out[t] += s[3];"})
    assert {finding.kind for finding in result.findings} == {Kind.RACE}


WIDE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
    add.u32 %r5, %r1, %r3;
    USED
    st.global.u32 [%rd2], %r5;
    ret;
}
"""


@pytest.mark.parametrize(
    ("used", "kinds"),
    [("", set()), ("add.u32 %r5, %r5, %r4;", {Kind.BOUNDS}), ("mov.b32 %r6, %r2;", set())],
)
def test_global_arrays_end_where_they_end(used: str, kinds: set[Kind]) -> None:
    args = [np.arange(1, 4, dtype=np.uint32), np.zeros(1, np.uint32)]
    result = run_ptx(WIDE.replace("USED", used), None, 1, 1, args)
    assert {finding.kind for finding in result.findings} == kinds
    if not kinds:
        assert result.array(1)[0] == 4


def test_gaps_of_uninitialised_arrays() -> None:
    source = WIDE.replace("USED", "").replace("[%rd2], %r5", "[%rd2+12], %r5")
    array = Buffer(array=np.zeros(4, np.uint32), name="a", is_initialised=False)
    result = run_ptx(source, None, 1, 1, [array, np.zeros(4, np.uint32)])
    assert [finding.kind for finding in result.findings] == [Kind.UNINIT]
    assert result.findings[0].element == "[0]"
