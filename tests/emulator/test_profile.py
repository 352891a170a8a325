"""Profiles: transactions and bank conflicts that can be counted by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emulator.compilers import ptx_of
from prismc.cli.main import run as prismc
from prismc.emulator.api import NO_CHECKS, run_ptx
from prismc.emulator.profile import Profile, Traffic
from prismc.emulator.profile_report import page_of_profile, text_of_profile

EXAMPLES = Path(__file__).parents[2] / "examples"


def _profile(source: str, threads: int, *args: object) -> Profile:
    result = run_ptx(ptx_of(source), None, 1, threads, list(args), checks=NO_CHECKS, profile=True)
    assert result.profile is not None
    return result.profile


def _line(profile: Profile, number: int) -> Traffic:
    return next((line.traffic for line in profile.lines if line.line == number), Traffic())


TRANSPOSE = """
extern "C" __global__ void transpose16(const float* in, float* out) {
    __shared__ float t[16 * 17];
    int r = threadIdx.x / 16, c = threadIdx.x % 16;
    t[r * STRIDE + c] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] =
        t[c * STRIDE + r];
}
"""


@pytest.mark.parametrize(("stride", "ways"), [(16, 8), (17, 2)])
def test_bank_conflicts_of_a_column(stride: int, ways: int) -> None:
    data = np.arange(256, dtype=np.float32)
    profile = _profile(TRANSPOSE.replace("STRIDE", str(stride)), 256, data, np.zeros_like(data))
    column = _line(profile, 7).plus(_line(profile, 8))
    assert column.passes == ways * column.least_passes


@pytest.mark.parametrize(("step", "sectors"), [(1, 4), (2, 8), (8, 32), (33, 32)])
def test_sectors_of_strided_loads(step: int, sectors: int) -> None:
    source = (
        'extern "C" __global__ void strided(const float* in, float* out) {\n'
        f"    float x = in[threadIdx.x * {step}];\n"
        "    out[threadIdx.x] = x;\n}\n"
    )
    data = np.zeros(32 * step, np.float32)
    profile = _profile(source, 32, data, np.zeros(32, np.float32))
    traffic = profile.totals()[1]
    assert traffic.sectors == sectors + 4
    assert traffic.least_sectors == 8


def test_lanes_that_share_an_element_need_its_sector_once() -> None:
    source = (
        'extern "C" __global__ void shared_by_four(const float* in, float* out) {\n'
        "    out[threadIdx.x] = in[threadIdx.x / 4];\n}\n"
    )
    traffic = _profile(source, 64, np.zeros(16, np.float32), np.zeros(64, np.float32)).totals()[1]
    assert traffic.sectors == traffic.least_sectors == 2 * (1 + 4)


def test_vector_accesses_go_by_quarter_warps() -> None:
    source = (
        'extern "C" __global__ void wide(float4* out) {\n'
        "    __shared__ float4 s[32];\n"
        "    s[threadIdx.x] = make_float4(1, 2, 3, 4);\n"
        "    __syncthreads();\n"
        "    out[threadIdx.x] = s[31 - threadIdx.x];\n}\n"
    )
    traffic = _profile(source, 32, np.zeros(128, np.float32)).totals()[1]
    assert (traffic.passes, traffic.least_passes) == (8, 8)
    assert traffic.sectors == traffic.least_sectors == 16


def test_table_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    arguments = ["--arg", "n=1000", "--arg", "a=2", "--arg", "x=randn(n)", "--arg", "y=randn(n)"]
    file = [str(EXAMPLES / "saxpy.prism"), "--grid", "4", "--profile", "--profile-html", str(page)]
    assert prismc(["run", *file, *arguments]) == 0
    shown = capsys.readouterr().out
    assert "thread instructions" in shown
    assert "saxpy.prism:16" in shown
    assert "kernel saxpy" in page.read_text(encoding="utf-8")


def test_source_is_escaped() -> None:
    profile = _profile('extern "C" __global__ void k(int* x) { *x = 1 < 2; }\n', 1, np.zeros(1))
    page = page_of_profile(profile, "a < b", lambda name: ["x < y & z"])
    assert "a &lt; b" in page
    assert "x &lt; y &amp; z" in page
    assert text_of_profile(profile)
