"""Random kernels of blocks that are no whole warps; `pytest -m nightly` tries 300 of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from checker.sync.mixed_runs import FLAGS, SCHEDULES
from checker.sync.naive import require_no_more
from checker.sync.random_parts import INPUTS, PART_FUNCTIONS, Kernel
from prismc.emulator.schedule import Plan
from support.running import Compiled, compile_texts

BATCH = 10  # kernels in one file


def test_parts() -> None:
    for number, (made, kernel) in enumerate(_compiled(range(8))):
        _run(made, kernel, 3, SCHEDULES[number % len(SCHEDULES)])
        _run(made, kernel, number % 3, SCHEDULES[-1 - number % 2])


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(BATCH, 310, BATCH))
def test_many_parts(first: int) -> None:
    for made, kernel in _compiled(range(first, first + BATCH)):
        for length in (0, 1, 2):
            _run(made, kernel, length, SCHEDULES[(first + length) % len(SCHEDULES)])
        for schedule in SCHEDULES:
            _run(made, kernel, 3, schedule)


def _compiled(seeds: Iterable[int]) -> list[tuple[Compiled, Kernel]]:
    kernels = [Kernel(seed) for seed in seeds]
    text = PART_FUNCTIONS + "".join(kernel.text for kernel in kernels)
    made = compile_texts({"test.prism": text}, "test.prism", FLAGS)
    for kernel in kernels:
        require_no_more(made, kernel.text, PART_FUNCTIONS)
    return [(made, kernel) for kernel in kernels]


def _run(made: Compiled, kernel: Kernel, number: int, schedule: Plan) -> None:
    values = np.random.default_rng(number).integers(-99, 99, INPUTS, dtype=np.int32)
    arguments = {"X": values, "Y": np.zeros(kernel.size, np.int32), "n": number}
    after = made.run(1, arguments, kernel.name, schedule)
    assert np.array_equal(after["Y"], kernel.run(values, number)), kernel.text
