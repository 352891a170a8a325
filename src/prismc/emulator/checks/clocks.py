"""Happens-before (PTX ISA 8.8, causality order), as stamps.

The launch has one counter, `now`, which every synchronisation advances; an access carries the
counter's value. What a thread knows of another one is a stamp: all that the other did with smaller
stamps happened before. Barriers make most of this knowledge the same for whole blocks and warps, so
it is kept in layers: `base` (all threads of the block), `warp_base` (all of the warp), a matrix of
pairs only for blocks that synchronise in parts, and numbered views of other blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prismc.emulator.checks.views import View, Views
from prismc.emulator.geometry import WARP
from prismc.emulator.semantics.registry import Lanes

if TYPE_CHECKING:
    from prismc.emulator.batch import Batch


class Knowledge:
    """What the threads of one batch know. Arrays are int32 `[lanes]`."""

    def __init__(self, batch: Batch) -> None:
        geometry = batch.geometry
        count = geometry.count
        self.width = geometry.width
        self.blocks = len(geometry.blocks)
        self.thread_number = geometry.block * geometry.width + geometry.thread
        self.base = np.zeros(count, np.int32)
        self.warp_base = np.zeros(count, np.int32)
        self.view = np.zeros(count, np.int32)
        self.has_views = False
        self.pairs: Lanes | None = None

    def pair_matrix(self) -> Lanes:
        """`[blocks, thread, other thread]`: what is known beyond the bases; made when needed."""
        if self.pairs is None:
            self.pairs = np.zeros((self.blocks, self.width, self.width), np.int32)
        return self.pairs

    def row(self, lane: int) -> Lanes:
        """All that one lane knows of its block's threads, itself excepted: stamps `[threads]`."""
        block, thread = divmod(lane, self.width)
        row = np.full(self.width, self.base[lane], np.int32)
        warp = slice(thread // WARP * WARP, thread // WARP * WARP + WARP)
        row[warp] = np.maximum(row[warp], self.warp_base[lane])
        if self.pairs is not None:
            np.maximum(row, self.pairs[block, thread], out=row)
        return row


class Clocks:
    """The launch's counter, and the question all checks ask: did that happen before this?"""

    def __init__(self) -> None:
        self.now = 1
        self.views = Views()
        self._batches: dict[int, Knowledge] = {}

    def of(self, batch: Batch) -> Knowledge:
        """The knowledge of a batch's threads."""
        known = self._batches.get(id(batch))
        if known is None:
            known = self._batches[id(batch)] = Knowledge(batch)
        return known

    def forget(self, batch: Batch) -> None:
        """The batch has ended."""
        self._batches.pop(id(batch), None)

    def tick(self) -> int:
        """Advances the counter: what was done before has smaller stamps from here on."""
        self.now += 1
        return self.now

    def ordered(self, batch: Batch, lanes: Lanes, others: Lanes, stamps: Lanes) -> Lanes:
        """Which accesses by threads `others` (numbers in the grid) happened before `lanes` now."""
        known = self.of(batch)
        own = known.thread_number[lanes]
        same_block = others // known.width == own // known.width
        before: Lanes = (others == own) | (same_block & (stamps < known.base[lanes]))
        same_warp = others // WARP == own // WARP
        before |= same_warp & (stamps < known.warp_base[lanes])
        if known.pairs is not None:
            self._by_pairs(known, lanes, others, stamps, same_block, before)
        if known.has_views:
            self._by_views(known, lanes, others, stamps, same_block, before)
        return before

    def _by_pairs(
        self,
        known: Knowledge,
        lanes: Lanes,
        others: Lanes,
        stamps: Lanes,
        same_block: Lanes,
        before: Lanes,
    ) -> None:
        rest = np.flatnonzero(same_block & ~before)
        if len(rest) and known.pairs is not None:
            block, thread = np.divmod(lanes[rest], known.width)
            other = others[rest] % known.width
            before[rest] = stamps[rest] < known.pairs[block, thread, other]

    def _by_views(
        self,
        known: Knowledge,
        lanes: Lanes,
        others: Lanes,
        stamps: Lanes,
        same_block: Lanes,
        before: Lanes,
    ) -> None:
        rest = np.flatnonzero(~same_block & ~before)
        numbers = known.view[lanes[rest]]
        for number in np.unique(numbers[numbers > 0]):
            chosen = rest[numbers == number]
            before[chosen] = self._in_view(
                self.views[int(number)], known.width, others[chosen], stamps[chosen]
            )

    def _in_view(self, view: View, width: int, others: Lanes, stamps: Lanes) -> Lanes:
        before = np.zeros(len(others), np.bool_)
        blocks, threads = np.divmod(others, width)
        for block in np.unique(blocks):
            vector = view.get(int(block))
            if vector is not None:
                chosen = blocks == block
                before[chosen] = stamps[chosen] < vector[threads[chosen]]
        return before
