"""Which bytes have been stored to, and which stores change nothing."""

from __future__ import annotations

import numpy as np

from prismc.emulator.memory import Place, Region
from prismc.emulator.semantics.registry import UNSIGNED, Lanes

_ONES = {1: 0x01, 2: 0x0101, 4: 0x01010101, 8: 0x0101010101010101}


def mark_written(region: Region, offsets: Lanes, size: int) -> None:
    """Notes that the bytes have been stored to."""
    if region.written is None:
        return
    width = min(size, 8)
    marks = region.written.view(UNSIGNED[8 * width])
    index = offsets >> (width.bit_length() - 1)
    for k in range(size // width):
        marks[index + k] = _ONES[width]


def unwritten(region: Region, offsets: Lanes, size: int) -> Lanes:
    """Positions of accesses of `size` bytes that meet a byte nobody has stored to."""
    if region.written is None:
        return np.zeros(0, np.int64)
    width = min(size, 8)
    marks = region.written.view(UNSIGNED[8 * width])
    index = offsets >> (width.bit_length() - 1)
    missing = np.zeros(len(index), np.bool_)
    for k in range(size // width):
        missing |= marks[index + k] != _ONES[width]
    return np.flatnonzero(missing)


class SilentStores:
    """Which stores of an instruction change nothing, or agree with each other."""

    def __init__(self, place: Place, values: list[Lanes], width: int) -> None:
        self.place = place
        self.values = values
        self.width = width

    def _value(self, element: int, packed: Lanes) -> Lanes:
        values = self.values[element]
        if len(values) == 1:
            return np.broadcast_to(values, packed.shape)
        chosen = packed if self.place.chosen is None else self.place.chosen[packed]
        return values[chosen]

    def changes(self, packed: Lanes) -> Lanes:
        """Which of the place's accesses store something other than what is there."""
        view = self.place.region.view(self.width)
        offsets = self.place.offsets
        offsets = offsets if len(offsets) == 1 else offsets[packed]
        index = offsets >> (self.width.bit_length() - 1)
        different = np.zeros(len(packed), np.bool_)
        for element in range(len(self.values)):
            different |= view[index + element] != self._value(element, packed)
        return different

    def differ(self, packed: Lanes, others: Lanes) -> Lanes:
        """Which of some accesses store something else than the accesses beside them."""
        different = np.zeros(len(packed), np.bool_)
        for element in range(len(self.values)):
            different |= self._value(element, packed) != self._value(element, others)
        return different


def last_positions(index: Lanes, positions: Lanes) -> Lanes:
    """For granules at some positions: where the same granule stands last in `index`."""
    granules, from_end = np.unique(index[::-1], return_index=True)
    last: Lanes = len(index) - 1 - from_end
    return last[np.searchsorted(granules, index[positions])]
