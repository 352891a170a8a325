"""Random kernels of `random_mixes` and its kin on the emulator: none is refused, nothing is found,
and the values are right."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from checker.sync.mixed_touches import INPUTS
from checker.sync.naive import require_no_more
from checker.sync.random_mixes import Mix
from prismc.emulator.schedule import Copies, Order, Plan
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


def compiled(
    kind: type[Mix], functions: str, first: int, count: int = BATCH
) -> Iterator[tuple[Compiled, Mix]]:
    """The kernels from seed `first` on, compiled together; they call `functions`."""
    programs = [kind(seed) for seed in range(first, first + count)]
    text = functions + "".join(program.text for program in programs)
    made = compile_texts({"test.prism": text}, "test.prism", FLAGS)
    for program in programs:
        require_no_more(made, program.text, functions)
    return ((made, program) for program in programs)


def run(made: Compiled, program: Mix, number: int, schedule: Plan) -> None:
    """Runs a kernel for n = `number`, and compares what it leaves."""
    values = np.random.default_rng(number).integers(-99, 99, INPUTS, dtype=np.int32)
    before = program.memory(values, number).arguments()
    after = made.run(1, {"X": values, "n": number} | before, program.name, schedule)
    for name, expected in program.run(values, number).results().items():
        assert np.array_equal(after[name], expected), f"{name}: {program.text}"
