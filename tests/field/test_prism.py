"""Field faults in Prism: refused for the right reason, or made right by what prismc derives."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.page_runs import SCHEDULES, Run, check_run, read_runs
from support.spec_page import Case, read_cases, run_case

PAGES = sorted((Path(__file__).parent / "prism").glob("*.md"))
CASES = [case for page in PAGES for case in read_cases(page)]
RUNS = [run for page in PAGES for run in read_runs(page)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_page(case: Case) -> None:
    assert run_case(case) == []


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.heading)
def test_run(run: Run, schedule: str) -> None:
    check_run(run, SCHEDULES[schedule])
