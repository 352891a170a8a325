"""Profiles of waits: who waits where, for how many steps, whatever the schedule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emulator.compilers import kernel_text, ptx_of
from emulator.launches import KERNELS
from emulator.more_launches import MORE_KERNELS
from prismc.cli.main import run as prismc
from prismc.emulator.api import run_ptx
from prismc.emulator.profile import Profile, WaitProfile
from prismc.emulator.profile_report import page_of_profile, record_of_profile, text_of_profile
from prismc.emulator.schedule import Plan, adversaries
from support.numbers import random_for

EXAMPLES = Path(__file__).parents[2] / "examples"
BY_NAME = {kernel.name: kernel for kernel in (*KERNELS, *MORE_KERNELS)}

UNEVEN = """extern "C" __global__ void uneven(const int* x, int* y, int n) {
    __shared__ int s[128];
    int sum = 0, t = threadIdx.x;
    if (t < 32) for (int k = 0; k < n; ++k) asm volatile("add.s32 %0, %0, 1;" : "+r"(sum));
    s[t] = sum + x[t];
    __syncthreads();
    y[t] = s[127 - t];
}
"""


def _profile(name: str, plan: Plan) -> Profile:
    kernel = BY_NAME[name]
    ptx = ptx_of(kernel.defines + kernel_text(kernel.text_name), kernel.target)
    launch = kernel.make(random_for(name))
    result = run_ptx(
        ptx, None, launch.grid, launch.block, launch.args, cluster=launch.cluster,
        dynamic_shared=launch.dynamic_shared, plan=plan, profile=True,
    )  # fmt: skip
    assert not result.findings
    assert result.profile is not None
    return result.profile


def _uneven(turns: int, plan: Plan) -> tuple[WaitProfile, ...]:
    data = np.arange(128, dtype=np.int32)
    args = [data, np.zeros_like(data), turns]
    result = run_ptx(ptx_of(UNEVEN), None, 2, 128, args, plan=plan, profile=True)
    assert result.profile is not None
    return result.profile.waits


@pytest.mark.parametrize("plan", adversaries(7), ids=lambda plan: plan.order.name)
def test_three_warps_wait_for_one(plan: Plan) -> None:
    short, long = (_uneven(turns, plan)[0] for turns in (100, 164))
    assert (long.kind, long.line, long.warps, long.times) == ("block barrier", 6, (0, 1, 2, 3), 8)
    # Four warps wait at one instruction; warp 0 comes last. The loop takes two to four steps a turn
    # (it may be unrolled), six warps of the two blocks wait for it.
    assert 6 * 64 <= long.steps - short.steps <= 6 * 64 * 4
    assert long.most_steps * 3 == long.steps


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("hand_over", {"block barrier"}),
        ("mbarrier_copy", {"block barrier", "mbarrier"}),
        ("cluster_sum", {"block barrier", "cluster barrier"}),
        ("copy_pipeline", {"block barrier", "asynchronous group"}),
        ("warp_tree", {"warp barrier"}),
    ],
)
def test_kinds_and_schedules(name: str, kinds: set[str]) -> None:
    profiles = [_profile(name, plan) for plan in adversaries(4)]
    assert {wait.kind for wait in profiles[0].waits} == kinds
    counts = [
        sorted((w.kind, w.line, w.warps, w.times, w.steps) for w in profile.waits)
        for profile in profiles
    ]
    assert all(count == counts[0] for count in counts)


def test_arms_are_told_apart() -> None:
    waits = [w for w in _profile("mbarrier_copy", Plan()).waits if w.kind == "mbarrier"]
    assert {(w.line, w.warps, w.times) for w in waits} == {(31, (0,), 7), (39, (1,), 7)}


def test_text_json_and_page() -> None:
    profile = _profile("mbarrier_copy", Plan())
    assert "kernel.cu:39  mbarrier, warp 1" in text_of_profile(profile)
    entry = record_of_profile(profile)["waits"][0]
    assert entry.keys() == {"kind", "file", "line", "warps", "times", "steps", "most_steps"}
    page = page_of_profile(profile, "title", lambda name: None)
    assert "7 waits, " in page
    assert "mbarrier, warp 1" in page


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--arg", "n=2000", "--arg", "x=randn(n)", "--arg", "sums=zeros(3)"]
    file = [str(EXAMPLES / "block_sum.prism"), "--grid", "3", "--profile"]
    assert prismc(["run", *file, *arguments]) == 0
    assert "block barrier, warps 0-" in capsys.readouterr().out
