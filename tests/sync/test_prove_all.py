"""Every operation in the plans of all examples and of the library's tests is missed when left out,
and nothing is found otherwise, under 30 schedules each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = sorted(
    path.relative_to(ROOT)
    for folder in ("examples", "stdlib")
    for path in (ROOT / "tests" / folder).glob("test_*.py")
)


@pytest.mark.nightly
@pytest.mark.parametrize("path", TESTS, ids=str)
def test_every_operation_is_missed(path: Path) -> None:
    prove = [sys.executable, "benchmarks/prove_plans.py", str(path)]
    ended = subprocess.run(prove, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-2000:]
    assert "\n0 not as they should be" in ended.stdout
