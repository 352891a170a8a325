"""Arithmetic whose only rounding is the last one: sums of two doubles that hold the exact result.

A function here returns `high` and `low`: `high` is the rounded result in float64, `low` what the
rounding lost, exactly or with at least the right sign (`formats.round_pair` needs no more). For
operands of at most 24 significant bits nothing here can overflow or underflow. For float64
operands the `scaled_` forms work on fractions in [0.5, 1) and return the exponent apart.

Error-free transformations: Knuth's two-sum, Dekker's product; rounding to odd before the last
addition: Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums".
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.semantics.lanes import Lanes

Pair = tuple[Lanes, Lanes]
Scaled = tuple[Lanes, Lanes, Lanes]

_SPLITTER = float(2**27 + 1)
# Two numbers whose exponents differ by more cannot meet in 2 * 53 bits: the smaller only says on
# which side of the larger the sum lies.
_FAR = 600


def two_sum(a: Lanes, b: Lanes) -> Pair:
    """a + b, rounded, and its error; exact unless the sum overflows."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Lanes, b: Lanes) -> Pair:
    """a * b, rounded, and its error; exact if nothing overflows or underflows."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _split(a: Lanes) -> Pair:
    scaled = a * _SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def to_odd(high: Lanes, low: Lanes) -> Lanes:
    """`high + low` in float64, not rounded to nearest: an inexact one gets an odd last bit.

    Rounded once more, to 51 bits or fewer, it gives what the exact sum would give.
    """
    bits = high.view(np.uint64)
    inexact = (low != 0) & (bits & np.uint64(1) == 0) & np.isfinite(high)
    toward_zero = np.signbit(low) != np.signbit(high)
    step = np.where(toward_zero, np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(1))
    return np.where(inexact, bits + step, bits).view(np.float64)


def to_odd_single(high: Lanes, low: Lanes) -> Lanes:
    """`high + low` as float32 patterns rounded to odd, to round once more to 22 bits or fewer."""
    near = high.astype(np.float32)
    rest = (high - near) + low
    bits = near.view(np.uint32)
    inexact = (rest != 0) & (bits & np.uint32(1) == 0) & np.isfinite(high)
    toward_zero = np.signbit(rest) != np.signbit(high)
    step = np.where(toward_zero, np.uint32(0xFFFFFFFF), np.uint32(1))
    return np.where(inexact, bits + step, bits)


def add(a: Lanes, b: Lanes) -> Pair:
    return two_sum(a, b)


def subtract(a: Lanes, b: Lanes) -> Pair:
    return two_sum(a, -b)


def multiply(a: Lanes, b: Lanes) -> Pair:
    """The product of numbers of at most 24 bits each needs no second part."""
    product = a * b
    return product, np.zeros_like(product)


def multiply_add(a: Lanes, b: Lanes, c: Lanes) -> Pair:
    """a * b + c for numbers of at most 24 bits each: the product is exact."""
    return two_sum(a * b, c)


def divide(a: Lanes, b: Lanes) -> Pair:
    """a / b; the remainder a - q * b is representable, its sign says where a / b lies."""
    quotient = a / b
    high, low = two_product(quotient, b)
    return quotient, _finite(((a - high) - low) / b, quotient)


def square_root(a: Lanes) -> Pair:
    """The square root of a; the remainder a - r * r is representable."""
    root = np.sqrt(a)
    high, low = two_product(root, root)
    return root, _finite(((a - high) - low) / (2 * root), root)


def _finite(low: Lanes, high: Lanes) -> Lanes:
    return np.where(np.isfinite(low) & np.isfinite(high), low, 0.0)


def scaled_multiply_add(a: Lanes, b: Lanes, c: Lanes) -> Scaled:
    """a * b + c for any finite float64 operands: (high, low, exponent)."""
    a_part, a_scale = np.frexp(a)
    b_part, b_scale = np.frexp(b)
    c_part, c_scale = np.frexp(c)
    exponent = a_scale.astype(np.int64) + b_scale
    product, error = two_product(a_part, b_part)
    # A zero has no exponent of its own, so it takes the other's.
    gap = np.where((product == 0) | (c_part == 0), 0, c_scale - exponent)
    exponent = np.where(product == 0, c_scale, exponent)
    addend = np.ldexp(c_part, np.clip(gap, -_FAR, _FAR))
    exponent = exponent + np.where(gap > _FAR, gap - _FAR, 0)
    return *_three_sum(product, error, addend), exponent


def _three_sum(product: Lanes, error: Lanes, addend: Lanes) -> Pair:
    """product + error + addend as a rounded sum and a rest rounded to odd."""
    low_sum, low_error = two_sum(addend, error)
    high, high_error = two_sum(product, low_sum)
    return two_sum(high, to_odd(*two_sum(low_error, high_error)))


def scaled_multiply(a: Lanes, b: Lanes) -> Scaled:
    a_part, a_scale = np.frexp(a)
    b_part, b_scale = np.frexp(b)
    return *two_product(a_part, b_part), a_scale.astype(np.int64) + b_scale


def scaled_add(a: Lanes, b: Lanes) -> Scaled:
    return scaled_multiply_add(a, np.ones_like(a), b)


def scaled_subtract(a: Lanes, b: Lanes) -> Scaled:
    return scaled_multiply_add(a, np.ones_like(a), -b)


def scaled_divide(a: Lanes, b: Lanes) -> Scaled:
    a_part, a_scale = np.frexp(a)
    b_part, b_scale = np.frexp(b)
    return *divide(a_part, b_part), a_scale.astype(np.int64) - b_scale


def scaled_square_root(a: Lanes) -> Scaled:
    part, scale = np.frexp(a)
    odd = scale % 2
    return *square_root(np.ldexp(part, odd)), (scale.astype(np.int64) - odd) // 2


def likely_fused_double(a: Lanes, b: Lanes, c: Lanes) -> tuple[Lanes, Lanes]:
    """a * b + c in float64 rounded to nearest, and where that may be wrong.

    The sum's three parts are added with one rounding between them; it matters only if the result
    is then a tie, which shows in an error that is a power of two.
    """
    product, error = two_product(a, b)
    high, rest = two_sum(product, c)
    rest = rest + error
    total = high + rest
    left = (rest - (total - high)).view(np.uint64) << 1
    doubtful = (left != 0) & (left << 11 == 0)
    doubtful |= ~(np.abs(product) > 1e-200)
    doubtful |= ~(np.abs(total) > 1e-290)
    return total, doubtful | ~np.isfinite(total)


def fused_double(a: Lanes, b: Lanes, c: Lanes) -> tuple[Lanes, Lanes]:
    """a * b + c in float64 rounded to nearest, and where that can be trusted.

    Trusted where no intermediate overflowed or lost bits to underflow, and where an operand is not
    finite or the product is zero, which plain arithmetic rounds once already.
    """
    product, error = two_product(a, b)
    low_sum, low_error = two_sum(c, error)
    high, high_error = two_sum(product, low_sum)
    total = high + to_odd(*two_sum(low_error, high_error))
    # A product that overflows float64 is still finite and yields to an infinite addend.
    plain = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, a * b + c)
    size = np.maximum(np.abs(a), np.abs(b))
    safe = (np.abs(product) > 1e-200) & (size < 1e290) & (np.abs(total) > 1e-290)
    safe &= (np.abs(product) < 1e300) & (np.abs(c) < 1e300)
    simple = (a == 0) | (b == 0) | ~np.isfinite(a) | ~np.isfinite(b) | ~np.isfinite(c)
    return np.where(simple, plain, total), simple | safe
