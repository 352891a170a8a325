"""Warps that arrive early and do not wait: random graphs on the happens-before machine, programs on
the emulator."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from checker.sync.graphs import Builder, Decisions, Machine, Places, places_of
from checker.sync.random_graphs import Generator
from checker.sync.random_programs import FUNCTIONS, THREADS, Program
from prismc.checker.sync import arms, early, settings
from prismc.checker.sync.conflicts import Conflicts
from prismc.checker.sync.edit import Edits, edited_with
from prismc.checker.sync.graph import Graph, Node, nodes_in
from prismc.checker.sync.liveness import check_liveness
from prismc.checker.sync.passing import Passing, plan_passing, with_moved
from prismc.checker.sync.place import place_barriers
from prismc.checker.sync.plan import Position, SyncKind, Where
from prismc.checker.sync.protocol import protocol_of
from prismc.checker.sync.refine import refine
from prismc.checker.sync.settings import SyncSettings
from prismc.checker.sync.split import Arrive, Await, SplitBarrier
from prismc.checker.sync.weight import Work
from prismc.cli.main import run
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.emulator.api import run_ptx
from prismc.emulator.schedule import adversaries
from prismc.source.record import replace
from support.checking import check_texts
from support.running import Compiled, compile_texts

MOST_RUNS = 200
SEEDS = 150


class NoWork(Work):
    """Graphs that were built by hand come from no statements: work is of no account."""

    def __init__(self) -> None:
        pass

    def is_in_pipeline(self, place: Position) -> bool:
        return False

    def is_whole(self, place: Position) -> bool:
        return True

    def start_of(self, loop: int) -> Position:
        return Position(where=Where.BEFORE, anchor=loop)

    def between(self, start: Position, end: Position) -> int:
        return 0


class SplitMachine(Machine):
    """Knows arrivals and waits too; those of `broken` make no order."""

    def __init__(
        self,
        builder: Builder,
        graph: Graph,
        places: Places,
        decisions: Decisions,
        broken: Collection[Node] = (),
    ) -> None:
        self._broken = broken
        self._arrived: dict[SplitBarrier, list[list[int]]] = {}
        super().__init__(builder, graph, places, decisions)

    def _node(self, node: Node, threads: int) -> None:
        match node:
            case Arrive(barrier=barrier):
                members = self._members(barrier.arrivers) if node not in self._broken else []
                clocks = [list(self._clocks[thread]) for thread in members]
                self._arrived.setdefault(barrier, []).extend(clocks)
            case Await(barrier=barrier):
                members = self._members(barrier.waiters)
                clocks = [list(self._clocks[thread]) for thread in members]
                clocks += self._arrived.pop(barrier, [])
                joined = [max(each) for each in zip(*clocks, strict=True)]
                for thread in members if node not in self._broken else ():
                    self._clocks[thread] = list(joined)
            case _:
                super()._node(node, threads)

    def _members(self, threads: int) -> list[int]:
        return [thread for thread in range(self._threads) if threads >> thread & 1]


def races(
    builder: Builder, graph: Graph, places: Places, broken: Collection[Node] = ()
) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    chosen: list[int] | None = []
    for _ in range(MOST_RUNS):
        if chosen is None:
            break
        decisions = Decisions(chosen)
        found |= SplitMachine(builder, graph, places, decisions, broken).races
        chosen = decisions.next()
    return found


def split(graph: Graph) -> Passing:
    """The plan of a graph in which whoever may arrive early does."""
    conflicts = Conflicts(graph.everyone, graph.accesses)
    placed = place_barriers(graph.top, conflicts)
    barriers, verdict = refine(graph, conflicts, placed.insertions, 1)
    first = graph.everyone.bit_length()
    return plan_passing(graph, conflicts, barriers, verdict, first, NoWork(), 0)


def fault_of(made: Passing, without: Node | None = None) -> str | None:
    """What the check for liveness finds in a plan, or in one without a node."""
    top = made.graph.top
    edits = Edits(without=() if without is None else (without,))
    body, moved = edited_with(top.body, edits)
    changed = replace(top, body=body)
    barriers = [with_moved(one, {**moved, top: changed}) for one in made.barriers]
    graph = replace(made.graph, top=changed)
    protocol = protocol_of(graph, barriers, {}, lambda span: f"at {span.start}")
    fault = check_liveness(protocol)
    return None if fault is None else fault.message


def _meeting(graph: Graph) -> Iterator[Arrive | Await]:
    for node in nodes_in(graph.top.body):
        if isinstance(node, Arrive | Await) and node.barrier.meets:
            yield node


@pytest.mark.parametrize("warp", [1, 2])
def test_no_race_and_no_deadlock_and_both_halves_are_needed(
    monkeypatch: pytest.MonkeyPatch, warp: int
) -> None:
    monkeypatch.setattr(arms, "WARP_THREADS", warp)
    monkeypatch.setattr(early, "WARP_THREADS", warp)
    # What is remembered of warps of 32 threads holds for these alone.
    monkeypatch.setattr(early, "_whole_warps", early._whole_warps.__wrapped__)
    count = 0
    for seed in range(SEEDS):
        generator = Generator(seed)
        made = split(generator.any(6))
        halves = tuple(_meeting(made.graph))
        if not halves:
            continue
        count += 1
        places = places_of(made.barriers)
        assert races(generator.builder, made.graph, places) == set(), seed
        assert fault_of(made) is None, seed
        for half in halves:
            if isinstance(half, Await):
                assert races(generator.builder, made.graph, places, (half,)), seed
            else:  # the others wait for it, even if they know of all that was before it
                assert "may wait for ever" in (fault_of(made, half) or ""), seed
    assert count >= 10


# --------------------------------------------------------------------------- programs


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warps arrive early whether it pays or not."""
    monkeypatch.setattr(settings, "SyncSettings", partial(SyncSettings, early_work=0))


