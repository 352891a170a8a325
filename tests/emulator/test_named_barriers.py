"""Barriers at which some warps arrive without waiting: a producer and two consumers."""

from __future__ import annotations

import numpy as np
import pytest

from emulator.compilers import ptx_of
from prismc.emulator.api import run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.report import text_of
from prismc.emulator.schedule import Plan, adversaries

# Barrier 1 + s says that slot s is full, barrier 3 + s that it is empty.
KERNEL = """
template <int B> __device__ __forceinline__ void sync() {
    asm volatile("barrier.sync %0, 96;" :: "n"(B) : "memory");
}
template <int B> __device__ __forceinline__ void arrive() {
    asm volatile("barrier.arrive %0, 96;" :: "n"(B) : "memory");
}
extern "C" __global__ void k(const int* in, int* out, int pairs) {
    __shared__ int slot[2][32];
    int t = threadIdx.x, lane = t % 32;
    if (t < 32) {
        for (int i = 0; i < pairs; ++i) {
            if (i > 0) sync<3>();
            slot[0][lane] = in[i * 64 + lane];
            arrive<1>();
            if (i > 0) sync<4>();
            slot[1][lane] = in[i * 64 + 32 + lane];
            arrive<2>();
        }
    } else {
        int sum = 0;
        for (int i = 0; i < pairs; ++i) {
            sync<1>();
            sum += slot[0][31 - lane];
            if (i < pairs - 1) arrive<3>();
            sync<2>();
            sum += slot[1][31 - lane];
            if (i < pairs - 1) arrive<4>();
        }
        out[t - 32] = sum;
    }
}
"""
DATA = np.arange(256, dtype=np.int32)
PLANS = adversaries(8)


def _run(text: str, plan: Plan) -> tuple[np.ndarray, set[Kind], str]:
    result = run_ptx(ptx_of(text), None, 1, 96, [DATA, np.zeros(64, np.int32), 4], plan=plan)
    return result.array(1), {finding.kind for finding in result.findings}, text_of(result)


@pytest.mark.parametrize("plan", PLANS)
def test_a_hand_over_is_no_fault(plan: Plan) -> None:
    sums, kinds, text = _run(KERNEL, plan)
    assert not kinds, text
    assert (sums == np.tile(DATA.reshape(8, 32).sum(0)[::-1], 2)).all()


@pytest.mark.parametrize("plan", PLANS)
def test_a_producer_that_does_not_wait(plan: Plan) -> None:
    faulty = KERNEL.replace("if (i > 0) sync<3>();", "if (i > 0) arrive<3>();").replace(
        "if (i > 0) sync<4>();", ""
    )
    faulty = faulty.replace("if (i < pairs - 1) arrive<4>();", "")
    assert Kind.COUNT in _run(faulty, plan)[1]


@pytest.mark.parametrize("plan", PLANS)
def test_a_consumer_that_reads_on(plan: Plan) -> None:
    faulty = KERNEL.replace("sync<2>();\n            sum", "arrive<2>();\n            sum")
    assert {Kind.RACE, Kind.UNINIT} & _run(faulty, plan)[1]
