"""Pipelines that are written as one step do what they do unrolled."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from prismc.checker.sync import weight
from prismc.checker.sync.plan import Shape
from prismc.diagnostics.sink import Sink
from prismc.emulator.schedule import Order, Plan
from prismc.ir.core import walk
from prismc.ir.lowering.module import lower_program
from prismc.ir.ops.mbarrier import MbarrierWait
from support.page_runs import SCHEDULES, Run, check_compiled, read_runs
from support.running import Compiled, compile_texts
from support.spec_page import Case, read_cases

SPEC = Path(__file__).resolve().parents[2] / "spec"
PAGES = ("pipeline", "handover", "decisions")
SLOW_PAGES = ("hopper",)
UNLIKE = "No room for mbarriers"  # barriers of the block stand at places that differ by the step

OPEN = {  # loads are counted behind the last iteration, too
    "One thread of the block fills the slots",
    "Nobody waits at the end for what the pipeline has emptied",
}


def _case(run: Run) -> Case:
    (case,) = (case for case in read_cases(run.page) if case.line == run.program)
    return case


def _runs(pages: tuple[str, ...]) -> list[Run]:
    return [
        run
        for page in pages
        for run in read_runs(SPEC / f"{page}.md")
        if run.heading != UNLIKE and any("pipeline " in text for text in _case(run).texts.values())
    ]


@pytest.fixture(autouse=True)
def _one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any pipeline is too large to be unrolled."""
    monkeypatch.setattr(weight, "LARGE", -1)


@cache
def _compiled(page: Path, program: int) -> Compiled:
    (case,) = (case for case in read_cases(page) if case.line == program)
    return compile_texts(case.texts, case.root, case.flags)


def _shapes(compiled: Compiled) -> set[Shape]:
    plans = compiled.checked.plan.instances.values()
    return {one.shape for plan in plans for one in plan.pipelines}


@pytest.mark.parametrize("run", _runs(PAGES), ids=lambda run: f"{run.heading} {run.program}")
def test_programs_of_pages(run: Run) -> None:
    compiled = _compiled(run.page, run.program)
    assert all(shape.is_rolled or shape is Shape.OPEN for shape in _shapes(compiled))
    assert (Shape.OPEN in _shapes(compiled)) is (run.heading in OPEN)
    assert ".local" not in compiled.ptx
    for plan in SCHEDULES.values():
        check_compiled(compiled, run, plan)


@pytest.mark.parametrize("run", _runs(SLOW_PAGES), ids=lambda run: run.heading)
def test_slow_programs_of_pages(run: Run) -> None:
    compiled = _compiled(run.page, run.program)
    assert all(shape.is_rolled for shape in _shapes(compiled))
    check_compiled(compiled, run, SCHEDULES["random"])


COPIES = """\
from std.copy import cp_async_16

@requires(grid[1], block[1], thread[32])
@launch(threads = 64)
@assume(aligned(X, 16))
kernel copies(X: ptr(const f32), Y: ptr(f32), n: int, m: int):
    partition Y as yb @ block[1]:
        group block[1]:
            shared A: f32[3][256]
            t: int @ thread[1] = id()
            sum: f32 @ thread[1] = 0.0
            for j in range(m):
                pipeline k in range(n) through A as a:
                    produce:
                        partition a as async p @ thread[1] at t * 4:
                            cp_async_16(p, 0, X, k * 256 + t * 4)
                    consume:
                        sum = sum * 2.0 + a[255 - t]
            partition yb as y @ thread[1] at t:
                y[0] = sum
"""

ARMS = """\
@requires(grid[1], block[1], warp[3])
@launch(threads = 96)
kernel arms(X: ptr(const f32), Y: ptr(f32), n: int, m: int):
    partition Y as yb @ block[1]:
        group block[1]:
            shared S: f32[3][32]
            claim yb as out @ warp[2]:
                for j in range(m):
                    pipeline k in range(n) through S as s:
                        produce:
                            claim s as mine @ warp[1]:
                                split warp:
                                    case 2:
                                        pass
                                    case 1:
                                        l: int @ thread[1] = id()
                                        partition mine as own @ thread[1] at l:
                                            own[0] = X[k * 256 + l]
                        consume:
                            split warp:
                                case 2:
                                    t: int @ thread[1] = id()
                                    partition out as y @ thread[1] at t:
                                        y[0] = y[0] * 2.0 + s[31 - t % 32]
"""

