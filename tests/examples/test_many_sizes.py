"""Every example on many random and ragged sizes, under the default and adversarial schedules.

What NumPy makes of the arguments in float64 is the reference; `launches.py` states the tolerances.
These take minutes: `make nightly` runs them; the suite has a few of each in `test_examples.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

from examples.launches import LAUNCHES, small_example
from prismc.emulator.schedule import Copies, Order, Plan
from support.numbers import random_for

pytestmark = pytest.mark.nightly

SIZES = 20
PATIENCE = 1800  # seconds for a launch: other work may have the machine
PLANS = {
    "default": Plan(),
    "last first": Plan(order=Order.REVERSED, high_blocks_first=True),
    "a warp late": Plan(order=Order.STALLED, copies=Copies.EARLY, high_blocks_first=True),
    "random turns": Plan(order=Order.RANDOM, seed=7),
}


def _sizes(name: str) -> list[tuple[int, ...]]:
    """Ragged sizes: half of them spread evenly, the others on a scale of powers of two, so that
    small ones and those beside a tile's edge are among them."""
    random = random_for(f"many {name}")
    largest = LAUNCHES[name].largest
    even = [tuple(int(random.integers(1, n, endpoint=True)) for n in largest) for _ in range(SIZES)]
    for number in range(0, SIZES, 2):
        exponents = (random.uniform(0, np.log2(n)) if n > 1 else 0.0 for n in largest)
        edges = (round(2.0**each) + int(random.integers(-1, 2)) for each in exponents)
        even[number] = tuple(min(max(each, 1), n) for each, n in zip(edges, largest, strict=True))
    return even


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("name", LAUNCHES)
def test_many_sizes(name: str, plan: Plan) -> None:
    wrong = {}
    for number, sizes in enumerate(_sizes(name)):
        random = np.random.default_rng(number)
        launch = LAUNCHES[name].launch_small(random, *sizes)
        if problem := launch.run(small_example(name), plan, PATIENCE):
            wrong[sizes] = problem
    assert wrong == {}


@pytest.mark.parametrize("kind", [1, 2])
@pytest.mark.parametrize("order", list(Order))
def test_prefix_scan_of_hundreds_of_blocks_with_the_last_first(order: Order, kind: int) -> None:
    blocks = 300 + 40 * kind
    launch = LAUNCHES["prefix_scan"].make(np.random.default_rng(kind), blocks * 4096 - 77, kind)
    plan = Plan(order=order, seed=5, high_blocks_first=True, resident=96)
    assert launch.run(small_example("prefix_scan"), plan, PATIENCE) == ""
