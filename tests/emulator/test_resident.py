"""Grids that synchronise between blocks: all that run make progress; those that do not fit wait."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emulator.compilers import kernel_text, ptx_of
from prismc.cli.main import run as prismc
from prismc.emulator.api import RunResult, run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.report import text_of
from prismc.emulator.schedule import Plan, adversaries
from prismc.source.record import replace

# A counter that comes back to zero: arrivals add 1, the first thread of block 0 adds the rest up to
# the sign bit, and everybody waits for the sign to change (as cooperative groups do).
SIGN_BARRIER = """
__device__ void grid_sync(unsigned* bar) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned add = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u, old, now;
        asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;"
                     : "=r"(old) : "l"(bar), "r"(add) : "memory");
        do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(bar) : "memory");
        while (((old ^ now) & 0x80000000u) == 0);
    }
    __syncthreads();
}
extern "C" __global__ void __launch_bounds__(128) rounds(unsigned* bar, int* a, int* b, int n) {
    int i = blockIdx.x * 128 + threadIdx.x, all = gridDim.x * 128;
    for (int k = 0; k < n; ++k) {
        b[i] = a[(i + 128) % all] + 1;
        grid_sync(bar);
        a[i] = b[(i + 1) % all];
        grid_sync(bar);
    }
}
"""
BLOCKS, ROUNDS = 64, 3


def _rounds(plan: Plan) -> RunResult:
    start = np.arange(BLOCKS * 128, dtype=np.int32)
    args = [np.zeros(1, np.uint32), start, np.zeros_like(start), ROUNDS]
    return run_ptx(ptx_of(SIGN_BARRIER), None, BLOCKS, 128, args, plan=plan, time_limit=60)


@pytest.mark.parametrize("plan", adversaries(7), ids=lambda plan: plan.order.name)
@pytest.mark.parametrize("resident", [0, BLOCKS])
def test_a_barrier_of_64_blocks(plan: Plan, resident: int) -> None:
    result = _rounds(replace(plan, resident=resident))
    assert not result.findings, text_of(result)
    expected = np.roll(np.arange(BLOCKS * 128), -129 * ROUNDS) + ROUNDS
    np.testing.assert_array_equal(result.array(1), expected)


@pytest.mark.parametrize("resident", [1, BLOCKS - 1])
def test_too_few_blocks_at_a_time(resident: int) -> None:
    findings = _rounds(Plan(resident=resident)).findings
    assert {finding.kind for finding in findings} == {Kind.DEADLOCK}
    left = "1 block has" if resident == BLOCKS - 1 else f"{BLOCKS - 1} blocks have"
    assert any(f"{left} not started: {resident} run at a time" in f.message for f in findings)


def test_a_block_starts_when_another_has_ended() -> None:
    source = """
extern "C" __global__ void chain(volatile int* flags, int n) {
    int b = blockIdx.x;
    if (b % 2 == 0 && b + 1 < n) while (flags[b + 1] == 0) { }
    flags[b] = 1;
}
"""
    for resident in (2, 3, 4):
        args = [np.zeros(8, np.int32), 8]
        result = run_ptx(ptx_of(source), None, 8, 1, args, plan=Plan(resident=resident))
        assert not result.findings, text_of(result)
        assert result.array(0).all()


def test_clusters_run_whole() -> None:
    ptx = ptx_of(kernel_text("cluster_sum"), "sm_90")
    data = np.arange(12 * 64, dtype=np.int32).reshape(12, 64)
    for resident in (1, 4, 7):
        args = [data, np.zeros(3, np.int32)]
        result = run_ptx(ptx, None, 12, 64, args, plan=Plan(resident=resident))
        assert not result.findings, text_of(result)
        np.testing.assert_array_equal(result.array(1), data.reshape(3, -1).sum(1))


def test_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rounds.ptx"
    path.write_text(ptx_of(SIGN_BARRIER), encoding="utf-8")
    arguments = ["--ptx", str(path), "--grid", "6", "--block", "128", "--arg", "a0:u32=zeros(1)",
                 "--arg", "a1:i32=arange(768)", "--arg", "a2:i32=empty(768)", "--arg", "a3=2",
                 "--schedules", "3"]  # fmt: skip
    assert prismc(["run", *arguments]) == 0
    assert prismc(["run", *arguments, "--resident", "6"]) == 0
    capsys.readouterr()
    assert prismc(["run", *arguments, "--resident", "4"]) == 1
    assert "2 blocks have not started: 4 run at a time" in capsys.readouterr().out
    assert prismc(["run", *arguments, "--resident", "0"]) == 2
