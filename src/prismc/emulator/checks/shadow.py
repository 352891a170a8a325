"""Who touched memory last: for each granule of a region the last accesses that may still race.

A granule is 4 bytes, or less once narrower accesses occur. Threads are numbered in the grid, plus
one, so that 0 means nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from prismc.emulator.checks.clocks import ENGINES
from prismc.emulator.geometry import WARP
from prismc.emulator.memory import Region
from prismc.emulator.semantics.registry import Lanes

_STAMP_SHIFT = 32
_LOW = (1 << _STAMP_SHIFT) - 1
_LANE_BITS = 8
_LANE_MASK = (1 << _LANE_BITS) - 1


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
    """For each granule the last writer, packed: the stamp above, the thread's number plus one."""

    def __init__(self, granules: int) -> None:
        self.word: Lanes = np.zeros(granules, np.int64)
        self.site: Lanes = np.zeros(granules, np.int32)

    def note(self, access: Access) -> Lanes:
        """Remembers the accesses; returns which lanes were not the last at their granule."""
        index = access.granules
        word = access.threads + (1 + (access.stamp << _STAMP_SHIFT))
        self.word[index] = word
        self.site[index] = access.site
        beaten: Lanes = self.word[index] != word
        return beaten

    def threads_at(self, granules: Lanes) -> Lanes:
        """The last writers' numbers; -1 where nobody has written."""
        threads: Lanes = (self.word[granules] & _LOW) - 1
        return threads

    def earlier(self, access: Access, base: Lanes) -> Iterator[Earlier]:
        """Earlier accesses that `base` (what the lanes' blocks know) does not settle."""
        return self.earlier_of(self.word[access.granules], access, base)

    def earlier_of(self, words: Lanes, access: Access, base: Lanes) -> Iterator[Earlier]:
        """The same, with the table's words at the accesses' granules already at hand."""
        open_ = np.flatnonzero(words >= base.astype(np.int64) << _STAMP_SHIFT)
        if len(open_):
            words = words[open_]
            if not words.all():
                seen = words > 0
                open_, words = open_[seen], words[seen]
            stamps, threads = words >> _STAMP_SHIFT, (words & _LOW) - 1
            yield Earlier(open_, threads, stamps, self.site[access.granules[open_]])

    def refined(self, times: int) -> LastTable:
        """The same for granules `times` as small."""
        finer = LastTable(0)
        finer.word, finer.site = np.repeat(self.word, times), np.repeat(self.site, times)
        return finer


class WarpTable:
    """For each granule and warp of the block the last two different lanes (shared memory).

    A word has the stamp in its upper half, then the site, then the lane plus one. The copy engines
    are a last, longer warp.
    """

    def __init__(self, granules: int, width: int) -> None:
        self.width = width
        self.warps = (width - ENGINES) // WARP + 1
        self.last: Lanes = np.zeros(granules * self.warps, np.int64)
        self.other: Lanes = np.zeros(granules * self.warps, np.int64)
        self.latest: Lanes = np.zeros(granules, np.int32)

    def note(self, access: Access) -> None:
        """Remembers the accesses."""
        within = access.threads % self.width
        warp = np.minimum(within // WARP, self.warps - 1)
        at = access.granules * self.warps + warp
        common = 1 + (access.site << _LANE_BITS) + (access.stamp << _STAMP_SHIFT)
        word = within - warp * WARP + common
        before = self.last[at]
        self.last[at] = word
        is_last = self.last[at] == word
        moved = np.flatnonzero(is_last & (before > 0) & ((before ^ word) & _LANE_MASK != 0))
        if len(moved):
            self.other[at[moved]] = before[moved]
        beaten = np.flatnonzero(~is_last)
        if len(beaten):
            self.other[at[beaten]] = word[beaten]
        self.latest[access.granules] = access.stamp

    def earlier(self, access: Access, base: Lanes) -> Iterator[Earlier]:
        """Earlier accesses that `base` (what the lanes' blocks know) does not settle."""
        open_ = np.flatnonzero(self.latest[access.granules] >= base)
        if not len(open_):
            return
        first = access.threads[open_] // self.width * self.width
        least = np.broadcast_to(base, access.granules.shape)[open_].astype(np.int64)
        for table in (self.last, self.other):
            words = table.reshape(-1, self.warps)[access.granules[open_]]
            rows, warps = np.nonzero((words >= (least << _STAMP_SHIFT)[:, None]) & (words > 0))
            if len(rows):
                found = words[rows, warps]
                threads = first[rows] + warps * WARP + (found & _LANE_MASK) - 1
                sites = (found & _LOW) >> _LANE_BITS
                yield Earlier(open_[rows], threads, found >> _STAMP_SHIFT, sites)

    def refined(self, times: int) -> WarpTable:
        """The same for granules `times` as small."""
        finer = WarpTable(0, self.width)
        finer.latest = np.repeat(self.latest, times)
        finer.last, finer.other = (
            np.repeat(a.reshape(-1, self.warps), times, axis=0).reshape(-1)
            for a in (self.last, self.other)
        )
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
                self.tables[name] = WarpTable(self.granules, self.width)
            else:
                self.tables[name] = ThreadTable(self.granules, self.width)
        return self.tables[name]

    def accesses(self, own: slice) -> Iterator[tuple[Lanes, Lanes, Lanes]]:
        """All that is known about some granules: threads (-1: nobody), stamps and sites."""
        words = self.writer.word[own]
        yield (words & _LOW) - 1, words >> _STAMP_SHIFT, self.writer.site[own]
        for table in self.tables.values():
            if isinstance(table, ThreadTable):
                for slot in range(3):
                    threads = table.thread[slot][own].astype(np.int64) - 1
                    yield threads, table.stamp[slot][own], table.site[own]

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