def _early(compiled: Compiled) -> int:
    """How many operations are for some of the threads of their code."""
    plans = compiled.checked.plan.instances.values()
    return sum(bool(one.part) for plan in plans for one in plan.operations)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("first", [0, 12])
def test_random_kernels(first: int) -> None:
    programs = [Program(seed) for seed in range(first, first + 12)]
    text = FUNCTIONS + "".join(program.text for program in programs)
    compiled = compile_texts({"test.prism": text}, "test.prism")
    assert _early(compiled) >= 6
    values = np.random.default_rng(1).integers(-99, 99, THREADS, dtype=np.int32)
    for number, program in enumerate(programs):
        arguments = {"X": values, "Y": np.zeros(THREADS, np.int32), "n": 3}
        plan = adversaries(12)[number]
        found = compiled.run(1, arguments, program.name, plan)
        assert np.array_equal(found["Y"], program.result(values, 3)), program.text


WORK = """\
@requires(grid[1], block[1], thread[96])
@launch(threads = 96)
kernel mirror(X: ptr(const f32), Y: ptr(f32), n: int):
    partition Y as y @ block[1] at id(block[1]) * 32:
        group block[1]:
            shared S: f32[96]
            t: int @ thread[1] = id()
            v: f32 @ thread[1] = X[t]
            sum: f32 @ thread[1] = 0
            for k in range(n):
                partition S as s @ thread[1] at t:
                    s[0] = v
                for i in range(STEPS):
                    v = v * 0.5 + 1.0
                claim y as out @ warp[1]:
                    split warp:
                        case 1:
                            partition out as own @ thread[1] at t:
                                own[0] += S[t + 32] + S[95 - t]
"""


def _kinds(steps: int, flags: str = "", text: str = WORK) -> list[str]:
    session = check_texts({"test.prism": text.replace("STEPS", str(steps))}, "test.prism", flags)
    checked = run_stages(session, session.files.known("test.prism"), CHECKS)
    (plan,) = checked.plan.instances.values()
    return [one.kind.value for one in plan.operations]


def test_it_takes_work_between_the_accesses() -> None:
    """Of the two barriers of an iteration the one behind the stores has work behind it."""
    assert _kinds(30) == ["block barrier", "named arrive", "named wait"]
    assert _kinds(3) == ["block barrier", "block barrier"]


def test_it_takes_a_hardware_barrier() -> None:
    """Fifteen groups of 64 threads have all of them."""
    groups = """
            shared U: f32[960]
            partition U as u @ thread[64] at id(thread[64]) * 64:
                group thread[64]:
                    l: int @ thread[1] = id()
                    partition u as own @ thread[1] at l:
                        own[0] = v
                    v += u[63 - l]
"""
    wide = WORK.replace("96", "960")
    at = wide.index("            for k in range(n)")
    assert "named arrive" in _kinds(30, text=wide)
    assert set(_kinds(30, text=wide[:at] + groups[1:] + wide[at:])) == {
        "block barrier",
        "named barrier",
    }


def test_never_as_in_the_paper() -> None:
    assert set(_kinds(30, "--sync paper")) == {"block barrier"}


