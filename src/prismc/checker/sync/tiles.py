"""Whether boxes of a tensor stay apart because the numbers in their places do.

Blocks and iterations share a tensor by numbers: tile t lies at row `t / across`, column
`t % across`. Where places are as far apart as boxes are large, boxes that meet are at one place;
there quotient and remainder are the same, so the number is, and its iteration, or its block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import gcd
from operator import mul, sub

from prismc.checker.sync.coverage import threads_in
from prismc.checker.sync.footprints import Footprint, Point, Tile
from prismc.checker.sync.forms import ONE, ROW, Atom, Coefficient, Form, Monomial, combine, known

# Pairs of places that are looked at, at most.
_MOST_PAIRS = 1 << 12


class Numbers(ABC):
    """What is known of symbols where two accesses read them."""

    @abstractmethod
    def is_same(self, atom: Atom) -> bool:
        """Whether both read one value."""

    @abstractmethod
    def differs(self, atom: Atom) -> bool:
        """Whether they read two different ones."""

    @abstractmethod
    def are_both(self, mine: Mapping[int, int], other: Mapping[int, int]) -> bool:
        """Whether these iterations of loops, by id, can be theirs."""


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
    equal: list[Form] = []
    for size, first, second in zip(box, places_of(mine, tile), places_of(other, tile), strict=True):
        symbols = _not_same(first, second, numbers)
        if symbols is None:
            continue
        apart = _distances(known_places(first, mine.threads), known_places(second, other.threads))
        steps = _steps(apart, symbols, size)
        if steps is None:
            continue
        if not steps:
            return True
        equal.append(symbols)
    return any(map(numbers.differs, _consequences(equal, numbers)))


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


def _not_same(first: Form, second: Form, numbers: Numbers) -> Form | None:
    """The symbols of two places that may have changed; None if the places are not alike."""
    changed: dict[Monomial, Coefficient] = {}
    for monomial in dict.fromkeys((*first, *second)):
        value = first.get(monomial, 0)
        if monomial == ONE:
            continue
        if value != second.get(monomial, 0) or not isinstance(value, int):
            return None
        if not all(map(numbers.is_same, monomial)):
            changed[monomial] = value
    return changed


def _distances(mine: Iterable[int], other: Iterable[int]) -> frozenset[int]:
    return frozenset(first - second for first, second in product(mine, other))


def _steps(apart: Iterable[int], symbols: Form, size: int) -> bool | None:
    """Whether symbols that are the same let two places meet whose known parts lie `apart`; None if
    others may, too."""
    step = gcd(*(value for value in symbols.values() if isinstance(value, int)))
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


# ----------------------------------------------------------------------- what follows


def _consequences(equal: Iterable[Form], numbers: Numbers) -> Collection[Atom]:
    """The symbols that are the same where these sums are."""
    found: dict[Atom, None] = {}
    divided: set[Atom] = set()
    sums = list(equal)
    while sums:
        for atom in _summands(sums.pop(), numbers):
            if atom not in found:
                found[atom] = None
                sums += _starts(atom, numbers)
        for atom in [atom for atom in found if atom not in divided]:
            if _is_whole(atom, found, numbers) and atom.origin is not None:
                divided.add(atom)
                sums.append(atom.origin.operands[0])
    return found


def _summands(total: Form, numbers: Numbers) -> Iterator[Atom]:
    """The symbols that are the same if a sum is: each counts for more than all that are smaller can
    make up."""
    terms = [
        (abs(value), monomial)
        for monomial, value in total.items()
        if isinstance(value, int) and not all(map(numbers.is_same, monomial))
    ]
    terms.sort(key=lambda term: -term[0])
    for position, (weight, monomial) in enumerate(terms):
        rest = [(value * _spread(one), _spread(one)) for value, one in terms[position + 1 :]]
        if any(spread < 0 for _, spread in rest) or sum(value for value, _ in rest) >= weight:
            return
        changing = [atom for atom in monomial if not numbers.is_same(atom)]
        others = (atom for atom in monomial if numbers.is_same(atom))
        if len(changing) == 1 and all(_is(atom, "count") for atom in others):
            yield changing[0]


def _spread(monomial: Monomial) -> int:
    """How far apart two values of a symbol may be; -1 if that is not known."""
    atom = monomial[0]
    divisor = known(atom.origin.operands[1]) if _is(atom, "%") and atom.origin else None
    if len(monomial) > 1 or (not atom.below and not isinstance(divisor, int)):
        return -1
    if atom.below:
        return atom.below - 1
    assert isinstance(divisor, int)
    is_natural = atom.natural_if == frozenset()
    return (abs(divisor) - 1) * (1 if is_natural else 2)


def _is(atom: Atom, operation: str) -> bool:
    return atom.origin is not None and atom.origin.operation == operation


def _is_whole(atom: Atom, found: Iterable[Atom], numbers: Numbers) -> bool:
    """Whether it is a quotient whose remainder is the same, too: then its dividend is."""
    if atom.origin is None or atom.origin.operation != "/":
        return False
    dividend, divisor = atom.origin.operands
    remainders = [one.origin.operands for one in found if one.origin and _is(one, "%")]
    is_settled = all(map(numbers.is_same, _atoms(divisor)))
    return is_settled and _has_remainder(dividend, divisor, remainders)


def _has_remainder(dividend: Form, divisor: Form, known_ones: list[tuple[Form, ...]]) -> bool:
    """Whether `dividend % divisor` is among remainders; `(n % 8k) % 8` is `n % 8`."""
    if (dividend, divisor) in known_ones:
        return True
    number, atoms = known(divisor), _atoms(dividend)
    if not isinstance(number, int) or not number or dividend != {(atom,): 1 for atom in atoms[:1]}:
        return False
    origin = atoms[0].origin
    if origin is None or origin.operation != "%":
        return False
    inner, outer = origin.operands
    divides = all(isinstance(each, int) and each % number == 0 for each in outer.values())
    return divides and (inner, divisor) in known_ones


def _starts(counter: Atom, numbers: Numbers) -> Iterator[Form]:
    """Where counters of `range(id(), n, count)` are the same, they began with the same: no block
    begins with as much as there are blocks."""
    if counter.origin is None or counter.origin.operation != "range":
        return
    start, step = counter.origin.operands
    changing = [atom for atom in _atoms(start) if not numbers.is_same(atom)]
    is_block = len(changing) == 1 and _is(changing[0], "block") and start[(changing[0],)] == 1
    steps = _atoms(step)
    if is_block and len(steps) == 1 and _is(steps[0], "count") and step == {(steps[0],): 1}:
        yield start


def _atoms(form: Form) -> list[Atom]:
    return list(dict.fromkeys(atom for monomial in form for atom in monomial))
