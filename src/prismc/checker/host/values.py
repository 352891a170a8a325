"""What is known of the values of a test before it runs: numbers, arrays with type and shape."""

from __future__ import annotations

from math import prod

from prismc.hardware.scalars import BOOL, Scalar
from prismc.source.record import Value

Shape = tuple[int | None, ...]


class HostValue(Value):
    """Base of all values; itself it stands for one that was refused and silences what follows."""


class Number(HostValue):
    """A number of the host. `kind` is `bool`, `int` or `float`; `value` is None if not known."""

    kind: str
    value: int | float | bool | None = None


class Array(HostValue):
    """An array of `scalar`; a length that is not known is None. `shape` () is one element."""

    scalar: Scalar
    shape: Shape

    @property
    def size(self) -> int | None:
        """The number of elements, if all lengths are known."""
        known = [length for length in self.shape if length is not None]
        return prod(known) if len(known) == len(self.shape) else None


class Complaint(Value):
    """Why an operation has no value: `kind` is `types`, `shapes` or `arguments`."""

    kind: str
    what: str
    advice: str = ""


UNKNOWN = HostValue()
RATHER = "convert one: `f32(x)`, `i32(x)`"


def show(value: HostValue) -> str:
    """A value's type as messages call it: `int`, `f32[700]`, `f32[?, 4]`."""
    match value:
        case Number(kind=kind):
            return kind
        case Array(scalar=scalar, shape=shape):
            lengths = ", ".join("?" if length is None else str(length) for length in shape)
            return f"{scalar}[{lengths}]" if shape else f"one {scalar}"
        case _:
            return "?"


def number(value: int | float | bool) -> Number:
    """A number that is known."""
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
    return Number(kind=kind, value=value)


def is_condition(value: HostValue) -> bool:
    """Whether it is a bool, or an array of them that all are to hold."""
    if isinstance(value, Array):
        return value.scalar is BOOL
    return isinstance(value, Number) and value.kind == "bool"


def forgotten(value: HostValue) -> HostValue:
    """What is known of a variable after code that may have assigned it."""
    match value:
        case Number(kind=kind):
            return Number(kind=kind)
        case Array(scalar=scalar, shape=shape):
            return Array(scalar=scalar, shape=(None,) * len(shape))
        case _:
            return value


def same_length(one: int | None, other: int | None) -> bool:
    """Whether two lengths may be equal."""
    return one is None or other is None or one == other


def broadcast(one: Shape, other: Shape) -> Shape | None:
    """The common shape by NumPy's rule (lengths of 1 stretch); None where there is none."""
    rank = max(len(one), len(other))
    found: list[int | None] = []
    for left, right in zip(_padded(one, rank), _padded(other, rank), strict=True):
        if left == 1 or right == 1:
            found.append(right if left == 1 else left)
        elif same_length(left, right):
            found.append(right if left is None else left)
        else:
            return None
    return tuple(found)


def _padded(shape: Shape, rank: int) -> Shape:
    return (1,) * (rank - len(shape)) + shape
