"""When each thread has executed proxy fences (PTX ISA, "membar/fence": `fence.proxy.async`).

Of an access's later fences the first one counts: if any is ordered before what comes to the memory,
that one is. A ring of many slots has many fences between an access and its reuse, so all are kept.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.semantics.registry import Lanes

NEVER = np.iinfo(np.int32).max


class FenceHistory:
    """The stamps of the fences of `count` lanes, ascending. Only lanes that execute some have a row
    of `_stamps`; what is not filled is NEVER."""

    def __init__(self, count: int) -> None:
        self._row = np.full(count, -1, np.int64)
        self._filled = np.zeros(0, np.int64)
        self._stamps = np.full((0, 4), NEVER, np.int32)

    def note(self, lanes: Lanes, now: int) -> None:
        """Lanes (each once) execute a fence."""
        new = lanes[self._row[lanes] < 0]
        if len(new):
            self._row[new] = np.arange(len(new)) + len(self._filled)
            self._filled = np.concatenate([self._filled, np.zeros(len(new), np.int64)])
            more = np.full((len(new), self._stamps.shape[1]), NEVER, np.int32)
            self._stamps = np.concatenate([self._stamps, more])
        rows = self._row[lanes]
        if len(rows) and self._filled[rows].max() == self._stamps.shape[1]:
            self._stamps = np.hstack([self._stamps, np.full_like(self._stamps, NEVER)])
        self._stamps[rows, self._filled[rows]] = now
        self._filled[rows] += 1

    def first_after(self, lanes: Lanes, stamps: Lanes) -> Lanes:
        """The stamp of each lane's first fence later than a stamp; NEVER if there is none, or no
        lane (-1)."""
        found = np.full(len(lanes), NEVER, np.int32)
        which = np.flatnonzero((lanes >= 0) & (self._row[lanes] >= 0))
        rows, asked = self._row[lanes[which]], stamps[which]
        low, high = np.zeros(len(rows), np.int64), self._filled[rows]
        while (low < high).any():
            middle = (low + high) // 2
            is_later = self._stamps[rows, np.minimum(middle, high - 1)] > asked
            open_ = low < high
            high = np.where(open_ & is_later, middle, high)
            low = np.where(open_ & ~is_later, middle + 1, low)
        has_one = low < self._filled[rows]
        found[which[has_one]] = self._stamps[rows[has_one], low[has_one]]
        return found
