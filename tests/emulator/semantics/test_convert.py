"""Conversions between all types against exact values, and 8-bit formats against ml_dtypes too."""

from __future__ import annotations

import struct
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from emulator.semantics import oracle
from emulator.semantics.harness import (
    bound,
    compare,
    integers,
    operand_columns,
    random_floats,
    run,
    special_floats,
)
from emulator.semantics.oracle import NAN, clamp, encode, integer, limits, value, whole, wrap
from prismc.emulator.semantics.registry import Refused, bits_of

INTEGERS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
FLOATS = ("f16", "bf16", "f32", "f64")
Bits = int | str
INTEGRAL = ("rni", "rzi", "rmi", "rpi")
DIRECTED = ("rn", "rz", "rm", "rp")


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("result", INTEGERS)
def test_integers_to_integers(result: str, source: str) -> None:
    width = int(result[1:])
    values = [integers(int(source[1:]), 120)]
    compare(f"cvt.{result}.{source}", lambda a: wrap(integer(a, source), width), values)
    compare(
        f"cvt.sat.{result}.{source}",
        lambda a: wrap(clamp(integer(a, source), result), width),
        values,
    )


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("result", FLOATS)
def test_integers_to_floats(result: str, source: str) -> None:
    width = int(source[1:])
    near = [wrap((1 << place) + step, width) for place in range(width) for step in (-1, 0, 1)]
    values = [[*integers(width, 150), *near]]
    for rounding in DIRECTED:
        compare(
            f"cvt.{rounding}.{result}.{source}",
            lambda a, r=rounding: encode(Fraction(integer(a, source)), result, r),
            values,
        )
    one = encode(Fraction(1), result)
    compare(
        f"cvt.rn.sat.{result}.{source}",
        lambda a: one if integer(a, source) > 0 else 0,
        values,
    )


def float_values(name: str, seed: int = 0) -> list[int]:
    """Specials, numbers around the limits of every integer type, halves, and random ones."""
    found = [*special_floats(name), *operand_columns(name, 1, count=60, seed=seed)[0]]
    around = [
        Fraction(1 << place) + step
        for place in (7, 8, 15, 16, 31, 32, 63, 64)
        for step in (Fraction(-1), Fraction(-1, 2), Fraction(0), Fraction(1, 2), Fraction(1))
    ]
    around += [Fraction(step, 4) for step in range(13)]
    for number in around:
        for signed in (number, -number):
            found.append(int(encode(signed, name, "rz")))
    return found


def flush(bits: int, name: str) -> int:
    layout = oracle.LAYOUTS[name]
    field = bits >> layout.fraction & (1 << layout.exponent) - 1
    return bits if field else bits & 1 << layout.width - 1


def to_integer(a: int, result: str, source: str, rounding: str) -> int:
    number, width = value(a, source), int(result[1:])
    if number == NAN:
        return 1 << width - 1 if source == "f64" or width == 64 else 0
    low, high = limits(result)
    if isinstance(number, str):
        return wrap(high if number == "inf" else low, width)
    return wrap(clamp(whole(number, rounding), result), width)


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("result", INTEGERS)
def test_floats_to_integers(result: str, source: str) -> None:
    values = [float_values(source)]
    for rounding in INTEGRAL:
        for sat in ("", ".sat"):
            compare(
                f"cvt.{rounding}{sat}.{result}.{source}",
                lambda a, r=rounding: to_integer(a, result, source, r),
                values,
            )
    if source == "f32":
        compare(
            f"cvt.rpi.ftz.{result}.f32",
            lambda a: to_integer(flush(a, "f32"), result, source, "rpi"),
            values,
        )


def narrowed(a: int, result: str, source: str, rounding: str = "rn", finite: bool = False) -> Bits:
    negative = oracle.is_negative(a, source)
    return encode(value(a, source), result, rounding, negative_zero=negative, finite=finite)


def rectified(bits: int | str, name: str) -> int:
    sign = 1 << oracle.LAYOUTS[name].width - 1
    if isinstance(bits, str):
        return sign - 1
    return 0 if bits & sign else bits


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("result", FLOATS)
def test_floats_to_floats(result: str, source: str) -> None:
    values = [float_values(source) + random_floats(source, 200, 3, spread=20)]
    for rounding in DIRECTED if result != source else ():
        compare(
            f"cvt.{rounding}.{result}.{source}",
            lambda a, r=rounding: narrowed(a, result, source, r),
            values,
            nan=result,
        )
    if result == source or bits_of(result) > bits_of(source):
        compare(f"cvt.{result}.{source}", lambda a: narrowed(a, result, source), values, nan=result)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("rounding", INTEGRAL)
