"""Synchronisation events turned into knowledge (PTX ISA 8.8 and 9.7.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prismc.emulator.checks.clocks import Clocks, Knowledge
from prismc.emulator.checks.signals import Signals
from prismc.emulator.events import Events
from prismc.emulator.geometry import WARP
from prismc.emulator.scopes import Scope
from prismc.emulator.semantics.registry import Lanes

if TYPE_CHECKING:
    from prismc.emulator.barriers import Barrier
    from prismc.emulator.batch import Batch
    from prismc.emulator.lanes import Run

_FULL = np.uint32(0xFFFFFFFF)


class Gathered:
    """What the arrivals at one barrier id know together: per block stamps of all its threads."""

    def __init__(self, blocks: int, width: int) -> None:
        self.stamps = np.zeros((blocks, width), np.int32)
        self.views = np.zeros(blocks, np.int32)


class ClockEvents(Events):
    """Keeps the clocks of a launch with races watched."""

    def __init__(self, clocks: Clocks, signals: Signals) -> None:
        self.clocks = clocks
        self.signals = signals

    def batch_ended(self, batch: Batch) -> None:
        self.clocks.forget(batch)
        self.signals.forget(batch)

    def block_barrier(self, run: Run) -> None:
        known = self.clocks.of(run.batch)
        now = self.clocks.tick()
        lanes = slice(None) if run.mask is None else run.lanes
        known.base[lanes] = now
        if known.has_views:
            blocks = run.mask_array().reshape(known.blocks, -1).any(axis=1)
            self._share_views(known, np.flatnonzero(blocks), run.mask_array())

    def _share_views(self, known: Knowledge, blocks: Lanes, mask: Lanes) -> None:
        """All lanes of `mask` in each of the blocks know what one of them knows of other blocks."""
        rows, chosen = known.view.reshape(known.blocks, -1), mask.reshape(known.blocks, -1)
        for block in blocks:
            numbers = rows[block][chosen[block]]
            if numbers.any():
                joined = self.clocks.views.join_all(np.unique(numbers).tolist())
                rows[block][chosen[block]] = joined

    def barrier_arrival(self, run: Run, barrier: Barrier, arriving: Lanes) -> None:
        known = self.clocks.of(run.batch)
        gathered = self._of(barrier, known)
        now = self.clocks.tick()
        mask = arriving.reshape(known.blocks, known.width)
        base = np.where(mask, known.base.reshape(mask.shape), 0)
        stamps = np.broadcast_to(base.max(axis=1, keepdims=True), mask.shape).copy()
        by_warp = (known.blocks, known.width // WARP, WARP)
        warp = np.where(mask, known.warp_base.reshape(mask.shape), 0).reshape(by_warp)
        shared = np.broadcast_to(warp.max(axis=2, keepdims=True), by_warp).reshape(mask.shape)
        np.maximum(stamps, shared, out=stamps)
        if known.pairs is not None:
            for block in np.flatnonzero(mask.any(axis=1)):
                row = known.pairs[block][mask[block]].max(axis=0)
                np.maximum(stamps[block], row, out=stamps[block])
        stamps[mask] = now
        np.maximum(gathered.stamps, stamps, out=gathered.stamps)
        if known.has_views:
            self._gather_views(known, gathered, mask)

    def _of(self, barrier: Barrier, known: Knowledge) -> Gathered:
        gathered = barrier.observed
        if not isinstance(gathered, Gathered):
            gathered = barrier.observed = Gathered(known.blocks, known.width)
        return gathered

    def _gather_views(self, known: Knowledge, gathered: Gathered, mask: Lanes) -> None:
        rows = known.view.reshape(mask.shape)
        for block in np.flatnonzero(mask.any(axis=1)):
            numbers = [int(gathered.views[block]), *np.unique(rows[block][mask[block]]).tolist()]
            gathered.views[block] = self.clocks.views.join_all(numbers)

    def barrier_opened(
        self,
        batch: Batch,
        number: int,
        barrier: Barrier,
        opened: Lanes,
        joined: Lanes,
        released: Lanes,
    ) -> None:
        known = self.clocks.of(batch)
        gathered = self._of(barrier, known)
        rows = released.reshape(known.blocks, known.width)
        threads = batch.geometry.shape.block.volume
        everyone = np.count_nonzero(rows, axis=1) == threads
        now = self.clocks.tick()
        for block in np.flatnonzero(opened):
            mask = rows[block]
            if everyone[block]:
                known.base.reshape(rows.shape)[block][mask] = now
            elif mask.any():
                pairs = known.pair_matrix()[block]
                pairs[mask] = np.maximum(pairs[mask], gathered.stamps[block])
            if gathered.views[block]:
                self._learn_view(known, int(gathered.views[block]), int(block), mask)
        gathered.stamps[opened] = 0
        gathered.views[opened] = 0

    def _learn_view(self, known: Knowledge, view: int, block: int, mask: Lanes) -> None:
        numbers = known.view.reshape(known.blocks, known.width)[block]
        for number in np.unique(numbers[mask]):
            numbers[mask & (numbers == number)] = self.clocks.views.join(int(number), view)
        known.has_views = True

    def fence(self, run: Run, scope: Scope) -> None:
        self.signals.fence(run, scope)

    def warp_barrier(self, run: Run, masks: Lanes) -> None:
        known = self.clocks.of(run.batch)
        rows = run.by_warp(masks, None)
        active = run.mask_array().reshape(-1, WARP)
        exists = run.batch.geometry.exists
        there = np.ones_like(active) if exists is None else exists.reshape(-1, WARP)
        whole = (active | ~there).all(axis=1) & ((rows == _FULL) | ~active).all(axis=1)
        now = self.clocks.tick()
        if whole.any():
            self._whole_warps(known, np.flatnonzero(whole), now)
        for warp in np.flatnonzero(active.any(axis=1) & ~whole):
            for mask in np.unique(rows[warp][active[warp]]):
                members = active[warp] & (rows[warp] == mask)
                self._part_of_warp(known, int(warp), np.flatnonzero(members), now)

    def _whole_warps(self, known: Knowledge, warps: Lanes, now: int) -> None:
        base = known.base.reshape(-1, WARP)
        base[warps] = base[warps].max(axis=1, keepdims=True)
        known.warp_base.reshape(-1, WARP)[warps] = now
        if known.pairs is not None:
            pairs = known.pairs.reshape(-1, WARP, known.width)
            pairs[warps] = pairs[warps].max(axis=1, keepdims=True)
        if known.has_views:
            views = known.view.reshape(-1, WARP)
            for warp in warps:
                if views[warp].any():
                    views[warp] = self.clocks.views.join_all(np.unique(views[warp]).tolist())

    def _part_of_warp(self, known: Knowledge, warp: int, members: Lanes, now: int) -> None:
        """Some lanes of a warp: what each knows all know, pair by pair."""
        lanes = warp * WARP + members
        block, threads = warp * WARP // known.width, lanes % known.width
        pairs = known.pair_matrix()[block]
        together = np.max([known.row(int(lane)) for lane in lanes], axis=0)
        together[threads] = now
        pairs[threads] = np.maximum(pairs[threads], together)
        views = np.unique(known.view[lanes])
        if views.any():
            known.view[lanes] = self.clocks.views.join_all(views.tolist())
