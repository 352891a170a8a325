"""Random kernels whose warps' first threads store; `pytest -m nightly` tries 150 of them. None is
refused: a wait in front of a loop or a call leaves a place for each barrier."""

from __future__ import annotations

import pytest

from checker.sync.mixed_runs import BATCH, SCHEDULES, compiled, run
from checker.sync.random_leaders import LEADER_FUNCTIONS, Leading


def test_leaders() -> None:
    for number, (made, program) in enumerate(compiled(Leading, LEADER_FUNCTIONS, 10, 5)):
        run(made, program, 3, SCHEDULES[number % len(SCHEDULES)])


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, 150, BATCH))
def test_many_leaders(first: int) -> None:
    for made, program in compiled(Leading, LEADER_FUNCTIONS, first):
        for length in (0, 1, 2):
            run(made, program, length, SCHEDULES[(first + length) % len(SCHEDULES)])
        for schedule in SCHEDULES:
            run(made, program, 3, schedule)
