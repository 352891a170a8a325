"""CUDA's arithmetic on constants. None means: leave it to the machine.

Integers wrap to their width. Floats are folded only where the result is the one that IEEE rounding
to nearest gives: in f64 it is Python's own; in f32 the f64 result of `+ - * /` rounded once more is
the correctly rounded one, since 53 >= 2 * 24 + 2 (Figueroa, "When is double rounding innocuous?").
Results that are not finite are left alone.
"""

from __future__ import annotations

import math
import struct

from prismc.hardware.scalars import F32, F64, I32, I64, U32, U64, Kind, Scalar
from prismc.ir.ops.arithmetic import BinaryOperator, Comparison, UnaryOperator

Number = int | float | bool


def wrap(value: int, scalar: Scalar) -> int:
    """`value` modulo the width of an integer type, in its range."""
    low = value & ((1 << scalar.bits) - 1)
    is_negative = scalar.kind is Kind.SIGNED and low >> (scalar.bits - 1)
    return low - (1 << scalar.bits) if is_negative else low


def round_to(value: float, scalar: Scalar) -> float | None:
    """`value` as an f32 or f64; None for other types and for what is too large."""
    if scalar is F64:
        return value
    if scalar is not F32 or not math.isfinite(value):
        return None
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return None


def fold_binary(
    operator: BinaryOperator, left: Number, right: Number, scalar: Scalar
) -> Number | None:
    """`left operator right`; both are of type `scalar` except a shift's count."""
    if scalar.kind is Kind.BOOL:
        return bool(_logic(operator, int(left), int(right)))
    if scalar.is_float:
        return _floats(operator, float(left), float(right), scalar)
    found = _integers(operator, int(left), int(right), scalar)
    return None if found is None else wrap(found, scalar)


def _logic(operator: BinaryOperator, left: int, right: int) -> int:
    match operator:
        case BinaryOperator.AND:
            return left & right
        case BinaryOperator.OR:
            return left | right
        case _:
            return left ^ right


def _integers(operator: BinaryOperator, left: int, right: int, scalar: Scalar) -> int | None:
    match operator:
        case BinaryOperator.ADD:
            return left + right
        case BinaryOperator.SUB:
            return left - right
        case BinaryOperator.MUL:
            return left * right
        case BinaryOperator.DIV | BinaryOperator.REM:
            return _divided(operator, left, right, scalar)
        case BinaryOperator.SHL:
            return left << right if 0 <= right < scalar.bits else None
        case BinaryOperator.SHR:
            return left >> right if 0 <= right < scalar.bits else None
        case BinaryOperator.MIN:
            return min(left, right)
        case BinaryOperator.MAX:
            return max(left, right)
        case _:
            return _logic(operator, left, right)


def _divided(operator: BinaryOperator, left: int, right: int, scalar: Scalar) -> int | None:
    """Truncating division. By 0, and of the least value by -1, it is undefined."""
    if right == 0:
        return None
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    if wrap(quotient, scalar) != quotient:
        return None
    return quotient if operator is BinaryOperator.DIV else left - quotient * right


def _floats(operator: BinaryOperator, left: float, right: float, scalar: Scalar) -> float | None:
    one, other = round_to(left, scalar), round_to(right, scalar)
    if one is None or other is None:
        return None
    match operator:
        case BinaryOperator.ADD:
            exact = one + other
        case BinaryOperator.SUB:
            exact = one - other
        case BinaryOperator.MUL:
            exact = one * other
        case BinaryOperator.DIV if other != 0:
            exact = one / other
        case _:
            return None
    return round_to(exact, scalar) if math.isfinite(exact) else None


def fold_unary(operator: UnaryOperator, value: Number, scalar: Scalar) -> Number | None:
    """`operator value`; the counting operators give an i32."""
    if scalar.kind is Kind.BOOL:
        return not value
    if scalar.is_float:
        return -value if operator is UnaryOperator.NEG else abs(value)
    pattern = int(value) & ((1 << scalar.bits) - 1)
    match operator:
        case UnaryOperator.NEG:
            return wrap(-int(value), scalar)
        case UnaryOperator.NOT:
            return wrap(~int(value), scalar)
        case UnaryOperator.ABS:
            return wrap(abs(int(value)), scalar)
        case UnaryOperator.POPC:
            return pattern.bit_count()
        case UnaryOperator.CLZ:
            return scalar.bits - pattern.bit_length()
        case UnaryOperator.CTZ:
            return (pattern & -pattern).bit_length() - 1 if pattern else scalar.bits


def fold_comparison(
    comparison: Comparison, left: Number, right: Number, scalar: Scalar
) -> bool | None:
    """`left comparison right`, both of type `scalar`."""
    if scalar.is_float:
        one, other = round_to(float(left), scalar), round_to(float(right), scalar)
        if one is None or other is None:
            return None
        left, right = one, other
    match comparison:
        case Comparison.EQ:
            return left == right
        case Comparison.NE:
            return left != right
        case Comparison.LT:
            return left < right
        case Comparison.LE:
            return left <= right
        case Comparison.GT:
            return left > right
        case Comparison.GE:
            return left >= right


_EXACT_INTEGERS = 1 << 53
_PLAIN = (F32, F64, I32, I64, U32, U64)


def fold_conversion(value: Number, source: Scalar, target: Scalar) -> Number | None:
    """`value` of type `source` as a `target`, as a C cast."""
    if source.is_float:
        rounded = round_to(float(value), source)
        if rounded is None or not math.isfinite(rounded):
            return None
        value = rounded
    if target.kind is Kind.BOOL:
        return value != 0
    if target.is_float:
        # A wider integer would be rounded twice.
        return round_to(float(value), target) if abs(value) <= _EXACT_INTEGERS else None
    whole = int(value)
    is_defined = not source.is_float or wrap(whole, target) == whole
    return wrap(whole, target) if is_defined else None


def fold_bits(value: Number, source: Scalar, target: Scalar) -> Number | None:
    """The bits of `value` read as a `target`: 32 and 64 bit numbers only."""
    codes = {32: ("<f", "<I"), 64: ("<d", "<Q")}.get(source.bits)
    if codes is None or source not in _PLAIN or target not in _PLAIN:
        return None
    as_float, as_bits = codes
    if source.is_float:
        if not math.isfinite(value):
            return None
        raw = struct.pack(as_float, value)
    else:
        raw = struct.pack(as_bits, int(value) & ((1 << source.bits) - 1))
    if not target.is_float:
        return wrap(struct.unpack(as_bits, raw)[0], target)
    found = float(struct.unpack(as_float, raw)[0])
    return found if math.isfinite(found) else None
