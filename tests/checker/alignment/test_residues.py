"""What is known of integers holds of the integers: the domain against plain arithmetic."""

from __future__ import annotations

from random import Random

import pytest

from prismc.checker.alignment.numbers import (
    MOST_BITS,
    Known,
    Residue,
    bounds,
    combine,
    exactly,
    join,
    multiple_of,
    number,
)
from prismc.checker.types.fold import fold_integers

OPERATORS = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")


def holds(known: Known, value: int) -> bool:
    """Whether a statement is true of a value."""
    low_bits = value & ((1 << known.residue.bits) - 1)
    return known.low <= value <= known.high and low_bits == known.residue.value


def statement_about(value: int, random: Random) -> Known:
    """A random statement that is true of a value."""
    if random.random() < 0.3:
        return number(value)
    bits = random.choice((0, 1, 2, 3, 4, 8, MOST_BITS))
    low, high = value - random.choice((0, 1, 50)), value + random.choice((0, 1, 50))
    return Known(Residue(bits, value & ((1 << bits) - 1)), low, high)


@pytest.mark.parametrize("operator", OPERATORS)
def test_operations(operator: str) -> None:
    random = Random(OPERATORS.index(operator))
    for _ in range(4_000):
        left = random.choice((random.randint(-70, 70), random.randint(-(1 << 31), 1 << 31)))
        right = random.randint(-20, 20)
        if (operator in "/%" and right == 0) or (operator in ("<<", ">>") and right < 0):
            continue
        mine, other = statement_about(left, random), statement_about(right, random)
        value = fold_integers(operator, left, right, None)
        found = Known(
            combine(operator, mine.residue, other.residue), *bounds(operator, mine, other)
        )
        assert holds(found, value), (left, right, mine, other, found)


def test_either() -> None:
    random = Random(1)
    for _ in range(2_000):
        one, other = random.randint(-99, 99), random.randint(-99, 99)
        found = join(statement_about(one, random), statement_about(other, random))
        assert holds(found, one)
        assert holds(found, other)


def test_multiples() -> None:
    assert multiple_of(24) == Residue(3, 0)
    assert multiple_of(0) == exactly(0)
    assert combine("*", multiple_of(4), multiple_of(8)).zeros == 5
    assert combine("+", exactly(8), multiple_of(4)) == Residue(2, 0)
