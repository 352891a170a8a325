"""The language, chapter by chapter: every program of `tests/spec/*.md` has its verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.spec_page import Case, read_cases, run_case

CASES = [case for page in sorted(Path(__file__).parent.glob("*.md")) for case in read_cases(page)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case) -> None:
    assert run_case(case) == []
