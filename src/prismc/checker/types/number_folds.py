"""What built-ins of numbers make of values that are known."""

from __future__ import annotations

from collections.abc import Callable

from prismc.checker.types.numbers import Number, convert, from_bits, to_bits
from prismc.hardware.scalars import Scalar


def reinterpret(value: Number, source: Scalar, target: Scalar) -> Number | None:
    """The same bits as a value of another type of this size; None if it has no such bits."""
    pattern = to_bits(value, source)
    return None if pattern is None else from_bits(pattern, target)


def _trailing_zeros(scalar: Scalar, value: Number) -> Number:
    pattern = to_bits(value, scalar) or 0
    return scalar.bits if pattern == 0 else (pattern & -pattern).bit_length() - 1


def _least(scalar: Scalar, a: Number, b: Number) -> Number:
    return b if a != a else min(a, b)  # of NaN and a number the number, as `fminf` has it


def _greatest(scalar: Scalar, a: Number, b: Number) -> Number:
    return b if a != a else max(a, b)


# By name: the scalar type of the first argument, then the values.
FOLDS: dict[str, Callable[..., Number]] = {
    "min": _least,
    "max": _greatest,
    "abs": lambda scalar, a: convert(abs(a), scalar),
    "clamp": lambda scalar, x, low, high: _least(scalar, _greatest(scalar, x, low), high),
    "select": lambda scalar, condition, a, b: a if condition else b,
    "popc": lambda scalar, a: (to_bits(a, scalar) or 0).bit_count(),
    "clz": lambda scalar, a: scalar.bits - (to_bits(a, scalar) or 0).bit_length(),
    "ctz": _trailing_zeros,
    "log2": lambda scalar, a: a.bit_length() - 1,
}