def test_who_takes_part_and_what_it_costs() -> None:
    """Warps 1 and 2 arrive for warp 0, and each half is missed when it is left out."""
    compiled = compile_texts({"test.prism": WORK.replace("STEPS", "30")}, "test.prism")
    (plan,) = compiled.checked.plan.instances.values()
    _, arrive, wait = plan.operations
    assert (arrive.participants.ranges, arrive.part) == (((32, 96),), ((32, 96),))
    assert (wait.participants.ranges, wait.part) == (((0, 32),), ())
    assert (arrive.count, wait.count) == (96, 96)
    assert arrive.barrier == wait.barrier == 1
    values = np.arange(96, dtype=np.float32)
    for schedule in adversaries(8):
        compiled.run(1, {"X": values, "Y": np.zeros(32, np.float32), "n": 3}, plan=schedule)


def test_each_half_is_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mirror.prism"
    path.write_text(WORK.replace("STEPS", "30"))
    launch = ["--arg", "X=randn(96)", "--arg", "Y=zeros(32)", "--arg", "n=3", "--grid", "1"]
    assert run(["sync", str(path), "--prove", "--schedules", "4", *launch]) == 0
    assert "found 3 of 3 (data race: 2, deadlock: 1)" in capsys.readouterr().out


MATMUL = """\
@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
kernel matmul(A: ptr(const f32), B: ptr(const f32), C: ptr(f32), K: int):
    partition C as tile @ block[1] at id(block[1]) * 256:
        group block[1]:
            shared A_s: f32[256]
            shared C_s: f32[256]
            t: int @ thread[1] = id()
            partition C_s as zero @ thread[1] at t * 4:
                for i in range(4):
                    zero[i] = 0.0
            for k in range(K):
                partition A_s as mine @ thread[1] at t * 4:
                    for j in range(4):
                        mine[j] = A[k * 256 + t * 4 + j]
                claim C_s as c @ thread[32]:
                    split thread:
                        case 32:
                            v: f32 @ thread[1] = A_s[t * 4] + A_s[255 - t]
                            partition c as own @ thread[1] at t * 8:
                                own[0] += v
            for j in range(4):
                partition tile as out @ thread[1] at t * 4 + j:
                    out[0] = C_s[255 - t * 4 - j]
"""


def test_the_split_form_of_worked_example_e1(eager: None) -> None:
    """Readers are of warp 0 only, so for its reads it arrives and goes on; it waits for the others'
    stores, who do not wait for it. Three points, as with full barriers."""
    compiled = compile_texts({"test.prism": MATMUL}, "test.prism")
    (plan,) = compiled.checked.plan.instances.values()
    found = [(one.kind, one.participants.ranges) for one in plan.operations]
    first, second = ((0, 32),), ((32, 64),)
    assert found == [
        (SyncKind.NAMED_ARRIVE, first),
        (SyncKind.NAMED_WAIT, second),
        (SyncKind.NAMED_ARRIVE, second),
        (SyncKind.NAMED_WAIT, first),
        (SyncKind.BLOCK_BARRIER, ()),
    ]
    values = np.arange(768, dtype=np.float32)
    for schedule in adversaries(8):
        arguments = {"A": values, "B": values, "C": np.zeros(256, np.float32), "K": 3}
        compiled.run(1, arguments, plan=schedule)


UNEVEN = """\
@requires(grid[1], block[1], thread[96])
@launch(threads = 96)
kernel uneven(X: ptr(const f32), Y: ptr(f32), n: int):
    partition Y as tile @ block[1] at id(block[1]) * 96:
        group block[1]:
            shared S: f32[96]
            t: int @ thread[1] = id()
            v: f32 @ thread[1] = X[t]
            for k in range(n):
                partition S as s @ thread[1] at t:
                    s[0] = v
                split warp:
                    case 2:
                        for i in range(40):
                            v = v * 0.5 + 0.25
                split warp:
                    case 2:
                        pass
                    case 1:
                        l: int @ thread[1] = id()
                        v += S[l] + S[63 - l]
                        for i in range(40):
                            v = v * 0.5 + 0.25
            partition tile as y @ thread[1] at t:
                y[0] = v
"""


def _steps_waited(early_work: int | None, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(settings, "SyncSettings", partial(SyncSettings, early_work=early_work))
    compiled = compile_texts({"test.prism": UNEVEN}, "test.prism")
    x, y = np.ones(96, np.float32), np.zeros(96, np.float32)
    result = run_ptx(compiled.module, None, 1, 96, [x, y, np.int32(20)], profile=True)
    assert result.profile is not None
    return sum(one.steps for one in result.profile.waits)


def test_warps_work_side_by_side_that_would_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """One warp goes on with what all have stored while the others are still at work."""
    late, early_ones = (_steps_waited(least, monkeypatch) for least in (None, 50))
    assert late > 10 * early_ones
