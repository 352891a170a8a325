"""Who has read memory since it was last written: every reader that may still race, and no other.

A reader may be forgotten once a later one knows of it: whoever comes after the later one comes
after both. So a table keeps the last readers in arrays, and those that leave it without being known
to their successor in `Unordered`. Atomics and other strong accesses are kept in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from prismc.emulator.checks.stores import last_positions
from prismc.emulator.geometry import WARP
from prismc.emulator.semantics.registry import Lanes

STAMP_SHIFT = 32
LOW = (1 << STAMP_SHIFT) - 1
_LANE_BITS = 8
_LANE_MASK = (1 << _LANE_BITS) - 1
_BITS = np.uint32(1) << np.arange(WARP, dtype=np.uint32)
# Of each table; then its arrays alone must do. It takes a region that is written, and in which
# as many pairs of granules and threads that nothing orders have read.
_MOST_UNORDERED = 1 << 20


class Access(NamedTuple):
    """One instruction's accesses, granule by granule: parallel arrays but for stamp and site.

    `lanes` are the batch's, `threads` their numbers in the grid.
    """

    granules: Lanes
    lanes: Lanes
    threads: Lanes
    stamp: int
    site: int

    def once(self) -> Access:
        """The same with each pair of a granule and a thread once."""
        pairs = self.granules * (1 << STAMP_SHIFT) + self.threads
        _, first = np.unique(pairs, return_index=True)
        if len(first) == len(pairs):
            return self
        return self._replace(
            granules=self.granules[first], lanes=self.lanes[first], threads=self.threads[first]
        )


class Earlier(NamedTuple):
    """Earlier accesses to compare with: for positions in an `Access`, who, when and where."""

    positions: Lanes
    threads: Lanes
    stamps: Lanes
    sites: Lanes

    def only(self, chosen: Lanes) -> Earlier:
        """Those at some places of the arrays."""
        return Earlier(*(array[chosen] for array in self))


# Which of some earlier accesses happened before the new ones at their positions: bool.
Ordered = Callable[[Earlier], Lanes]


class Unordered:
    """Readers that left a table though nothing orders them with those that took their places: by
    granule and thread the last stamp and site."""

    def __init__(self) -> None:
        self.by_granule: dict[int, dict[int, tuple[int, int]]] = {}
        self.count = 0

    def add(self, granules: Lanes, left: Earlier) -> None:
        """Keeps what left a table for new accesses to `granules`."""
        rows = zip(granules[left.positions].tolist(), left.threads.tolist(), left.stamps.tolist(),
                   left.sites.tolist(), strict=True)  # fmt: skip
        for granule, thread, stamp, site in rows:
            known = self.by_granule.setdefault(granule, {})
            if thread not in known:
                if self.count >= _MOST_UNORDERED:
                    return
                self.count += 1
            known[thread] = (stamp, site)

    def earlier(self, access: Access, positions: Lanes) -> Iterator[Earlier]:
        """Those at the granules of an access, at some of its positions."""
        if not self.count:
            return
        granules = access.granules[positions]
        for granule in np.unique(granules).tolist():
            known = self.by_granule.get(granule)
            if not known:  # none, or none that there was room for
                continue
            here = positions[granules == granule]
            threads = np.array(list(known), np.int64)
            stamps, sites = np.array(list(known.values()), np.int64).T
            times = len(here)
            yield Earlier(np.repeat(here, len(threads)), np.tile(threads, times),
                          np.tile(stamps, times), np.tile(sites, times))  # fmt: skip

    def refined(self, times: int) -> Unordered:
        """The same for granules `times` as small."""
        finer = Unordered()
        finer.by_granule = {
            granule * times + part: dict(known)
            for granule, known in self.by_granule.items()
            for part in range(times)
        }
        finer.count = self.count * times
        return finer


class WarpTable:
    """Shared memory: for each granule and warp of the block the lanes that read it last, all at one
    stamp. A word has the stamp in its upper half, then the site, then a lane plus one; `lanes` has
    their bits. The copy engines are further warps.
    """

    def __init__(self, granules: int, width: int) -> None:
        self.width = width
        self.warps = width // WARP
        self.last: Lanes = np.zeros(granules * self.warps, np.int64)
        self.lanes: Lanes = np.zeros(granules * self.warps, np.uint32)
        self.latest: Lanes = np.zeros(granules, np.int32)
        self.unordered = Unordered()

    def note(self, access: Access, base: Lanes, ordered: Ordered) -> None:
        """Remembers the accesses, no two by one thread to one granule; `base` as in `earlier`."""
        within = access.threads % self.width
        at = access.granules * self.warps + within // WARP
        lane = within % WARP
        bit = _BITS[lane]
        word = lane + (1 + (access.site << _LANE_BITS) + (access.stamp << STAMP_SHIFT))
        before, had = self.last[at], self.lanes[at]
        self.last[at] = word
        old = before < access.stamp << STAMP_SHIFT
        if (self.last[at] == word).all():
            self.lanes[at] = bit if old.all() else np.where(old, bit, had | bit)
        else:
            # Each lane comes once, so that adding bits which are not there sets them; it is faster.
            self.lanes[at[old]] = 0
            np.add.at(self.lanes, at, np.where(old, bit, bit & ~had))
        self.latest[access.granules] = access.stamp
        least = np.maximum(base, 1).astype(np.int64) << STAMP_SHIFT
        left = np.flatnonzero(old & (before >= least))
        if len(left):
            self._keep(access, left, at[left], before[left], had[left], ordered)

    def _keep(
        self, access: Access, left: Lanes, at: Lanes, words: Lanes, had: Lanes, ordered: Ordered
    ) -> None:
        """Sees to lanes that were replaced by others, which may not know of them."""
        gone = had & ~self.lanes[at]
        some = np.flatnonzero(gone)
        if len(some):
            first = access.threads[left[some]] // WARP * WARP
            earlier = _spread(left[some], first, words[some], gone[some])
            if len(unknown := np.flatnonzero(~ordered(earlier))):
                self.unordered.add(access.granules, earlier.only(unknown))

    def earlier(self, access: Access, base: Lanes) -> Iterator[Earlier]:
        """Earlier accesses that `base` (what the lanes' blocks know) does not settle."""
        open_ = np.flatnonzero(self.latest[access.granules] >= base)
        if not len(open_):
            return
        least = np.broadcast_to(base, access.granules.shape)[open_].astype(np.int64)
        words = self.last.reshape(-1, self.warps)[access.granules[open_]]
        rows, warps = np.nonzero((words >= (least << STAMP_SHIFT)[:, None]) & (words > 0))
        if len(rows):
            found = words[rows, warps]
            first = (access.threads[open_] // self.width * self.width)[rows] + warps * WARP
            yield _earlier(open_[rows], first + (found & _LANE_MASK) - 1, found)
            # Mostly one lane of a warp reads a granule.
            lanes = self.lanes.reshape(-1, self.warps)[access.granules[open_][rows], warps]
            others = lanes & ~_BITS[(found & _LANE_MASK) - 1]
            if len(more := np.flatnonzero(others)):
                yield _spread(open_[rows[more]], first[more], found[more], others[more])
        yield from self.unordered.earlier(access, open_)

    def refined(self, times: int) -> WarpTable:
        """The same for granules `times` as small."""
        finer = WarpTable(0, self.width)
        finer.latest = np.repeat(self.latest, times)
        finer.last, finer.lanes = (
            np.repeat(a.reshape(-1, self.warps), times, axis=0).reshape(-1)
            for a in (self.last, self.lanes)
        )
        finer.unordered = self.unordered.refined(times)
        return finer


def _spread(positions: Lanes, first: Lanes, words: Lanes, lanes: Lanes) -> Earlier:
    """Words of a table with an entry for each of their lanes; `first` are the warps' threads."""
    rows, bits = np.nonzero(lanes[:, None] & _BITS)
    return _earlier(positions[rows], first[rows] + bits, words[rows])


def _earlier(positions: Lanes, threads: Lanes, words: Lanes) -> Earlier:
    return Earlier(positions, threads, words >> STAMP_SHIFT, (words & LOW) >> _LANE_BITS)


class ThreadTable:
    """Global memory: for each granule the last thread, another one, and one of another block."""

    def __init__(self, granules: int, width: int) -> None:
        self.width = width
        self.thread = np.zeros((3, granules), np.int32)
        self.stamp = np.zeros((3, granules), np.int32)
        self.site = np.zeros((3, granules), np.int32)
        self.unordered = Unordered()

    def note(self, access: Access, base: Lanes, ordered: Ordered) -> None:
        """Remembers the accesses."""
        index = access.granules
        number = access.threads.astype(np.int32) + 1
        every = np.arange(len(index))
        old = self._at(0, access, every)
        self.thread[0][index] = number
        winner = self.thread[0][index]
        self.stamp[0][index] = access.stamp
        self.site[0][index] = access.site
        self._set_aside(access, old, winner, ordered)
        beaten = np.flatnonzero(winner != number)
        if len(beaten):
            stamps, sites = np.full((2, len(beaten)), [[access.stamp], [access.site]])
            # They came before those that took their places, in the same instruction.
            places = last_positions(access.granules, beaten)
            losers = Earlier(places, access.threads[beaten], stamps, sites)
            self._set_aside(access, losers, winner, ordered)

    def _at(self, slot: int, access: Access, positions: Lanes) -> Earlier:
        """What a slot holds at the granules of some positions."""
        index = access.granules[positions]
        held = np.flatnonzero(self.thread[slot][index])
        at = index[held]
        threads = self.thread[slot][at].astype(np.int64) - 1
        return Earlier(positions[held], threads, self.stamp[slot][at], self.site[slot][at])

    def _set_aside(self, access: Access, earlier: Earlier, winner: Lanes, ordered: Ordered) -> None:
        """Keeps threads that the first slot no longer holds, by whether their block differs."""
        last = winner[earlier.positions].astype(np.int64) - 1
        earlier, last = earlier.only(earlier.threads != last), last[earlier.threads != last]
        apart = earlier.threads // self.width != last // self.width
        for slot, some in ((1, earlier.only(~apart)), (2, earlier.only(apart))):
            if not len(some.positions):
                continue
            at = access.granules[some.positions]
            left = self._at(slot, access, some.positions)
            self.thread[slot][at] = some.threads + 1
            self.stamp[slot][at] = some.stamps
            self.site[slot][at] = some.sites
            left = left.only(~self._holds(access, left))
            # Threads that lost their place to others of the same instruction are gone as well.
            lost = some.only(~self._holds(access, some))
            for gone in (left, lost):
                if len(gone.positions):
                    self.unordered.add(access.granules, gone.only(~ordered(gone)))

    def _holds(self, access: Access, earlier: Earlier) -> Lanes:
        """Which threads stand in a slot of their granule."""
        at = access.granules[earlier.positions]
        held: Lanes = (self.thread[:, at] == earlier.threads + 1).any(axis=0)
        return held

    def earlier(self, access: Access, base: Lanes) -> Iterator[Earlier]:
        """Earlier accesses by other threads."""
        every = np.arange(len(access.granules))
        for slot in range(3):
            found = self._at(slot, access, every)
            found = found.only(found.threads != access.threads[found.positions])
            if len(found.positions):
                yield found
        yield from self.unordered.earlier(access, every)

    def accesses(self, own: slice) -> Iterator[tuple[Lanes, Lanes, Lanes]]:
        """Threads (-1: nobody), stamps and sites for some granules."""
        for slot in range(3):
            threads = self.thread[slot][own].astype(np.int64) - 1
            yield threads, self.stamp[slot][own], self.site[slot][own]

    def refined(self, times: int) -> ThreadTable:
        """The same for granules `times` as small."""
        finer = ThreadTable(0, self.width)
        finer.thread, finer.stamp, finer.site = (
            np.repeat(a, times, axis=1) for a in (self.thread, self.stamp, self.site)
        )
        finer.unordered = self.unordered.refined(times)
        return finer


Table = WarpTable | ThreadTable
