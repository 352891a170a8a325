"""Synchronisation events turned into knowledge (PTX ISA 8.8 and 9.7.13)."""

from __future__ import annotations

import numpy as np

from prismc.emulator.checks.clocks import Clocks, Knowledge
from prismc.emulator.checks.generations import Generations
from prismc.emulator.checks.signals import Signals
from prismc.emulator.events import Events
from prismc.emulator.geometry import WARP
from prismc.emulator.scopes import Scope
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.barrier import Barrier
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.run import Run

_FULL = np.uint32(0xFFFFFFFF)


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
        if known.has_views or known.engines is not None:
            rows = run.mask_array().reshape(known.blocks, known.width)
            for block in np.flatnonzero(rows.any(axis=1)):
                self._share(known, block * known.width + np.flatnonzero(rows[block]))

    def _share(self, known: Knowledge, lanes: Lanes) -> None:
        """Lanes of one block share what they know of copy engines and of other blocks."""
        if known.engines is not None:
            known.engines[lanes] = known.engines[lanes].max(axis=0)
        numbers = known.view[lanes]
        if numbers.any():
            known.view[lanes] = self.clocks.views.join_all(np.unique(numbers).tolist())

    def barrier_arrival(self, batch: Batch, barrier: Barrier, arriving: Lanes) -> Lanes | None:
        known, kept = self.clocks.of(batch), _kept(barrier, batch)
        early = kept.too_early(self.clocks, arriving)
        rows = arriving.reshape(known.blocks, known.width)
        for block in np.flatnonzero(rows.any(axis=1)):
            lanes = block * known.width + np.flatnonzero(rows[block])
            kept.arrive(lanes, self.clocks.now)
            view = self.clocks.gather(known, lanes)
            kept.views[block] = self.clocks.views.join(int(kept.views[block]), view)
        return early

    def barrier_opened(
        self,
        batch: Batch,
        number: int,
        barrier: Barrier,
        opened: Lanes,
        joined: Lanes,
        released: Lanes,
    ) -> None:
        known, kept = self.clocks.of(batch), _kept(barrier, batch)
        rows = released.reshape(known.blocks, known.width)
        everyone = np.count_nonzero(rows, axis=1) == batch.geometry.shape.block.volume
        now = self.clocks.tick()
        for block in np.flatnonzero(opened):
            lanes = block * known.width + np.flatnonzero(rows[block])
            if everyone[block]:
                known.base[lanes] = now
                self._share(known, lanes)
            else:
                self.clocks.learn(known, lanes, int(kept.views[block]))
        kept.open(opened, released)

    def release(self, batch: Batch, lanes: Lanes) -> int:
        return self.clocks.gather(self.clocks.of(batch), lanes)

    def acquire(self, batch: Batch, lanes: Lanes, view: int) -> None:
        self.clocks.learn(self.clocks.of(batch), lanes, view)

    def join(self, first: int, second: int) -> int:
        return self.clocks.views.join(first, second)

    def fence(self, run: Run, scope: Scope) -> None:
        self.signals.fence(run, scope)

    def proxy_fence(self, run: Run) -> None:
        known = self.clocks.of(run.batch)
        known.note_proxy_fence(run.lane_numbers(), self.clocks.tick())

    def warp_barrier(self, run: Run, masks: Lanes) -> None:
        known = self.clocks.of(run.batch)
        rows = run.by_warp(masks, None)
        active = run.mask_array().reshape(-1, WARP)
        exists = run.batch.geometry.exists
        there = np.ones_like(active) if exists is None else exists.reshape(-1, WARP)
        whole = (active | ~there).all(axis=1) & ((rows == _FULL) | ~active).all(axis=1)
        if whole.any():
            self._whole_warps(known, np.flatnonzero(whole))
        for warp in np.flatnonzero(active.any(axis=1) & ~whole):
            for mask in np.unique(rows[warp][active[warp]]):
                members = active[warp] & (rows[warp] == mask)
                lanes = warp * WARP + np.flatnonzero(members)
                self.clocks.learn(known, lanes, self.clocks.gather(known, lanes))

    def _whole_warps(self, known: Knowledge, warps: Lanes) -> None:
        known.warp_base.reshape(-1, WARP)[warps] = self.clocks.tick()
        base = known.base.reshape(-1, WARP)
        if known.width == WARP:
            # The warp is the whole block: that is what `base` is for.
            base[warps] = self.clocks.now
        else:
            base[warps] = base[warps].max(axis=1, keepdims=True)
        for matrix in (known.pairs, known.engines):
            if matrix is not None:
                by_warp = matrix.reshape(-1, WARP, matrix.shape[-1])
                by_warp[warps] = by_warp[warps].max(axis=1, keepdims=True)
        if known.has_views:
            views = known.view.reshape(-1, WARP)
            for warp in warps[views[warps].any(axis=1)]:
                views[warp] = self.clocks.views.join_all(np.unique(views[warp]).tolist())


def _kept(barrier: Barrier, batch: Batch) -> Generations:
    """What is kept about a barrier."""
    if not isinstance(barrier.observed, Generations):
        barrier.observed = Generations(batch)
    return barrier.observed
