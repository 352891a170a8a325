"""The types of values. Types compare by content; an error type agrees with everything."""

from __future__ import annotations

from typing import Any, Self

from prismc.hardware.scalars import BOOL, I32, Scalar
from prismc.source.record import Value

_SCALAR_TYPES: dict[Scalar, Any] = {}


class Type(Value):
    """Base of all types."""


class ErrorType(Type):
    """The type of an expression that was refused: it silences everything that follows from it."""


class VoidType(Type):
    """What a call without results gives."""


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


class VectorType(Type):
    """`vec(T, n)`, n of 2, 4, 8 or 16: one aligned memory access."""

    element: Scalar
    lanes: int


class ArrayType(Type):
    """`T[n]`, in registers; nested for more dimensions, outermost length first. `is_async` belongs
    to asynchronous operations only."""

    element: Type
    length: int
    is_async: bool = False


class PointerType(Type):
    """`ptr(T)`. `is_const` only reads, `is_atomic` goes to atomic parameters only,
    `is_async` belongs to asynchronous operations only. `layout` is the symbol of the function that
    maps its indices, "" without one; `mirrors` the blocks that keep a copy of the memory."""

    element: Type
    is_const: bool = False
    is_atomic: bool = False
    is_async: bool = False
    layout: str = ""
    mirrors: int = 1


class TensorMapType(Type):
    """`tensor_map(T[h, w, ..], layout)`: the box that a copy moves, innermost length last, and the
    symbol of its swizzle, "" without one."""

    element: Scalar
    box: tuple[int, ...]
    layout: str = ""

    @property
    def swizzle(self) -> str:
        """The swizzle's name, as the source has it; "" without one."""
        return self.layout.partition("_")[0]


class FunctionType(Type):
    """`fn(..) -> ..`, the kind of a compile-time function parameter."""

    parameters: tuple[Type, ...]
    result: Type


class LiteralType(Type):
    """The type of a literal that has not met a type yet. It never leaves elaboration."""

    is_float: bool


ERROR = ErrorType()
BOOLEAN = ScalarType(scalar=BOOL)
INT = ScalarType(scalar=I32)


def scalar_of(of: Type) -> Scalar | None:
    """The scalar that a type is, if it is one."""
    return of.scalar if isinstance(of, ScalarType) else None


def size_of(of: Type) -> int:
    """Bytes of one value in memory; 8 for a pointer.

    Raises ValueError for types without a size.
    """
    match of:
        case ScalarType(scalar=scalar):
            return scalar.size
        case VectorType(element=element, lanes=lanes):
            return element.size * lanes
        case ArrayType(element=element, length=length):
            return size_of(element) * length
        case PointerType():
            return 8
        case TensorMapType():
            return 128
        case _:
            raise ValueError(f"{of} has no size")
