"""Numbers of the machine's types: ranges, wrapping, rounding, bit patterns, conversions."""

from __future__ import annotations

import math
import struct

from prismc.hardware.scalars import BF16, F8E4M3, F8E5M2, F16, F32, TF32, Kind, Scalar

Number = int | float | bool

# Exponent and mantissa bits of the formats narrower than Python's float.
_FORMATS: dict[Scalar, tuple[int, int]] = {
    F32: (8, 23),
    TF32: (8, 10),
    BF16: (8, 7),
    F16: (5, 10),
    F8E5M2: (5, 2),
    F8E4M3: (4, 3),
}
_E4M3_LARGEST = 448.0


def integer_range(scalar: Scalar) -> tuple[int, int]:
    """Least and greatest value of an integer type."""
    if scalar.kind is Kind.UNSIGNED:
        return 0, (1 << scalar.bits) - 1
    return -(1 << (scalar.bits - 1)), (1 << (scalar.bits - 1)) - 1


def wrap(value: int, scalar: Scalar) -> int:
    """Two's complement, as the machine's integer registers do."""
    value &= (1 << scalar.bits) - 1
    if scalar.kind is Kind.SIGNED and value >> (scalar.bits - 1):
        value -= 1 << scalar.bits
    return value


def round_float(value: float, scalar: Scalar) -> float:
    """The nearest value of a float type; beyond the largest, infinity.

    Ties go to even, but of tf32 away from zero (PTX ISA, `cvt.rna.tf32.f32`).
    """
    if scalar not in _FORMATS or value == 0.0 or not math.isfinite(value):
        return value
    exponent_bits, mantissa_bits = _FORMATS[scalar]
    least_exponent = 2 - (1 << (exponent_bits - 1))
    exponent = max(math.frexp(value)[1] - 1, least_exponent)
    quantum = exponent - mantissa_bits
    units = math.ldexp(value, -quantum)
    rounded = math.copysign(math.ldexp(_whole(units, scalar), quantum), value)
    return rounded if abs(rounded) <= largest(scalar) else math.copysign(math.inf, value)


def _whole(units: float, scalar: Scalar) -> int:
    return math.floor(abs(units) + 0.5) if scalar is TF32 else round(abs(units))


def largest(scalar: Scalar) -> float:
    """The greatest finite value of a float type."""
    if scalar is F8E4M3:
        return _E4M3_LARGEST
    exponent_bits, mantissa_bits = _FORMATS.get(scalar, (11, 52))
    return math.ldexp(2.0 - 2.0**-mantissa_bits, (1 << (exponent_bits - 1)) - 1)


def fits(value: Number, scalar: Scalar) -> bool:
    """Whether a literal's value can be a value of this type, up to rounding for floats."""
    match scalar.kind:
        case Kind.BOOL:
            return isinstance(value, bool)
        case Kind.FLOAT:
            return math.isinf(value) or not math.isinf(round_float(_as_float(value), scalar))
        case _:
            least, greatest = integer_range(scalar)
            return not isinstance(value, float) and least <= value <= greatest


def _as_float(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def convert(value: Number, target: Scalar) -> Number:
    """By value: integers wrap, floats truncate toward zero, the 8-bit floats saturate.

    `is_convertible` tells whether there is a result.
    """
    match target.kind:
        case Kind.BOOL:
            return value != 0
        case Kind.FLOAT:
            return _to_float(_as_float(value), target)
        case _:
            return wrap(math.trunc(value), target)


def is_convertible(value: Number, target: Scalar) -> bool:
    """Whether a conversion is defined: as in C++, a float's whole part fits the integer type."""
    if not target.is_integer or not isinstance(value, float):
        return True
    return math.isfinite(value) and fits(math.trunc(value), target)


def _to_float(value: float, target: Scalar) -> float:
    rounded = round_float(value, target)
    if target in (F8E4M3, F8E5M2) and not math.isnan(value):
        return math.copysign(min(abs(rounded), largest(target)), rounded)
    return rounded


_PACKING = {"f16": "<e", "f32": "<f", "f64": "<d"}


def to_bits(value: Number, scalar: Scalar) -> int | None:
    """The bit pattern as an unsigned integer; None for formats that are not unpacked here."""
    if scalar.kind is not Kind.FLOAT:
        return int(value) & ((1 << scalar.bits) - 1)
    if scalar.name not in _PACKING:
        return None
    return int.from_bytes(struct.pack(_PACKING[scalar.name], value), "little")


def from_bits(pattern: int, scalar: Scalar) -> Number | None:
    """The value with this bit pattern; None for formats that are not packed here."""
    if scalar.kind is not Kind.FLOAT:
        return wrap(pattern, scalar)
    if scalar.name not in _PACKING:
        return None
    content = pattern.to_bytes(scalar.size, "little")
    return float(struct.unpack(_PACKING[scalar.name], content)[0])
