"""Float arithmetic against exact rationals, in every format, rounding and modifier."""

from __future__ import annotations

import random
from fractions import Fraction
from math import isqrt

import pytest

from emulator.semantics import oracle
from emulator.semantics.harness import compare, operand_columns, random_floats, run
from emulator.semantics.oracle import NAN, encode, is_negative, value, whole

Operands = tuple[int, ...]


def total(x: oracle.Number, y: oracle.Number) -> oracle.Number:
    if NAN in (x, y) or {x, y} == {"inf", "-inf"}:
        return NAN
    if isinstance(x, str):
        return x
    return y if isinstance(y, str) else x + y


def product(x: oracle.Number, y: oracle.Number, negative: bool) -> oracle.Number:
    if NAN in (x, y):
        return NAN
    if isinstance(x, str) or isinstance(y, str):
        return NAN if 0 in (x, y) else ("-inf" if negative else "inf")
    return x * y


def quotient(x: oracle.Number, y: oracle.Number, negative: bool) -> oracle.Number:
    if NAN in (x, y) or (isinstance(x, str) and isinstance(y, str)) or (x == 0 and y == 0):
        return NAN
    if isinstance(x, str) or y == 0:
        return "-inf" if negative else "inf"
    return Fraction(0) if isinstance(y, str) else x / y


def add_bits(a: int, b: int, name: str, rounding: str) -> int | str:
    x, y = value(a, name), value(b, name)
    return sum_bits(total(x, y), is_negative(a, name), is_negative(b, name), name, rounding)


def sum_bits(
    result: oracle.Number, first: bool, second: bool, name: str, rounding: str
) -> int | str:
    """Encodes a sum; an exact zero of unlike signs is -0 only when rounding down."""
    negative = (first and second) or (first != second and rounding == "rm")
    return encode(result, name, rounding, negative_zero=negative)


def multiply_bits(a: int, b: int, name: str, rounding: str) -> int | str:
    negative = is_negative(a, name) != is_negative(b, name)
    result = product(value(a, name), value(b, name), negative)
    return encode(result, name, rounding, negative_zero=negative)


def fused_bits(a: int, b: int, c: int, name: str, rounding: str) -> int | str:
    negative = is_negative(a, name) != is_negative(b, name)
    result = total(product(value(a, name), value(b, name), negative), value(c, name))
    return sum_bits(result, negative, is_negative(c, name), name, rounding)


def divide_bits(a: int, b: int, name: str, rounding: str) -> int | str:
    negative = is_negative(a, name) != is_negative(b, name)
    result = quotient(value(a, name), value(b, name), negative)
    return encode(result, name, rounding, negative_zero=negative)


