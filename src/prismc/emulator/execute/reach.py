"""Where addresses lead: bounds, alignment and windows, checked before any byte is touched.

Lanes whose address is wrong are reported and take no part in the access: a load gives them 0.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.checks.overflow import report_wrapped_index
from prismc.emulator.launch import Launch
from prismc.emulator.memory import (
    LOCAL_START,
    LOCAL_WINDOW,
    RANK_SHIFT,
    SHARED_START,
    SHARED_WINDOW,
    WINDOW_SHIFT,
    Place,
    Region,
)
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.run import Run

_OWN_RANK = (1 << RANK_SHIFT) - 1


class Reach:
    """Resolves the addresses of one instruction: `size` bytes at each, aligned to `align`."""

    def __init__(
        self,
        launch: Launch,
        site: Instruction,
        space: str,
        size: int,
        align: int,
        *,
        writes: bool,
    ) -> None:
        self.launch = launch
        self.site = site
        self.space = space
        self.size = size
        self.align = align
        self.writes = writes
        self._limit = launch.layout.shared_end - SHARED_START - size
        self._last: Region | None = None

    def places(self, run: Run, addresses: Lanes, chosen: Lanes | None = None) -> list[Place]:
        """Where packed int64 addresses lead. One place with `chosen` None means all of them.

        `chosen`: the addresses are only those at these packed positions.
        """
        return self._in_space(run, self.space, addresses, chosen)

    def _in_space(
        self, run: Run, space: str, addresses: Lanes, chosen: Lanes | None
    ) -> list[Place]:
        match space:
            case "shared":
                return self._shared(run, addresses, chosen)
            case "local":
                return self._local(run, addresses, chosen)
            case "generic":
                return self._generic(run, addresses)
            case _:
                return self._global(run, addresses, chosen)

    def _generic(self, run: Run, addresses: Lanes) -> list[Place]:
        windows = addresses >> WINDOW_SHIFT
        first = int(windows[0])
        if len(windows) == 1 or (windows == first).all():
            return self._window(run, first, addresses, None)
        found: list[Place] = []
        for window in np.unique(windows):
            chosen = np.flatnonzero(windows == window)
            found += self._window(run, int(window), addresses[chosen], chosen)
        return found

    def _window(self, run: Run, window: int, addresses: Lanes, chosen: Lanes | None) -> list[Place]:
        base = window << WINDOW_SHIFT
        if base == SHARED_WINDOW:
            return self._shared(run, addresses - base, chosen)
        if base == LOCAL_WINDOW:
            return self._local(run, addresses - base, chosen)
        return self._global(run, addresses, chosen)

    def _global(self, run: Run, addresses: Lanes, chosen: Lanes | None) -> list[Place]:
        region = self._last
        if region is not None:
            offsets = addresses - region.base
            if offsets.view(np.uint64).max() <= region.size - self.size:
                return self._aligned(run, Place(region, offsets, chosen))
        region = self.launch.layout.memory.at(int(addresses[0]))
        if region is not None and region is not self._last and region.size >= self.size:
            self._last = region
            return self._global(run, addresses, chosen)
        return self._scattered(run, addresses, chosen)

    def _scattered(self, run: Run, addresses: Lanes, chosen: Lanes | None) -> list[Place]:
        places, lost = self.launch.layout.memory.split(addresses, self.size)
        if lost is not None:
            self._out_of_bounds(run, addresses, lost, chosen, "global")
        found: list[Place] = []
        for place in places:
            picked = place.chosen
            if picked is not None and chosen is not None:
                picked = chosen[picked]
            if len(places) == 1 and lost is None and chosen is None:
                picked = None
            found += self._aligned(run, Place(place.region, place.offsets, picked))
        return found

    def _aligned(self, run: Run, place: Place) -> list[Place]:
        """The place without lanes whose offset is not a multiple of the access's alignment."""
        if self.writes and not place.region.is_writable:
            self.launch.findings.read_only(run, self.site, place)
            return []
        if self.align == 1 or not np.bitwise_or.reduce(place.offsets) & (self.align - 1):
            return [place]
        bad = (place.offsets & (self.align - 1)) != 0
        self.launch.findings.misaligned(run, self.site, place, bad, self.align)
        return _without(place, bad)

    def _shared(self, run: Run, addresses: Lanes, chosen: Lanes | None) -> list[Place]:
        batch = run.batch
        base = run.packed(batch.shared_base)
        if chosen is not None:
            base = base[chosen]
        limit = self._limit
        if limit >= 0 and (addresses - SHARED_START).view(np.uint64).max() <= limit:
            return self._aligned(run, Place(batch.shared, addresses + base, chosen))
        return self._shared_slowly(run, addresses, base, chosen, limit)

    def _shared_slowly(
        self, run: Run, addresses: Lanes, base: Lanes, chosen: Lanes | None, limit: int
    ) -> list[Place]:
        """Cluster addresses, and addresses outside of the block's shared memory."""
        batch = run.batch
        addresses = np.broadcast_to(addresses, base.shape)
        ranks = (addresses >> RANK_SHIFT) - 1
        own = addresses & _OWN_RANK
        size = self.launch.shape.cluster.volume
        lost = ((own - SHARED_START).view(np.uint64) > max(limit, 0)) | (ranks >= size)
        lost |= limit < 0
        remote = _shared_of_rank(run, np.maximum(ranks, 0), chosen)
        starts = np.where(ranks >= 0, remote, base)
        place = Place(batch.shared, own + starts, chosen)
        gone = ~batch.living_blocks()[starts // batch.shared.stride] & ~lost
        if gone.any():
            self.launch.findings.block_has_exited(run, self.site, place, np.flatnonzero(gone))
        if not lost.any():
            return self._aligned(run, place)
        self._out_of_bounds(run, addresses, lost, chosen, "shared")
        return [kept for part in _without(place, lost) for kept in self._aligned(run, part)]

    def _local(self, run: Run, addresses: Lanes, chosen: Lanes | None) -> list[Place]:
        batch = run.batch
        region = batch.local
        if region is None:
            return []
        base = run.packed(batch.local_base)
        if chosen is not None:
            base = base[chosen]
        limit = region.size - LOCAL_START - self.size
        place = Place(region, addresses + base, chosen)
        if (addresses - LOCAL_START).view(np.uint64).max() <= limit:
            return self._aligned(run, place)
        addresses = np.broadcast_to(addresses, base.shape)
        lost = (addresses - LOCAL_START).view(np.uint64) > limit
        self._out_of_bounds(run, addresses, lost, chosen, "local")
        return [kept for part in _without(place, lost) for kept in self._aligned(run, part)]

    def _out_of_bounds(
        self, run: Run, addresses: Lanes, lost: Lanes, chosen: Lanes | None, space: str
    ) -> None:
        wrong = np.flatnonzero(lost)
        lanes = wrong if chosen is None else chosen[wrong]
        everyone = len(addresses) == 1 and chosen is None
        first = 0 if everyone else int(lanes[0])
        if report_wrapped_index(self.launch.findings, run, self.site, first, space):
            return
        self.launch.findings.out_of_bounds(
            run,
            self.site,
            None if everyone else lanes,
            addresses[wrong],
            size=self.size,
            space=space,
            writes=self.writes,
        )


def _without(place: Place, bad: Lanes) -> list[Place]:
    """The place without the accesses marked in `bad`."""
    if bad.all():
        return []
    good = np.flatnonzero(~bad)
    chosen = good if place.chosen is None else place.chosen[good]
    return [Place(place.region, place.offsets[good], chosen)]


def _shared_of_rank(run: Run, ranks: Lanes, chosen: Lanes | None) -> Lanes:
    """Where the shared memory of the cluster's block of a rank starts, for packed lanes."""
    geometry, stride = run.batch.geometry, run.batch.shared.stride
    size = geometry.shape.cluster.volume
    place = run.packed(geometry.place)
    place = place if chosen is None else place[chosen]
    start: Lanes = (place // size * size + np.minimum(ranks, size - 1)) * stride
    return start
