"""Random kernels that mix constructs; `pytest -m nightly` tries 400 of them."""

from __future__ import annotations

import pytest

from checker.sync.mixed_runs import BATCH, SCHEDULES, compiled, run
from checker.sync.random_mixes import MIX_FUNCTIONS, Mix


def test_mixes() -> None:
    for number, (made, program) in enumerate(compiled(Mix, MIX_FUNCTIONS, 0)):
        run(made, program, 3, SCHEDULES[number % len(SCHEDULES)])


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(BATCH, 410, BATCH))
def test_many_mixes(first: int) -> None:
    for made, program in compiled(Mix, MIX_FUNCTIONS, first):
        for length in (0, 1):
            run(made, program, length, SCHEDULES[(first + length) % len(SCHEDULES)])
        for schedule in SCHEDULES:
            run(made, program, 3, schedule)
