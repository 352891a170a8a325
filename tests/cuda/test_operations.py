"""Every operation on every type: emitted, compiled, run, and compared with other arithmetic.

Integers are checked with Python's, floats with NumPy's and ml_dtypes'. Each type is one kernel, so
one compilation for each target does.
"""

from __future__ import annotations

import math
import random
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from cuda.machine import built, run
from prismc.backend.toolchain.build import Binary
from prismc.hardware.scalars import SCALARS, Kind, Scalar

Array = npt.NDArray[Any]

DTYPES: dict[str, Any] = {
    "bool": np.uint8,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "f8e4m3": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
}
LARGEST = {"f8e4m3": 448.0, "f8e5m2": 57344.0}
INTEGERS = [name for name, scalar in SCALARS.items() if scalar.is_integer]
FLOATS = [name for name, scalar in SCALARS.items() if scalar.is_float]
# sm_75 emulates bf16, tf32 and f8; sm_80 only f8; sm_90 has instructions for all.
TARGETS = ("sm_75", "sm_80", "sm_90")
COUNT = 64


def kernel(name: str, inputs: list[str], lines: list[str], outputs: list[str]) -> str:
    """A kernel whose thread i reads `%in<k>` and writes the values `%out<k>` of `lines`."""
    parameters = [f"%p{k}: ptr<const {t}, global>" for k, t in enumerate(inputs)]
    parameters += [f"%q{k}: ptr<{t}, global>" for k, t in enumerate(outputs)]
    body = ["%t: i32 = thread.index"]
    body += [f"%in{k}: {t} = load %p{k}, %t" for k, t in enumerate(inputs)]
    body += lines
    body += [f"store %q{k}, %t, %out{k}" for k in range(len(outputs))]
    return (
        f"kernel @{name}({', '.join(parameters)}) threads={COUNT} min_blocks=0 cluster=1 "
        "cooperative=false shared=0 alignment=0 {\n  " + "\n  ".join(body) + "\n  return []\n}\n"
    )


def integers(name: str, seed: int) -> list[int]:
    scalar = SCALARS[name]
    low = -(1 << (scalar.bits - 1)) if scalar.kind is Kind.SIGNED else 0
    high = low + (1 << scalar.bits) - 1
    edges = [low, low + 1, high, high - 1, 0, 1, 2, 3, -1 if low else 7, high // 2]
    source = random.Random(seed)
    return [source.choice([*edges, source.randint(low, high)]) for _ in range(COUNT)]


def wrap(value: int, scalar: Scalar) -> int:
    value &= (1 << scalar.bits) - 1
    negative = scalar.kind is Kind.SIGNED and value >> (scalar.bits - 1)
    return value - (1 << scalar.bits) if negative else value


# --------------------------------------------------------------------------- integers


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGER_BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "min": min,
    "max": max,
    "div": quotient,
    "rem": lambda a, b: a - quotient(a, b) * b,
}
COMPARISONS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def pattern(value: int, bits: int) -> str:
    return f"{value & ((1 << bits) - 1):0{bits}b}"


INTEGER_UNARY = {
    "neg": lambda a, bits: -a,
    "not": lambda a, bits: ~a,
    "abs": lambda a, bits: abs(a),
}
BIT_COUNTS = {
    "popc": lambda a, bits: pattern(a, bits).count("1"),
    "clz": lambda a, bits: len(pattern(a, bits)) - len(pattern(a, bits).lstrip("0")),
    "ctz": lambda a, bits: len(pattern(a, bits)) - len(pattern(a, bits).rstrip("0")),
}


