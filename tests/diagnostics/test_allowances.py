"""Warnings that comments allow or the command line denies."""

from __future__ import annotations

import pytest

from prismc.diagnostics.problem import Problem, Severity
from prismc.driver.options import Options
from prismc.driver.pipeline import check_file
from prismc.driver.session import Session
from prismc.driver.strictness import Strictness

RACE = """\
@requires(block[1], thread[64])
def half(x: ptr(f32)):
    t: int @ thread[1] = id()
    partition x as y @ thread[1] at t / 2:
        {above}
        y[0] = 1.0{beside}
"""
REASON = "both write the same"


def checked(text: str, strictness: Strictness | None = None, **options: str) -> Session:
    session = Session(Options(**options), strictness=strictness)  # type: ignore[arg-type]
    check_file(session, session.files.overlay("k.prism", text))
    return session


def told(text: str, strictness: Strictness | None = None, **options: str) -> list[str]:
    return [problem.code for problem in checked(text, strictness, **options).problems]


def race(beside: str = "", above: str = "") -> str:
    return RACE.format(above=above, beside=f"  # {beside}" if beside else "")


def the_problem(text: str) -> Problem:
    (problem,) = checked(text).problems
    return problem


def mended(text: str) -> str:
    """The text after the only problem's only fix."""
    (fix,) = the_problem(text).fixes
    assert fix.is_certain
    return text[: fix.at.start] + fix.text + text[fix.at.end :]


@pytest.mark.parametrize(
    "text",
    [
        race(f"prism: allow(P0603) {REASON}"),
        race(f"prism:allow( P0603 ): {REASON}"),
        race(above=f"# prism: allow(P0603) {REASON}"),
        race(above=f"# prism: allow(P0603) {REASON}\n\n        # and a remark"),
        race(above=f"# prism: allow(P0603) {REASON}").replace("\n", "\r\n"),
    ],
)
def test_allowed(text: str) -> None:
    assert told(text) == []
    assert [p.code for p in checked(text).sink.problems()] == ["P0603"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (race("prism: allow(P0603)"), ["P0787"]),
        (race("prism: allow P0603, please"), ["P0785", "P0603"]),
        (race("prism: allow() nothing"), ["P0785", "P0603"]),
        (race("prism: allow(P0604) wrong"), ["P0788", "P0603"]),
        (race("prism: allow(p603) wrong"), ["P0786", "P0603"]),
        (race("prism: allow(P0608) another"), ["P0789", "P0603"]),
        (race(f"prism: allow(P0603, P0608) {REASON}"), ["P0789"]),
        (race(f"about prism: allow(P0603) {REASON}"), ["P0603"]),
    ],
)
def test_not_allowed(text: str, codes: list[str]) -> None:
    assert sorted(told(text)) == sorted(codes)


def test_an_error_is_not_allowed() -> None:
    text = "def f(x: int) -> int:\n    return y  # prism: allow(P0201) later\n"
    assert sorted(told(text)) == ["P0201", "P0788"]


def test_a_string_is_no_comment() -> None:
    text = (
        "@requires(thread[1])\nunsafe def f(x: int) -> int:\n"
        '    return cuda("x /* # prism: quiet */", x)\n'
    )
    assert "P0785" not in told(text)


def test_unused_is_not_judged_beside_errors() -> None:
    text = race(above="# prism: allow(P0608) another") + "\ndef g() -> int:\n    return y\n"
    assert sorted(told(text)) == ["P0201", "P0603"]


def test_unused_is_not_judged_when_races_are_not() -> None:
    assert told(race(f"prism: allow(P0603) {REASON}"), races="off") == []


def test_a_denied_race_is_an_error() -> None:
    text = race(f"prism: allow(P0603) {REASON}")
    assert told(text, races="deny") == ["P0603"]


CLEAN = race().replace("t / 2", "t")


def test_unused_comments_are_removed() -> None:
    beside = CLEAN.replace("1.0", f"1.0  # prism: allow(P0603) {REASON}")
    assert mended(beside) == CLEAN
    above = CLEAN.replace("        y[0]", f"        # prism: allow(P0603) {REASON}\n        y[0]")
    assert mended(above) == CLEAN
    text = race(f"prism: allow(P0608, P0603, P0602) {REASON}")
    left = mended(text)
    assert left == race(f"prism: allow(P0603) {REASON}")
    assert told(left) == []


def test_denied() -> None:
    for denied in ("warnings", "P0603"):
        session = checked(race(), Strictness(denied=(denied,)))
        (problem,) = session.problems
        assert (problem.code, problem.severity) == ("P0603", Severity.ERROR)
        assert problem.notes[-1] == f"`--deny {denied}` makes this warning an error"
        assert session.exit_code == 1
    assert checked(race(), Strictness(denied=("P0608",))).exit_code == 0


def test_allowed_on_the_command_line() -> None:
    assert told(race(), Strictness(allowed=("P0603",))) == []
    assert told(race(), Strictness(denied=("warnings",), allowed=("P0603",))) == []
    allowed = race(f"prism: allow(P0603) {REASON}")
    assert told(allowed, Strictness(denied=("warnings",))) == []
