"""Random kernels that mix constructs, on the emulator: nothing is found, and the values are right.

Some are refused, for reasons that the language gives; `pytest -m nightly` tries 400 of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from checker.sync.mixed_touches import INPUTS, OUTPUTS
from checker.sync.random_mixes import MIX_FUNCTIONS, Mix
from checker.sync.random_programs import THREADS
from prismc.emulator.schedule import Copies, Order, Plan
from support.checking import check_texts
from support.running import Compiled, compile_texts

BATCH = 10  # kernels in one file
FLAGS = "--target sm_90"
SCHEDULES = (
    Plan(),
    Plan(order=Order.REVERSED),
    Plan(order=Order.STALLED),
    Plan(order=Order.STALLED, stalled=2),
    Plan(order=Order.RANDOM, seed=1),
    Plan(order=Order.SPLIT, copies=Copies.EARLY),
    Plan(order=Order.FORWARD, copies=Copies.EARLY),
)
# Loads that are not waited for once each time; a path through a loop with no place for a barrier.
REASONS = {"P0605", "P0630"}


def test_mixes() -> None:
    for number, (compiled, program) in enumerate(_compiled(0)):
        _run(compiled, program, 3, SCHEDULES[number % len(SCHEDULES)])


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(BATCH, 410, BATCH))
def test_many_mixes(first: int) -> None:
    for compiled, program in _compiled(first):
        for length in (0, 1):
            _run(compiled, program, length, SCHEDULES[(first + length) % len(SCHEDULES)])
        for schedule in SCHEDULES:
            _run(compiled, program, 3, schedule)


def _compiled(first: int) -> Iterator[tuple[Compiled, Mix]]:
    """The kernels from seed `first` on that are not refused, compiled together."""
    programs = [mix for mix in map(Mix, range(first, first + BATCH)) if _is_accepted(mix)]
    text = MIX_FUNCTIONS + "".join(program.text for program in programs)
    compiled = compile_texts({"test.prism": text}, "test.prism", FLAGS)
    return ((compiled, program) for program in programs)


def _is_accepted(program: Mix) -> bool:
    session = check_texts({"test.prism": MIX_FUNCTIONS + program.text}, "test.prism", FLAGS)
    errors = {each.code for each in session.problems if each.severity.value == "error"}
    assert errors <= REASONS, f"{errors}: {program.text}"
    return not errors


def _run(compiled: Compiled, program: Mix, number: int, schedule: Plan) -> None:
    values = np.random.default_rng(number).integers(-99, 99, INPUTS, dtype=np.int32)
    arguments = {"X": values, "Y": np.zeros(THREADS, np.int32), "n": number}
    arguments["Z"] = np.zeros(OUTPUTS, np.int32)
    after = compiled.run(1, arguments, program.name, schedule)
    expected = program.run(values, number)
    assert np.array_equal(after["Y"], expected.acc), program.text
    assert np.array_equal(after["Z"], expected.outputs), program.text
