"""Random kernels that leave loops between loads and reads; `pytest -m nightly` tries 300."""

from __future__ import annotations

import numpy as np
import pytest

from checker.sync.mixed_runs import SCHEDULES
from checker.sync.random_paths import ROWS, TEXTS, THREADS, Kernel
from support.running import compile_texts

KERNELS = 6
TRIPS = (3, 0, 2, 1)


def _check(first: int) -> None:
    kernels = [Kernel(first + number) for number in range(KERNELS)]
    text = TEXTS + "".join(kernel.text for kernel in kernels)
    compiled = compile_texts({"paths.prism": text}, "paths.prism", "--target sm_90")
    for kernel in kernels:
        rows = np.random.default_rng(first).integers(-99, 99, (ROWS, THREADS), dtype=np.int32)
        for number, schedule in enumerate(SCHEDULES):
            trips = TRIPS[number % len(TRIPS)]
            arguments = {"X": rows.ravel(), "Y": np.zeros(THREADS, np.int32), "n": trips}
            found = compiled.run(1, arguments, kernel.name, schedule)
            assert np.array_equal(found["Y"], kernel.expected(rows, trips)), kernel.text


@pytest.mark.parametrize("first", range(0, 2 * KERNELS, KERNELS))
def test_values_and_no_findings(first: int) -> None:
    _check(first)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(2 * KERNELS, 300, KERNELS))
def test_many_paths(first: int) -> None:
    _check(first)
