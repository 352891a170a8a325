"""Random kernels through the whole compiler, on the emulator: no race, and the right values."""

from __future__ import annotations

import numpy as np
import pytest

from checker.sync.random_programs import THREADS, Program
from prismc.emulator.schedule import Order, Plan
from support.running import compile_texts


@pytest.mark.parametrize("seed", range(6))
def test_a_random_kernel_has_no_race_and_computes_what_it_says(seed: int) -> None:
    program = Program(seed)
    compiled = compile_texts({"test.prism": program.text}, "test.prism")
    values = np.random.default_rng(seed).integers(-99, 99, THREADS, dtype=np.int32)
    for number in (0, 1, 3):
        arguments = {"X": values, "Y": np.zeros(THREADS, np.int32), "n": number}
        for plan in (Plan(), Plan(order=Order.RANDOM, seed=seed)):
            after = compiled.run(1, arguments, plan=plan)
            assert np.array_equal(after["Y"], program.result(values, number))
