"""Number formats against independent implementations."""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction

import pytest

from prismc.checker.types.fold import divide, fold_floats, remainder
from prismc.checker.types.numbers import convert, is_convertible, largest, round_float, wrap
from prismc.hardware.scalars import BF16, F8E4M3, F8E5M2, F16, F32, I8, I32, TF32, U8, U32, Scalar

CHANCE = random.Random(20)
VALUES = [math.ldexp(CHANCE.uniform(-2, 2), CHANCE.randint(-160, 130)) for _ in range(400)] + [
    0.0,
    -0.0,
    1.0,
    65504.0,
    65519.9,
    65520.0,
    448.0,
    464.0,
    465.0,
    57344.0,
    2.0**-24,
    2.0**-149,
]


@pytest.mark.parametrize("value", VALUES)
def test_f32_and_f16_round_like_the_host(value: float) -> None:
    for scalar, code in ((F32, "f"), (F16, "e")):
        try:
            (expected,) = struct.unpack(f"<{code}", struct.pack(f"<{code}", value))
        except OverflowError:
            expected = math.copysign(math.inf, value)
        assert round_float(value, scalar) == expected


@pytest.mark.parametrize("scalar", [BF16, TF32, F8E5M2, F8E4M3, F16, F32], ids=str)
def test_rounding_is_to_the_nearest_and_ties_to_even(scalar: Scalar) -> None:
    for value in VALUES:
        rounded = round_float(value, scalar)
        assert round_float(rounded, scalar) == rounded
        if math.isinf(rounded):
            assert abs(value) > largest(scalar)
            continue
        distance = abs(Fraction(rounded) - Fraction(value))
        for nudge in (math.inf, -math.inf):
            near = value
            for _ in range(3):
                near = math.nextafter(near, nudge)
            other = round_float(near, scalar)
            if not math.isinf(other):
                assert distance <= abs(Fraction(other) - Fraction(value))


def test_bf16_is_the_upper_half_of_f32() -> None:
    for pattern in range(0, 1 << 16, 37):
        (value,) = struct.unpack("<f", struct.pack("<I", pattern << 16))
        if math.isfinite(value):
            assert round_float(value, BF16) == value


def test_wrapping() -> None:
    assert [wrap(n, I8) for n in (127, 128, 255, 256, -129)] == [127, -128, -1, 0, 127]
    assert [wrap(n, U8) for n in (-1, 256, 511)] == [255, 0, 255]
    assert wrap(1 << 31, I32) == -(1 << 31)


def test_conversions_truncate_floats_and_wrap_integers() -> None:
    assert [convert(x, I32) for x in (1.9, -1.9, (1 << 32) - 1)] == [1, -1, -1]
    assert [convert(x, U32) for x in (-0.5, 4.9, -1)] == [0, 4, (1 << 32) - 1]


def test_floats_convert_to_integers_that_hold_them() -> None:
    held = [is_convertible(x, I8) for x in (127.9, -128.9, 128.0, -129.0, math.nan, math.inf)]
    assert held == [True, True, False, False, False, False]
    assert is_convertible(1 << 40, I8), "integers wrap"
    assert is_convertible(1e300, F16), "floats round"


def test_8_bit_floats_saturate() -> None:
    assert [convert(x, F8E4M3) for x in (1e9, -math.inf)] == [448.0, -448.0]
    assert [convert(x, F8E5M2) for x in (61440.0, -1e9)] == [57344.0, -57344.0]
    assert math.isinf(round_float(1e9, F8E4M3)), "a literal does not fit"


def test_division_follows_c() -> None:
    for left in range(-9, 10):
        for right in (-4, -3, -1, 1, 2, 5):
            quotient = divide(left, right)
            assert quotient == math.trunc(Fraction(left, right))
            assert remainder(left, right) == left - quotient * right


def test_f32_operations_round_once() -> None:
    for _ in range(500):
        left = round_float(CHANCE.uniform(-1e6, 1e6), F32)
        right = round_float(CHANCE.uniform(-1e3, 1e3), F32) or 1.0
        exact = {
            "+": Fraction(left) + Fraction(right),
            "-": Fraction(left) - Fraction(right),
            "*": Fraction(left) * Fraction(right),
            "/": Fraction(left) / Fraction(right),
        }
        for sign, value in exact.items():
            found = Fraction(fold_floats(sign, left, right, F32))
            (above,) = struct.unpack("<f", struct.pack("<f", math.nextafter(float(found), 9e9)))
            assert abs(found - value) <= abs(Fraction(above) - value)
