"""Whether boxes of a tensor stay apart because the numbers in their places do.

Blocks and iterations share a tensor by numbers: tile t lies at row `t / across`, column
`t % across`. Where places are as far apart as boxes are large, boxes that meet are at one place;
there quotient and remainder are the same, so the number is, and its iteration, or its block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import gcd
from operator import mul, sub

from prismc.checker.sync.coverage import threads_in
from prismc.checker.sync.equations import Equation, Numbers, changes, never_hold
from prismc.checker.sync.footprints import Footprint, Point, Tile
from prismc.checker.sync.forms import (
    ONE,
    ROW,
    Atom,
    Coefficient,
    Form,
    Monomial,
    combine,
    is_uniform,
)

# Pairs of places that are looked at, at most.
_MOST_PAIRS = 1 << 12


def are_apart(first: Footprint, second: Footprint, numbers: Numbers) -> bool:
    """Whether two boxes of one tensor never meet, not even those of one thread."""
    tile = first.tile
    if tile is None or second.tile is None or first.cycles or second.cycles:
        return False
    if not 0 < len(first.points) * len(second.points) <= _MOST_PAIRS:
        return False
    return all(
        _is_apart(mine, other, (first.lanes, *tile.sizes), tile, numbers)
        for mine, other in product(first.points, second.points)
        if numbers.are_both(
            dict(zip(first.loops, mine.counters, strict=True)),
            dict(zip(second.loops, other.counters, strict=True)),
        )
    )


def _is_apart(mine: Point, other: Point, box: Sequence[int], tile: Tile, numbers: Numbers) -> bool:
    equal: list[Equation] = []
    for size, first, second in zip(box, places_of(mine, tile), places_of(other, tile), strict=True):
        symbols = _symbols(first, second)
        if symbols is None:
            continue
        apart = _distances(known_places(first, mine.threads), known_places(second, other.threads))
        for each, between in ((symbols, apart), _beyond_ranges(symbols, apart)):
            steps = _steps(between, changes(each, numbers), size)
            if steps is None:
                continue
            if not steps:
                return True
            equal.append(each)
    return never_hold(equal, numbers)


def are_alike(first: Footprint, second: Footprint) -> bool:
    """Whether the places of two boxes differ by known numbers only, in one execution of both."""
    forms = [point.form for footprint in (first, second) for point in footprint.points]
    symbols = [{each: form[each] for each in form if each not in (ONE, (ROW,))} for form in forms]
    return bool(first.points and second.points) and all(each == symbols[0] for each in symbols)


def common_element(
    first: Footprint, second: Footprint, block: Atom
) -> tuple[int, int, tuple[int, ...]] | None:
    """Two blocks whose boxes, the first's and the second's, certainly meet, and the element where
    they do, innermost number last; None if there may be none."""
    tile = first.tile
    if tile is None or second.tile is None or not (first.is_certain and second.is_certain):
        return None
    if len(first.points) * len(second.points) > _MOST_PAIRS:
        return None
    sizes = (first.lanes, *tile.sizes)
    near = [sign * number for number in range(1, max(sizes) + 1) for sign in (1, -1)]
    for mine, other in product(first.points, second.points):
        corners = _corners(mine, tile, block), _corners(other, tile, block)
        for own, away in product(*corners):
            for blocks in near:
                found = _meet(own, away, blocks, sizes)
                if found is not None:
                    return max(blocks, 0), max(-blocks, 0), found[::-1]
    return None


def shared_element(footprint: Footprint, first: int, second: int) -> tuple[tuple[int, ...], bool]:
    """The known part of an element that two threads' boxes have in common, innermost number last,
    and whether that is all of it."""
    tile = footprint.tile
    assert tile is not None, "boxes have rows"
    sizes = (footprint.lanes, *tile.sizes)
    found: tuple[int, ...] = (0,) * len(sizes)
    is_whole = all(len(form) == (ONE in form) for form in _all_places(footprint, tile))
    for mine, other in product(footprint.points, repeat=2):
        if mine.threads >> first & other.threads >> second & 1:
            own = tuple((_at(place, ONE, first), 0) for place in places_of(mine, tile))
            away = tuple((_at(place, ONE, second), 0) for place in places_of(other, tile))
            found = _meet(own, away, 0, sizes) or found
    return found[::-1], is_whole


def _all_places(footprint: Footprint, tile: Tile) -> Iterator[Form]:
    for point in footprint.points:
        yield from places_of(point, tile)


# Where a box begins in one dimension: for the first block, and what each block adds.
_Start = tuple[int, int]


def _corners(point: Point, tile: Tile, block: Atom) -> Iterator[tuple[_Start, ...]]:
    """Where each thread's box begins, if that is known but for the block."""
    places = places_of(point, tile)
    if any(monomial not in (ONE, (block,)) for place in places for monomial in place):
        return
    for thread in threads_in(point.threads):
        yield tuple((_at(place, ONE, thread), _at(place, (block,), thread)) for place in places)