def integer_kernel(name: str) -> str:
    lines: list[str] = []
    outputs: list[str] = []

    def result(text: str, type: str) -> None:
        lines.append(f"%out{len(outputs)}: {type} = {text}")
        outputs.append(type)

    for word in INTEGER_BINARY:
        result(f"{word} %in0, %in1", name)
    for word in COMPARISONS:
        result(f"{word} %in0, %in1", "bool")
    for word in INTEGER_UNARY:
        result(f"{word} %in0", name)
    for word in BIT_COUNTS:
        result(f"{word} %in0", "i32")
    for word in ("shl", "shr"):
        result(f"{word} %in0, %in2", name)
    return kernel(f"on_{name}", [name, name, "i32"], lines, outputs)


@cache
def integer_binary() -> Binary:
    return built("".join(map(integer_kernel, INTEGERS)))


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_operations(name: str) -> None:
    scalar, dtype = SCALARS[name], DTYPES[name]
    left = integers(name, 1)
    right = [b or 5 for b in integers(name, 2)]
    # The quotient of the least number and -1 does not exist.
    least = wrap(1 << (scalar.bits - 1), scalar)
    right = [3 if (a, b) == (least, -1) else b for a, b in zip(left, right, strict=True)]
    counts = [number % scalar.bits for number in range(COUNT)]
    words = [*INTEGER_BINARY, *COMPARISONS, *INTEGER_UNARY, *BIT_COUNTS, "shl", "shr"]
    types = [name] * 10 + ["bool"] * 6 + [name] * 3 + ["i32"] * 3 + [name] * 2
    arguments = [np.array(left, dtype), np.array(right, dtype), np.array(counts, np.int32)]
    arguments += [np.zeros(COUNT, DTYPES[type]) for type in types]
    outputs = run(integer_binary(), arguments, f"on_{name}", COUNT)[3:]
    for word, type, output in zip(words, types, outputs, strict=True):
        expected = [
            wrap(int(_integer_result(word, a, b, n, scalar.bits)), SCALARS[type])
            for a, b, n in zip(left, right, counts, strict=True)
        ]
        assert output is not None
        assert list(map(int, output)) == expected, word


def _integer_result(word: str, a: int, b: int, n: int, bits: int) -> float:
    if word in INTEGER_BINARY:
        return INTEGER_BINARY[word](a, b)
    if word in COMPARISONS:
        return COMPARISONS[word](a, b)
    if word in INTEGER_UNARY:
        return INTEGER_UNARY[word](a, bits)
    if word in BIT_COUNTS:
        return BIT_COUNTS[word](a, bits)
    return a << n if word == "shl" else a >> n


# --------------------------------------------------------------------------- floats


def floats(name: str, seed: int) -> Array:
    """Random and special values, already of the type."""
    source = random.Random(seed)
    specials = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, math.inf, -math.inf, math.nan, 1e-7, -6e-5]
    if name == "f8e4m3":
        specials = [value for value in specials if not math.isinf(value)]
    found = [
        source.choice(specials)
        if source.random() < 0.25
        else source.uniform(-2, 2) * 2.0 ** source.randint(-6, 6)
        for _ in range(COUNT)
    ]
    return rounded(np.array(found, np.float64).astype(np.float32), name)


def rounded(single: Array, name: str) -> Array:
    """f32 values as the type has them; the 8-bit types saturate, tf32 rounds ties away."""
    with np.errstate(all="ignore"):
        if name == "tf32":
            bits = single.view(np.uint32)
            is_finite = np.isfinite(single)
            cut = ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
            return np.where(is_finite, cut, single)
        if name in LARGEST:
            single = np.clip(single, -LARGEST[name], LARGEST[name])
        return single.astype(DTYPES[name])


def least(a: Array, b: Array) -> Array:
    """-0 counts as less than +0, a number is taken before a NaN (PTX ISA, "min")."""
    is_negative = np.signbit(a) | np.signbit(b)
    zero = np.where(is_negative, -0.0, 0.0).astype(a.dtype)
    return np.where((a == 0) & (b == 0), zero, np.fmin(a, b))


def greatest(a: Array, b: Array) -> Array:
    return -least(-a, -b)


