"""Programs in README.md and docs/ are what they claim to be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prismc.diagnostics.text import render_problems
from prismc.source.resources import stdlib_folder
from support.checking import check_texts
from support.fences import read_fences
from support.spec_page import Case, read_cases, run_case

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CASES = [case for page in PAGES for case in read_cases(page)]


def test_readme_shows_what_the_compiler_says() -> None:
    fences = read_fences(ROOT / "README.md")
    programs = {f.file_name: f.text for f in fences if f.language == "prism" and f.file_name}
    shown = [f.text for f in fences if f.text.startswith("$ prismc check ")]
    assert shown
    for text in shown:
        command, _, output = text.partition("\n")
        root = command.split()[-1]
        session = check_texts(programs, root)
        said = render_problems(session.problems, session.files)
        assert said.replace(str(stdlib_folder()), "stdlib") == output


def test_what_stands_for_cub_is_there() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (ROOT / "docs" / "cub.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and "`std." in line
    ]
    assert len(rows) > 20
    for _, functions, module in rows:
        library = (stdlib_folder() / f"{module.strip('`').removeprefix('std.')}.prism").read_text()
        names = re.findall(r"`([a-z_]+)(?:\[[^`]*)?`", functions)
        assert names
        for name in names:
            assert f"def {name}[" in library, name


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_program(case: Case) -> None:
    assert run_case(case) == []
