"""Findings in words: source lines with marks, calls, and what has no source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emulator.compilers import ptx_of
from prismc.cli.main import run as prismc
from prismc.emulator.api import RunResult, run_ptx
from prismc.emulator.report import record_of, text_of_findings
from prismc.source.files import Files

RACY = """__device__ void keep(float* to, float x) { *to = x; }
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float s[64];
    keep(&s[threadIdx.x], x[threadIdx.x]);
    y[threadIdx.x] = s[63 - threadIdx.x];
}
"""


def _racy() -> RunResult:
    data = np.arange(64, dtype=np.float32)
    return run_ptx(ptx_of(RACY), None, 1, 64, [data, np.zeros_like(data)])


def _files(text: str) -> Files:
    files = Files()
    files.overlay("kernel.cu", text)
    return files


def test_both_accesses_are_shown() -> None:
    result = _racy()
    text = text_of_findings(result.findings, result.module, _files(RACY))
    assert "  5 |     y[threadIdx.x] = s[63 - threadIdx.x];\n" in text
    assert "    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n" in text
    assert "the other thread writes here\n" in text
    assert "__device__ void keep" in text


def test_without_a_source_the_place_is_named() -> None:
    result = _racy()
    for files in (None, Files(), _files("short\n")):
        text = text_of_findings(result.findings, result.module, files)
        assert "--> kernel.cu:5:5" in text
        assert "^" not in text


def test_prism_has_lines_but_no_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).parents[2] / "examples" / "saxpy.prism"
    arguments = ["--arg", "n=100", "--arg", "a=2", "--arg", "x=ones(90)", "--arg", "y=ones(n)"]
    assert prismc(["run", str(example), "--grid", "1", *arguments]) == 1
    shown = capsys.readouterr().out
    assert "saxpy.prism:16 (`ld" in shown
    assert "16 |                 mine[0] = a * x[i] + mine[0]\n" in shown


HANDED_OVER = """@requires(grid[1], block[1], thread[160])
@launch(threads = 160)
kernel handed(n: int, x: ptr(const f32), y: ptr(f32)):
    partition y as whole @ block[1] at 0:
        group block[1]:
            shared S: f32[32]
            claim whole as out @ warp[4]:
                for k in range(n):
                    claim S as slot @ warp[1]:
                        split warp:
                            case 4:
                                pass
                            case 1:
                                l: int @ thread[1] = id()
                                partition slot as own @ thread[1] at l:
                                    own[0] = x[k * 32 + l]
                    split warp:
                        case 4:
                            t: int @ thread[1] = id()
                            partition out as own @ thread[1] at t:
                                own[0] += S[31 - t % 32]
"""


def test_helpers_of_the_generated_text_are_no_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "handed.prism"
    path.write_text(HANDED_OVER)
    arguments = ["--grid", "1", "--arg", "n=1", "--arg", "x=ones(32)", "--arg", "y=ones(128)"]
    assert prismc(["run", str(path), *arguments, "--drop-sync", "4"]) == 1
    shown = capsys.readouterr().out
    assert "handed.prism:21 (`mbarrier" in shown
    assert ".cu:" not in shown
    assert "make all arrivals" in shown


def test_json_names_the_same_places() -> None:
    (entry,) = record_of(_racy())["findings"]
    assert [place["line"] for place in entry["at"]["source"]] == [5]
    assert [place["line"] for place in entry["other"]["at"]["source"]] == [1, 4]
