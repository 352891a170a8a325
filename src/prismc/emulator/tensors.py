"""Tensor maps: the 128-byte objects that describe arrays to the copy engine (PTX ISA 5.5.8).

The driver's encoding is not public; the machine has its own. Dimension 0 is the innermost one.
"""

from __future__ import annotations

import struct
from math import prod

import numpy as np

from prismc.emulator.semantics.registry import Lanes
from prismc.source.record import Value

SIZE = 128
_LAYOUT = struct.Struct("<4sBBBBQ5Q4Q5H5B")
_MAGIC = b"PTMA"

SWIZZLES = ("none", "32", "64", "128")
FILLS = ("zero", "nan")
_MOST_BOX = 256
_MOST_DIMENSIONS = 5


class TensorMapError(Exception):
    """A tensor map that the hardware would not take; the text says why."""


class TensorMap(Value):
    """An array in global memory and the box that one copy moves.

    `extents` and `box` count elements, innermost first; `strides` are bytes between neighbours in
    dimensions 1 and up. `steps` are the traversal strides. `swizzle` is the width in bytes or
    `none`; `fill` is what a load puts where the array has no element.
    """

    address: int
    element: int
    is_float: bool
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: str = "none"
    fill: str = "zero"

    @property
    def counts(self) -> tuple[int, ...]:
        """Elements that a copy really moves in each dimension."""
        return tuple(-(-b // s) for b, s in zip(self.box, self.steps, strict=True))

    @property
    def box_bytes(self) -> int:
        """Bytes in shared memory of one copy, out-of-bounds elements included."""
        return prod(self.counts) * self.element

    def check(self) -> None:
        """Raises TensorMapError for what `cuTensorMapEncodeTiled` refuses."""
        rank = len(self.extents)
        if not 1 <= rank <= _MOST_DIMENSIONS:
            raise TensorMapError(f"{rank} dimensions; 1 to 5 are possible")
        if len(self.box) != rank or len(self.steps) != rank:
            raise TensorMapError(f"a box of {len(self.box)} dimensions for {rank}")
        problems = (
            (self.address % 16 != 0, "the array's address is no multiple of 16"),
            (any(s % 16 or s <= 0 for s in self.strides), "a stride is no multiple of 16 bytes"),
            (any(not 1 <= b <= _MOST_BOX for b in self.box), "box sizes go from 1 to 256"),
            (any(not 1 <= s <= 8 for s in self.steps), "traversal strides go from 1 to 8"),
            (
                self.counts[0] * self.element % 16 != 0,
                "a row of the box is no multiple of 16 bytes",
            ),
            (
                self.swizzle != "none" and self.counts[0] * self.element > int(self.swizzle),
                f"a row of the box is longer than the swizzle's {self.swizzle} bytes",
            ),
        )
        for is_wrong, text in problems:
            if is_wrong:
                raise TensorMapError(text)

    def encode(self) -> bytes:
        """The object's bytes."""
        rank = len(self.extents)
        content = _LAYOUT.pack(
            _MAGIC,
            rank,
            self.element | (0x80 if self.is_float else 0),
            SWIZZLES.index(self.swizzle),
            FILLS.index(self.fill),
            self.address,
            *_padded(self.extents, 5),
            *_padded(self.strides, 4),
            *_padded(self.box, 5),
            *_padded(self.steps, 5),
        )
        return content.ljust(SIZE, b"\0")

    # Geometry

    def elements(self, coordinates: tuple[int, ...]) -> tuple[Lanes, Lanes]:
        """Of the box at some coordinates, in the order of shared memory: the byte offset of each
        element from the array's address, and whether the array has it.
        """
        rank = len(self.extents)
        offsets = np.zeros((1,) * rank, np.int64)
        inside = np.ones((1,) * rank, np.bool_)
        for d in range(rank):
            index = coordinates[d] + np.arange(self.counts[d], dtype=np.int64) * self.steps[d]
            shape = [1] * rank
            shape[rank - 1 - d] = -1
            stride = self.element if d == 0 else self.strides[d - 1]
            offsets = offsets + (index * stride).reshape(shape)
            inside = inside & ((index >= 0) & (index < self.extents[d])).reshape(shape)
        return offsets.reshape(-1), inside.reshape(-1)

    def filling(self) -> bytes:
        """The bytes of an element that the array does not have."""
        if self.fill == "zero" or not self.is_float:
            return bytes(self.element)
        return b"\xff" * (self.element - 1) + b"\x7f"

    def swizzled(self, addresses: Lanes) -> Lanes:
        """Where bytes of the box at these shared addresses really lie (PTX ISA 5.5.7)."""
        rows = {"none": 0, "32": 1, "64": 3, "128": 7}[self.swizzle]
        moved: Lanes = addresses ^ ((addresses >> 7 & rows) << 4)
        return moved


def decode(content: bytes) -> TensorMap | None:
    """The tensor map that bytes encode; None if they are none."""
    if len(content) < SIZE:
        return None
    magic, rank, element, swizzle, fill, address, *rest = _LAYOUT.unpack_from(content)
    if magic != _MAGIC:
        return None
    return TensorMap(
        address=address,
        element=element & 0x7F,
        is_float=bool(element & 0x80),
        extents=tuple(rest[:rank]),
        strides=tuple(rest[5 : 5 + rank - 1]),
        box=tuple(rest[9 : 9 + rank]),
        steps=tuple(rest[14 : 14 + rank]),
        swizzle=SWIZZLES[swizzle],
        fill=FILLS[fill],
    )


def _padded(values: tuple[int, ...], count: int) -> tuple[int, ...]:
    return values + (0,) * (count - len(values))
