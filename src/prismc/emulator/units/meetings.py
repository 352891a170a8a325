"""Warp collectives: lanes that must be at the same instruction together (`.sync`).

PTX ISA 9.7.9 and 9.7.13: an instruction with a member mask waits for all non-exited lanes that the
mask names; an `.aligned` one is executed by all lanes of the warp.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.geometry import WARP
from prismc.emulator.launch import Launch
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch, Unit
from prismc.emulator.state.code import CodeBlock
from prismc.emulator.state.frames import Frame
from prismc.emulator.state.run import Run

_FULL = np.full((1, WARP), 0xFFFFFFFF, np.uint32)
Key = tuple[int, Frame, int]


def bits_of_rows(rows: Lanes) -> Lanes:
    """Bool `[warps, 32]` as lane masks, uint32 `[warps]`."""
    packed: Lanes = np.packbits(rows, axis=1, bitorder="little").view(np.uint32)
    return packed.reshape(-1)


def whole_warp(run: Run) -> Lanes:
    """The lanes that `.aligned` instructions want: all 32, as uint32 `[warps, 32]`."""
    total = run.batch.geometry.count // WARP
    return np.broadcast_to(_FULL, (total, WARP))


class Meetings(Unit):
    """Lanes of a batch that wait at a collective for others of their warp."""

    def __init__(self, launch: Launch, batch: Batch) -> None:
        self.launch = launch
        self.batch = batch
        self.parked: dict[Key, Lanes] = {}
        self._forced: set[Key] = set()

    def gather(self, run: Run, block: int, here: CodeBlock) -> Run | None:
        """The lanes that can execute the collective now; the others stay here, waiting."""
        if here.guard is not None:
            predicate = run.regs[here.guard.register]
            staying = run.only(~predicate if here.guard.negated else predicate)
            if staying is not run:
                self._pass_by(run, staying, block)
            if staying is None:
                return None
            run = staying
        if run.mask is None:
            if here.members not in (None, whole_warp):
                here.members(run)
            return run
        # Halves of a warp that the schedule has split come together here.
        key = (0 if self.batch.splits_warps else run.crew, run.frame, block)
        known = self.parked.pop(key, None)
        mask = run.mask if known is None else run.mask | known
        count = run.count if known is None else int(np.count_nonzero(mask))
        together = Run(self.batch, run.frame, mask, count, run.crew)
        if self.batch.splits_warps and known is not None:
            self.batch.unite(together.mask_array(), together.crew)
        if here.members is None:
            return together
        present = bits_of_rows(mask.reshape(-1, WARP))
        wanted = here.members(together)
        absent = np.where(mask.reshape(-1, WARP), wanted & ~present[:, None], np.uint32(0))
        if not absent.any():
            return together
        return self._sort_out(together, key, here, absent)

    def _pass_by(self, run: Run, staying: Run | None, block: int) -> None:
        """Sends lanes whose predicate fails to the next block."""
        mask = run.mask_array() if staying is None else run.mask_array() & ~staying.mask_array()
        count = run.count - (0 if staying is None else staying.count)
        self.batch.push(run.frame, block + 1, mask, count, run.crew)

    def _sort_out(self, run: Run, key: Key, here: CodeBlock, absent: Lanes) -> Run | None:
        """Parks lanes whose partners may still come; reports those whose partners never will."""
        forced = key in self._forced
        self._forced.discard(key)
        alive = bits_of_rows(self.batch.alive.reshape(-1, WARP))
        missing = absent & alive[:, None] if not forced else np.zeros_like(absent)
        never = absent & ~missing
        waits = np.logical_and(missing.any(axis=1, keepdims=True), missing != 0)
        reported = (never != 0) & ~waits
        if reported.any():
            self.launch.findings.absent_lanes(run, here.site, never, reported, forced=forced)
        if not waits.any():
            return run
        staying = waits.reshape(-1)
        self.parked[key] = staying
        return run.only(~staying)

    def settle(self) -> None:
        """Looks again at all who wait, because lanes have exited."""
        self._release()

    def _release(self) -> None:
        parked, self.parked = self.parked, {}
        for (crew, frame, block), mask in parked.items():
            self.batch.push(frame, block, mask, int(np.count_nonzero(mask)), crew)

    def force(self) -> bool:
        """Lets the waiting lanes run without the missing ones; False if nobody waits."""
        self._forced = set(self.parked)
        self._release()
        return bool(self._forced)