def test_rounding_to_integral_values(name: str, rounding: str) -> None:
    def integral(a: int) -> Bits:
        number = value(a, name)
        if not isinstance(number, str):
            number = Fraction(whole(number, rounding))
        return encode(number, name, negative_zero=oracle.is_negative(a, name))

    compare(f"cvt.{rounding}.{name}.{name}", integral, [float_values(name)], nan=name)


WRONG = "rni.f32.f64 f16.f32 s32.f32 f32.s32 rn.s32.f32 tf32.f32 bf16.f16 ftz.s32.f64"


@pytest.mark.parametrize("opcode", WRONG.split())
def test_a_wrong_or_missing_rounding_is_refused(opcode: str) -> None:
    with pytest.raises(Refused):
        bound(f"cvt.{opcode}")


FLUSHING = ("f32.f32", "f32.f16", "f16.f32", "f32.f64", "f64.f32", "f32.bf16", "bf16.f32")


@pytest.mark.parametrize("types", FLUSHING)
def test_flushing(types: str) -> None:
    """Only f32 is flushed, as a source and as a result."""
    result, source = types.split(".")

    def expected(a: int) -> Bits:
        converted = narrowed(flush(a, source) if source == "f32" else a, result, source)
        return (
            flush(converted, result)
            if result == "f32" and isinstance(converted, int)
            else converted
        )

    values = [float_values(source) + random_floats(source, 100)]
    rounding = ".rn" if result != source else ""
    compare(f"cvt{rounding}.ftz.{result}.{source}", expected, values, nan=result)
    compare(
        f"cvt{rounding}.ftz.sat.{result}.{source}", lambda a: saturated(expected(a), result), values
    )


def saturated(bits: int | str, name: str) -> int:
    if isinstance(bits, str) or value(bits, name) == "-inf" or oracle.is_negative(bits, name):
        return 0
    return min(bits, int(encode(Fraction(1), name)))


@pytest.mark.parametrize("result", FLOATS)
@pytest.mark.parametrize("source", FLOATS)
def test_saturating_to_the_unit_interval(result: str, source: str) -> None:
    rounding = ".rn" if result != source else ""
    compare(
        f"cvt{rounding}.sat.{result}.{source}",
        lambda a: saturated(narrowed(a, result, source), result),
        [float_values(source)],
    )


@pytest.mark.parametrize("result", ["f16", "bf16"])
@pytest.mark.parametrize("rounding", ["rn", "rz"])
def test_singles_to_halves(result: str, rounding: str) -> None:
    a = float_values("f32") + random_floats("f32", 300, 1, spread=20)
    b = a[::-1]
    for modifier in ("", ".relu", ".satfinite", ".relu.satfinite"):

        def half(bits: int, m: str = modifier) -> int:
            found = narrowed(bits, result, "f32", rounding, finite="satfinite" in m)
            if "relu" in m:
                return rectified(found, result)
            return 0x7FFF if isinstance(found, str) else found

        compare(f"cvt.{rounding}{modifier}.{result}.f32", half, [a])
        compare(
            f"cvt.{rounding}{modifier}.{result}x2.f32",
            lambda x, y, h=half: h(x) << 16 | h(y),
            [a, b],
        )


@pytest.mark.parametrize("rounding", ["rna", "rn", "rz"])
@pytest.mark.parametrize("modifier", ["", ".satfinite", ".relu"])
def test_tf32(rounding: str, modifier: str) -> None:
    ties = [
        bits & ~0x1FFF | tail
        for bits in random_floats("f32", 200, 5)
        for tail in (0xFFF, 0x1000, 0x1001)
    ]
    values = [float_values("f32") + ties]

    def converted(a: int) -> int:
        found = narrowed(a, "tf32", "f32", rounding, finite=modifier == ".satfinite")
        if isinstance(found, str):
            return 0x7FFFE000
        return 0 if modifier == ".relu" and found >> 18 else found << 13

    compare(f"cvt.{rounding}{modifier}.tf32.f32", converted, values)


BYTES = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def byte(a: int, name: str, source: str, relu: bool) -> int:
    number = value(a, source)
    if number == NAN:
        return 0x7F
    if relu and (number == "-inf" or (number != "inf" and number <= 0)):  # type: ignore[operator]
        return 0
    return int(narrowed(a, name, source, finite=True))


