"""Scopes (PTX ISA 8.5): what is atomic, released or acquired for one block only."""

from __future__ import annotations

import numpy as np
import pytest

from emulator.compilers import ptx_of
from prismc.emulator.api import run_ptx
from prismc.emulator.findings import Finding, Kind
from prismc.emulator.schedule import adversaries

COUNTS = """
extern "C" __global__ void counts(const int* x, int* y) {
    int* own = y + blockIdx.x * 64;
    for (int i = threadIdx.x; i < 192; i += 64)
        atomicAdd_block(&own[x[blockIdx.x * 192 + i]], 1);
}
"""
BINS = np.random.default_rng(3).integers(0, 8, 384, np.int32)


def _findings(source: str, schedules: int) -> tuple[list[Finding], np.ndarray]:
    found: list[Finding] = []
    for plan in adversaries(schedules):
        args = [BINS.copy(), np.zeros(128, np.int32)]
        result = run_ptx(ptx_of(source), None, 2, 64, args, plan=plan)
        found += result.findings
    return found, result.array(1)


def test_a_block_may_share_what_only_it_updates() -> None:
    found, counts = _findings(COUNTS, 20)
    assert not found
    for block in range(2):
        expected = np.bincount(BINS[block * 192 :][:192], minlength=64)
        np.testing.assert_array_equal(counts[block * 64 :][:64], expected)


@pytest.mark.parametrize("update", ["atomicAdd_block(&own[0], 1)", "atomicMax_block(own, 5)"])
@pytest.mark.parametrize("loop", ["for (int i = 0; i < 2; ++i)", ""])
def test_blocks_that_share_it_race(update: str, loop: str) -> None:
    """Also where both blocks execute the one instruction at the same time."""
    source = f'extern "C" __global__ void k(const int* x, int* own) {{ {loop} {update}; }}'
    found, _ = _findings(source, 1)
    assert {finding.kind for finding in found} == {Kind.RACE}
    other = found[0].other_thread
    assert other is not None
    assert other.block != found[0].threads[0].block


FLAG = """
__device__ int arrived;
extern "C" __global__ void last(const int* x, int* parts) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        parts[1 + blockIdx.x] = x[blockIdx.x];
        __threadfence();
        is_last = atomicAdd(&arrived, 1) == 1;
        INSIDE
    }
    __syncthreads();
    BEHIND
    if (is_last && threadIdx.x < 2) parts[8 + threadIdx.x] = parts[1 + threadIdx.x];
}
"""


def test_a_fence_of_another_thread_comes_too_late() -> None:
    """The thread that takes the value must acquire it before it lets others go on: what they do
    after a fence of their own is not ordered (PTX ISA 8.7, acquire patterns are one thread's)."""
    fence = "__threadfence();"
    assert not _findings(FLAG.replace("INSIDE", fence).replace("BEHIND", ""), 8)[0]
    found, _ = _findings(FLAG.replace("INSIDE", "").replace("BEHIND", fence), 8)
    assert {finding.kind for finding in found} == {Kind.RACE}
    assert "before the barrier that lets this one go on" in found[0].help


HAND_OVER = """
__device__ int flag;
extern "C" __global__ void hand_over(const int* x, int* y) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        y[0] = x[0];
        asm volatile("st.release.gpu.global.u32 [%0], 1;" :: "l"(&flag) : "memory");
    } else {
        int set;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                        : "=r"(set) : "l"(&flag) : "memory");
        while (!set);
        y[1] = y[0];
    }
}
"""


@pytest.mark.parametrize(("narrow", "side"), [("release", "writing"), ("acquire", "reading")])
def test_the_side_whose_scope_is_too_narrow(narrow: str, side: str) -> None:
    assert not _findings(HAND_OVER, 4)[0]
    found, _ = _findings(HAND_OVER.replace(f"{narrow}.gpu", f"{narrow}.cta"), 1)
    assert {finding.kind for finding in found} == {Kind.ORDER}
    assert f"no order on the {side} side" in found[0].message
    assert "at a scope that includes both threads" in found[0].help
