"""Random kernels through the whole compiler, on the emulator: no race, the right values, and never
more operations than naive insertion would need.

`pytest -m nightly` tries 2,000 of them, under more schedules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from checker.sync.naive import require_no_more
from checker.sync.random_programs import FUNCTIONS, THREADS, Program
from prismc.emulator.schedule import Order, Plan
from support.running import Compiled, compile_texts

BATCH = 20  # kernels in one file: one run of the CUDA compiler
RANDOM = Plan(order=Order.RANDOM, seed=1)
SCHEDULES = (Plan(), Plan(order=Order.REVERSED), Plan(order=Order.STALLED), RANDOM)


@pytest.mark.parametrize("first", range(0, 100, BATCH))
def test_random_kernels(first: int) -> None:
    for compiled, program in _programs(range(first, first + BATCH)):
        for number in (0, 3):
            _run(compiled, program, number, RANDOM)


def test_kernels_that_were_refused() -> None:
    """518: warps wait inside a call, beside a split barrier of two of them."""
    for compiled, program in _programs([518]):
        for schedule in SCHEDULES:
            _run(compiled, program, 3, schedule)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(100, 2100, BATCH))
def test_many_random_kernels(first: int) -> None:
    """Loops that end at once or go around once take a schedule each, longer ones all of them."""
    for number, (compiled, program) in enumerate(_programs(range(first, first + BATCH))):
        for length in (0, 1):
            _run(compiled, program, length, SCHEDULES[(number + length) % len(SCHEDULES)])
        for schedule in SCHEDULES:
            _run(compiled, program, 3, schedule)


def _programs(seeds: Iterable[int]) -> Iterator[tuple[Compiled, Program]]:
    """Kernels, compiled together."""
    programs = [Program(seed) for seed in seeds]
    text = FUNCTIONS + "".join(program.text for program in programs)
    compiled = compile_texts({"test.prism": text}, "test.prism")
    for program in programs:
        require_no_more(compiled, program.text, FUNCTIONS)
        yield compiled, program


def _run(compiled: Compiled, program: Program, number: int, schedule: Plan) -> None:
    values = np.random.default_rng(number).integers(-99, 99, THREADS, dtype=np.int32)
    arguments = {"X": values, "Y": np.zeros(THREADS, np.int32), "n": number}
    after = compiled.run(1, arguments, program.name, schedule)
    assert np.array_equal(after["Y"], program.result(values, number)), program.text
