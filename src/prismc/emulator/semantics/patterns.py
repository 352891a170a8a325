"""What is done to the bit patterns of floats: flushes, clamps, NaNs, rounding by addition.

PTX ISA 9.0, 9.7.3 and 9.7.9.21: the modifiers `.ftz`, `.sat` and `.relu`.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.semantics.formats import FORMATS
from prismc.emulator.semantics.lanes import Lanes

# The bits that a subnormal lacks, and the sign, per scalar type.
_EXPONENT = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF << 52}
_SIGN = {"f16": 0x8000, "bf16": 0x8000, "f32": 0x80000000, "f64": 1 << 63}
_ONE = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000, "f64": 0x3FF0000000000000}


def flush(bits: Lanes, scalar: str) -> Lanes:
    """Subnormals become zeros of their sign (`.ftz`)."""
    small = bits & bits.dtype.type(_EXPONENT[scalar]) == 0
    return np.where(small, bits & bits.dtype.type(_SIGN[scalar]), bits) if small.any() else bits


def saturate(bits: Lanes, scalar: str) -> Lanes:
    """Clamps to [0, 1]; a NaN becomes +0 (`.sat`)."""
    one, sign = bits.dtype.type(_ONE[scalar]), _SIGN[scalar]
    clamped = np.where(bits & bits.dtype.type(sign) != 0, bits.dtype.type(0), np.minimum(bits, one))
    return np.where(is_nan(bits, scalar), bits.dtype.type(0), clamped)


def rectify(bits: Lanes, scalar: str) -> Lanes:
    """A negative number becomes +0, a NaN the canonical one (`.relu`)."""
    kept = np.where(bits & bits.dtype.type(_SIGN[scalar]) != 0, bits.dtype.type(0), bits)
    return np.where(is_nan(bits, scalar), bits.dtype.type(FORMATS[scalar].nan), kept)


def is_nan(bits: Lanes, scalar: str) -> Lanes:
    """Where a pattern is a NaN: above infinity, without its sign."""
    infinity = FORMATS[scalar].infinity
    if infinity is None:
        raise ValueError(f"{scalar} has no infinity")
    return bits & bits.dtype.type(_SIGN[scalar] - 1) > infinity


def any_nan(values: Lanes) -> bool:
    """The greatest of some numbers is a NaN if one of them is: the fastest look at all."""
    return bool(np.isnan(np.maximum.reduce(values, axis=None)))


def upper_bits(a: Lanes, drop: int, to_even: bool = True) -> Lanes:
    """f32 patterns rounded to nearest at bit `drop`: what is above it, a NaN the canonical one.

    A carry out of the significand is the step to the next exponent, and out of the largest number
    the step to infinity, so rounding the pattern rounds the number. Ties go to even, or away.
    """
    half = np.uint32(1 << (drop - 1))
    below = half - np.uint32(1) + (a >> drop & np.uint32(1)) if to_even else half
    rounded = a + below >> drop
    return np.where(is_nan(a, "f32"), np.uint32(0x7FFFFFFF >> drop), rounded)
