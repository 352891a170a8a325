"""No plan of the suite's programs can block its threads for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.sync.graphs import READ, WRITE, Builder, plan
from checker.sync.random_graphs import Generator
from prismc.checker.results import CheckedProgram
from prismc.checker.sync.liveness import check_liveness
from prismc.checker.sync.protocol import protocol_of
from prismc.checker.sync.synchronise import functions_of
from prismc.diagnostics.sink import Sink
from prismc.driver.options import Options
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session
from prismc.source.record import replace
from prismc.source.span import Span
from support.spec_page import Case, expected_of, read_cases

ROOT = Path(__file__).resolve().parents[3]
PAGES = ("async", "barriers", "exits", "finish", "pipeline", "split", "synchronisation", "worked")
CASES = [
    case
    for page in PAGES
    for case in read_cases(ROOT / "tests" / "spec" / f"{page}.md")
    if not expected_of(case)
]


def faults_of(checked: CheckedProgram) -> list[str]:
    """What the check finds in the plans of a program."""
    program, memory = checked.program, checked.memory
    found: list[str] = []
    for each in functions_of(program, checked.perspectives, memory, Sink(), checked.settings):
        planned = each.planned
        fault = check_liveness(protocol_of(planned.graph, planned.barriers, _place))
        if fault is not None:
            found += [f"{each.instance.symbol}: {fault.message}", *fault.schedule]
    return found


def _place(span: Span) -> str:
    return f"at byte {span.start}"


def check_text(files: dict[str, str], root: str) -> list[str]:
    session = Session(Options())
    for name, text in files.items():
        session.files.overlay(name, text)
    checked = run_stages(session, session.files.known(root), CHECKS)
    return [] if session.sink.has_errors() else faults_of(checked)


@pytest.mark.parametrize("page", PAGES)
def test_programs_of_pages(page: str) -> None:
    for case in CASES:
        if case.name.startswith(f"{page}:"):
            assert _check_case(case) == [], case.name


def _check_case(case: Case) -> list[str]:
    return check_text(case.texts, case.root)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.prism")), ids=lambda p: p.stem)
def test_examples(path: Path) -> None:
    assert check_text({path.name: path.read_text()}, path.name) == []


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_graphs(first: int) -> None:
    for seed in range(first, first + 50):
        graph = Generator(seed).any(6)
        fault = check_liveness(protocol_of(graph, plan(graph), _place))
        assert fault is None, (seed, fault.message, fault.schedule)


def test_a_block_barrier_in_groups_that_go_around_differently_often() -> None:
    """Worked example E4: `__syncthreads` where the type asks for a barrier of each group."""
    builder = Builder(4)
    exchange = [
        builder.access(WRITE, "s", lambda thread, _: thread),
        builder.access(READ, "s", lambda thread, _: thread ^ 1),
    ]
    loop = builder.loop(lambda: [builder.step(access) for access in exchange])
    graph = builder.graph([builder.group(2, [loop])])
    right = plan(graph)
    assert check_liveness(protocol_of(graph, right, _place)) is None
    wrong = [replace(barrier, units=(builder.everyone,)) for barrier in right]
    fault = check_liveness(protocol_of(graph, wrong, _place))
    assert fault is not None
    assert "waits for ever" in fault.message
    assert any("waits at byte" in line for line in fault.schedule)