LOADS = """\
from std.copy import bulk_load

@requires(grid[1], block[1], thread[96])
@launch(threads = 96)
@assume(aligned(X, 16))
kernel loads(X: ptr(const f32), Y: ptr(f32), n: int, m: int):
    partition Y as yb @ block[1]:
        group block[1]:
            shared S: f32[3][256]
            claim yb as out @ thread[64]:
                for j in range(m):
                    pipeline k in range(n) through S as s:
                        produce:
                            claim s as async mine @ thread[1]:
                                split thread:
                                    case 64:
                                        pass
                                    case 1:
                                        bulk_load(mine, 0, X, k * 256, 1024)
                        consume:
                            split thread:
                                case 64:
                                    t: int @ thread[1] = id()
                                    partition out as y @ thread[1] at t:
                                        y[0] = y[0] * 2.0 + s[255 - t]
"""
PROGRAMS = {
    "copies": (COPIES, "", lambda x: x[:, 255:191:-1]),
    "arms": (ARMS, "", lambda x: x[:, 31 - np.arange(64) % 32]),
    "loads": (LOADS, "--target sm_90", lambda x: x[:, 255:191:-1]),
}


def _dedented(match: re.Match[str]) -> str:
    return re.sub(r"^    ", "", match[1], flags=re.MULTILINE)


@cache
def _program(
    name: str, dropped: tuple[int, ...] = (), *, once: bool = False, slots: int = 3
) -> Compiled:
    text, flags, _ = PROGRAMS[name]
    text = text.replace("f32[3]", f"f32[{slots}]")
    if once:
        text = re.sub(r" +for j in .*\n((?: {16}.*\n)+)", _dedented, text)
    return compile_texts({"main.prism": text}, "main.prism", flags, dropped)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_count_of_iterations(name: str) -> None:
    """Through the ring once, a part of it, several times, and again from an outer loop."""
    compiled = _program(name)
    assert _shapes(compiled) == {Shape.LARGE}
    for n, m in ((0, 2), (1, 1), (1, 3), (2, 2), (3, 2), (4, 3), (7, 2)):
        x = np.random.default_rng(n).integers(-9, 9, (8, 256)).astype(np.float32)
        for plan in (Plan(), Plan(order=Order.STALLED), Plan(order=Order.RANDOM, seed=n)):
            y = np.zeros(64, np.float32)
            out = compiled.run(1, {"X": x.ravel(), "Y": y, "n": n, "m": m}, plan=plan)["Y"]
            expected = np.zeros(64, np.float32)
            for _ in range(m):
                for row in PROGRAMS[name][2](x[:n]):
                    expected = expected * 2 + row
            assert np.array_equal(out, expected), (n, m)


@pytest.mark.parametrize("slots", [3, 4])
@pytest.mark.parametrize("name", ["arms", "loads"])
def test_a_pipeline_that_runs_once_counts_its_rounds(name: str, slots: int) -> None:
    """The parity of a phase is that of the round: no thread keeps a bit for each slot."""
    compiled = _program(name, once=True, slots=slots)
    assert _shapes(compiled) == {Shape.LARGE}
    kernel = lower_program(compiled.checked, Sink()).functions[-1]
    waits = [op for op in walk(kernel.body) if isinstance(op, MbarrierWait)]
    assert len(waits) == 2
    assert all(op.parity is not None and op.phases is None for op in waits)
    for n in (0, 1, slots - 1, slots, slots + 1, 2 * slots, 3 * slots + 1):
        x = np.random.default_rng(n).integers(-9, 9, (16, 256)).astype(np.float32)
        for plan in (Plan(), Plan(order=Order.STALLED), Plan(order=Order.RANDOM, seed=n)):
            arguments = {"X": x.ravel(), "Y": np.zeros(64, np.float32), "n": n, "m": 1}
            out = compiled.run(1, arguments, plan=plan)["Y"]
            expected = np.zeros(64, np.float32)
            for row in PROGRAMS[name][2](x[:n]):
                expected = expected * 2 + row
            assert np.array_equal(out, expected), n


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_operation_is_needed(name: str) -> None:
    once = name == "copies"  # a pipeline of no iteration leaves no copies, which no plan knows
    for number in _program(name, once=once).checked.plan.numbers():
        compiled = _program(name, (number,), once=once)
        x = np.ones((8, 256), np.float32)
        arguments = {"X": x.ravel(), "Y": np.zeros(64, np.float32), "n": 5, "m": 2}
        assert any(
            compiled.launch(1, arguments, plan=plan).findings for plan in SCHEDULES.values()
        ), number


def test_one_operation_for_all_slots() -> None:
    """An mbarrier with a place for each slot, one wait and one arrival on either side."""
    plan = _program("arms").checked.plan
    (instance,) = plan.instances.values()
    kinds = [operation.kind.value for operation in instance.operations]
    assert kinds.count("mbarrier wait") == kinds.count("mbarrier arrive") == 2
    assert [one.slots for one in plan.mbarriers.values()] == [3, 3]
