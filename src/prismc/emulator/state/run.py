"""The lanes that execute together: their mask, and how results reach registers.

Register arrays are never written in place: a register may share its array with another one.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.geometry import WARP
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.frames import Frame


class Run:
    """Lanes of one batch that execute the same instructions.

    `mask` is bool `[lanes]`, None for all. `whole` says that no other lane is alive, so that a
    result may replace a register outright. A *packed* array holds one element for each executing
    lane (`[1]`: the same for all); memory is accessed with packed arrays.
    """

    __slots__ = ("_lanes", "batch", "count", "crew", "frame", "mask", "regs", "whole")

    def __init__(
        self, batch: Batch, frame: Frame, mask: Lanes | None, count: int, crew: int
    ) -> None:
        self.batch = batch
        self.crew = crew
        self.frame = frame
        self.regs = frame.registers
        self.mask = mask
        self.count = count
        self.whole = count == batch.alive_count
        self._lanes: Lanes | None = None

    @property
    def sparse(self) -> bool:
        """Whether so few lanes execute that gathering them costs less than computing all."""
        return self.count * 4 < self.batch.geometry.count

    @property
    def lanes(self) -> Lanes | None:
        """Numbers of the executing lanes, ascending; None for all."""
        if self.mask is not None and self._lanes is None:
            self._lanes = np.flatnonzero(self.mask)
        return self._lanes

    def lane_numbers(self) -> Lanes:
        """As `lanes`, but never None."""
        lanes = self.lanes
        return self.batch.every_lane if lanes is None else lanes

    def only(self, chosen: Lanes) -> Run | None:
        """The run of those lanes where the bool array `chosen` holds; None if there are none."""
        if len(chosen) == 1:
            return self if chosen[0] else None
        mask = chosen if self.mask is None else chosen & self.mask
        count = int(np.count_nonzero(mask))
        if count == self.count:
            return self
        return Run(self.batch, self.frame, mask, count, self.crew) if count else None

    def packed(self, values: Lanes) -> Lanes:
        """The elements of a register array for the executing lanes."""
        if self.mask is None or len(values) == 1:
            return values
        taken: Lanes = values[self.lanes]
        return taken

    def spread(self, packed: Lanes) -> Lanes:
        """A packed array with one element for each executing lane, also where it was `[1]`."""
        return np.broadcast_to(packed, (self.count,)) if len(packed) == 1 else packed

    def write(self, register: int, values: Lanes) -> None:
        """Sets a register from an array `[lanes]` or `[1]`, for the executing lanes."""
        if self.whole:
            self.regs[register] = values
        else:
            self.regs[register] = np.where(self.mask_array(), values, self.regs[register])

    def write_packed(self, register: int, values: Lanes) -> None:
        """Sets a register from a packed array."""
        if self.whole and (self.mask is None or len(values) == 1):
            self.regs[register] = values
            return
        old = self.regs[register]
        new = np.full(self.batch.geometry.count, old[0]) if len(old) == 1 else old.copy()
        new[self.lane_numbers()] = values
        self.regs[register] = new

    def mask_array(self) -> Lanes:
        """The mask as an array also where it is None."""
        return self.batch.every_mask if self.mask is None else self.mask

    def warps(self) -> Lanes | None:
        """Numbers of the warps with an executing lane, if they are few; None: take all warps."""
        if self.mask is None or not self.sparse:
            return None
        return np.flatnonzero(self.mask.reshape(-1, WARP).any(axis=1))

    def by_warp(self, values: Lanes, warps: Lanes | None) -> Lanes:
        """A register array as `[warps, 32]`, of the chosen warps."""
        total = self.batch.geometry.count // WARP
        if len(values) == 1:
            return np.broadcast_to(values, (total if warps is None else len(warps), WARP))
        rows = values.reshape(total, WARP)
        return rows if warps is None else rows[warps]

    def write_by_warp(self, register: int, values: Lanes, warps: Lanes | None) -> None:
        """Sets a register from `[warps, 32]`, for the executing lanes."""
        if warps is None:
            self.write(register, values.reshape(-1))
            return
        mask = self.mask_array().reshape(-1, WARP)[warps]
        old = self.regs[register]
        total = self.batch.geometry.count
        new = np.full(total, old[0]) if len(old) == 1 else old.copy()
        rows = new.reshape(-1, WARP)
        rows[warps] = np.where(mask, values, rows[warps])
        self.regs[register] = new
