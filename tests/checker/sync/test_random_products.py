"""Random kernels of products of warpgroups; `pytest -m nightly` tries 100 of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from checker.sync.mixed_runs import SCHEDULES
from checker.sync.naive import require_no_more
from checker.sync.random_products import COLUMNS, PRODUCT_FUNCTIONS, ROWS, STEP, Kernel
from prismc.emulator.schedule import Plan
from support.running import Compiled, compile_texts

BATCH = 10  # kernels in one file


def test_products() -> None:
    for number, (made, kernel) in enumerate(_compiled(range(3))):
        _run(made, kernel, 3 + number % 2, SCHEDULES[number % len(SCHEDULES)])


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, 100, BATCH))
def test_many_products(first: int) -> None:
    for made, kernel in _compiled(range(first, first + BATCH)):
        for steps, schedule in enumerate(SCHEDULES):
            _run(made, kernel, steps, schedule)


def _compiled(seeds: Iterable[int]) -> list[tuple[Compiled, Kernel]]:
    kernels = [Kernel(seed) for seed in seeds]
    text = PRODUCT_FUNCTIONS + "\n".join(kernel.text for kernel in kernels)
    made = compile_texts({"test.prism": text}, "test.prism", "--target sm_90a")
    for kernel in kernels:
        require_no_more(made, kernel.text, PRODUCT_FUNCTIONS)
    return [(made, kernel) for kernel in kernels]


def _run(made: Compiled, kernel: Kernel, steps: int, schedule: Plan) -> None:
    """Runs a kernel for matrices of so many tiles; without one, they still have some columns."""
    random = np.random.default_rng(steps)
    depth = steps * STEP
    a, b = (
        np.round(random.standard_normal((rows, max(depth, STEP))) * 4).astype(np.float16)
        for rows in (ROWS, COLUMNS)
    )
    arguments = {"A": a, "B": b, "C": np.zeros((ROWS, COLUMNS), np.float32), "K": depth}
    after = made.run(1, arguments, kernel.name, schedule)
    expected = kernel.expected(a[:, :depth], b[:, :depth])
    assert np.allclose(after["C"], expected, rtol=1e-4, atol=1e-3), kernel.text
