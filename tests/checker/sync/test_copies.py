"""Random kernels whose copies fill parts of arrays; `pytest -m nightly` tries 300 of them."""

from __future__ import annotations

import pytest

from checker.sync.mixed_runs import BATCH, SCHEDULES, compiled, run
from checker.sync.random_copies import COPY_FUNCTIONS, Copying


def test_copies() -> None:
    for number, (made, program) in enumerate(compiled(Copying, COPY_FUNCTIONS, 0)):
        run(made, program, 3, SCHEDULES[number % len(SCHEDULES)])
        run(made, program, 2, SCHEDULES[-1 - number % 2])


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(BATCH, 310, BATCH))
def test_many_copies(first: int) -> None:
    for made, program in compiled(Copying, COPY_FUNCTIONS, first):
        for length in (0, 1, 2):
            run(made, program, length, SCHEDULES[(first + length) % len(SCHEDULES)])
        for schedule in SCHEDULES:
            run(made, program, 3, schedule)
