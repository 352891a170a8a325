"""One code, one class, one page, one failing and one repaired program."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import pytest

from prismc.diagnostics.fixes import certain_fixes, with_fixes
from prismc.diagnostics.problem import Problem, Severity
from prismc.driver.catalog import page, problem_classes
from prismc.source.resources import explain_folder
from support.checking import all_words, check_texts
from support.fences import Fence, parse_fences

CLASSES = problem_classes()
# No text of a program can show these: their pages show a console instead.
UNWRITABLE = {
    "P0753": "a fence is always UTF-8",
    "P0754": "it would have to be larger than a page",
}
PAGED = [cls for cls in CLASSES if not (cls.is_environment or cls.code in UNWRITABLE)]
_PLACEHOLDER = re.compile(r"{(\w+)")


def name_of(cls: type[Problem]) -> str:
    return f"{cls.code}-{cls.__name__}"


@cache
def text_of(code: str) -> str:
    text = page(code)
    assert text is not None, f"src/prismc/diagnostics/explain/{code}.md is missing"
    return text


def fences_of(cls: type[Problem], heading: str) -> list[Fence]:
    return [f for f in parse_fences(text_of(cls.code)) if f.heading == heading]


def test_codes_are_unique() -> None:
    counts = Counter(cls.code for cls in CLASSES)
    assert [code for code, number in counts.items() if number > 1] == []


def test_no_page_without_a_code() -> None:
    known = {f"{cls.code}.md" for cls in CLASSES}
    assert sorted(p.name for p in explain_folder().iterdir() if p.name not in known) == []


@pytest.mark.parametrize("cls", CLASSES, ids=name_of)
def test_words(cls: type[Problem]) -> None:
    assert re.fullmatch(r"P\d{4}", cls.code)
    assert cls.title
    assert "{" not in cls.title, "the title is for lists; a message may hold fields"
    assert not cls.title.endswith(".")
    for words in (cls.message, cls.label, cls.help_text):
        fields = {match[1] for match in _PLACEHOLDER.finditer(words)}
        assert fields <= set(cls.__fields__), "a message names a field that the class lacks"


@pytest.mark.parametrize("cls", CLASSES, ids=name_of)
def test_page_has_its_form(cls: type[Problem]) -> None:
    lines = text_of(cls.code).splitlines()
    assert lines[0] == f"# {cls.code}: {cls.title}"
    assert any(line.strip() and not line.startswith("#") for line in lines[1:8])
    assert [line for line in lines if line.startswith("## ")] == ["## Fails", "## Repaired"]
    language = "prism" if cls in PAGED else "console"
    for heading in ("Fails", "Repaired"):
        assert [f.language for f in fences_of(cls, heading)] == [language]


@pytest.mark.parametrize("cls", PAGED, ids=name_of)
def test_failing_example_fails_for_this_reason(cls: type[Problem]) -> None:
    (fence,) = fences_of(cls, "Fails")
    session = check_texts({"main.prism": fence.text}, "main.prism", fence.flags)
    found = [(p.code, p.severity) for p in session.problems]
    assert found == [(cls.code, cls.severity)], "\n".join(map(all_words, session.problems))
    (problem,) = session.problems
    assert problem.at.file
    if problem.severity is Severity.ERROR:
        assert problem.shown_message()
    if fixes := certain_fixes(session.problems, "main.prism"):
        mended = with_fixes(fence.text, fixes)
        again = check_texts({"main.prism": mended}, "main.prism", fence.flags)
        assert [all_words(p) for p in again.problems] == [], "a fix that does not mend"


@pytest.mark.parametrize("cls", PAGED, ids=name_of)
def test_repaired_example_is_clean(cls: type[Problem]) -> None:
    (fence,) = fences_of(cls, "Repaired")
    session = check_texts({"main.prism": fence.text}, "main.prism", fence.flags)
    assert [all_words(p) for p in session.problems] == []
