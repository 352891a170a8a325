"""The types of IR values: scalars, vectors, register arrays and pointers.

They compare by content. `str(type)` is the text form that the printer writes and the parser reads.
A function without results has an empty tuple of result types; there is no void.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Self

from prismc.hardware.scalars import BOOL, I32, I64, U8, U32, U64, Scalar
from prismc.source.record import Value


class Space(Enum):
    """Where a pointer points. GENERIC is a device function's parameter: the caller decides."""

    GENERIC = "generic"
    GLOBAL = "global"
    SHARED = "shared"


_SCALAR_TYPES: dict[Scalar, Any] = {}


class Type(Value):
    """Base of all IR types."""


class ScalarType(Type):
    """A scalar. There is one object for each, since types are compared all the time."""

    scalar: Scalar

    def __new__(cls, scalar: Scalar) -> Self:
        known = _SCALAR_TYPES.get(scalar)
        if known is None:
            known = _SCALAR_TYPES[scalar] = super().__new__(cls)
        return known

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.scalar.name


class VectorType(Type):
    """`lanes` scalars that one aligned access moves."""

    element: Scalar
    lanes: int

    def __str__(self) -> str:
        return f"vec<{self.element.name}, {self.lanes}>"


class ArrayType(Type):
    """A register array, outermost length first. Its values are references to the storage."""

    element: ScalarType | VectorType
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"array<{self.element}, {'x'.join(map(str, self.shape))}>"

    @property
    def length(self) -> int:
        """The number of elements over all dimensions."""
        total = 1
        for extent in self.shape:
            total *= extent
        return total


class PointerType(Type):
    """A base address; accesses add an element index to it. `is_const` is never stored through."""

    element: ScalarType | VectorType
    space: Space
    is_const: bool = False

    def __str__(self) -> str:
        const = "const " if self.is_const else ""
        return f"ptr<{const}{self.element}, {self.space.value}>"


class MapType(Type):
    """A tensor map: a kernel's parameter of 128 bytes, which only the copy engine reads. One copy
    moves `box` elements, innermost length last, through `swizzle`, "" for none."""

    element: Scalar
    box: tuple[int, ...]
    swizzle: str

    def __str__(self) -> str:
        swizzle = f", {self.swizzle}" if self.swizzle else ""
        return f"map<{self.element.name}, {'x'.join(map(str, self.box))}{swizzle}>"


BOOLEAN = ScalarType(scalar=BOOL)
INT = ScalarType(scalar=I32)
LONG = ScalarType(scalar=I64)
UINT = ScalarType(scalar=U32)
ULONG = ScalarType(scalar=U64)

# The bytes of a kernel's shared memory, from which typed views are made.
SHARED_BYTES = PointerType(element=ScalarType(scalar=U8), space=Space.SHARED)
# A kernel's mbarriers, opaque objects of 64 bits (PTX ISA, "mbarrier").
MBARRIERS = PointerType(element=ULONG, space=Space.SHARED)
