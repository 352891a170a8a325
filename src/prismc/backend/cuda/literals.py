"""Constants as C++ text that gives exactly their bits."""

from __future__ import annotations

import math
import struct

from prismc.backend.cuda.expression import Expression, Level, literal, supplied
from prismc.hardware.scalars import (
    BF16,
    BOOL,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I32,
    I64,
    TF32,
    U32,
    U64,
    Kind,
    Scalar,
)

_ESCAPES = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t"}
_SUFFIX = {I32: "", U32: "u", I64: "ll", U64: "ull"}


def string(text: str) -> str:
    """A string literal; what is not printable ASCII is written byte by byte."""
    pieces = (_ESCAPES.get(byte) or _character(byte) for byte in text.encode())
    return f'"{"".join(pieces)}"'


def _character(byte: int) -> str:
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def constant(scalar: Scalar, value: float) -> Expression:
    """`value`, already of the type, as an expression of the type."""
    if scalar is BOOL:
        return literal("true" if value else "false")
    if scalar.kind is not Kind.FLOAT:
        return _integer(scalar, int(value))
    if scalar is F64:
        return _double(float(value))
    if scalar is F32:
        return _single(float(value))
    return literal(f"({scalar.c_name})0x{float_bits(scalar, float(value)):x}")


def _integer(scalar: Scalar, value: int) -> Expression:
    if scalar not in _SUFFIX:
        return Expression(text=f"({scalar.c_name}){value}", level=Level.PREFIX)
    suffix = _SUFFIX[scalar]
    if scalar.kind is Kind.SIGNED and value == -(1 << (scalar.bits - 1)):
        # The literal alone would be one too large for its type before the minus.
        return Expression(text=f"{value + 1}{suffix} - 1", level=Level.SUM)
    written = literal(f"{value}{suffix}")
    if scalar.bits == 64 and 0 <= value < 1 << 31:
        return supplied(written, literal(str(value)), widens=True)
    return written


def _double(value: float) -> Expression:
    if not math.isfinite(value):
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return _call("__longlong_as_double", f"0x{bits:x}ll")
    return literal(repr(value))


def _single(value: float) -> Expression:
    if not math.isfinite(value):
        return _call("__int_as_float", f"0x{float_bits(F32, value):x}")
    rounded = round_single(value)
    if not math.isfinite(rounded):
        return _call("__int_as_float", f"0x{float_bits(F32, rounded):x}")
    return literal(f"{_shortest_single(rounded)}f")


def _call(function: str, argument: str) -> Expression:
    return Expression(text=f"{function}({argument})", level=Level.POSTFIX)


def round_single(value: float) -> float:
    """The nearest f32, infinite where it is too large."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def _shortest_single(value: float) -> str:
    """The fewest digits that read back as this f32, always with a point or an exponent."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if round_single(float(text)) == value:
            break
    return text if any(mark in text for mark in ".e") else f"{text}.0"


# Exponent bits and mantissa bits of the formats below 32 bits; tf32 is f32 with 10 mantissa bits.
_FORMATS = {F16: (5, 10), BF16: (8, 7), F8E5M2: (5, 2), F8E4M3: (4, 3)}

# What magnitudes beyond the greatest become: infinity, or the greatest number.
_GREATEST = {F16: 0x7C00, BF16: 0x7F80, F8E5M2: 0x7B, F8E4M3: 0x7E}
_QUIET_NAN = {F16: 0x7FFF, BF16: 0x7FFF, F8E5M2: 0x7F, F8E4M3: 0x7F}


def float_bits(scalar: Scalar, value: float) -> int:
    """The bits of `value` in a float type, rounded to nearest even.

    The 8-bit types saturate, as the only conversions that PTX has for them do
    (`cvt.rn.satfinite`); f8e4m3 has no infinities at all (OCP 8-bit floating point).
    """
    if scalar is F64:
        return int(struct.unpack("<Q", struct.pack("<d", value))[0])
    if scalar in (F32, TF32):
        single = value if math.isnan(value) else round_single(value)
        bits = int(struct.unpack("<I", struct.pack("<f", single))[0])
        return bits if scalar is F32 else _to_tf32(bits)
    if math.isnan(value):
        return _QUIET_NAN[scalar]
    exponent_bits, mantissa_bits = _FORMATS[scalar]
    sign = int(math.copysign(1.0, value) < 0) << (exponent_bits + mantissa_bits)
    return sign | min(_magnitude(abs(value), exponent_bits, mantissa_bits), _GREATEST[scalar])


def _to_tf32(bits: int) -> int:
    """Round to nearest, ties away, as `cvt.rna.tf32.f32` does; infinities and NaN stay."""
    if bits & 0x7F80_0000 == 0x7F80_0000:
        return bits
    return (bits + 0x1000) & 0xFFFF_E000


def _magnitude(value: float, exponent_bits: int, mantissa_bits: int) -> int:
    if value == 0:
        return 0
    if math.isinf(value):
        return 1 << (exponent_bits + mantissa_bits)  # beyond every magnitude
    bias = (1 << (exponent_bits - 1)) - 1
    exponent = max(math.frexp(value)[1] - 1, 1 - bias)
    # In units of the last place `round` is exact and goes to even; a carry moves the exponent on.
    units = round(math.ldexp(value, mantissa_bits - exponent))
    return units + ((exponent + bias - 1) << mantissa_bits)
