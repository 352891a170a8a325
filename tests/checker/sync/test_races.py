"""Races inside one scope: severity by option, and what `assume(disjoint(y))` settles."""

from __future__ import annotations

from pathlib import Path

import pytest

from prismc.diagnostics.problem import Severity
from prismc.driver.options import Options
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session
from prismc.hardware.targets import TARGETS

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = sorted([*ROOT.glob("examples/*.prism"), *ROOT.glob("stdlib/*.prism")])

OVERLAP = """
@requires(block[1], thread[64])
def store(x: ptr(f32), v: f32[4] @ thread[1]):
    lane: int @ thread[1] = id() % 32
    w: int @ thread[32] = id()
    partition x as y @ thread[1] at lane * 4 + w * 4:
        group thread[1]:
            for i in range(4):
                y[i] = v[i]
"""
ITERATIONS = """
@requires(block[1], thread[64])
def shift(x: ptr(f32)):
    t: int @ thread[1] = id()
    for k in range(4):
        partition x as y @ thread[1] at t + k:
            y[0] = f32(k)
"""
STATEMENT = """
@requires(block[1], thread[64])
def scan(x: ptr(f32)):
    t: int @ thread[1] = id()
    partition x as y @ thread[1] at t:
        y[0] = y[0] + y[1]
"""
STATEMENTS = """
@requires(block[1], thread[64])
def two(x: ptr(f32)):
    t: int @ thread[1] = id()
    partition x as y @ thread[1] at t:
        y[0] = 1.0
        y[1] = 2.0
"""
TABLE = """
@requires(block[1], thread[64])
def fill(n: int, table: ptr(const int)):
    t: int @ thread[1] = id()
    shared S: f32[64]
    for k in range(n):
        place: int @ thread[1] = table[k * 64 + t]
        partition S as s @ thread[1] at place:
            unsafe:
                assume(disjoint(s))
            s[0] = 1.0
"""
TILES = """
@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
kernel tiles(n: int, y: ptr(f32), table: ptr(const int)):
    for k in range(n):
        tile: int @ block[1] = table[id(block[1]) * n + k]
        partition y as own @ block[1] at tile * 64:
            unsafe:
                assume(disjoint(own))
            group block[1]:
                t: int @ thread[1] = id()
                partition own as o @ thread[1] at t:
                    o[0] = 1.0
"""
CERTAIN = """
@requires(block[1], thread[64])
def same(x: ptr(f32)):
    t: int @ thread[1] = id()
    partition x as y @ thread[1] at t / 2:
        unsafe:
            assume(disjoint(y))
        y[0] = 1.0
"""


SCATTER = """
@requires(block[1], thread[64])
def scatter(x: ptr(f32), table: ptr(const int)):
    t: int @ thread[1] = id()
    place: int @ thread[1] = table[t]
    partition x as y @ thread[1] at place:
        unsafe:
            assume(disjoint(y))
        y[0] = 1.0
"""
LOOPS = """
@requires(block[1], thread[64])
def strided(x: ptr(f32), n: int):
    t: int @ thread[1] = id()
    partition x as y @ thread[1] at t:
        group thread[1]:
            for i in range({start}, n - t, {step}):
                y[i] = 1.0
"""


def _checked(text: str, races: str = "warn", target: str = "sm_80") -> tuple[Session, int]:
    """The session, and the number of operations planned."""
    session = Session(Options(races=races, target=TARGETS[target]))
    file = session.files.overlay("test.prism", text)
    checked = run_stages(session, file, CHECKS)
    return session, len(checked.plan.numbers())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (OVERLAP, "P0603"),
        (ITERATIONS, "P0602"),
        (STATEMENT, "P0603"),
        (STATEMENTS, "P0608"),
    ],
)
def test_severity_is_by_option(text: str, code: str) -> None:
    plans = set()
    for races, severities in (
        ("warn", [Severity.WARNING]),
        ("deny", [Severity.ERROR]),
        ("off", []),
    ):
        session, operations = _checked(text, races)
        plans.add(operations)
        assert [problem.severity for problem in session.problems] == severities
        assert all(problem.code == code for problem in session.problems)
        assert session.exit_code == (1 if races == "deny" else 0)
    assert len(plans) == 1, "how races are told must not change the plan"


def _without_assumption(text: str) -> str:
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip() == "unsafe:")
    return "\n".join(lines[:at] + lines[at + 2 :]) + "\n"


def test_disjoint_pieces_need_no_barrier_between_iterations() -> None:
    session, operations = _checked(TABLE, "deny")
    assert session.problems == ()
    assert operations == 0
    _, operations = _checked(_without_assumption(TABLE))
    assert operations == 1


def test_disjoint_tiles_need_no_order_between_blocks() -> None:
    session, operations = _checked(TILES, "deny")
    assert session.problems == ()
    assert operations == 0
    session, _ = _checked(_without_assumption(TILES))
    assert [problem.code for problem in session.problems] == ["P0601"]


def test_what_certainly_meets_is_told_all_the_same() -> None:
    session, _ = _checked(CERTAIN)
    assert [problem.code for problem in session.problems] == ["P0603"]


def test_both_lines_and_threads_are_told() -> None:
    session, operations = _checked(STATEMENTS)
    (problem,) = session.problems
    assert "thread 1 writes and thread 0 writes element 1 of `x`" in problem.shown_message()
    assert session.files.position(problem.at).line == 7
    assert [session.files.position(each.at).line for each in problem.related] == [6]
    assert operations == 1


def test_pieces_must_be_shown_apart_where_races_are_denied() -> None:
    session, _ = _checked(SCATTER, "deny")
    assert session.problems == ()
    session, _ = _checked(_without_assumption(SCATTER), "deny")
    assert [problem.code for problem in session.problems] == ["P0609"]
    session, _ = _checked(_without_assumption(SCATTER))
    assert session.problems == ()


@pytest.mark.parametrize(
    ("start", "step", "is_shown"),
    [
        ("0", "64", True),
        ("64", "128", True),
        ("0", "96", True),
        ("0", "48", False),
        ("n / 2", "64", True),
        ("n / (t + 1)", "64", False),
    ],
)
def test_strides_keep_threads_apart(start: str, step: str, is_shown: bool) -> None:
    session, _ = _checked(LOOPS.format(start=start, step=step), "deny")
    assert [problem.code for problem in session.problems] == ([] if is_shown else ["P0609"])


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_examples_and_the_library_are_free_of_races(path: Path) -> None:
    session, _ = _checked(path.read_text(encoding="utf-8"), "deny", "sm_90a")
    assert [problem.code for problem in session.problems] == []
