"""The plans that `tests/spec/*.md` state operation by operation."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.page_plans import StatedPlan, planned_lines, read_plans

PLANS = [plan for page in sorted(Path(__file__).parent.glob("*.md")) for plan in read_plans(page)]


@pytest.mark.parametrize("stated", PLANS, ids=lambda stated: stated.case.name)
def test_plan(stated: StatedPlan) -> None:
    assert planned_lines(stated) == list(stated.lines)