def root_bits(a: int, name: str, rounding: str) -> int | str:
    x = value(a, name)
    if x == 0:
        return a
    if x == NAN or x == "-inf" or (x != "inf" and x < 0):  # type: ignore[operator]
        return NAN
    if x == "inf":
        return a
    # 80 bits of the root and a sticky bit decide every rounding of 53 bits or fewer.
    assert isinstance(x, Fraction)
    shift = 2 * (80 - oracle.binade(x) // 2)
    scaled = int(x * oracle.power(shift))
    root = isqrt(scaled)
    exact = root * root == x * oracle.power(shift)
    near = root + (0 if exact else Fraction(1, 2))
    return encode(near / oracle.power(shift // 2), name, rounding)


def negate(bits: int, name: str) -> int:
    return bits ^ 1 << (oracle.LAYOUTS[name].width - 1)


def flushed(bits: int | str, name: str) -> int | str:
    if isinstance(bits, str):
        return bits
    layout = oracle.LAYOUTS[name]
    field = bits >> layout.fraction & ((1 << layout.exponent) - 1)
    return bits if field else bits & 1 << (layout.width - 1)


def saturated(bits: int | str, name: str) -> int:
    if isinstance(bits, str):
        return 0
    number = value(bits, name)
    if number in ("-inf", NAN) or (number != "inf" and number <= 0):  # type: ignore[operator]
        return 0
    one = oracle.LAYOUTS[name].bias << oracle.LAYOUTS[name].fraction
    return one if number == "inf" or number > 1 else bits  # type: ignore[operator]


def rectified(bits: int | str, name: str) -> int:
    if isinstance(bits, str):
        return (1 << oracle.LAYOUTS[name].width - 1) - 1
    return 0 if is_negative(bits, name) else bits


REFERENCE = {
    "add": (2, add_bits),
    "sub": (2, lambda a, b, name, rounding: add_bits(a, negate(b, name), name, rounding)),
    "mul": (2, multiply_bits),
    "fma": (3, fused_bits),
    "mad": (3, fused_bits),
    "div": (2, divide_bits),
    "rcp": (1, lambda a, name, rounding: divide_bits(ONES[name], a, name, rounding)),
    "sqrt": (1, root_bits),
}
ONES = {name: layout.bias << layout.fraction for name, layout in oracle.LAYOUTS.items()}

DIRECTED = ("rn", "rz", "rm", "rp")
SINGLE = [
    f"{name}.{rounding}{modifier}.f32"
    for name in ("add", "sub", "mul", "fma", "mad")
    for rounding in DIRECTED
    for modifier in ("", ".ftz", ".sat", ".ftz.sat")
]
SINGLE += [
    f"{name}.{rounding}{modifier}.f32"
    for name in ("div", "rcp", "sqrt")
    for rounding in DIRECTED
    for modifier in ("", ".ftz")
]
SINGLE += ["add.f32", "sub.f32", "mul.f32", "add.ftz.f32", "div.full.f32", "div.full.ftz.f32"]
DOUBLE = [
    f"{name}.{rounding}.f64"
    for name in ("add", "sub", "mul", "fma", "mad", "div", "sqrt")
    for rounding in DIRECTED
]
DOUBLE += ["add.f64", "sub.f64", "mul.f64"]
HALF = [
    f"{name}{modifier}.f16"
    for name in ("add", "sub", "mul", "fma.rn")
    for modifier in ("", ".ftz", ".sat", ".ftz.sat")
]
HALF += ["add.rn.f16", "sub.rn.f16", "mul.rn.f16", "fma.rn.relu.f16", "fma.rn.ftz.relu.f16"]
BRAIN = [f"{name}{rounding}.bf16" for name in ("add", "sub", "mul") for rounding in ("", ".rn")]
BRAIN += ["fma.rn.bf16", "fma.rn.relu.bf16"]


def expectation(opcode: str, name: str, *operands: int) -> int | str:
    parts = opcode.split(".")
    rounding = next((part for part in parts if part in ("rn", "rz", "rm", "rp")), "rn")
    inputs: Operands = operands
    if "ftz" in parts:
        inputs = tuple(int(flushed(operand, name)) for operand in operands)
    if "oob" in parts and 0xFFFF in operands[:2]:
        return 0
    result = REFERENCE[parts[0]][1](*inputs, name, rounding)
    if "ftz" in parts:
        result = flushed(result, name)
    if "sat" in parts:
        result = saturated(result, name)
    if "relu" in parts:
        result = rectified(result, name)
    return result


@pytest.mark.parametrize("opcode", SINGLE + DOUBLE + HALF + BRAIN)
def test_every_rounding_and_modifier(opcode: str) -> None:
    name = opcode.rpartition(".")[2]
    arity = REFERENCE[opcode.partition(".")[0]][0]
    operands = operand_columns(name, arity, count=150)
    compare(opcode, lambda *lane: expectation(opcode, name, *lane), operands, nan=name)


def split(bits: int, width: int) -> tuple[int, int]:
    return bits & (1 << width) - 1, bits >> width


PAIRS = [
    f"{name}{modifier}.{types}"
    for types, modifiers in (
        ("f16x2", ("", ".rn", ".ftz", ".sat", ".ftz.sat")),
        ("bf16x2", ("", ".rn")),
        ("f32x2", (".rn", ".rz", ".rm", ".rp.ftz")),
    )
    for name in ("add", "sub", "mul")
    for modifier in modifiers
]
PAIRS += [f"fma.rn{modifier}.f16x2" for modifier in ("", ".ftz", ".sat", ".relu", ".oob")]
PAIRS += [f"fma.rn{modifier}.bf16x2" for modifier in ("", ".relu", ".oob.relu")]
PAIRS += ["fma.rn.f32x2", "fma.rz.f32x2", "fma.rm.f32x2", "fma.rp.ftz.f32x2"]


@pytest.mark.parametrize("opcode", PAIRS)
def test_packed_forms_do_each_element(opcode: str) -> None:
    name = opcode.rpartition(".")[2].removesuffix("x2")
    width = oracle.LAYOUTS[name].width
    scalar = opcode.removesuffix("x2")
    low = operand_columns(name, REFERENCE[opcode.partition(".")[0]][0], count=60)
    low = [column[place::4] for place, column in enumerate(low)]
    low = [column[: min(map(len, low))] for column in low]
    high = [column[::-1] for column in low]
    both = zip(low, high, strict=True)
    packed = [[x | y << width for x, y in zip(*columns, strict=True)] for columns in both]
    results = [split(bits, width) for bits in run(opcode, *packed)]
    for place, columns in enumerate((low, high)):
        for got, lane in zip(results, zip(*columns, strict=True), strict=True):
            want = expectation(scalar, name, *lane)
            if want == NAN:
                assert value(got[place], name) == NAN
            else:
                assert got[place] == want, (opcode, lane)


MIXED = [f"{name}.{rounding}.f32" for name in ("add", "sub", "fma") for rounding in DIRECTED]
MIXED += [f"{name}.rz.sat.f32" for name in ("add", "sub", "fma")]


@pytest.mark.parametrize("narrow", ["f16", "bf16"])
@pytest.mark.parametrize("opcode", MIXED)
def test_mixed_precision(opcode: str, narrow: str) -> None:
    """The narrower operands are widened exactly; then the f32 form does the work."""
    arity = REFERENCE[opcode.partition(".")[0]][0]
    columns = [random_floats(narrow, 300, seed, spread=10) for seed in range(arity - 1)]
    columns.append(random_floats("f32", 300, 9, spread=10))

    def mixed(*lane: int) -> int | str:
        widened = (int(encode(value(bits, narrow), "f32")) for bits in lane[:-1])
        return expectation(opcode, "f32", *widened, lane[-1])

    compare(f"{opcode}.{narrow}", mixed, columns, nan="f32")


@pytest.mark.parametrize("form", ["f16", "relu.f16", "bf16", "relu.bf16"])
def test_operands_out_of_bounds_make_zero(form: str) -> None:
    """The fill value 0xffff of a tensor copy, as either factor, makes the result +0."""
    name = form.rpartition(".")[2]
    columns = operand_columns(name, 3, count=60)
    columns[0][:40:3] = [0xFFFF] * len(columns[0][:40:3])
    columns[1][:40:5] = [0xFFFF] * len(columns[1][:40:5])

    opcode = f"fma.rn.oob.{form}"
    compare(opcode, lambda *lane: expectation(opcode, name, *lane), columns, nan=name)


TIES = 400


def near_ties(name: str) -> list[list[int]]:
    """a * b + c within a few units of 2**-100 of a tie between two numbers of the format."""
    layout = oracle.LAYOUTS[name]
    generator = random.Random(f"ties {name}")
    columns: list[list[int]] = [[], [], []]
    while len(columns[0]) < TIES:
        a, b = random_floats(name, 2, generator.randint(0, 1 << 30), spread=8)
        product = value(a, name) * value(b, name)  # type: ignore[operator]
        if product == 0:
            continue
        unit = oracle.power(
            oracle.binade(abs(product)) - layout.fraction + generator.randint(0, 30)
        )
        tie = (whole(product / unit, "rm") + Fraction(generator.choice((1, 3, -1)), 2)) * unit
        c = encode(tie - product, name, generator.choice(("rz", "rm", "rp")))
        for column, bits in zip(columns, (a, b, int(c)), strict=True):
            column.append(bits)
    return columns


@pytest.mark.parametrize("opcode", ["fma.rn.f32", "fma.rn.f64", "fma.rn.f16", "fma.rn.bf16"])
def test_sums_next_to_a_tie_round_once(opcode: str) -> None:
    name = opcode.rpartition(".")[2]
    compare(opcode, lambda *lane: expectation(opcode, name, *lane), near_ties(name), nan=name)


def of_numbers(name: str, *numbers: Fraction) -> list[int]:
    found = [int(encode(number, name)) for number in numbers]
    assert [value(bits, name) for bits in found] == list(numbers)
    return found


def check_cases(opcode: str, cases: list[list[int]]) -> None:
    name = opcode.rpartition(".")[2]
    columns = [[case[place] for case in cases] for place in range(3)]
    compare(opcode, lambda *lane: expectation(opcode, name, *lane), columns, nan=name)


def test_double_rounding_is_repaired_in_every_range() -> None:
    """Each of these is wrong if the product is added in binary64 and then rounded to binary32.

    The products lie a trace beside a half unit of the addend: 2**46 + 1 = 8384513 * 8392705 and
    2**46 - 1 = (2**23 + 1) * (2**23 - 1).
    """
    factors = [(8384513, 8392705), ((1 << 23) + 1, (1 << 23) - 1)]
    cases = []
    for a, b in factors:
        for unit, lead in (
            (-149, 1 << 22),
            (-149, (1 << 22) + 1),
            (-30, 1 << 23),
            (-30, (1 << 23) + 1),
        ):
            scale = unit - 1 - 46
            half = scale // 2
            for sign in (1, -1):
                cases.append(
                    of_numbers(
                        "f32",
                        sign * a * oracle.power(half),
                        b * oracle.power(scale - half),
                        lead * oracle.power(unit),
                    )
                )
    check_cases("fma.rn.f32", cases)


def test_ties_of_doubles_are_broken_by_traces() -> None:
    """A tie between neighbours of 2**53, and a trace that decides, at every scale.

    2**53 + 1 = 3 * 3002399751580331 is half way; 2**80 - 1 = (2**40 + 1) * (2**40 - 1) is a trace
    below a power, whose error underflows where the product does not.
    """
    cases = []
    for scale in (0, -700, 700, -900):
        for trace in (-60, -200):
            for sign in (1, -1):
                cases.append(
                    of_numbers(
                        "f64",
                        3 * oracle.power(scale // 2),
                        3002399751580331 * oracle.power(scale - scale // 2),
                        sign * oracle.power(max(trace + scale, -1070)),
                    )
                )
    for lead in (1 << 52, (1 << 52) + 1):
        cases.append(
            of_numbers(
                "f64",
                ((1 << 40) + 1) * oracle.power(-540),
                ((1 << 40) - 1) * oracle.power(-541),
                lead * oracle.power(-1000),
            )
        )
    check_cases("fma.rn.f64", cases)
