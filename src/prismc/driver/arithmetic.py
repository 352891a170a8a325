"""Arithmetic of the kernels' types on numbers of Python, for conditions that a launch verifies."""

from __future__ import annotations

from ctypes import c_float
from math import isfinite, trunc

Number = int | float


def i8(value: Number) -> int:
    return _signed(value, 8)


def i16(value: Number) -> int:
    return _signed(value, 16)


def i32(value: Number) -> int:
    return _signed(value, 32)


def i64(value: Number) -> int:
    return _signed(value, 64)


def u8(value: Number) -> int:
    return _whole(value) & 0xFF


def u16(value: Number) -> int:
    return _whole(value) & 0xFFFF


def u32(value: Number) -> int:
    return _whole(value) & 0xFFFF_FFFF


def u64(value: Number) -> int:
    return _whole(value) & 0xFFFF_FFFF_FFFF_FFFF


def f32(value: Number) -> float:
    """Rounded to float32. Sums and products of two such numbers are first rounded to float64, which
    changes nothing: it has more than twice the digits."""
    return c_float(value).value


f64 = float


def quotient(dividend: Number, divisor: Number) -> Number:
    """Cut off towards 0 for integers, as in C; 0 where the divisor is."""
    if not divisor:
        return 0
    if isinstance(dividend, float) or isinstance(divisor, float):
        return dividend / divisor
    whole = abs(dividend) // abs(divisor)
    return whole if (dividend < 0) == (divisor < 0) else -whole


def remainder(dividend: int, divisor: int) -> int:
    """What `quotient` leaves, with the sign of the dividend; 0 where the divisor is."""
    rest = abs(dividend) % abs(divisor) if divisor else 0
    return rest if dividend >= 0 else -rest


def _whole(value: Number) -> int:
    return trunc(value) if isfinite(value) else 0


def _signed(value: Number, bits: int) -> int:
    half = 1 << (bits - 1)
    return (_whole(value) + half) % (2 * half) - half
