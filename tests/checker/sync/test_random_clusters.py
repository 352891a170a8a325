"""Random kernels of clusters; `pytest -m nightly` tries 100 of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from checker.sync.mixed_runs import SCHEDULES
from checker.sync.naive import require_no_more
from checker.sync.random_clusters import CLUSTER_FUNCTIONS, CLUSTERS, INPUTS, Kernel
from prismc.emulator.schedule import Plan
from support.running import Compiled, compile_texts

BATCH = 10  # kernels in one file
FLAGS = "--target sm_90a"


def test_clusters() -> None:
    for number, (made, kernel) in enumerate(_compiled(range(3))):
        _run(made, kernel, 3, SCHEDULES[number % len(SCHEDULES)])


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, 100, BATCH))
def test_many_clusters(first: int) -> None:
    for made, kernel in _compiled(range(first, first + BATCH)):
        for number in (0, 1, 2):
            _run(made, kernel, number, SCHEDULES[(first + number) % len(SCHEDULES)])
        for schedule in SCHEDULES:
            _run(made, kernel, 5, schedule)


def _compiled(seeds: Iterable[int]) -> Iterator[tuple[Compiled, Kernel]]:
    kernels = [Kernel(seed) for seed in seeds]
    text = CLUSTER_FUNCTIONS + "".join(kernel.text for kernel in kernels)
    made = compile_texts({"test.prism": text}, "test.prism", FLAGS)
    for kernel in kernels:
        require_no_more(made, kernel.text, CLUSTER_FUNCTIONS)
    return ((made, kernel) for kernel in kernels)


def _run(made: Compiled, kernel: Kernel, number: int, schedule: Plan) -> None:
    values = np.random.default_rng(number).integers(-99, 99, INPUTS, dtype=np.int32)
    expected = kernel.run(values, number)
    room = np.zeros(expected.acc.size, np.int32)
    arguments = {"X": values, "Y": room, "Z": room.copy(), "n": number}
    after = made.run(CLUSTERS * kernel.blocks, arguments, kernel.name, schedule)
    assert np.array_equal(after["Y"], expected.acc.ravel()), kernel.text
    assert np.array_equal(after["Z"], expected.z.ravel()), kernel.text
