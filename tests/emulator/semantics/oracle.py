"""Independent computations: Python integers and exact rationals, straight from the definitions.

Nothing here shares code or method with the emulator: no NumPy arithmetic, no error-free
transformations. Values are `Fraction`, or the strings "nan", "inf", "-inf"; a zero that carries a
sign is the bit pattern's business.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import floor
from typing import NamedTuple

NAN = "nan"
Number = Fraction | str


class Layout(NamedTuple):
    """Exponent and fraction field widths; `top_is_number`: e4m3's rule for the top exponent."""

    exponent: int
    fraction: int
    top_is_number: bool = False

    @property
    def width(self) -> int:
        return 1 + self.exponent + self.fraction

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1


LAYOUTS = {
    "f16": Layout(5, 10),
    "bf16": Layout(8, 7),
    "f32": Layout(8, 23),
    "f64": Layout(11, 52),
    "tf32": Layout(8, 10),
    "e5m2": Layout(5, 2),
    "e4m3": Layout(4, 3, top_is_number=True),
}


@cache
def value(bits: int, name: str) -> Number:
    """The number that a bit pattern stands for."""
    layout = LAYOUTS[name]
    negative = bits >> (layout.width - 1)
    field = bits >> layout.fraction & ((1 << layout.exponent) - 1)
    fraction = bits & ((1 << layout.fraction) - 1)
    if layout.top_is_number:
        if bits & 0x7F == 0x7F:
            return NAN
    elif field == (1 << layout.exponent) - 1:
        return NAN if fraction else ("-inf" if negative else "inf")
    if field == 0:
        magnitude = Fraction(fraction, 1 << layout.fraction) * power(1 - layout.bias)
    else:
        magnitude = (1 + Fraction(fraction, 1 << layout.fraction)) * power(field - layout.bias)
    return -magnitude if negative else magnitude


@cache
def power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def is_negative(bits: int, name: str) -> bool:
    return bool(bits >> (LAYOUTS[name].width - 1) & 1)


def binade(magnitude: Fraction) -> int:
    """The e with 2**e <= magnitude < 2**(e + 1)."""
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return exponent if magnitude >= power(exponent) else exponent - 1


def whole(ratio: Fraction, rounding: str) -> int:
    """A rational rounded to an integer; the rounding names are those of floats or of cvt."""
    low = floor(ratio)
    rest = ratio - low
    match rounding.removesuffix("i"):
        case "rm":
            return low
        case "rp":
            return low + (rest > 0)
        case "rz":
            return low + (rest > 0 and ratio < 0)
        case "rna":
            return low + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and ratio > 0))
        case "rn":
            return low + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1))
        case _:
            raise AssertionError(rounding)


@cache
def encode(
    number: Number,
    name: str,
    rounding: str = "rn",
    negative_zero: bool = False,
    finite: bool = False,
) -> int | str:
    """The bit pattern of a number rounded into a format; NAN for a NaN."""
    layout = LAYOUTS[name]
    if number == NAN:
        return NAN
    sign = 1 << (layout.width - 1)
    if isinstance(number, str):
        pattern = largest(name) if finite else infinity(name)
        return pattern | (sign if number == "-inf" else 0)
    if number == 0:
        return sign if negative_zero else 0
    last = max(binade(abs(number)), 1 - layout.bias) - layout.fraction
    units = abs(whole(number / power(last), rounding))
    rounded = units * power(last)
    negative = number < 0
    if rounded > abs(value(largest(name), name)):  # type: ignore[arg-type]
        toward_zero = finite or rounding == ("rp" if negative else "rm") or rounding == "rz"
        return (largest(name) if toward_zero else infinity(name)) | negative * sign
    exponent = binade(rounded) if rounded else -(1 << 20)
    if exponent < 1 - layout.bias:
        pattern = int(rounded / power(1 - layout.bias - layout.fraction))
    else:
        fraction = rounded / power(exponent) - 1
        pattern = exponent + layout.bias << layout.fraction
        pattern += int(fraction * (1 << layout.fraction))
    return pattern | negative * sign


def largest(name: str) -> int:
    layout = LAYOUTS[name]
    return 0x7E if layout.top_is_number else infinity(name) - 1


def infinity(name: str) -> int:
    layout = LAYOUTS[name]
    assert not layout.top_is_number
    return ((1 << layout.exponent) - 1) << layout.fraction


def to_signed(bits: int, width: int) -> int:
    return bits - (1 << width) if bits >> (width - 1) & 1 else bits


def integer(bits: int, type_name: str) -> int:
    """The integer that a register holds by its type: `s32`, `u16`, `b64`."""
    width = int(type_name[1:])
    return to_signed(bits, width) if type_name.startswith("s") else bits


def wrap(number: int, width: int) -> int:
    return number & ((1 << width) - 1)


def clamp(number: int, type_name: str) -> int:
    low, high = limits(type_name)
    return min(max(number, low), high)


def limits(type_name: str) -> tuple[int, int]:
    width = int(type_name[1:])
    if type_name.startswith("s"):
        return -(1 << (width - 1)), (1 << (width - 1)) - 1
    return 0, (1 << width) - 1


def truncated_quotient(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient
