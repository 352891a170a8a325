"""The programs of `tests/spec/*.md` that say what they compute: built, run, and compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.page_runs import SCHEDULES, Run, check_run, read_runs

RUNS = [run for page in sorted(Path(__file__).parent.glob("*.md")) for run in read_runs(page)]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.heading)
def test_run(run: Run, schedule: str) -> None:
    check_run(run, SCHEDULES[schedule])
