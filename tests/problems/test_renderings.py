"""What people see, letter for letter: each `*.prism` here with its `*.expected`.

Only for problems whose layout matters; verdicts belong into `tests/spec/`. `make bless` rewrites
the expected texts.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prismc.diagnostics.text import render_problems
from prismc.source.resources import stdlib_folder
from support.checking import check_texts

FOLDER = Path(__file__).parent
PROGRAMS = sorted(FOLDER.rglob("*.prism"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(FOLDER)))
def test_rendering(path: Path) -> None:
    session = check_texts({path.name: path.read_text(encoding="utf-8")}, path.name)
    text = render_problems(session.problems, session.files)
    text = text.replace(str(stdlib_folder()), "stdlib")
    expected = path.with_suffix(".expected")
    if os.environ.get("PRISMC_BLESS"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")
