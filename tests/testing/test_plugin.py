"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
@requires(grid[1], block[1], thread[32])
kernel k(y: ptr(f32)):
    i: int @ thread[1] = id()
    partition y as mine @ thread[1] at i:
        mine[0] = 1.0

test "good":
    y := zeros(f32, 32)
    launch(k, blocks = 1)(y)
    assert y == 1

test "bad":
    launch(k, blocks = 1)(zeros(f32, 31))
"""
SRC = Path(__file__).parents[2] / "src"


def _pytest(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "prismc.pytest_plugin", "-v", *arguments]
    environment = os.environ | {"PYTHONPATH": str(SRC), "PYTEST_ADDOPTS": ""}
    # Named above, whether or not it is installed as an entry point.
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


def test_tests_are_collected_and_run(tmp_path: Path) -> None:
    (tmp_path / "k.prism").write_text(PROGRAM)
    (tmp_path / "pytest.ini").write_text("[pytest]\nprism = true\nfilterwarnings = error\n")
    (tmp_path / "wrong.prism").write_text('test "x":\n    assert nothing\n')
    code, said = _pytest(tmp_path, "--prism-schedules", "1", "--continue-on-collection-errors")
    assert code == 1, said
    assert "k.prism::good PASSED" in said
    assert "k.prism::bad FAILED" in said
    assert "BOUNDS: writes 4 bytes right behind the end of `y`" in said
    assert "error[P0201]: nothing here is called `nothing`" in said
    assert "Traceback" not in said


def test_nothing_is_collected_unasked(tmp_path: Path) -> None:
    (tmp_path / "k.prism").write_text(PROGRAM)
    assert _pytest(tmp_path)[0] == pytest.ExitCode.NO_TESTS_COLLECTED
    code, said = _pytest(tmp_path, "--prism", "-k", "good", "--collect-only", "-q")
    assert code == 0, said
    assert "<PrismTest good>" in said
