"""Programs in README.md and docs/ are what they claim to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.spec_page import Case, read_cases, run_case

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CASES = [case for page in PAGES for case in read_cases(page)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_program(case: Case) -> None:
    assert run_case(case) == []
