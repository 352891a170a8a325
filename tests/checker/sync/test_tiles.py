"""Boxes of a tensor are told apart by their elements, and by the numbers in their places."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from checker.sync.symbols import ACROSS, BLOCK, COUNT, Blocks, atom, counter, divided, total
from prismc.checker.sync.footprints import Footprint, Point, Tile, footprint_of
from prismc.checker.sync.forms import (
    GRID_WIDE,
    ROW,
    Form,
    constant,
    scaled,
    symbol,
    times,
)
from prismc.checker.sync.meetings import Between, meet
from prismc.checker.sync.tiles import are_alike, are_apart, common_element, places_of
from prismc.source.record import replace

N = atom("n", width=GRID_WIDE)
TILE = counter(symbol(BLOCK), symbol(COUNT))


def box(sizes: tuple[int, ...], *places: Form, threads: int = 1) -> Footprint:
    """A box of `sizes` at `places`, both innermost first."""
    tile = Tile(sizes=sizes[1:])
    form = places[0]
    for place, stride in zip(places[1:], tile.strides, strict=True):
        rows = times(scaled(place, stride), symbol(ROW))
        assert rows is not None
        form = total(form, rows)
    point = Point(counters=(), form=form, threads=threads, rows={})
    return footprint_of((point,), (), sizes[0], is_certain=True, tile=tile)


def meets(first: Footprint, second: Footprint, between: Between = Between()) -> bool:  # noqa: B008
    """Whether boxes of two threads may meet."""
    found = meet(first, second, between, {}, width=64, assume_rows=False)
    return bool(found.classes)


def test_known_boxes_meet_as_sets_of_elements_do() -> None:
    random = Random(1)
    sizes = (8, 4, 3)
    for _ in range(300):
        corners = [tuple(random.randrange(-12, 12) for _ in sizes) for _ in range(2)]
        boxes = [
            box(sizes, *map(constant, corner), threads=1 << number)
            for number, corner in enumerate(corners)
        ]
        elements = [
            set(product(*(range(at, at + size) for at, size in zip(corner, sizes, strict=True))))
            for corner in corners
        ]
        assert meets(boxes[0], boxes[1]) == bool(elements[0] & elements[1])


def test_places_come_back_from_an_index() -> None:
    corner = (constant(-3), scaled(symbol(BLOCK), 64), total(symbol(N), constant(-7)))
    footprint = box((8, 64, 3), *corner)
    assert footprint.tile is not None
    assert places_of(footprint.points[0], footprint.tile) == corner


ROW_OF = divided(symbol(TILE), "/", symbol(ACROSS))
COLUMN_OF = divided(symbol(TILE), "%", symbol(ACROSS))
WIDE = scaled(symbol(ACROSS), 8)
INNER = divided(symbol(TILE), "%", WIDE)
GROUPED = (
    divided(INNER, "/", constant(8)),
    total(
        scaled(divided(symbol(TILE), "/", WIDE), 8),
        divided(symbol(TILE), "%", constant(8)),
    ),
)


@pytest.mark.parametrize(
    ("column", "row", "is_apart"),
    [
        (scaled(COLUMN_OF, 32), scaled(ROW_OF, 16), True),
        (scaled(ROW_OF, 32), scaled(COLUMN_OF, 16), True),
        (scaled(COLUMN_OF, 31), scaled(ROW_OF, 16), False),  # boxes are wider than that
        (scaled(COLUMN_OF, 32), constant(0), False),  # tiles of one column
        (scaled(GROUPED[0], 32), scaled(GROUPED[1], 16), True),
        (scaled(GROUPED[0], 32), scaled(GROUPED[1], 15), False),
        (scaled(GROUPED[0], 32), total(scaled(GROUPED[1], 16), symbol(N)), True),
        (constant(0), scaled(symbol(TILE), 16), True),
        (constant(0), scaled(symbol(TILE), 8), False),
    ],
)
def test_numbers_of_tiles(column: Form, row: Form, is_apart: bool) -> None:
    """Between blocks, and between iterations of the loop over tiles."""
    footprint = box((32, 16), column, row)
    assert are_apart(footprint, footprint, Blocks()) is is_apart
    other = box((32, 16), column, row, threads=2)
    assert meets(footprint, other, Between(loop=1, least=1, most=1 << 40)) is not is_apart


def test_symbols_with_a_range_are_part_of_where_a_box_is() -> None:
    random = Random(2)
    told = 0
    for _ in range(400):
        width, step, below = random.choice((1, 4, 8)), random.randint(1, 40), random.randint(1, 5)
        weight = random.choice((-9, -4, -1, 1, 3, 8))
        ranged = replace(atom("r", width=1), below=below)
        place = total(scaled(symbol(BLOCK), step), scaled(symbol(ranged), weight))
        footprint = box((width, 2), place, constant(0))
        distances = {weight * (mine - other) for mine, other in product(range(below), repeat=2)}
        meet_at = {step * blocks + each for blocks in range(1, 60) for each in distances}
        if are_apart(footprint, footprint, Blocks()):
            told += 1
            assert all(abs(each) >= width for each in meet_at)
        else:
            assert step < width + abs(weight) * (below - 1)
    assert told > 100


def test_a_counter_that_others_may_have_tells_nothing() -> None:
    """Steps of one start at any number: two blocks may come to one."""
    free = counter(symbol(BLOCK), constant(1))
    footprint = box((32, 16), scaled(symbol(free), 32), constant(0))
    assert not are_apart(footprint, footprint, Blocks())


def test_summands_need_room() -> None:
    """`16 * (t % 8) + 64 * q` does not tell t % 8 from q."""
    rest = divided(symbol(TILE), "%", constant(8))
    quotient = divided(symbol(TILE), "/", constant(8))
    crowded = total(scaled(rest, 16), scaled(quotient, 64))
    roomy = total(scaled(rest, 16), scaled(quotient, 128))
    for place, is_apart in ((crowded, False), (roomy, True)):
        footprint = box((32, 16), constant(0), place)
        assert are_apart(footprint, footprint, Blocks()) is is_apart


def test_what_certainly_meets_has_an_element() -> None:
    shifted = box((32, 16), scaled(symbol(BLOCK), 24), constant(4))
    assert common_element(shifted, shifted, BLOCK) == (1, 0, (4, 24))
    beside = box((32, 16), scaled(symbol(BLOCK), 32), constant(4))
    assert common_element(beside, beside, BLOCK) is None
    next_one = box((32, 16), total(scaled(symbol(BLOCK), 32), constant(64)), constant(0))
    assert common_element(beside, next_one, BLOCK) == (2, 0, (4, 64))
    unknown = box((32, 16), symbol(N), constant(4))
    assert common_element(unknown, unknown, BLOCK) is None


def test_alike_places_differ_by_known_numbers() -> None:
    here = box((32, 16), scaled(COLUMN_OF, 7), symbol(N))
    there = box((32, 16), total(scaled(COLUMN_OF, 7), constant(3)), total(symbol(N), constant(9)))
    assert are_alike(here, there)
    assert not are_alike(here, box((32, 16), scaled(COLUMN_OF, 7), constant(0)))
