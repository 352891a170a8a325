"""Random kernels of `random_mixes` and its kin on the emulator: nothing is found, and the values
are right. Some are refused, for reasons that the language gives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from checker.sync.mixed_touches import INPUTS
from checker.sync.naive import require_no_more
from checker.sync.random_mixes import Mix
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


def compiled(
    kind: type[Mix], functions: str, first: int, count: int = BATCH
) -> Iterator[tuple[Compiled, Mix]]:
    """The kernels from seed `first` on that are not refused, compiled together; they call
    `functions`."""
    drawn = map(kind, range(first, first + count))
    programs = [each for each in drawn if _is_accepted(each, functions)]
    text = functions + "".join(program.text for program in programs)
    made = compile_texts({"test.prism": text}, "test.prism", FLAGS)
    for program in programs:
        require_no_more(made, program.text, functions)
    return ((made, program) for program in programs)


def _is_accepted(program: Mix, functions: str) -> bool:
    session = check_texts({"test.prism": functions + program.text}, "test.prism", FLAGS)
    errors = {each.code for each in session.problems if each.severity.value == "error"}
    assert errors <= REASONS, f"{errors}: {program.text}"
    return not errors


def run(made: Compiled, program: Mix, number: int, schedule: Plan) -> None:
    """Runs a kernel for n = `number`, and compares what it leaves."""
    values = np.random.default_rng(number).integers(-99, 99, INPUTS, dtype=np.int32)
    before = program.memory(values, number).arguments()
    after = made.run(1, {"X": values, "n": number} | before, program.name, schedule)
    for name, expected in program.run(values, number).results().items():
        assert np.array_equal(after[name], expected), f"{name}: {program.text}"
