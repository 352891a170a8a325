"""The float formats of PTX, and rounding into them: one routine for every format and direction.

PTX ISA 9.0, 5.2.3 (alternate floating-point formats) and 9.7.9.21 (cvt, rounding modifiers).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np

from prismc.emulator.semantics.lanes import Lanes, floats
from prismc.emulator.semantics.registry import UNSIGNED
from prismc.source.record import Record


class Format(Record):
    """A binary float format.

    `precision` counts the leading bit; `smallest` is the exponent of the smallest subnormal, which
    is the weight of the last bit of a subnormal. `largest`, `infinity` and `nan` are bit patterns
    without sign; a format without infinities has `infinity` None. `padding` is the number of zero
    bits below the value in its register (a tf32 is the upper 19 bits of 32).
    """

    name: str
    width: int
    precision: int
    smallest: int
    largest: int
    infinity: int | None
    nan: int
    padding: int = 0

    @property
    def dtype(self) -> type[np.unsignedinteger[Any]]:
        return UNSIGNED[self.width + self.padding if self.padding else self.width]


def _ieee(name: str, width: int, precision: int, padding: int = 0) -> Format:
    exponent_bits = width - precision
    infinity = ((1 << exponent_bits) - 1) << (precision - 1)
    return Format(
        name=name,
        width=width,
        precision=precision,
        smallest=3 - (1 << (exponent_bits - 1)) - precision,
        largest=infinity - 1,
        infinity=infinity,
        nan=(1 << (width - 1)) - 1,
        padding=padding,
    )


F64, F32, F16 = _ieee("f64", 64, 53), _ieee("f32", 32, 24), _ieee("f16", 16, 11)
BF16, TF32, E5M2 = _ieee("bf16", 16, 8), _ieee("tf32", 19, 11, padding=13), _ieee("e5m2", 8, 3)
# e4m3 spends its top exponent on numbers: only all ones is a NaN, and there is no infinity.
E4M3 = Format(name="e4m3", width=8, precision=4, smallest=-9, largest=0x7E, infinity=None, nan=0x7F)

FORMATS = MappingProxyType({each.name: each for each in (F64, F32, F16, BF16, TF32, E5M2, E4M3)})


def bit_length(values: Lanes) -> Lanes:
    """Position of the highest set bit plus one, 0 for 0, as int64; values are unsigned."""
    smeared = values | values >> 1
    for distance in (2, 4, 8, 16, 32):
        if distance < values.itemsize * 8:
            smeared = smeared | smeared >> distance
    return np.bitwise_count(smeared).astype(np.int64)


def shift_right_jam(values: Lanes, distance: Lanes) -> Lanes:
    """`values >> distance` whose last bit also says whether a set bit fell off; uint64.

    `distance` is int64, at least 0; past 63 every bit falls off.
    """
    near = np.minimum(distance, 63).astype(np.uint64)
    kept = np.where(distance > 63, np.uint64(0), values >> near)
    whole = np.where(distance > 63, np.uint64(0), kept << near)
    return kept | (whole != values)


def encode(
    negative: Lanes,
    significand: Lanes,
    exponent: Lanes,
    target: Format,
    rounding: str,
    finite: bool = False,
) -> Lanes:
    """Bit patterns of `significand * 2**exponent`, rounded once into `target`.

    `negative` is bool, `significand` uint64, `exponent` int64. `rounding` is `rn`, `rna`, `rz`,
    `rm` or `rp`. `finite` clamps an overflow to the largest number (`.satfinite`).
    """
    # 62 is the most that the rounding below can shift out; what is further off is only sticky.
    last = np.maximum(bit_length(significand) + exponent - target.precision, target.smallest)
    far = np.maximum(last - exponent - 62, 0)
    significand, exponent = shift_right_jam(significand, far), exponent + far
    drop = np.maximum(last - exponent, 0).astype(np.uint64)
    grow = np.maximum(exponent - last, 0).astype(np.uint64)
    kept = significand << grow >> drop
    rest = significand - (kept << drop >> grow)
    kept = kept + _rounds_up(negative, kept, rest, drop, rounding)
    # A number's pattern is its rank: the next exponent begins where the last significand ends.
    steps = (last - target.smallest).astype(np.uint64) << np.uint64(target.precision - 1)
    pattern = np.where(significand == 0, np.uint64(0), steps + kept)
    pattern = np.where(
        pattern > target.largest, _overflow(negative, target, rounding, finite), pattern
    )
    pattern = pattern | negative.astype(np.uint64) << np.uint64(target.width - 1)
    return (pattern << np.uint64(target.padding)).astype(target.dtype)


def _rounds_up(negative: Lanes, kept: Lanes, rest: Lanes, drop: Lanes, rounding: str) -> Lanes:
    half = np.where(drop > 0, np.uint64(1) << (np.maximum(drop, 1) - np.uint64(1)), np.uint64(0))
    match rounding:
        case "rn":
            return (rest > half) | ((rest == half) & (drop > 0) & (kept & np.uint64(1) != 0))
        case "rna":
            return (rest >= half) & (drop > 0)
        case "rz":
            return np.zeros_like(negative)
        case "rm":
            return negative & (rest != 0)
        case "rp":
            return ~negative & (rest != 0)
        case _:
            raise ValueError(f"rounding {rounding!r}")


def _overflow(negative: Lanes, target: Format, rounding: str, finite: bool) -> Lanes:
    largest = np.uint64(target.largest)
    if finite or target.infinity is None or rounding == "rz":
        return np.full(negative.shape, largest)
    beyond = np.uint64(target.infinity)
    if rounding == "rm":
        return np.where(negative, beyond, largest)
    if rounding == "rp":
        return np.where(negative, largest, beyond)
    return np.full(negative.shape, beyond)


def round_pair(
    high: Lanes,
    low: Lanes,
    target: Format,
    rounding: str,
    exponent: Lanes | int = 0,
    finite: bool = False,
) -> Lanes:
    """Bit patterns of `(high + low) * 2**exponent`, rounded once into `target`.

    `high` and `low` are float64, `low` at most half an ulp of `high`; of a sum that `low` does not
    give exactly only its sign need be right. A zero keeps its sign, a NaN becomes the format's.
    """
    fraction, scale = np.frexp(high)
    negative = np.signbit(high)
    scale = scale.astype(np.int64)
    usable = np.isfinite(high)
    whole = np.where(usable, np.abs(fraction) * 2.0**63, 0.0).astype(np.uint64)
    rest = np.where(usable, np.ldexp(np.where(negative, -low, low), 63 - scale), 0.0)
    floor = np.floor(rest)
    significand = whole + floor.astype(np.int64).view(np.uint64)
    significand = significand | (rest != floor)
    encoded = encode(negative, significand, scale - 63 + exponent, target, rounding, finite)
    return np.where(usable, encoded, _special(high, negative, target, finite))


def _special(high: Lanes, negative: Lanes, target: Format, finite: bool) -> Lanes:
    infinite = target.largest if finite or target.infinity is None else target.infinity
    signs = negative.astype(np.uint64) << np.uint64(target.width - 1)
    pattern = np.where(np.isnan(high), np.uint64(target.nan), np.uint64(infinite) | signs)
    return (pattern << np.uint64(target.padding)).astype(target.dtype)


def round_values(
    values: Lanes, target: Format, rounding: str = "rn", finite: bool = False
) -> Lanes:
    """Bit patterns of float64 values rounded once into `target`."""
    return round_pair(values, np.zeros_like(values), target, rounding, finite=finite)


def _byte_values(target: Format) -> Lanes:
    """All 256 values of an 8-bit format: what a pattern means, read off the definition."""
    pattern = np.arange(256)
    magnitude = pattern & 0x7F
    fraction_bits = target.precision - 1
    field, fraction = magnitude >> fraction_bits, magnitude & ((1 << fraction_bits) - 1)
    leading = np.where(field > 0, 1 << fraction_bits, 0)
    value = np.ldexp((leading + fraction).astype(np.float64), np.maximum(field, 1) - 1)
    value = np.ldexp(value, target.smallest)
    if target.infinity is not None:
        value = np.where(magnitude == target.infinity, np.inf, value)
        value = np.where(magnitude > target.infinity, np.nan, value)
    value = np.where((magnitude == target.nan), np.nan, value)
    return np.where(pattern > magnitude, -value, value)


_BYTES = MappingProxyType({each.name: _byte_values(each) for each in (E4M3, E5M2)})


def widen(bits: Lanes, type_name: str) -> Lanes:
    """Bit patterns of a scalar format as float64 values, exactly.

    A tf32 operand's lower 13 bits are ignored (PTX ISA 9.0, 9.7.14: `.tf32` fragments).
    """
    if type_name in _BYTES:
        return _BYTES[type_name][bits]
    if type_name == "tf32":
        return (bits & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
    return floats(type_name)(bits).astype(np.float64)