def _at(place: Form, monomial: Monomial, thread: int) -> int:
    value = place.get(monomial, 0)
    return value if isinstance(value, int) else value[thread]


def _meet(
    mine: tuple[_Start, ...], other: tuple[_Start, ...], blocks: int, sizes: Sequence[int]
) -> tuple[int, ...] | None:
    """An element of two boxes whose blocks are so many apart; None if there is none."""
    begin = [start + step * max(blocks, 0) for start, step in mine]
    origin = [start + step * max(-blocks, 0) for start, step in other]
    if any(abs(a - b) >= size for a, b, size in zip(begin, origin, sizes, strict=True)):
        return None
    return tuple(map(max, begin, origin))


def places_of(point: Point, tile: Tile) -> tuple[Form, ...]:
    """The place of a box's first element in each dimension, innermost first."""
    places: list[dict[Monomial, Coefficient]] = [{} for _ in (0, *tile.sizes)]
    for monomial, coefficient in point.form.items():
        if ROW not in monomial:
            places[0][monomial] = coefficient
            continue
        factors = tuple(atom for atom in monomial if atom is not ROW)
        for dimension in range(len(tile.sizes), 0, -1):
            stride = tile.strides[dimension - 1]
            number = combine(_nearest, coefficient, stride)
            coefficient = combine(sub, coefficient, combine(mul, number, stride))
            if number != 0:
                places[dimension][factors] = number
    return tuple(places)


def _nearest(number: int, of: int) -> int:
    return (number + of // 2) // of


def known_places(place: Form, threads: int) -> frozenset[int]:
    """The known parts of a place, for some threads."""
    value = place.get(ONE, 0)
    return frozenset(
        (value,) if isinstance(value, int) else map(value.__getitem__, threads_in(threads))
    )


def _symbols(first: Form, second: Form) -> Equation | None:
    """Two places without what is known of them; None if symbols count differently for threads."""
    found = [{each: form[each] for each in form if each != ONE} for form in (first, second)]
    return Equation(*found) if all(map(is_uniform, found)) else None


def _distances(mine: Iterable[int], other: Iterable[int]) -> frozenset[int]:
    return frozenset(first - second for first, second in product(mine, other))


def _beyond_ranges(symbols: Equation, apart: frozenset[int]) -> tuple[Equation, frozenset[int]]:
    """Two places without the symbols of which the range is known: what they may add is added to
    what lies `apart`."""
    ranged: set[Monomial] = set()
    for monomial in dict.fromkeys((*symbols.left, *symbols.right)):
        below = monomial[0].below if len(monomial) == 1 else 0
        if 0 < len(apart) * below * below <= _MOST_PAIRS:
            ranged.add(monomial)
            mine, other = (_at(side, monomial, 0) for side in symbols)
            apart = frozenset(
                distance + mine * first - other * second
                for distance, first, second in product(apart, range(below), range(below))
            )
    sides = ({each: side[each] for each in side if each not in ranged} for side in symbols)
    return Equation(*sides), apart


def _steps(apart: Iterable[int], symbols: Iterable[int], size: int) -> bool | None:
    """Whether symbols that make up the same let two places meet whose known parts lie `apart`; None
    if others may, too. Each counts a multiple of one of `symbols`."""
    step = gcd(*symbols)
    found = {
        number
        for distance in apart
        for number in _multiples(step, -size - distance, size - distance)
    }
    return None if found - {0} else bool(found)


def _multiples(step: int, above: int, below: int) -> Iterable[int]:
    """The multiples of a step between two numbers."""
    if step == 0:
        return (0,) if above < 0 < below else ()
    return range(above // step * step + step, below, step)
