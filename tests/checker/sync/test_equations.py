"""What is said to be impossible of sums of symbols never comes, whatever their values are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from random import Random

import pytest

from checker.sync.symbols import (
    ACROSS,
    BLOCK,
    COUNT,
    Blocks,
    atom,
    counter,
    divided,
    total,
)
from prismc.checker.sync.equations import Equation, Numbers, never_hold
from prismc.checker.sync.forms import (
    Atom,
    Form,
    Monomial,
    constant,
    scaled,
    symbol,
)


class Iterations(Numbers):
    """One block, so many iterations of the loop apart."""

    def __init__(self, least: int, most: int) -> None:
        self._apart = (least, most)

    def is_same(self, atom: Atom) -> bool:
        return not atom.loops or self._apart == (0, 0)

    def differs(self, atom: Atom) -> bool:
        return bool(atom.step) and self._apart[0] > 0

    def later(self, counter: Atom) -> tuple[int, int]:
        return self._apart

    def are_both(self, mine: Mapping[int, int], other: Mapping[int, int]) -> bool:
        return True


class Values:
    """What symbols are at one place."""

    def __init__(self, settled: Mapping[Atom, int], block: int, iteration: int) -> None:
        self._settled = {**settled, BLOCK: block}
        self._iteration = iteration

    def of(self, form: Form) -> int:
        assert all(isinstance(value, int) for value in form.values())
        return sum(value * self._product(each) for each, value in form.items())  # type: ignore[misc]

    def _product(self, monomial: Monomial) -> int:
        found = 1
        for one in monomial:
            found *= self._symbol(one)
        return found

    def _symbol(self, one: Atom) -> int:
        if one in self._settled or one.origin is None:
            return self._settled.get(one, self._iteration)
        left, right = map(self.of, one.origin.operands)
        if one.origin.operation == "range":
            return left + self._iteration * right
        return left // right if one.origin.operation == "/" else left % right


def pairs_of_places(
    least: int, most: int, *, other_blocks: bool
) -> Iterator[tuple[Values, Values]]:
    """All values at two places, for a few blocks, iterations and widths."""
    for blocks, across in product((1, 2, 3, 5), (1, 2, 3, 4)):
        settled = {COUNT: blocks, ACROSS: across}
        for mine, other in product(range(blocks), repeat=2):
            if (mine == other) == other_blocks:
                continue
            for first, second in product(range(7), repeat=2):
                if other_blocks or least <= second - first <= most:
                    yield Values(settled, mine, first), Values(settled, other, second)


def _random_number(random: Random) -> Form:
    """The number of a tile, as loops over tiles and pipelines have it, or nearly so."""
    unit = random.choice([symbol(COUNT)] * 3 + [constant(1), symbol(ACROSS)])
    start = random.choice([symbol(BLOCK)] * 3 + [{}, scaled(symbol(BLOCK), 2)])
    slots = random.choice((1, 2, 2, 3))
    steps = scaled(unit, slots)
    if unit == constant(1):
        return total(start, scaled(symbol(atom("steps", step=1)), slots))
    return symbol(counter(start, steps))


def _random_places(random: Random) -> list[list[Form]]:
    """Places of two boxes, made from the numbers of their tiles."""
    first = _random_number(random)
    second = first if random.random() < 0.8 else _random_number(random)
    unit = random.choice([symbol(COUNT)] * 4 + [constant(1), symbol(ACROSS)])
    numbers = [
        total(each, scaled(unit, random.randrange(3)), constant(random.choice((0, 0, 0, 1))))
        for each in (first, second)
    ]
    shape = random.randrange(5)
    if shape == 0:
        return [[scaled(number, 4)] for number in numbers]
    by = random.choice((symbol(ACROSS), constant(2), constant(4)))
    made = [[divided(each, "%", by), divided(each, "/", by)] for each in numbers]
    if shape == 1:
        return [[total(scaled(rest, 1), scaled(quotient, 4))] for rest, quotient in made]
    if shape == 2:
        return [[quotient] for _, quotient in made]
    return made


@pytest.mark.parametrize("seed", range(4))
def test_what_never_holds_never_does(seed: int) -> None:
    random = Random(seed)
    shown = {True: 0, False: 0}
    for _ in range(100):
        first, second = _random_places(random)
        equations = [Equation(*sides) for sides in zip(first, second, strict=True)]
        least, most = random.choice(((0, 0), (1, 1), (1, 1 << 40), (2, 3)))
        for of_blocks in (False, True):
            numbers = Blocks() if of_blocks else Iterations(least, most)
            if not never_hold(equations, numbers):
                continue
            shown[of_blocks] += 1
            assert not any(
                all(mine.of(one.left) == other.of(one.right) for one in equations)
                for mine, other in pairs_of_places(least, most, other_blocks=of_blocks)
            ), equations
    assert min(shown.values()) > 3


BY_SLOTS = counter(symbol(BLOCK), scaled(symbol(COUNT), 3))


@pytest.mark.parametrize(
    ("mine", "other", "apart", "never"),
    [
        (0, 1, (0, 0), True),  # slots of one iteration
        (0, 0, (1, 1 << 40), True),  # one slot, later
        (0, 2, (1, 1 << 40), True),
        (3, 0, (1, 1), False),  # filled ahead: the slot's next tile
        (0, 3, (1, 1 << 40), True),  # what is filled later is further ahead
        (3, 0, (2, 1 << 40), True),
        (4, 0, (1, 1 << 40), True),
        (6, 0, (1, 1 << 40), False),
        (6, 0, (1, 1), True),
    ],
)
def test_slots_of_a_pipeline(mine: int, other: int, apart: tuple[int, int], never: bool) -> None:
    sides = (total(symbol(BY_SLOTS), scaled(symbol(COUNT), ahead)) for ahead in (mine, other))
    assert never_hold([Equation(*sides)], Iterations(*apart)) is never


@pytest.mark.parametrize(
    ("start", "step", "never"),
    [
        (symbol(BLOCK), scaled(symbol(COUNT), 3), True),
        (total(symbol(BLOCK), symbol(ACROSS)), symbol(COUNT), True),
        (total(symbol(BLOCK), symbol(COUNT)), symbol(COUNT), True),
        (symbol(BLOCK), symbol(ACROSS), False),  # others come to it, too
        (symbol(BLOCK), total(symbol(COUNT), constant(1)), False),
        (scaled(symbol(BLOCK), 2), symbol(COUNT), False),
        ({}, symbol(COUNT), False),  # all blocks begin with one
    ],
)
def test_blocks_in_turn(start: Form, step: Form, never: bool) -> None:
    tile = symbol(counter(start, step))
    later = total(tile, scaled(symbol(COUNT), 2))
    for sides in ((tile, tile), (tile, later), (later, tile)):
        assert never_hold([Equation(*sides)], Blocks()) is never
    assert not never_hold([Equation(tile, total(tile, constant(1)))], Blocks())
