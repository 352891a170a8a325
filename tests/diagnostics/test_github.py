"""Annotations for GitHub Actions: one line a problem, escaped as the runner reads it."""

from __future__ import annotations

from prismc.diagnostics.github import render_github
from prismc.diagnostics.problem import Problem, Related, Severity
from prismc.source.files import Files
from prismc.source.span import NOWHERE, Span


class Odd(Problem):
    code, title = "P0399", "it is odd, very odd"
    message = "100% odd"
    help_text = "make it even"


class Note(Problem):
    code, title = "P0398", "noted"
    severity = Severity.NOTE


def rendered(problem: Problem) -> str:
    files = Files()
    files.overlay("a,b.prism", "one\ntwo three\n")
    return render_github([problem], files)


def test_a_span_in_one_line() -> None:
    related = Related(at=Span("a,b.prism", 0, 3), message="as here")
    problem = Odd(at=Span("a,b.prism", 8, 13), related=(related,))
    assert rendered(problem) == (
        "::error file=a%2Cb.prism,line=2,col=5,endColumn=10,title=P0399%3A it is odd%2C very odd"
        "::100%25 odd%0Aa,b.prism:1: as here%0Ahelp: make it even\n"
    )


def test_a_span_of_several_lines_has_no_columns() -> None:
    head, _, _ = rendered(Odd(at=Span("a,b.prism", 0, 7))).rpartition("::")
    assert head.startswith("::error file=a%2Cb.prism,line=1,endLine=2,title=")


def test_without_a_place() -> None:
    assert rendered(Note(at=NOWHERE)) == "::notice title=P0398%3A noted::noted\n"


def test_no_problem() -> None:
    assert render_github([], Files()) == ""
