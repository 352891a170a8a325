"""All readers that nothing orders are remembered, whoever reads after them."""

from __future__ import annotations

import numpy as np
import pytest

from emulator.compilers import kernel_text, ptx_of
from prismc.emulator.api import RunResult, run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.schedule import adversaries

HEADER = kernel_text("mbarrier_copy").partition('extern "C"')[0]

# Warp 0 reads one word; some of its lanes tell warp 1, which writes it.
LANES = """
extern "C" __global__ void lanes(int* out, unsigned tellers, int count) {
    __shared__ int s;
    __shared__ unsigned long long done;
    int t = threadIdx.x;
    if (t == 0) { s = 7; init(&done, count); }
    __syncthreads();
    if (t < 32) {
        out[t] = *(volatile int*)&s;
        if (tellers >> t & 1) arrive(&done);
    } else {
        wait(&done, 0);
        if (t == 32) *(volatile int*)&s = 8;
    }
}
"""
LANES = HEADER + LANES.replace("*(volatile int*)&s", "s").replace("out[t] = s", "out[t] = s + t")


@pytest.mark.parametrize("absent", [None, 0, 1, 13, 30, 31])
def test_lanes_of_a_warp_that_read_together(absent: int | None) -> None:
    tellers = 0xFFFFFFFF if absent is None else 0xFFFFFFFF ^ 1 << absent
    args = [np.zeros(32, np.int32), tellers, tellers.bit_count()]
    result = run_ptx(ptx_of(LANES), None, 1, 64, args)
    assert [finding.kind for finding in result.findings] == [Kind.RACE] * (absent is not None)
    if absent is not None:
        (finding,) = result.findings
        assert finding.other_thread is not None
        assert finding.other_thread.thread == (absent, 0, 0)


# Each lane reads in a turn of its own, between which the clock goes on.
TURNS = (
    HEADER
    + """
extern "C" __global__ void turns(int* out, unsigned tellers, int count) {
    __shared__ int s;
    __shared__ unsigned long long done, other;
    int t = threadIdx.x;
    if (t == 0) { s = 7; init(&done, count); init(&other, 1024); }
    __syncthreads();
    if (t < 32) {
        for (int k = 0; k < 32; ++k)
            if (t == k) { arrive(&other); out[t] = s + t; arrive(&other); }
        if (tellers >> t & 1) arrive(&done);
    } else {
        wait(&done, 0);
        if (t == 32) s = 8;
    }
}
"""
)


@pytest.mark.parametrize("absent", [None, 0, 1, 13, 31])
def test_lanes_that_read_one_after_the_other(absent: int | None) -> None:
    tellers = 0xFFFFFFFF if absent is None else 0xFFFFFFFF ^ 1 << absent
    for plan in adversaries(4):
        args = [np.zeros(32, np.int32), tellers, tellers.bit_count()]
        result = run_ptx(ptx_of(TURNS), None, 1, 64, args, plan=plan)
        found = [finding.kind for finding in result.findings]
        assert found == [Kind.RACE] * (absent is not None)


# Every block reads a word of global memory, all but one tell the last block, which writes it.
BLOCKS = """
extern "C" __global__ void blocks(int* word, int* out, unsigned* count, int absent) {
    int b = blockIdx.x, last = gridDim.x - 1, t = threadIdx.x;
    if (b != last) {
        out[b * 32 + t] = word[0];
        __syncwarp();
        if (t == 0 && b != absent)
            asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(count) : "memory");
    } else if (t == 0) {
        unsigned seen, wanted = last - (absent >= 0);
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(count) : "memory");
        while (seen < wanted);
        word[0] = 1;
    }
}
"""


def _blocks(absent: int) -> RunResult:
    args = [np.zeros(1, np.int32), np.zeros(12 * 32, np.int32), np.zeros(1, np.uint32), absent]
    return run_ptx(ptx_of(BLOCKS), None, 12, 32, args)


@pytest.mark.parametrize("absent", [-1, 0, 3, 5, 9, 10])
def test_blocks(absent: int) -> None:
    findings = _blocks(absent).findings
    assert [finding.kind for finding in findings] == [Kind.RACE] * (absent >= 0)
    if absent >= 0:
        assert findings[0].other_thread is not None
        assert findings[0].other_thread.block == (absent, 0, 0)


# Within one block: lane 0 of each warp does not wait for its warp before it tells.
def test_single_threads_of_a_block() -> None:
    source = (
        HEADER
        + """
extern "C" __global__ void threads(int* word, int* out, unsigned skipped) {
    __shared__ unsigned long long done;
    int t = threadIdx.x;
    if (t == 0) init(&done, 63);
    __syncthreads();
    if (t < 64) {
        out[t] = word[0];
        if (t != skipped) arrive(&done);
    } else {
        wait(&done, 0);
        if (t == 64) word[0] = 1;
    }
}
"""
    )
    for skipped in (0, 7, 31, 32, 62, 63):
        args = [np.zeros(1, np.int32), np.zeros(64, np.int32), skipped]
        result = run_ptx(ptx_of(source), None, 1, 96, args)
        (finding,) = result.findings
        assert finding.kind is Kind.RACE
        assert finding.other_thread is not None
        assert finding.other_thread.thread == (skipped, 0, 0)
