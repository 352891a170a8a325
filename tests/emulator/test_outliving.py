"""Shared memory ends with its block: what engines still have of it then is found, whenever the
schedule lets them move their bytes."""

from __future__ import annotations

import numpy as np
import pytest

from emulator.compilers import kernel_text, ptx_of
from prismc.emulator.api import run_ptx
from prismc.emulator.findings import Finding, Kind
from prismc.emulator.schedule import Copies, Order, Plan

HEADER = kernel_text("bulk_pipeline").partition('extern "C"')[0]
STORE = (
    HEADER
    + """
extern "C" __global__ void store(int* out) {
    __shared__ __align__(128) int part[64];
    part[threadIdx.x] = threadIdx.x;
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store((float*)out + blockIdx.x * 64, (float*)part, 256);
        bulk_commit();
        WAIT;
    }
}
"""
)
LOAD = (
    HEADER
    + """
extern "C" __global__ void load(const int* in) {
    __shared__ __align__(128) int part[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { init(&full, 1); proxy_fence(); }
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&full, 256);
        bulk_load((float*)part, (const float*)in, 256, &full);
    }
    WAIT;
}
"""
)
PLANS = [
    Plan(order=order, copies=copies)
    for copies in Copies
    for order in (Order.TOGETHER, Order.REVERSED)
]


def found(source: str, wait: str, plan: Plan, blocks: int = 1) -> list[Finding]:
    ptx = ptx_of(source.replace("WAIT", wait), "sm_90")
    return list(run_ptx(ptx, None, blocks, 64, [np.zeros(64 * 3, np.int32)], plan=plan).findings)


@pytest.mark.parametrize("plan", PLANS)
def test_stores(plan: Plan) -> None:
    (finding,) = found(STORE, "", plan)
    assert finding.kind is Kind.LIFETIME
    assert "still reads" in finding.message
    assert (finding.array, finding.element) == ("part", "byte 0")
    assert not found(STORE, "bulk_wait_read<0>()", plan)
    assert [one.kind for one in found(STORE, "bulk_wait_read<1>()", plan)] == [Kind.LIFETIME]


@pytest.mark.parametrize("plan", PLANS)
def test_the_block_that_does_not_wait(plan: Plan) -> None:
    (finding,) = found(STORE, "if (blockIdx.x != 1) bulk_wait_read<0>()", plan, blocks=3)
    assert finding.kind is Kind.LIFETIME
    assert [thread.block for thread in finding.threads] == [(1, 0, 0)]


@pytest.mark.parametrize("order", [Order.TOGETHER, Order.REVERSED])
def test_loads(order: Order) -> None:
    (finding,) = found(LOAD, "", Plan(order=order))
    assert finding.kind is Kind.LIFETIME
    assert "still writes" in finding.message
    for copies in Copies:
        assert not found(LOAD, "wait(&full, 0)", Plan(order=order, copies=copies))


def test_one_thread_waits_for_all() -> None:
    """The block ends with its last thread."""
    plan = Plan(order=Order.STALLED)
    assert not found(LOAD, "if (threadIdx.x == 40) wait(&full, 0)", plan)
