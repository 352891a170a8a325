"""Happens-before (PTX ISA 8.8, causality order), as stamps.

The launch has one counter, `now`, which every synchronisation advances; an access carries the
counter's value. What a thread knows of another one is a stamp: all that the other did with smaller
stamps happened before. Barriers make most of this knowledge the same for whole blocks and warps, so
it is kept in layers: `base` (all threads of the block), `warp_base` (all of the warp), a matrix of
pairs only for blocks that synchronise in parts, and numbered views of other blocks.

Copy engines act like further threads of a block: `ENGINES` of them, so that who waited for one
copy knows nothing of another. A *row* is what is known of one block: stamps of its threads, then of
its engines. Threads are numbered in the grid, rows after rows.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.checks.fence_history import NEVER, FenceHistory
from prismc.emulator.checks.views import View, Views
from prismc.emulator.geometry import WARP
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch

ENGINES = 64
# Of the engines, those from here on are the tensor cores of the warps, by number.
TENSOR_CORES = 32


class Knowledge:
    """What the threads of one batch know. Arrays are int32 `[lanes]`.

    `width` is the number of lanes of a block, `row_width` the length of a row.
    """

    def __init__(self, batch: Batch) -> None:
        geometry = batch.geometry
        count = geometry.count
        self.width = geometry.width
        self.row_width = geometry.width + ENGINES
        self.blocks = len(geometry.blocks)
        self.block_numbers = geometry.blocks
        self.thread_number = geometry.block * self.row_width + geometry.thread
        self.base = np.zeros(count, np.int32)
        self.warp_base = np.zeros(count, np.int32)
        self.view = np.zeros(count, np.int32)
        self.has_views = False
        self.pairs: Lanes | None = None
        self.engines: Lanes | None = None
        self.proxy_fences = FenceHistory(count)

    def lanes_of(self, threads: Lanes) -> Lanes:
        """The lanes of thread numbers; -1 for copy engines and for threads of other batches."""
        blocks, thread = np.divmod(threads, self.row_width)
        order = np.argsort(self.block_numbers)
        at = np.searchsorted(self.block_numbers, blocks, sorter=order)
        place = order[np.minimum(at, len(order) - 1)]
        known = (self.block_numbers[place] == blocks) & (thread < self.width)
        return np.where(known, place * self.width + thread, -1)

    def note_proxy_fence(self, lanes: Lanes, now: int) -> None:
        """Lanes have executed a proxy fence."""
        self.proxy_fences.note(lanes, now)

    def pair_matrix(self) -> Lanes:
        """`[blocks, thread, other thread]`: what is known beyond the bases; made when needed."""
        if self.pairs is None:
            self.pairs = np.zeros((self.blocks, self.width, self.width), np.int32)
        return self.pairs

    def engine_matrix(self) -> Lanes:
        """`[lanes, engines]`: what is known of the own block's copy engines; made when needed."""
        if self.engines is None:
            self.engines = np.zeros((len(self.base), ENGINES), np.int32)
        return self.engines

    def row(self, lane: int) -> Lanes:
        """All that one lane knows of its own block, itself excepted."""
        block, thread = divmod(lane, self.width)
        row = np.zeros(self.row_width, np.int32)
        row[: self.width] = self.base[lane]
        warp = slice(thread // WARP * WARP, thread // WARP * WARP + WARP)
        row[warp] = np.maximum(row[warp], self.warp_base[lane])
        if self.pairs is not None:
            np.maximum(row[: self.width], self.pairs[block, thread], out=row[: self.width])
        if self.engines is not None:
            row[self.width :] = self.engines[lane]
        return row

    def joint_row(self, block: int, threads: Lanes, now: int) -> Lanes:
        """What some threads of a block (by place) know together; themselves up to `now`."""
        lanes = block * self.width + threads
        row = np.zeros(self.row_width, np.int32)
        own = row[: self.width]
        own[:] = self.base[lanes].max()
        np.maximum.at(own.reshape(-1, WARP), threads // WARP, self.warp_base[lanes][:, None])
        if self.pairs is not None:
            np.maximum(own, self.pairs[block, threads].max(axis=0), out=own)
        if self.engines is not None:
            row[self.width :] = self.engines[lanes].max(axis=0)
        own[threads] = now
        return row

    def learn_row(self, lanes: Lanes, row: Lanes) -> None:
        """Lanes of one block know a row from now on."""
        blocks, threads = np.divmod(lanes, self.width)
        known = self.base[lanes].min()
        if (row[: self.width] > known).any():
            pairs = self.pair_matrix()
            pairs[blocks, threads] = np.maximum(pairs[blocks, threads], row[: self.width])
        if row[self.width :].any():
            engines = self.engine_matrix()
            engines[lanes] = np.maximum(engines[lanes], row[self.width :])


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

    def gather(self, known: Knowledge, lanes: Lanes) -> int:
        """The number of a view of all that some lanes know and have done."""
        now = self.tick()
        blocks = lanes // known.width
        result = 0
        for block in np.unique(blocks):
            threads = lanes[blocks == block] % known.width
            row = known.joint_row(int(block), threads, now)
            number = self.views.add({int(known.block_numbers[block]): row})
            result = self.views.join(result, number)
        others = known.view[lanes]
        return self.views.join(result, self.views.join_all(np.unique(others).tolist()))

    def learn(self, known: Knowledge, lanes: Lanes, view: int) -> None:
        """Lanes know what a view knows from now on."""
        if not view or not len(lanes):
            return
        places = lanes // known.width
        for place in np.unique(places):
            row = self.views[view].get(int(known.block_numbers[place]))
            if row is not None:
                known.learn_row(lanes[places == place], row)
        for number in np.unique(known.view[lanes]):
            chosen = lanes[known.view[lanes] == number]
            known.view[chosen] = self.views.join(int(number), view)
        known.has_views = True

    def ordered(self, batch: Batch, lanes: Lanes, others: Lanes, stamps: Lanes) -> Lanes:
        """Which accesses by threads `others` (numbers in the grid) happened before `lanes` now."""
        known = self.of(batch)
        own = known.thread_number[lanes]
        same_block = others // known.row_width == own // known.row_width
        other = others % known.row_width
        is_thread = other < known.width
        before: Lanes = others == own
        before |= same_block & is_thread & (stamps < known.base[lanes])
        same_warp = same_block & (other // WARP == own % known.row_width // WARP)
        before |= same_warp & (stamps < known.warp_base[lanes])
        if known.pairs is not None:
            self._by_pairs(known, lanes, other, stamps, same_block & is_thread, before)
        if known.engines is not None:
            self._by_engines(known, lanes, other, stamps, same_block & ~is_thread, before)
        if known.has_views:
            self._by_views(known, lanes, others, stamps, same_block, before)
        return before

    def unfenced(self, batch: Batch, lanes: Lanes, others: Lanes, stamps: Lanes) -> Lanes:
        """Which generic accesses by `others` no proxy fence of theirs makes visible to `lanes`.

        The fence must follow the access and happen before the lane's present.
        """
        known = self.of(batch)
        writers = known.lanes_of(others)
        fences = known.proxy_fences.first_after(writers, stamps)
        is_fenced = (fences < NEVER) & self.ordered(batch, lanes, others, fences)
        missing: Lanes = (writers >= 0) & ~is_fenced
        return missing

    def _by_pairs(
        self,
        known: Knowledge,
        lanes: Lanes,
        other: Lanes,
        stamps: Lanes,
        which: Lanes,
        before: Lanes,
    ) -> None:
        rest = np.flatnonzero(which & ~before)
        if len(rest) and known.pairs is not None:
            block, thread = np.divmod(lanes[rest], known.width)
            before[rest] = stamps[rest] < known.pairs[block, thread, other[rest]]

    def _by_engines(
        self,
        known: Knowledge,
        lanes: Lanes,
        other: Lanes,
        stamps: Lanes,
        which: Lanes,
        before: Lanes,
    ) -> None:
        rest = np.flatnonzero(which)
        if len(rest) and known.engines is not None:
            engine = other[rest] - known.width
            before[rest] = stamps[rest] < known.engines[lanes[rest], engine]

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
                self.views[int(number)], known.row_width, others[chosen], stamps[chosen]
            )

    def _in_view(self, view: View, width: int, others: Lanes, stamps: Lanes) -> Lanes:
        before = np.zeros(len(others), np.bool_)
        blocks, threads = np.divmod(others, width)
        for block in np.unique(blocks):
            row = view.get(int(block))
            if row is not None:
                chosen = blocks == block
                before[chosen] = stamps[chosen] < row[threads[chosen]]
        return before
