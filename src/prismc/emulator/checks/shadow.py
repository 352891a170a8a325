"""Who touched memory last: for each granule of a region the last accesses that may still race.

A granule is 4 bytes, or less once narrower accesses occur. Threads are numbered in the grid, plus
one, so that 0 means nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from prismc.emulator.geometry import WARP
from prismc.emulator.memory import Region
from prismc.emulator.semantics.registry import Lanes


class Access(NamedTuple):
    """One instruction's accesses, granule by granule: parallel arrays but for stamp and site.

    `lanes` are the batch's, `threads` their numbers in the grid.
    """

    granules: Lanes
    lanes: Lanes
    threads: Lanes
    stamp: int
    site: int


class Earlier(NamedTuple):
    """Earlier accesses to compare with: for positions in an `Access`, who, when and where."""

    positions: Lanes
    threads: Lanes
    stamps: Lanes
    sites: Lanes


class LastTable:
    """For each granule the last writer."""

    def __init__(self, granules: int) -> None:
        self.thread = np.zeros(granules, np.int32)
        self.stamp = np.zeros(granules, np.int32)
        self.site = np.zeros(granules, np.int32)

    def note(self, access: Access) -> Lanes:
        """Remembers the accesses; returns which lanes were not the last at their granule."""
        index = access.granules
        number = access.threads.astype(np.int32) + 1
        self.thread[index] = number
        self.stamp[index] = access.stamp
        self.site[index] = access.site
        beaten: Lanes = self.thread[index] != number
        return beaten

    def earlier(self, access: Access, base: Lanes) -> Iterator[Earlier]:
        """Earlier accesses that `base` (what the lanes' blocks know) does not settle."""
        stamps = self.stamp[access.granules]
        open_ = np.flatnonzero(stamps >= base)
        if len(open_):
            chosen = access.granules[open_]
            threads = self.thread[chosen].astype(np.int64) - 1
            seen = threads >= 0
            if not seen.all():
                open_, chosen, threads = open_[seen], chosen[seen], threads[seen]
            yield Earlier(open_, threads, self.stamp[chosen], self.site[chosen])

    def refined(self, times: int) -> LastTable:
        """The same for granules `times` as small."""
        finer = LastTable(0)
        finer.thread, finer.stamp, finer.site = (
            np.repeat(a, times) for a in (self.thread, self.stamp, self.site)
        )
        return finer


class WarpTable:
    """For each granule and warp of the block the last two different lanes (shared memory)."""

    def __init__(self, granules: int, warps: int) -> None:
        self.warps = warps
        self.lane: Lanes = np.zeros((2, granules * warps), np.uint8)
        self.stamp: Lanes = np.zeros((2, granules * warps), np.int32)
        self.site = np.zeros(granules * warps, np.int32)
        self.latest = np.zeros(granules, np.int32)

    def note(self, access: Access) -> None:
        warp = access.threads // WARP % self.warps
        at = access.granules * self.warps + warp
        lane = (access.threads % WARP).astype(np.uint8)
        old = self.lane[0][at]
        moved = np.flatnonzero((old != lane) & (self.stamp[0][at] > 0))
        if len(moved):
            self.lane[1][at[moved]] = old[moved]
            self.stamp[1][at[moved]] = self.stamp[0][at[moved]]
        self.lane[0][at] = lane
        beaten = np.flatnonzero(self.lane[0][at] != lane)
        if len(beaten):
            self.lane[1][at[beaten]] = lane[beaten]
            self.stamp[1][at[beaten]] = access.stamp
        self.stamp[0][at] = access.stamp
        self.site[at] = access.site
        self.latest[access.granules] = access.stamp

    def earlier(self, access: Access, base: Lanes) -> Iterator[Earlier]:
        open_ = np.flatnonzero(self.latest[access.granules] >= base)
        if not len(open_):
            return
        block = access.threads[open_] // WARP // self.warps
        rows = access.granules[open_] * self.warps
        for warp in range(self.warps):
            at = rows + warp
            for slot in range(2):
                stamps = self.stamp[slot][at]
                chosen = np.flatnonzero((stamps >= base[open_]) & (stamps > 0))
                if len(chosen):
                    threads = (block[chosen] * self.warps + warp) * WARP
                    threads += self.lane[slot][at[chosen]]
                    yield Earlier(open_[chosen], threads, stamps[chosen], self.site[at[chosen]])

    def refined(self, times: int) -> WarpTable:
        finer = WarpTable(0, self.warps)
        finer.latest = np.repeat(self.latest, times)
        finer.lane, finer.stamp = (
            np.repeat(a.reshape(2, -1, self.warps), times, axis=1).reshape(2, -1)
            for a in (self.lane, self.stamp)
        )
        finer.site = np.repeat(self.site.reshape(-1, self.warps), times, axis=0).reshape(-1)
        return finer


class ThreadTable:
    """For each granule the last thread, another one, and one of another block (global memory)."""

    def __init__(self, granules: int, width: int) -> None:
        self.width = width
        self.thread = np.zeros((3, granules), np.int32)
        self.stamp = np.zeros((3, granules), np.int32)
        self.site = np.zeros(granules, np.int32)

    def note(self, access: Access) -> None:
        index = access.granules
        number = access.threads.astype(np.int32) + 1
        old = self.thread[0][index]
        self._set_aside(access, (old != number) & (old > 0), old, self.stamp[0][index], number)
        self.thread[0][index] = number
        winner = self.thread[0][index]
        stamps = np.full(len(index), access.stamp, np.int32)
        self._set_aside(access, winner != number, number, stamps, winner)
        self.stamp[0][index] = access.stamp
        self.site[index] = access.site

    def _set_aside(
        self, access: Access, which: Lanes, number: Lanes, stamps: Lanes, winner: Lanes
    ) -> None:
        """Keeps threads that the first slot no longer holds, by whether their block differs."""
        chosen = np.flatnonzero(which)
        if not len(chosen):
            return
        apart = (number[chosen] - 1) // self.width != (winner[chosen] - 1) // self.width
        for slot, some in ((1, chosen[~apart]), (2, chosen[apart])):
            self.thread[slot][access.granules[some]] = number[some]
            self.stamp[slot][access.granules[some]] = stamps[some]

    def earlier(self, access: Access, base: Lanes) -> Iterator[Earlier]:
        for slot in range(3):
            threads = self.thread[slot][access.granules].astype(np.int64) - 1
            chosen = np.flatnonzero((threads >= 0) & (threads != access.threads))
            if len(chosen):
                at = access.granules[chosen]
                yield Earlier(chosen, threads[chosen], self.stamp[slot][at], self.site[at])

    def refined(self, times: int) -> ThreadTable:
        finer = ThreadTable(0, self.width)
        finer.thread, finer.stamp = (np.repeat(a, times, axis=1) for a in (self.thread, self.stamp))
        finer.site = np.repeat(self.site, times)
        return finer


Table = WarpTable | ThreadTable


class Shadow:
    """The accesses to one region. Tables of readers and of strong accesses are made when needed."""

    def __init__(self, region: Region, width: int, *, is_private: bool) -> None:
        self.region = region
        self.width = width
        # Whether only the threads of one block reach each granule.
        self.is_private = is_private
        self.shift = 2
        self.writer = LastTable(self.granules)
        # The number of the asynchronous operation that writes or reads a granule; 0: none.
        self.writing: Lanes | None = None
        self.reading: Lanes | None = None
        self.tables: dict[str, Table] = {}

    @property
    def granules(self) -> int:
        return len(self.region.data) >> self.shift

    def marks(self, *, writes: bool) -> Lanes:
        """The marks of asynchronous writes or reads, made when first asked for."""
        if writes:
            if self.writing is None:
                self.writing = np.zeros(self.granules, np.int32)
            return self.writing
        if self.reading is None:
            self.reading = np.zeros(self.granules, np.int32)
        return self.reading

    def table(self, name: str) -> Table:
        """A table, made when first asked for."""
        if name not in self.tables:
            if self.is_private:
                self.tables[name] = WarpTable(self.granules, self.width // WARP)
            else:
                self.tables[name] = ThreadTable(self.granules, self.width)
        return self.tables[name]

    def refine(self, size: int) -> None:
        """Makes granules small enough for accesses of `size` bytes."""
        shift = size.bit_length() - 1
        if shift >= self.shift:
            return
        times = 1 << (self.shift - shift)
        self.shift = shift
        self.writer = self.writer.refined(times)
        if self.writing is not None:
            self.writing = np.repeat(self.writing, times)
        if self.reading is not None:
            self.reading = np.repeat(self.reading, times)
        self.tables = {name: table.refined(times) for name, table in self.tables.items()}
