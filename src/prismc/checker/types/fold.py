"""Arithmetic on compile-time constants, with CUDA's meaning.

Integers wrap at their type's width, division truncates toward zero and the remainder follows it.
Float results are those of one IEEE operation: the exact result of two values of at most 24 bits of
mantissa fits Python's float closely enough that rounding twice changes nothing.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from prismc.checker.types.numbers import Number, round_float, wrap
from prismc.hardware.scalars import Kind, Scalar

COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}

_INTEGER: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}

_FLOAT: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def divide(left: int, right: int) -> int:
    """Quotient truncated toward zero; `right` is not 0."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def remainder(left: int, right: int) -> int:
    """What division leaves; it has the sign of `left`."""
    return left - divide(left, right) * right


def fold_integers(sign: str, left: int, right: int, scalar: Scalar | None) -> int:
    """One integer operation; `scalar` None computes with unbounded integers (literals).

    The caller has refused division by zero and shifts out of range.
    """
    if sign == "/":
        result = divide(left, right)
    elif sign == "%":
        result = remainder(left, right)
    else:
        result = _INTEGER[sign](left, right)
    return result if scalar is None else wrap(result, scalar)


def fold_floats(sign: str, left: float, right: float, scalar: Scalar | None) -> float:
    """One float operation, rounded to `scalar`; None keeps Python's precision (literals)."""
    try:
        result = left / right if sign == "/" else _FLOAT[sign](left, right)
    except ZeroDivisionError:
        result = _divide_by_zero(left, right)
    return result if scalar is None else round_float(result, scalar)


def _divide_by_zero(left: float, right: float) -> float:
    if left == 0.0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def fold_booleans(sign: str, left: bool, right: bool) -> bool:
    """`&`, `|` or `^` of two bools."""
    return bool(_INTEGER[sign](left, right))


def fold_unary(sign: str, value: Number, scalar: Scalar | None) -> Number:
    """`-`, `+`, `~` or `not`."""
    match sign:
        case "not":
            return not value
        case "+":
            return value
        case "-":
            result: Number = -value
        case _:
            result = ~int(value)
    if scalar is None or scalar.kind is Kind.FLOAT:
        return result
    return wrap(int(result), scalar)
