"""Random kernels that move boxes of tensor maps; `pytest -m nightly` tries 300 of them."""

from __future__ import annotations

import pytest

from checker.sync.mixed_runs import BATCH, SCHEDULES, compiled, run
from checker.sync.random_tensors import BOX_FUNCTIONS, Boxes


def test_boxes() -> None:
    for number, (made, program) in enumerate(compiled(Boxes, BOX_FUNCTIONS, 0, 6)):
        run(made, program, 3, SCHEDULES[number % len(SCHEDULES)])
        run(made, program, number % 3, SCHEDULES[-1 - number % 2])


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(BATCH, 310, BATCH))
def test_many_boxes(first: int) -> None:
    for made, program in compiled(Boxes, BOX_FUNCTIONS, first):
        for length in (0, 1, 2):
            run(made, program, length, SCHEDULES[(first + length) % len(SCHEDULES)])
        for schedule in SCHEDULES:
            run(made, program, 3, schedule)