FLOAT_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": least,
    "max": greatest,
}


def float_kernel(name: str) -> str:
    lines: list[str] = []
    outputs: list[str] = []
    for word in FLOAT_BINARY:
        lines.append(f"%out{len(outputs)}: {name} = {word} %in0, %in1")
        outputs.append(name)
    for word in ("neg", "abs"):
        lines.append(f"%out{len(outputs)}: {name} = {word} %in0")
        outputs.append(name)
    for word in COMPARISONS:
        lines.append(f"%out{len(outputs)}: bool = {word} %in0, %in1")
        outputs.append("bool")
    return kernel(f"on_{name}", [name, name], lines, outputs)


@cache
def float_binary(target: str) -> Binary:
    return built("".join(map(float_kernel, FLOATS)), target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", FLOATS)
def test_float_operations(name: str, target: str) -> None:
    left, right = floats(name, 3), floats(name, 4)
    words = [*FLOAT_BINARY, "neg", "abs", *COMPARISONS]
    types = [name] * 8 + ["bool"] * 6
    arguments = [left, right, *(np.zeros(COUNT, DTYPES[type]) for type in types)]
    outputs = run(float_binary(target), arguments, f"on_{name}", COUNT)[2:]
    wide = np.float64 if name == "f64" else np.float32
    a, b = left.astype(wide), right.astype(wide)
    for word, output in zip(words, outputs, strict=True):
        assert output is not None
        with np.errstate(all="ignore"):
            if word in FLOAT_BINARY:
                exact = FLOAT_BINARY[word](a, b)
                expected = exact if name in ("f32", "f64") else rounded(exact, name)
            elif word in COMPARISONS:
                expected = COMPARISONS[word](a, b)
            else:
                expected = (-a if word == "neg" else abs(a)).astype(DTYPES[name])
        same_floats(output, expected, f"{word} {name}")


def same_floats(output: Array, expected: Array, what: str) -> None:
    """Equal values, signs of zeros and NaNs; a NaN's sign and payload are free."""
    got, wanted = output.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(got, wanted, err_msg=what)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(
        np.signbit(got[numbers]), np.signbit(wanted[numbers]), err_msg=what
    )


# --------------------------------------------------------------------------- conversions


def conversion_kernel(name: str) -> str:
    lines = [f"%out{k}: {to} = convert %in0" for k, to in enumerate(SCALARS)]
    return kernel(f"from_{name}", [name], lines, list(SCALARS))


@cache
def conversions(target: str) -> Binary:
    return built("".join(map(conversion_kernel, SCALARS)), target)


def convertible(name: str) -> Array:
    """Values that every type can hold after truncation, and rounding cases for narrow floats."""
    source = random.Random(11)
    if name == "bool":
        return np.array([number % 2 for number in range(COUNT)], np.uint8)
    if SCALARS[name].is_float:
        values = [source.uniform(0, 120) for _ in range(COUNT - 4)] + [0.0, -0.0, 0.7, 64.5]
        return rounded(np.array(values, np.float32), name) if name != "f64" else np.array(values)
    return np.array([source.randint(0, 127) for _ in range(COUNT)], DTYPES[name])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SCALARS)
def test_conversions(name: str, target: str) -> None:
    given = convertible(name)
    arguments = [given, *(np.zeros(COUNT, DTYPES[to]) for to in SCALARS)]
    outputs = run(conversions(target), arguments, f"from_{name}", COUNT)[1:]
    for to, output in zip(SCALARS, outputs, strict=True):
        assert output is not None
        same_floats(output, converted(given, to), f"{name} to {to}")


def converted(given: Array, to: str) -> Array:
    wide = given.astype(np.float64)
    if to == "bool":
        return wide != 0
    if SCALARS[to].is_integer:
        return np.trunc(wide) + 0.0
    if to == "f64":
        return wide
    # All values are exact in f32 but f64's, and rounding those twice is checked below.
    return rounded(wide.astype(np.float32), to)


