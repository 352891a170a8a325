"""Approximate functions against the errors and the corner cases that the PTX ISA states.

The reference is `decimal` at 60 digits, not the C library: sine and cosine by their series, the
others by `exp`, `ln` and `sqrt`.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from emulator.semantics import oracle
from emulator.semantics.harness import bound, compare, operand_columns, random_floats, run
from emulator.semantics.oracle import NAN, encode, value
from emulator.semantics.test_floats import divide_bits
from prismc.emulator.semantics.registry import Refused

DIGITS = 60
Function = Callable[[Decimal], Decimal]


def precise(function: Function, number: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = DIGITS
        context.Emin, context.Emax = -999999, 999999
        x = Decimal(number.numerator) / Decimal(number.denominator)
        return Fraction(function(x))


def sine(x: Decimal) -> Decimal:
    """The series, after taking whole turns of the exact angle away."""
    turn = 2 * PI
    x -= turn * (x / turn).to_integral_value()
    term, total, place = x, x, 1
    while abs(term) > Decimal(10) ** (10 - DIGITS):
        term *= -x * x / ((place + 1) * (place + 2))
        total += term
        place += 2
    return total


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")


def exponential(x: Decimal) -> Decimal:
    return (x * Decimal(2).ln()).exp()


def tangent(x: Decimal) -> Decimal:
    grown = (2 * x).exp()
    return (grown - 1) / (grown + 1)


FUNCTIONS: dict[str, Function] = {
    "rsqrt": lambda x: 1 / x.sqrt(),
    "sqrt": lambda x: x.sqrt(),
    "sin": sine,
    "cos": lambda x: sine(x + PI / 2),
    "lg2": lambda x: x.ln() / Decimal(2).ln(),
    "ex2": exponential,
    "tanh": tangent,
    "rcp": lambda x: 1 / x,
}


def numbers(name: str, spread: int, positive: bool = False) -> list[int]:
    found = random_floats(name, 200, seed=spread, spread=spread)
    sign = 1 << oracle.LAYOUTS[name].width - 1
    return [bits & ~sign for bits in found] if positive else found


def errors(opcode: str, name: str, bits: list[int]) -> list[tuple[Fraction, Fraction]]:
    """(got, true) of every operand."""
    function = FUNCTIONS[opcode.partition(".")[0]]
    results = run(opcode, bits)
    found = []
    for operand, result in zip(bits, results, strict=True):
        number, got = value(operand, name), value(result, name)
        assert isinstance(number, Fraction)
        if isinstance(got, Fraction):
            found.append((got, precise(function, number)))
    return found


def relative(pair: tuple[Fraction, Fraction]) -> Fraction:
    got, true = pair
    return abs(got - true) / abs(true) if true else abs(got)


@pytest.mark.parametrize(
    ("opcode", "allowed"),
    [
        ("rsqrt.approx.f32", 2**-22.9),
        ("rsqrt.approx.ftz.f32", 2**-22.9),
        ("sqrt.approx.f32", 2**-23),
        ("sqrt.approx.ftz.f32", 2**-23),
        ("rcp.approx.f32", 2**-23),
        ("rcp.approx.ftz.f32", 2**-23),
        ("tanh.approx.f32", 2**-11),
    ],
)
def test_relative_errors(opcode: str, allowed: float) -> None:
    bits = numbers("f32", 60, positive=True)
    if opcode.startswith("tanh"):
        bits = numbers("f32", 5)
    assert max(map(relative, errors(opcode, "f32", bits))) <= allowed


@pytest.mark.parametrize("opcode", ["sin.approx.f32", "cos.approx.f32", "sin.approx.ftz.f32"])
def test_sine_and_cosine(opcode: str) -> None:
    near = [bits for bits in numbers("f32", 3) if abs(float(value(bits, "f32"))) <= 6.28]
    far = [bits for bits in numbers("f32", 8) if abs(float(value(bits, "f32"))) <= 314]
    for bits, allowed in ((near, 2**-20.5), (far, 2**-14.7)):
        assert max(abs(got - true) for got, true in errors(opcode, "f32", bits)) <= allowed


@pytest.mark.parametrize("opcode", ["lg2.approx.f32", "lg2.approx.ftz.f32"])
def test_logarithm(opcode: str) -> None:
    for got, true in errors(opcode, "f32", numbers("f32", 60, positive=True)):
        assert abs(got - true) <= 2**-22 * max(1, abs(true))


@pytest.mark.parametrize("opcode", ["ex2.approx.f32", "ex2.approx.ftz.f32"])
def test_exponential_in_f32(opcode: str) -> None:
    assert max(map(relative, errors(opcode, "f32", numbers("f32", 5)))) <= 2 * 2**-23


@pytest.mark.parametrize(
    ("opcode", "name", "allowed"),
    [("ex2.approx.f16", "f16", 2**-9.9), ("ex2.approx.ftz.bf16", "bf16", 2**-7)],
)
def test_exponential_in_halves(opcode: str, name: str, allowed: float) -> None:
    assert max(map(relative, errors(opcode, name, numbers(name, 3)))) <= allowed


@pytest.mark.parametrize(("name", "allowed"), [("f16", 2**-10.987), ("bf16", 2**-8)])
def test_tanh_in_halves(name: str, allowed: float) -> None:
    found = errors(f"tanh.approx.{name}", name, numbers(name, 4))
    assert max(abs(got - true) for got, true in found) <= allowed


PAIRS = ("ex2.approx.f16x2", "ex2.approx.ftz.bf16x2", "tanh.approx.f16x2", "tanh.approx.bf16x2")


@pytest.mark.parametrize("opcode", PAIRS)
def test_pairs_are_two_halves(opcode: str) -> None:
    scalar = opcode.removesuffix("x2")
    name = scalar.rpartition(".")[2]
    low = operand_columns(name, 1, count=60)[0]
    high = low[::-1]
    packed = run(opcode, [x | y << 16 for x, y in zip(low, high, strict=True)])
    expected = zip(run(scalar, low), run(scalar, high), strict=True)
    assert packed == [x | y << 16 for x, y in expected]


ZERO, ONE, INF, BAD = 0, 0x3F800000, 0x7F800000, 0x7FC00000
MINUS = 0x80000000
SMALL = 5  # a subnormal
CORNERS: dict[str, dict[int, int | str]] = {
    "rcp": {INF | MINUS: MINUS, MINUS: INF | MINUS, ZERO: INF, INF: ZERO},
    "sqrt": {INF | MINUS: NAN, ONE | MINUS: NAN, MINUS: MINUS, ZERO: ZERO, INF: INF},
    "rsqrt": {INF | MINUS: NAN, ONE | MINUS: NAN, MINUS: INF | MINUS, ZERO: INF, INF: ZERO},
    "sin": {INF | MINUS: NAN, MINUS: MINUS, ZERO: ZERO, INF: NAN},
    "cos": {INF | MINUS: NAN, MINUS: ONE, ZERO: ONE, INF: NAN},
    "lg2": {INF | MINUS: NAN, ONE | MINUS: NAN, MINUS: INF | MINUS, ZERO: INF | MINUS, INF: INF},
    "ex2": {INF | MINUS: ZERO, MINUS: ONE, ZERO: ONE, INF: INF},
    "tanh": {INF | MINUS: ONE | MINUS, MINUS: MINUS, ZERO: ZERO, INF: ONE, SMALL: SMALL},
}


@pytest.mark.parametrize("name", CORNERS)
def test_corner_cases(name: str) -> None:
    table = {**CORNERS[name], BAD: NAN}
    compare(f"{name}.approx.f32", lambda a: table[a], [list(table)], nan="f32")


FLUSHED = {
    "rcp": INF,
    "sqrt": ZERO,
    "rsqrt": INF,
    "sin": ZERO,
    "cos": ONE,
    "lg2": INF | MINUS,
    "ex2": ONE,
}


@pytest.mark.parametrize("name", FLUSHED)
def test_flushing(name: str) -> None:
    assert run(f"{name}.approx.ftz.f32", [SMALL]) == [FLUSHED[name]]


def test_flushing_of_results() -> None:
    """2**-130 and 1 / 2**127 are subnormal."""
    assert run("ex2.approx.ftz.f32", [encode(Fraction(-130), "f32")]) == [ZERO]
    assert run("ex2.approx.f32", [encode(Fraction(-130), "f32")]) == [
        encode(oracle.power(-130), "f32")
    ]
    assert run("rcp.approx.ftz.f32", [encode(oracle.power(127), "f32")]) == [ZERO]


@pytest.mark.parametrize("ftz", ["", ".ftz"])
def test_approximate_quotient(ftz: str) -> None:
    """Within 2 ulp for |b| up to 2**126, and beyond that a zero, or a NaN for an infinite a."""
    large = [encode(oracle.power(127), "f32"), encode(-oracle.power(127), "f32")]
    assert run(f"div.approx{ftz}.f32", [ONE, ONE], large) == [ZERO, MINUS]
    limit = [int(encode(oracle.power(126), "f32"))]
    assert run(f"div.approx{ftz}.f32", [ONE], limit) == [encode(oracle.power(-126), "f32")]
    assert value(run(f"div.approx{ftz}.f32", [INF], large[:1])[0], "f32") == NAN
    assert value(run(f"div.approx{ftz}.f32", [BAD], large[:1])[0], "f32") == NAN
    a, b = (random_floats("f32", 500, seed, spread=60) for seed in (1, 2))
    compare(f"div.approx{ftz}.f32", lambda x, y: divide_bits(x, y, "f32", "rn"), [a, b], nan="f32")


@pytest.mark.parametrize("rounding", ["rn", "rz", "rm", "rp"])
def test_reciprocal_of_doubles(rounding: str) -> None:
    one = encode(Fraction(1), "f64")
    compare(
        f"rcp.{rounding}.f64",
        lambda a: divide_bits(int(one), a, "f64", rounding),
        operand_columns("f64", 1, count=150),
        nan="f64",
    )


UPPER = 0xFFFFFFFF << 32
DOUBLE_INF, DOUBLE_MINUS = 0x7FF << 52, 1 << 63


@pytest.mark.parametrize("opcode", ["rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"])
def test_coarse_functions_of_doubles(opcode: str) -> None:
    """The lower words do not count and are zero; about 20 bits are right; subnormals are zeros."""
    name = opcode.partition(".")[0]
    bits = [b & ~DOUBLE_MINUS for b in random_floats("f64", 300, 1, spread=300)]
    results = run(opcode, bits)
    for operand, result in zip(bits, results, strict=True):
        assert result & ~UPPER == 0
        true = precise(FUNCTIONS[name], value(operand & UPPER, "f64"))  # type: ignore[arg-type]
        assert relative((value(result, "f64"), true)) < 2**-20  # type: ignore[arg-type]
    table = {0: DOUBLE_INF, DOUBLE_MINUS: DOUBLE_INF | DOUBLE_MINUS, DOUBLE_INF: 0}
    table |= {7 << 32: DOUBLE_INF, DOUBLE_INF | 1 << 50: 0x7FFFFFFF << 32}
    table[DOUBLE_INF | DOUBLE_MINUS] = DOUBLE_MINUS if name == "rcp" else 0x7FFFFFFF << 32
    table[7 << 32 | DOUBLE_MINUS] = DOUBLE_INF | DOUBLE_MINUS
    compare(opcode, lambda a: table[a], [list(table)])


def test_reciprocal_root_of_doubles() -> None:
    bits = [b & ~DOUBLE_MINUS for b in random_floats("f64", 300, 4)]
    found = errors("rsqrt.approx.f64", "f64", bits)
    assert max(map(relative, found)) < 2**-51


@pytest.mark.parametrize("opcode", ["sin.f32", "rsqrt.f32", "rcp.approx.f64"])
def test_a_form_the_isa_does_not_have_is_refused(opcode: str) -> None:
    with pytest.raises(Refused, match="approx"):
        bound(opcode)
