"""Field faults in Prism: refused for the right reason, or made right by what prismc derives."""

from __future__ import annotations

from pathlib import Path

import pytest

from prismc.emulator.schedule import adversaries
from support.page_runs import (
    SCHEDULES,
    Run,
    check_run,
    compile_page,
    has_faults_without,
    read_runs,
)
from support.spec_page import Case, read_cases, run_case

PAGES = sorted((Path(__file__).parent / "prism").glob("*.md"))
CASES = [case for page in PAGES for case in read_cases(page)]
RUNS = [run for page in PAGES for run in read_runs(page)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_page(case: Case) -> None:
    assert run_case(case) == []


@pytest.mark.parametrize("heading", sorted({run.heading for run in RUNS}))
def test_no_operation_can_be_dropped(heading: str) -> None:
    runs = [run for run in RUNS if run.heading == heading]
    for number in compile_page(runs[0].page, runs[0].program).checked.plan.numbers():
        found = [has_faults_without(run, number, plan) for run in runs for plan in adversaries(3)]
        assert any(found), f"operation {number} can be dropped"


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.heading)
def test_run(run: Run, schedule: str) -> None:
    check_run(run, SCHEDULES[schedule])