@pytest.mark.parametrize("name", BYTES)
@pytest.mark.parametrize("relu", ["", ".relu"])
def test_to_8_bit_floats(name: str, relu: str) -> None:
    singles = float_values("f32") + random_floats("f32", 400, 2, spread=20)
    compare(
        f"cvt.rn.satfinite{relu}.{name}x2.f32",
        lambda a, b: byte(a, name, "f32", bool(relu)) << 8 | byte(b, name, "f32", bool(relu)),
        [singles, singles[::-1]],
    )
    for source in ("f16", "bf16"):
        halves = float_values(source) + random_floats(source, 400, 2, spread=12)
        packed = [x | y << 16 for x, y in zip(halves, halves[::-1], strict=True)]
        compare(
            f"cvt.rn.satfinite{relu}.{name}x2.{source}x2",
            lambda a, s=source: (
                byte(a & 0xFFFF, name, s, bool(relu)) | byte(a >> 16, name, s, bool(relu)) << 8
            ),
            [packed],
        )


@pytest.mark.parametrize("name", BYTES)
@pytest.mark.parametrize("relu", ["", ".relu"])
def test_from_8_bit_floats(name: str, relu: str) -> None:
    def half(bits: int) -> int:
        number = value(bits, name)
        if number == NAN:
            return 0x7FFF
        found = int(encode(number, "f16", negative_zero=bits >> 7 == 1))
        return rectified(found, "f16") if relu else found

    patterns = [low | high << 8 for high in range(0, 256, 51) for low in range(256)]
    compare(
        f"cvt.rn{relu}.f16x2.{name}x2",
        lambda a: half(a & 0xFF) | half(a >> 8) << 16,
        [patterns],
    )


@pytest.mark.parametrize("name", BYTES)
def test_8_bit_floats_agree_with_ml_dtypes(name: str) -> None:
    """A second opinion on the formats themselves: every byte's value, and rounding in range."""
    every = np.arange(256, dtype=np.uint8).view(BYTES[name]).astype(np.float32)
    halves = run(f"cvt.rn.f16x2.{name}x2", list(range(256)))
    mine = [struct.unpack("<e", struct.pack("<H", half & 0xFFFF))[0] for half in halves]
    assert np.array_equal(np.array(mine, dtype=np.float32), every, equal_nan=True)
    largest = float(ml_dtypes.finfo(BYTES[name]).max)
    numbers = np.random.default_rng(1).uniform(-largest, largest, 2000).astype(np.float32)
    numbers = np.concatenate([numbers, numbers / 64, numbers / 4096, numbers / 2**18])
    bits = numbers.view(np.uint32).tolist()
    packed = run(f"cvt.rn.satfinite.{name}x2.f32", bits, bits)
    assert [both & 0xFF for both in packed] == numbers.astype(BYTES[name]).view(np.uint8).tolist()


def test_halves_agree_with_struct() -> None:
    """Python's own binary16 codec rounds to nearest, ties to even."""
    numbers = np.random.default_rng(2).standard_normal(3000) * 2.0 ** np.random.default_rng(
        3
    ).integers(-28, 15, 3000)
    bits = numbers.view(np.uint64).tolist()
    expected = [struct.unpack("<H", struct.pack("<e", number))[0] for number in numbers.tolist()]
    assert run("cvt.rn.f16.f64", bits) == expected


@pytest.mark.parametrize("result", ["u16", "s16"])
def test_pack_of_halves(result: str) -> None:
    a = integers(32, 200) + [wrap(x, 32) for x in (-32769, -32768, 32767, 32768, 65535, 65536)]
    compare(
        f"cvt.pack.sat.{result}.s32",
        lambda x, y: packed_part(x, result) << 16 | packed_part(y, result),
        [a, a[::-1]],
    )


def packed_part(bits: int, result: str) -> int:
    return wrap(clamp(integer(bits, "s32"), result), int(result[1:]))


@pytest.mark.parametrize("result", ["u8", "s8", "u4", "s4"])
def test_pack_with_a_rest(result: str) -> None:
    size = int(result[1:])
    a = integers(32, 200) + [wrap(x, 32) for x in (-129, -128, 127, 128, 255, 256, 7, 8, -8, -9)]
    c = integers(32, len(a), seed=7)
    compare(
        f"cvt.pack.sat.{result}.s32.b32",
        lambda x, y, z: wrap(
            packed_part(y, result) | packed_part(x, result) << size | z << 2 * size, 32
        ),
        [a, a[::-1], c],
    )
