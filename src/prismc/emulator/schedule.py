"""Who runs when: the default order, adversarial orders and random ones. All are deterministic.

A schedule cuts the lanes of a batch into *crews* of whole or half warps, which run one after the
other as far as they can, and says in which order blocks start and when asynchronous copies happen.
"""

from __future__ import annotations

import random
from enum import Enum
from typing import TypeVar

import numpy as np

from prismc.emulator.geometry import WARP, Geometry
from prismc.emulator.semantics.registry import Lanes
from prismc.source.record import Value

Key = tuple[int, tuple[int, ...]]
G = TypeVar("G")


class Order(Enum):
    """How warps take turns."""

    TOGETHER = "all warps in step"
    FORWARD = "one warp after the other, the first first"
    REVERSED = "one warp after the other, the last first"
    STALLED = "one warp as late as possible"
    RANDOM = "random turns"
    SPLIT = "the halves of each warp one after the other, until something brings them together"


class Copies(Enum):
    """When an asynchronous copy takes place between its issue and its completion."""

    LATE = "when something waits for it"
    EARLY = "at its issue"


class Plan(Value):
    """Which schedule: an order, a seed for what is random, and when copies happen.

    `stalled` is the warp (of each block) that STALLED keeps back. `resident` is the number of
    blocks that the GPU holds at a time, others start when some have ended; 0: the whole grid.
    """

    order: Order = Order.TOGETHER
    seed: int = 0
    copies: Copies = Copies.LATE
    high_blocks_first: bool = False
    stalled: int = 0
    resident: int = 0


class Schedule:
    """A plan in action."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.random = random.Random(plan.seed)

    def crew_numbers(self, geometry: Geometry) -> Lanes | None:
        """The crew of each lane, `[lanes]`; None if all are one crew. Low numbers run first."""
        warp = geometry.thread // WARP
        count = geometry.width // WARP
        match self.plan.order:
            case Order.TOGETHER:
                return None
            case Order.FORWARD:
                return warp
            case Order.REVERSED:
                return count - 1 - warp
            case Order.STALLED:
                last: Lanes = (warp == self.plan.stalled % count).astype(np.int64)
                return last
            case Order.RANDOM:
                return self._random_crews(geometry, warp, count)
            case Order.SPLIT:
                return geometry.thread % WARP // (WARP // 2)

    def _random_crews(self, geometry: Geometry, warp: Lanes, count: int) -> Lanes:
        """Each warp of a block in one of up to four crews; half of the blocks shifted by one."""
        crews = min(4, count)
        dealt = [index % crews for index in range(count)]
        self.random.shuffle(dealt)
        shift = geometry.place % 2 if self.random.random() < 0.5 else geometry.place * 0
        numbers: Lanes = (np.array(dealt, np.int64)[warp] + shift) % crews
        return numbers

    def choose(self, ready: dict[Key, G]) -> Key:
        """The group that runs next."""
        if self.plan.order is not Order.RANDOM or len(ready) == 1:
            return min(ready)
        crew = self.random.choice(sorted({key[0] for key in ready}))
        return min(key for key in ready if key[0] == crew)

    def hands_over(self, ready: dict[Key, G], key: Key) -> bool:
        """Whether the group that reached `key` must go back into `ready` (to merge or to wait)."""
        if self.plan.order is not Order.RANDOM:
            return min(ready) <= key
        if self.random.random() < 0.05:
            return True
        return any(other[0] == key[0] and other <= key for other in ready)

    def order_blocks(self, count: int) -> Lanes:
        """All blocks of the grid in the order they start, int64."""
        blocks = np.arange(count, dtype=np.int64)
        return blocks[::-1] if self.plan.high_blocks_first else blocks


def adversaries(count: int, seed: int = 0) -> tuple[Plan, ...]:
    """`count` plans: the default, the adversarial ones, then random ones from `seed` on."""
    fixed = (
        Plan(),
        Plan(order=Order.REVERSED, high_blocks_first=True),
        Plan(order=Order.FORWARD, copies=Copies.EARLY),
        Plan(order=Order.STALLED, stalled=0),
        Plan(order=Order.STALLED, stalled=1, copies=Copies.EARLY, high_blocks_first=True),
        Plan(order=Order.SPLIT),
    )
    copies = (Copies.LATE, Copies.EARLY)
    drawn = tuple(
        Plan(order=Order.RANDOM, seed=seed + index, copies=copies[index % 2],
             high_blocks_first=index % 4 >= 2)
        for index in range(max(0, count - len(fixed)))
    )  # fmt: skip
    return (*fixed, *drawn)[:count]