HARD = (
    (1 << 24) + 1,
    (1 << 24) + 3,
    (1 << 31) - 1,
    4_097 * 4_096 + 1,
    0x1_0080_0001,
    0x1_0180_0000,
    (1 << 62) + (1 << 54) + 1,
    (1 << 62) + (1 << 38),
    2049,
    2051,
    257,
    65_519,
    65_520,
)


@pytest.mark.parametrize("name", ["i64", "u64", "f64"])
@pytest.mark.parametrize("target", TARGETS)
def test_large_numbers_round_once(name: str, target: str) -> None:
    """Through f32 these would round twice: first to a tie, then the wrong way."""
    values = [HARD[number % len(HARD)] for number in range(COUNT)]
    given = np.array(values, DTYPES[name])
    exact = [int(value) for value in given.tolist()]
    arguments = [given, *(np.zeros(COUNT, DTYPES[to]) for to in SCALARS)]
    outputs = dict(
        zip(SCALARS, run(conversions(target), arguments, f"from_{name}", COUNT)[1:], strict=True)
    )
    for to, digits in (("f32", 24), ("bf16", 8), ("f16", 11)):
        output = outputs[to]
        assert output is not None
        largest = 65504.0 if to == "f16" else math.inf
        expected = [nearest_even(value, digits) for value in exact]
        expected = [math.inf if value > largest else value for value in expected]
        assert output.astype(np.float64).tolist() == expected, to


def nearest_even(value: int, digits: int) -> float:
    """A positive integer with `digits` significant bits."""
    shift = max(0, value.bit_length() - digits)
    unit, rest = value >> shift, value & ((1 << shift) - 1)
    half = 1 << shift >> 1
    if shift and (rest > half or (rest == half and unit & 1)):
        unit += 1
    return float(unit << shift)


# --------------------------------------------------------------------------- bits and bools


def test_bits_and_bools() -> None:
    lines = [
        "%out0: u32 = bitcast %in0",
        "%out1: i32 = bitcast %in0",
        "%word: u32 = bitcast %in0",
        "%out2: f32 = bitcast %word",
        "%pair: vec<f16, 2> = bitcast %in0",
        "%first: f16 = extract %pair lane=0",
        "%second: f16 = extract %pair lane=1",
        "%swapped: vec<f16, 2> = vector [%second, %first]",
        "%out3: u32 = bitcast %swapped",
        "%out4: i64 = bitcast %in1",
        "%zero: f32 = const value=0.0",
        "%positive: bool = gt %in0, %zero",
        "%small: bool = lt %in0, %in0",
        "%out5: bool = xor %positive, %small",
        "%not: bool = not %positive",
        "%out6: bool = and %not, %positive",
        "%out7: bool = or %not, %positive",
        "%out8: bool = eq %not, %positive",
        "%out9: f32 = select %not, %zero, %in0",
    ]
    outputs = ["u32", "i32", "f32", "u32", "i64", *["bool"] * 4, "f32"]
    binary = built(kernel("k", ["f32", "f64"], lines, outputs))
    single = np.linspace(-4, 4, COUNT, dtype=np.float32)
    double = np.linspace(-9, 9, COUNT)
    arguments = [single, double, *(np.zeros(COUNT, DTYPES[one]) for one in outputs)]
    got = run(binary, arguments, threads=COUNT)[2:]
    bits = single.view(np.uint32)
    expected = [
        bits, bits.view(np.int32), single, bits >> np.uint32(16) | bits << np.uint32(16),
        double.view(np.int64), single > 0, np.zeros(COUNT), np.ones(COUNT), np.zeros(COUNT),
        np.where(single > 0, single, 0),
    ]  # fmt: skip
    for number, (output, wanted) in enumerate(zip(got, expected, strict=True)):
        np.testing.assert_array_equal(output, wanted, err_msg=str(number))
