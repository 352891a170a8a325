"""What the clocks keep about a block barrier: this generation's arrivals, and those of the last.

A thread that arrives without waiting may come back before the generation is complete; then it
arrives twice in one, and the barrier opens too early. It is safe only if all that arrived with it
happened before its return (PTX ISA 9.7.13.1, barrier): a schedule under which nothing goes wrong
shows the fault as well.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.checks.clocks import Clocks
from prismc.emulator.geometry import WARP
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch


class Generations:
    """One barrier id of all blocks of a batch. `views` are what all that arrived in the current
    generation know and have done, `[blocks]`; the other arrays are `[lanes]`."""

    def __init__(self, batch: Batch) -> None:
        lanes = batch.geometry.count
        self.batch = batch
        self.views = np.zeros(len(batch.geometry.blocks), np.int64)
        self.arrivals: Lanes = np.zeros(lanes, np.int32)  # stamps; 0: has not arrived
        self.last_arrivals: Lanes = np.zeros(lanes, np.int32)
        self.went_on: Lanes = np.zeros(lanes, np.bool_)  # arrived in the last one, did not wait

    def arrive(self, lanes: Lanes, now: int) -> None:
        """Lanes arrive at a time."""
        self.arrivals[lanes] = now
        self.went_on[lanes] = False

    def open(self, opened: Lanes, released: Lanes) -> None:
        """A generation is complete in blocks (`[blocks]`); some lanes (`[lanes]`) waited for it."""
        here = np.repeat(opened, self.batch.geometry.width)
        self.last_arrivals[here] = self.arrivals[here]
        self.went_on[here] = (self.arrivals[here] > 0) & ~released[here]
        self.arrivals[here] = 0
        self.views[opened] = 0

    def too_early(self, clocks: Clocks, arriving: Lanes) -> Lanes | None:
        """Those of the arriving lanes that may arrive twice in one generation; None for nobody."""
        back = np.flatnonzero(arriving & self.went_on)
        early = np.zeros_like(arriving)
        _, first = np.unique(back // WARP, return_index=True)
        for lane in back[first]:
            early[lane] = not self._knows_the_others(clocks, int(lane))
        return early if early.any() else None

    def _knows_the_others(self, clocks: Clocks, lane: int) -> bool:
        """Whether all arrivals of other warps in the last generation happened before a lane's
        present."""
        width = self.batch.geometry.width
        start = lane // width * width
        others = start + np.flatnonzero(self.last_arrivals[start : start + width])
        others = others[others // WARP != lane // WARP]
        numbers = clocks.of(self.batch).thread_number[others]
        stamps = self.last_arrivals[others]
        known = clocks.ordered(self.batch, np.full(len(others), lane), numbers, stamps)
        return bool(known.all())
