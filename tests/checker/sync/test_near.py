"""The accesses that are looked at are all that may meet, and no more than they have to be."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from checker.sync.plans import planned
from checker.sync.random_programs import FUNCTIONS, Program
from prismc.checker.memory.bounds import bound_memory
from prismc.checker.perspectives.check import check_perspectives
from prismc.checker.sync import comparisons
from prismc.checker.sync.graph import EARLIER, ENDED, PREVIOUS
from prismc.checker.sync.meetings import Meeting, meet
from prismc.checker.sync.synchronise import Function, functions_of
from prismc.diagnostics.sink import Sink
from prismc.hardware.targets import DEFAULT_TARGET

UNROLLED = """
@requires(grid[1], block[1], thread[32])
kernel many(Y: ptr(f32)):
    t: int @ thread[1] = id()
    partition Y as y @ thread[1] at t * 600:
        static for i in range(600):
            y[i] = 1.0
"""


def functions(text: str) -> list[Function]:
    program = planned(text).program
    perspectives = check_perspectives(program, Sink())
    memory = bound_memory(program, perspectives, DEFAULT_TARGET, Sink())
    return list(functions_of(program, perspectives, memory, Sink()))


@pytest.mark.parametrize("seed", range(12))
def test_what_is_not_near_never_meets(seed: int) -> None:
    looked_at = 0
    for function in functions(FUNCTIONS + Program(seed).text):
        graph, judge = function.planned.graph, function.conflicts
        for earlier, later in product(graph.accesses, repeat=2):
            near = judge.near(later)
            looked_at += near is not None
            is_same_memory = judge.memory_of(earlier) == judge.memory_of(later)
            if near is None or earlier.number in near or not is_same_memory:
                continue
            common = [loop for loop in earlier.loops if loop in later.loops]
            ways = (PREVIOUS, EARLIER, ENDED)
            crossings = [(), *(((loop, how),) for loop in common for how in ways)]
            for crossed in crossings:
                assert not judge.meeting(earlier, later, crossed, graph.top.units).classes
    assert looked_at


def test_unrolled_code_is_not_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def counted(*arguments: Any, **named: Any) -> Meeting:
        nonlocal compared
        compared += 1
        return meet(*arguments, **named)

    monkeypatch.setattr(comparisons, "meet", counted)
    assert planned(UNROLLED).problems == []
    assert 0 < compared < 5_000, "600 accesses are 180,000 pairs"
