"""The layouts of tensor copies and matrix descriptors: which 16 bytes of shared memory go where.

A swizzle of `width` bytes permutes the 16-byte pieces of each row of `width` bytes, differently in
each 128 bytes: bits 4 and up of an address are changed by its bits 7 and up. (PTX ISA, "Tensor
Swizzling Modes".)
"""

from __future__ import annotations

from prismc.source.record import Value

_PIECE = 16  # bytes that stay together
_ROWS = 8  # rows of a matrix after which the pattern repeats
PIECE_ROW = 3  # log2 of the pieces in 128 bytes, after which the permutation changes


class Swizzle(Value):
    """One mode; `code` is what a matrix descriptor calls it (PTX ISA, "Matrix Descriptor Format").

    A `width` of 0 leaves everything in its place.
    """

    name: str
    width: int
    code: int

    @property
    def period(self) -> int:
        """Bytes after which the pattern repeats; memory that uses it starts at a multiple."""
        return _ROWS * self.width or _PIECE

    def run(self, size: int) -> int:
        """How many aligned elements of `size` bytes stay side by side."""
        return max(1, _PIECE // size)

    def mask(self, size: int) -> int:
        """Element i lies at place i ^ (i >> PIECE_ROW & mask)."""
        return max(0, self.width // _PIECE - 1) * self.run(size)


UNSWIZZLED = Swizzle(name="unswizzled", width=0, code=0)
SWIZZLES: dict[str, Swizzle] = {
    swizzle.name: swizzle
    for swizzle in (
        Swizzle(name="swizzle32", width=32, code=3),
        Swizzle(name="swizzle64", width=64, code=2),
        Swizzle(name="swizzle128", width=128, code=1),
    )
}
