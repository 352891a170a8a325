"""Integer arithmetic against Python integers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from emulator.semantics.harness import compare, integers, pairs
from emulator.semantics.oracle import clamp, integer, truncated_quotient, wrap

TYPES = ("s16", "u16", "s32", "u32", "s64", "u64")
Reference = Callable[..., Any]


def width_of(type_name: str) -> int:
    return int(type_name[1:3])


def columns(width: int, arity: int, count: int = 24) -> list[list[int]]:
    """Every pair of edges and random values, and a third operand that keeps changing."""
    values = integers(width, count)
    found = [list(column) for column in pairs(values)]
    third = integers(width, len(found[0]), seed=3)
    return [*found, third][:arity] if arity > 1 else [integers(width, 300)]


def check(opcode: str, type_name: str, arity: int, reference: Reference) -> None:
    """`reference` takes the numbers that the operands stand for; its result is wrapped."""
    width = width_of(type_name)

    def expected(*lane: int) -> int:
        return wrap(reference(*(integer(bits, type_name) for bits in lane)), width)

    compare(opcode, expected, columns(width, arity))


@pytest.mark.parametrize("type_name", TYPES)
def test_wrapping_arithmetic(type_name: str) -> None:
    check(f"add.{type_name}", type_name, 2, lambda a, b: a + b)
    check(f"sub.{type_name}", type_name, 2, lambda a, b: a - b)
    check(f"mul.lo.{type_name}", type_name, 2, lambda a, b: a * b)
    check(f"mad.lo.{type_name}", type_name, 3, lambda a, b, c: a * b + c)
    check(f"sad.{type_name}", type_name, 3, lambda a, b, c: c + abs(a - b))
    check(f"min.{type_name}", type_name, 2, min)
    check(f"max.{type_name}", type_name, 2, max)


@pytest.mark.parametrize("type_name", TYPES)
def test_high_halves(type_name: str) -> None:
    width = width_of(type_name)
    check(f"mul.hi.{type_name}", type_name, 2, lambda a, b: a * b >> width)
    check(f"mad.hi.{type_name}", type_name, 3, lambda a, b, c: (a * b >> width) + c)


@pytest.mark.parametrize("type_name", TYPES[:4])
def test_wide_products(type_name: str) -> None:
    width = width_of(type_name)

    def wide(a: int, b: int, c: int = 0) -> int:
        return wrap(integer(a, type_name) * integer(b, type_name) + c, 2 * width)

    first, second = columns(width, 2)
    compare(f"mul.wide.{type_name}", wide, [first, second])
    addends = integers(2 * width, len(first), seed=1)
    compare(f"mad.wide.{type_name}", wide, [first, second, addends])


def test_saturating_forms() -> None:
    check("add.sat.s32", "s32", 2, lambda a, b: clamp(a + b, "s32"))
    check("sub.sat.s32", "s32", 2, lambda a, b: clamp(a - b, "s32"))
    check("mad.hi.sat.s32", "s32", 3, lambda a, b, c: clamp((a * b >> 32) + c, "s32"))
    check(
        "mad24.hi.sat.s32", "s32", 3, lambda a, b, c: clamp((low_24(a, b, True) >> 16) + c, "s32")
    )


def low_24(a: int, b: int, signed: bool) -> int:
    def extended(number: int) -> int:
        bits = number & 0xFFFFFF
        return bits - (1 << 24) if signed and bits >> 23 else bits

    return extended(a) * extended(b)


@pytest.mark.parametrize("type_name", ["s32", "u32"])
def test_24_bit_products(type_name: str) -> None:
    signed = type_name == "s32"
    for mode, shift in (("lo", 0), ("hi", 16)):
        check(
            f"mul24.{mode}.{type_name}",
            type_name,
            2,
            lambda a, b, s=shift: low_24(a, b, signed) >> s,
        )
        check(
            f"mad24.{mode}.{type_name}",
            type_name,
            3,
            lambda a, b, c, s=shift: (low_24(a, b, signed) >> s) + c,
        )


@pytest.mark.parametrize("type_name", TYPES)
def test_division(type_name: str) -> None:
    check(f"div.{type_name}", type_name, 2, lambda a, b: truncated_quotient(a, b) if b else -1)
    check(
        f"rem.{type_name}", type_name, 2, lambda a, b: a - b * truncated_quotient(a, b) if b else a
    )


@pytest.mark.parametrize("type_name", ["s16", "s32", "s64"])
def test_signs(type_name: str) -> None:
    check(f"abs.{type_name}", type_name, 1, abs)
    check(f"neg.{type_name}", type_name, 1, lambda a: -a)


def halves(reference: Reference, type_name: str) -> Reference:
    def packed(*lane: int) -> int:
        low = (integer(bits & 0xFFFF, type_name) for bits in lane)
        high = (integer(bits >> 16, type_name) for bits in lane)
        return wrap(reference(*low), 16) | wrap(reference(*high), 16) << 16

    return packed


@pytest.mark.parametrize("type_name", ["s16", "u16"])
def test_pairs_of_halves(type_name: str) -> None:
    operands = columns(32, 2)
    compare(f"add.{type_name}x2", halves(lambda a, b: a + b, type_name), operands)
    compare(f"min.{type_name}x2", halves(min, type_name), operands)
    compare(f"max.{type_name}x2", halves(max, type_name), operands)


def test_rectified_extremes() -> None:
    check("min.relu.s32", "s32", 2, lambda a, b: max(min(a, b), 0))
    check("max.relu.s32", "s32", 2, lambda a, b: max(a, b, 0))
    operands = columns(32, 2)
    compare("min.relu.s16x2", halves(lambda a, b: max(min(a, b), 0), "s16"), operands)
    compare("max.relu.s16x2", halves(lambda a, b: max(a, b, 0), "s16"), operands)


CARRYING = ("s32", "u32", "s64", "u64")


@pytest.mark.parametrize("type_name", CARRYING)
def test_carries(type_name: str) -> None:
    """Carry and borrow are those of the unsigned sum, whatever the type."""
    width = width_of(type_name)
    first, second, third = columns(width, 3)
    carries = [bool(bits & 1) for bits in integers(8, len(first), seed=9)]

    def summed(number: int) -> tuple[int, bool]:
        return wrap(number, width), not 0 <= number < 1 << width

    compare(f"add.cc.{type_name}", lambda a, b: summed(a + b), [first, second])
    compare(f"sub.cc.{type_name}", lambda a, b: summed(a - b), [first, second])
    for opcode, reference in (
        ("addc", lambda a, b, c: a + b + c),
        ("subc", lambda a, b, c: a - b - c),
    ):
        operands = [first, second, carries]
        compare(
            f"{opcode}.cc.{type_name}", lambda *x, r=reference: summed(r(*x)), operands, ["pred"]
        )
        compare(
            f"{opcode}.{type_name}", lambda *x, r=reference: summed(r(*x))[0], operands, ["pred"]
        )

    def half(a: int, b: int, mode: str) -> int:
        product = integer(a, type_name) * integer(b, type_name)
        return wrap(product >> width if mode == "hi" else product, width)

    for mode in ("lo", "hi"):
        compare(
            f"mad.{mode}.cc.{type_name}",
            lambda a, b, c, m=mode: summed(half(a, b, m) + c),
            [first, second, third],
        )
        operands = [first, second, third, carries]
        compare(
            f"madc.{mode}.cc.{type_name}",
            lambda a, b, c, carry, m=mode: summed(half(a, b, m) + c + carry),
            operands,
            ["pred"],
        )
        compare(
            f"madc.{mode}.{type_name}",
            lambda a, b, c, carry, m=mode: summed(half(a, b, m) + c + carry)[0],
            operands,
            ["pred"],
        )


@pytest.mark.parametrize("first", ["u32", "s32"])
@pytest.mark.parametrize("second", ["u32", "s32"])
def test_dot_products(first: str, second: str) -> None:
    def parts(bits: int, type_name: str, size: int) -> list[int]:
        return [
            integer(bits >> place & (1 << size) - 1, f"{type_name[0]}{size}")
            for place in range(0, 32, size)
        ]

    def four(a: int, b: int, c: int) -> int:
        both = zip(parts(a, first, 8), parts(b, second, 8), strict=True)
        return wrap(c + sum(x * y for x, y in both), 32)

    def two(a: int, b: int, c: int, from_byte: int) -> int:
        chosen = parts(b, second, 8)[from_byte : from_byte + 2]
        both = zip(parts(a, first, 16), chosen, strict=True)
        return wrap(c + sum(x * y for x, y in both), 32)

    operands = columns(32, 3)
    compare(f"dp4a.{first}.{second}", four, operands)
    compare(f"dp2a.lo.{first}.{second}", lambda a, b, c: two(a, b, c, 0), operands)
    compare(f"dp2a.hi.{first}.{second}", lambda a, b, c: two(a, b, c, 2), operands)


@pytest.mark.parametrize("size", [8, 16])
@pytest.mark.parametrize("types", list(itertools.product(("u32", "s32"), repeat=3)), ids=".".join)
def test_absolute_differences_of_parts(size: int, types: tuple[str, str, str]) -> None:
    _, first, second = types

    def found(a: int, b: int) -> list[int]:
        return [
            abs(
                integer(a >> place & (1 << size) - 1, f"{first[0]}{size}")
                - integer(b >> place & (1 << size) - 1, f"{second[0]}{size}")
            )
            for place in range(0, 32, size)
        ]

    def packed(a: int, b: int, _: int) -> int:
        return sum(wrap(part, size) << size * place for place, part in enumerate(found(a, b)))

    name = f"vabsdiff{32 // size}.{'.'.join(types)}"
    compare(name, packed, columns(32, 3))
    compare(f"{name}.add", lambda a, b, c: wrap(c + sum(found(a, b)), 32), columns(32, 3))
