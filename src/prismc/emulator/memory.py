"""Memory of the machine: address windows, regions of bytes, and where an address leads.

Generic addresses (PTX ISA 5.2) lie in windows of 2**40 bytes. Constant, parameter and global
addresses are their own generic addresses; shared and local ones are offsets in their window. No
region starts at its window's first byte, so that null and forgotten bases are found out.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from prismc.emulator.semantics.registry import UNSIGNED, Lanes

WINDOW_SHIFT = 40
LOCAL_WINDOW = 1 << WINDOW_SHIFT
SHARED_WINDOW = 2 << WINDOW_SHIFT
CONST_WINDOW = 3 << WINDOW_SHIFT
PARAM_WINDOW = 4 << WINDOW_SHIFT
GLOBAL_WINDOW = 16 << WINDOW_SHIFT

SHARED_START = 1024  # as on sm_90, where the system keeps the first KiB; also aligns swizzles
LOCAL_START = 64
# In a shared::cluster address, bits 24 and up are the block's rank plus one; 0 is the own block.
RANK_SHIFT = 24

_GUARD = 1 << 16
# The largest alignment that any access asks for.
_STRIDE_UNIT = 128
_numbers = count()


class Region:
    """Bytes under one name. `data` is longer than `size`, so that any aligned view fits.

    For shared and local memory one region holds all blocks' or threads' bytes, `stride` apart.
    """

    def __init__(self, name: str, space: str, base: int, size: int, copies: int = 1) -> None:
        self.number = next(_numbers)  # unlike id(), never used again
        self.name = name
        self.space = space
        self.base = base
        self.size = size
        self.stride = -(-size // _STRIDE_UNIT) * _STRIDE_UNIT
        self.data: Lanes = np.zeros(self.stride * copies, np.uint8)
        # Whether some thread may write what another one accesses: what is only read cannot race.
        self.is_shared_state = space in ("shared", "global")
        self.is_writable = space != "const" and space != "param"
        self.written: Lanes | None = None  # bool per byte, where uninitialised bytes are watched
        self.shadow: Any = None  # what the race detector knows of this region
        self.element = 1  # bytes of one element, and the array's shape, for reports
        self.shape: tuple[int, ...] = ()
        self._views: dict[int, Lanes] = {1: self.data}

    def view(self, width: int) -> Lanes:
        """The bytes as unsigned integers of `width` bytes."""
        found = self._views.get(width)
        if found is None:
            found = self._views[width] = self.data.view(UNSIGNED[8 * width])
        return found

    def fill(self, content: bytes | Lanes, start: int = 0) -> None:
        """Sets the bytes from `start` on."""
        self.data[start : start + len(content)] = np.frombuffer(content, np.uint8)


class Place(NamedTuple):
    """Where lanes access memory: byte offsets into a region's data, `[chosen lanes]` or `[1]`.

    `chosen` indexes the addresses that came in; None means all of them.
    """

    region: Region
    offsets: Lanes
    chosen: Lanes | None


class GlobalMemory:
    """Regions with addresses of their own: buffers, global and constant variables, parameters."""

    def __init__(self) -> None:
        self.regions: list[Region] = []
        self._starts: list[int] = []
        self._next = {"global": GLOBAL_WINDOW, "const": CONST_WINDOW, "param": PARAM_WINDOW}

    def add(self, name: str, space: str, size: int, align: int = 256) -> Region:
        """A new region with guard bytes before and behind it."""
        step = max(align, 256)
        base = -(-(self._next[space] + _GUARD) // step) * step
        region = Region(name, space, base, size)
        self._next[space] = base + region.stride
        at = bisect_right(self._starts, base)
        self.regions.insert(at, region)
        self._starts.insert(at, base)
        return region

    def at(self, address: int) -> Region | None:
        """The region that holds the byte at `address`."""
        near = self.nearest(address)
        return near if near is not None and near.base <= address < near.base + near.size else None

    def nearest(self, address: int) -> Region | None:
        """The region that an address most likely means: the last one that starts before it.

        An address in the guard bytes before a region means that region.
        """
        index = bisect_right(self._starts, address) - 1
        if index + 1 < len(self._starts) and self._starts[index + 1] - address <= _GUARD // 2:
            return self.regions[index + 1]
        if index < 0 or address >> WINDOW_SHIFT != self._starts[index] >> WINDOW_SHIFT:
            return None
        return self.regions[index]

    def split(self, addresses: Lanes, size: int) -> tuple[list[Place], Lanes | None]:
        """The places of int64 addresses of accesses of `size` bytes, and which lead nowhere.

        The second result is a bool array, None if every address is inside a region.
        """
        order = np.searchsorted(np.asarray(self._starts, np.int64), addresses, side="right") - 1
        places: list[Place] = []
        lost = np.ones(len(addresses), np.bool_)
        for index in np.unique(order):
            if index < 0:
                continue
            region = self.regions[int(index)]
            offsets = addresses - region.base
            inside = (order == index) & (offsets <= region.size - size)
            chosen = np.flatnonzero(inside)
            if len(chosen):
                lost[chosen] = False
                places.append(Place(region, offsets[chosen], chosen))
        return places, lost if lost.any() else None
