"""Operators of host code: what they take, and what is known of the result.

Arrays combine when their types are equal; a number takes the type of the array that it meets.
Integers divide as in kernels: `/` drops the fraction, `%` has the sign of the left side.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import fmod
from typing import Any

from prismc.checker.host.values import (
    RATHER,
    UNKNOWN,
    Array,
    Complaint,
    HostValue,
    Number,
    broadcast,
    show,
)
from prismc.checker.types.fold import divide, remainder
from prismc.hardware.scalars import BF16, BOOL, TF32, Kind, Scalar

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_BITS = ("&", "|", "^")
_SHIFTS = ("<<", ">>")
_ARITHMETIC = ("+", "-", "*", "/", "%")
# Integers of host code are exact; beyond this many bits a value is not followed.
_MOST_BITS = 128


_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_,
    "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip


def combine_numbers(sign: str, left: Any, right: Any) -> Any:
    """`left sign right` of two numbers of the host.

    Raises ArithmeticError or ValueError where there is no such number.
    """
    if sign in ("/", "%"):
        if isinstance(left, float) or isinstance(right, float):
            return left / right if sign == "/" else fmod(left, right)
        return divide(left, right) if sign == "/" else remainder(left, right)
    if sign == "<<" and (right > _MOST_BITS or int(left).bit_length() > _MOST_BITS):
        raise OverflowError("the number is too large")
    return _NUMBERS[sign](left, right)


def combined(sign: str, left: HostValue, right: HostValue) -> HostValue | Complaint:
    """What is known of `left sign right`, or why there is no such value."""
    if left == UNKNOWN or right == UNKNOWN:
        return UNKNOWN
    if isinstance(left, Number) and isinstance(right, Number):
        return _numbers(sign, left, right)
    what = f"`{sign}` of {show(left)} and {show(right)}"
    scalar = common_scalar(left, right)
    if scalar is None:
        return Complaint(kind="types", what=what, advice=RATHER)
    if not _has_operator(sign, scalar):
        return Complaint(kind="types", what=what, advice=_advice(sign, scalar))
    shape = broadcast(_shape(left), _shape(right))
    if shape is None:
        return Complaint(kind="shapes", what=what, advice="give both the same lengths")
    return Array(scalar=BOOL if sign in COMPARISONS else scalar, shape=shape)


def common_scalar(*values: HostValue) -> Scalar | None:
    """The type of elements that arrays and numbers have together; None if they have none.

    At least one of them is an array.
    """
    scalars = [value.scalar for value in values if isinstance(value, Array)]
    if any(scalar is not scalars[0] for scalar in scalars):
        return None
    numbers = [value.kind for value in values if isinstance(value, Number)]
    return scalars[0] if all(_adapts(kind, scalars[0]) for kind in numbers) else None


def _adapts(kind: str, scalar: Scalar) -> bool:
    """Whether a number of the host becomes an element of this type."""
    if scalar is BOOL or kind == "bool":
        return scalar is BOOL and kind == "bool"
    return scalar.is_float or kind == "int"


def computes(scalar: Scalar) -> bool:
    """Whether the host calculates in this type; bf16 and tf32 are only kept in memory."""
    return scalar.is_integer or (scalar.is_float and scalar.bits > 8 and scalar not in (BF16, TF32))


def _has_operator(sign: str, scalar: Scalar) -> bool:
    if sign in ("==", "!="):
        return True
    if sign in _BITS:
        return scalar.is_integer or scalar is BOOL
    if sign in _SHIFTS:
        return scalar.is_integer
    return computes(scalar)


def _advice(sign: str, scalar: Scalar) -> str:
    if scalar is BOOL:
        return "convert it: `i32(x)`"
    if sign in _BITS + _SHIFTS:
        return "convert it: `u32(x)`"
    return "convert it: the host calculates with `f32(x)` or `f64(x)`"


def _shape(value: HostValue) -> tuple[int | None, ...]:
    return value.shape if isinstance(value, Array) else ()


def _numbers(sign: str, left: Number, right: Number) -> HostValue | Complaint:
    kinds = {left.kind, right.kind}
    what = f"`{sign}` of {show(left)} and {show(right)}"
    if "bool" in kinds:
        fits = kinds == {"bool"} and sign in (*_BITS, "==", "!=")
    else:
        fits = kinds == {"int"} or sign not in _BITS + _SHIFTS
    if not fits:
        return Complaint(kind="types", what=what, advice="compare numbers, combine conditions")
    kind = "bool" if sign in COMPARISONS or kinds == {"bool"} else "int"
    if kind == "int" and "float" in kinds:
        kind = "float"
    if left.value is None or right.value is None:
        return Number(kind=kind)
    try:
        return Number(kind=kind, value=combine_numbers(sign, left.value, right.value))
    except ZeroDivisionError:
        return Complaint(kind="types", what=f"{what}: a division by 0", advice="divide by another")
    except (ArithmeticError, ValueError) as error:
        return Complaint(kind="types", what=f"{what}: {error}", advice="write a smaller number")


def applied(sign: str, operand: HostValue) -> HostValue | Complaint:
    """What is known of `-x`, `+x`, `~x`, `not x`."""
    what = f"`{sign}` of {show(operand)}"
    match operand:
        case Number(kind=kind, value=value):
            if (sign == "not") != (kind == "bool") or (sign == "~" and kind != "int"):
                return Complaint(kind="types", what=what, advice="give it another operand")
            return Number(kind=kind, value=None if value is None else apply_number(sign, value))
        case Array(scalar=scalar):
            if sign == "not":
                fits = scalar is BOOL
            else:
                fits = scalar.is_integer if sign == "~" else computes(scalar)
            if fits and not (sign == "-" and scalar.kind is Kind.UNSIGNED):
                return operand
            return Complaint(kind="types", what=what, advice="convert it: `i32(x)`, `f32(x)`")
        case _:
            return UNKNOWN


def apply_number(sign: str, value: Any) -> Any:
    """`-x`, `+x`, `~x`, `not x` of a number of the host."""
    match sign:
        case "-":
            return -value
        case "~":
            return ~value
        case "not":
            return not value
        case _:
            return value
