"""No plan of the suite's programs can block its threads for ever, and none has a barrier of the
block in code that speaks for less."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from checker.sync.graphs import READ, WRITE, Builder, plan
from checker.sync.random_graphs import Generator
from prismc.checker.results import CheckedProgram
from prismc.checker.sync.choose import Planned
from prismc.checker.sync.lag import Lag
from prismc.checker.sync.liveness import (
    Act,
    Body,
    Either,
    Item,
    Operation,
    Protocol,
    Repeat,
    check_liveness,
)
from prismc.checker.sync.plan import Shape
from prismc.checker.sync.protocol import protocol_of
from prismc.checker.sync.synchronise import functions_of
from prismc.diagnostics.sink import Sink
from prismc.driver.options import Options
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session
from prismc.source.record import replace
from prismc.source.span import Span
from support.checking import check_texts
from support.spec_page import Case, expected_of, read_cases

ROOT = Path(__file__).resolve().parents[3]
PAGES = (
    "async", "barriers", "bulk", "exits", "finish", "grid", "handover", "hopper", "pipeline",
    "split", "synchronisation", "wgmma", "worked",
)  # fmt: skip
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
        fault = check_liveness(protocol_of(planned.graph, planned.barriers, planned.loads, _place))
        if fault is not None:
            found += [f"{each.instance.symbol}: {fault.message}", *fault.schedule]
        found += _narrow_barriers(planned)
    return found


def _narrow_barriers(planned: Planned) -> list[str]:
    """The barriers `__syncthreads` that stand in code of fewer threads than a block."""
    return [
        f"{planned.graph.symbol}: a barrier of the block in {barrier.insertion.region.perspective}"
        for barrier in planned.barriers
        if planned.is_block(barrier)
        and not barrier.insertion.region.has_whole(planned.block_threads)
    ]


def _place(span: Span) -> str:
    return f"at byte {span.start}"


def check_text(files: dict[str, str], root: str, flags: str = "") -> list[str]:
    session = check_texts(files, root, flags)
    checked = run_stages(session, session.files.known(root), CHECKS)
    return [] if session.sink.has_errors() else faults_of(checked)


@pytest.mark.parametrize("page", PAGES)
def test_programs_of_pages(page: str) -> None:
    for case in CASES:
        if case.name.startswith(f"{page}:"):
            assert _check_case(case) == [], case.name


def _check_case(case: Case) -> list[str]:
    return check_text(case.texts, case.root, case.flags)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.prism")), ids=lambda p: p.stem)
def test_examples(path: Path) -> None:
    assert check_text({path.name: path.read_text()}, path.name) == []


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_graphs(first: int) -> None:
    for seed in range(first, first + 50):
        graph = Generator(seed).any(6)
        fault = check_liveness(protocol_of(graph, plan(graph), {}, _place))
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
    assert check_liveness(protocol_of(graph, right, {}, _place)) is None
    wrong = [replace(barrier, units=(builder.everyone,)) for barrier in right]
    fault = check_liveness(protocol_of(graph, wrong, {}, _place))
    assert fault is not None
    assert "may wait for ever" in fault.message
    assert any("stuck at byte" in line for line in fault.schedule)


RING = """\
@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
kernel ring(X: ptr(const f32), Y: ptr(f32), n: int):
    partition Y as yb @ block[1] at id(block[1]) * 32:
        group block[1]:
            shared S: f32[2][32]
            acc: f32 @ thread[1] = 0
            for k in range(n):
                static for i in range(2):
                    claim S[i] as p @ thread[32]:
                        split thread:
                            case 32:
                                lane: int @ thread[1] = id()
                                partition p as own @ thread[1] at lane:
                                    own[0] = X[(k * 2 + i) * 32 + lane]
                    claim S[i] as c @ thread[32]:
                        split thread:
                            case 32:
                                pass
                            case 32:
                                lane: int @ thread[1] = id()
                                acc += c[31 - lane]
            claim yb as yc @ thread[32]:
                split thread:
                    case 32:
                        pass
                    case 32:
                        lane: int @ thread[1] = id()
                        partition yc as y @ thread[1] at lane:
                            y[0] = acc
"""


def test_split_barriers_and_what_they_would_be_without_a_credit() -> None:
    session = Session(Options())
    session.files.overlay("ring.prism", RING)
    checked = run_stages(session, session.files.known("ring.prism"), CHECKS)
    program, memory = checked.program, checked.memory
    functions = functions_of(program, checked.perspectives, memory, Sink(), checked.settings)
    (planned,) = (each.planned for each in functions)
    protocol = protocol_of(planned.graph, planned.barriers, planned.loads, _place)
    assert {gate.has_credit for gate in protocol.gates.values()} == {False, True}
    assert check_liveness(protocol) is None
    gates = {key: replace(gate, has_credit=False) for key, gate in protocol.gates.items()}
    fault = check_liveness(replace(protocol, gates=gates))
    assert fault is not None
    assert fault.message == "threads 32..63 may wait for ever"
    assert len(fault.schedule) == len(protocol.teams)


@cache
def _running_on() -> tuple[Planned, Lag]:
    """A plan with a pipeline inside of a loop whose products run on, and how they do."""
    (case,) = (case for case in CASES if case.heading.startswith("A-hopper-2"))
    session = check_texts(case.texts, case.root, case.flags)
    checked = run_stages(session, session.files.known(case.root), CHECKS)
    program, memory = checked.program, checked.memory
    for each in functions_of(program, checked.perspectives, memory, Sink(), checked.settings):
        plan = checked.plan.instances[each.instance.symbol]
        for pipeline in plan.pipelines:
            assert pipeline.shape is Shape.BEHIND
            return each.planned, each.planned.lags[pipeline.loop]
    raise AssertionError("a pipeline")


def _protocol(planned: Planned, lag: Lag) -> Protocol:
    return protocol_of(planned.graph, planned.barriers, planned.loads, _place, [lag])


def test_products_that_run_on() -> None:
    assert check_liveness(_protocol(*_running_on())) is None


def test_the_last_slot_has_to_be_given_free_if_the_loop_runs_again() -> None:
    planned, lag = _running_on()
    fault = check_liveness(_protocol(planned, replace(lag, is_last=True)))
    assert fault is not None
    assert fault.message == "threads 0..127 may wait for ever"


def test_a_slot_is_not_given_free_while_two_groups_of_products_run() -> None:
    protocol = _protocol(*_running_on())
    teams = tuple(replace(team, body=_later(team.body)) for team in protocol.teams)
    fault = check_liveness(replace(protocol, teams=teams))
    assert fault is not None
    assert "may arrive at the mbarrier of room in A_s" in fault.message
    assert "for what is still in use" in fault.message


def _later(body: Body) -> Body:
    """What a team does, with one more group left incomplete by each wait in a loop."""
    made: list[Item] = []
    for item in body:
        match item:
            case Repeat(body=inner):
                made.append(replace(item, body=_later(inner)))
            case Either(arms=(first, second)):
                made.append(replace(item, arms=(_later(first), _later(second))))
            case Operation(act=Act.COMPLETE, groups=groups) if groups:
                made.append(replace(item, groups=groups + 1))
            case _:
                made.append(item)
    return tuple(made)
