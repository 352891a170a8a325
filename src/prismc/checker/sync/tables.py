"""The elements of footprints as tables, in the pairs that a comparison joins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from operator import add, floordiv

from prismc.checker.sync.footprints import Footprint, Tile
from prismc.checker.sync.forms import ONE, Coefficient, Monomial, combine
from prismc.checker.sync.joins import Alignment, Row, Table

Tables = dict[tuple[int, ...], dict[int, Table]]

# The tables of footprints that have been compared, by what was left, which loops counted, and the
# elements and rows of a run that counted as one.
Known = dict[tuple[Footprint, Monomial, tuple[int, ...], int | None, int, int], Tables]


def pairs_of_tables(
    first: Footprint, second: Footprint, alignment: Alignment, known: Known
) -> Iterator[tuple[Table, Table]]:
    """The tables to be joined: for one value of each common counter, and for an ordered loop, the
    iterations of the first that lie early enough against one of the second."""
    mine, other = _tables(first, alignment, known), _tables(second, alignment, known)
    least, most = alignment.apart
    for key, later in other.items():
        before = mine.get(key)
        if before is None:
            continue
        if alignment.ordered is None:
            yield before[0], later[0]
        elif cycle := first.cycles.get(alignment.ordered):
            distances = {
                distance % cycle for distance in range(least, min(most, least + cycle) + 1)
            }
            for (early, mine_at), (order, table) in product(before.items(), later.items()):
                if (order - early) % cycle in distances:
                    yield mine_at, table
        elif least == most:
            for order, table in later.items():
                if order - least in before:
                    yield before[order - least], table
        else:
            yield from _all_earlier(before, later, least)


def _all_earlier(
    before: dict[int, Table], later: dict[int, Table], least: int
) -> Iterator[tuple[Table, Table]]:
    """Each later iteration's table with all that lie `least` or more iterations before it."""
    gathered: Table = {}
    waiting = sorted(before)
    for order in sorted(later):
        while waiting and waiting[0] <= order - least:
            for row, elements in before[waiting.pop(0)].items():
                known = gathered.setdefault(row, {})
                for element, threads in elements.items():
                    known[element] = known.get(element, 0) | threads
        if gathered:
            yield gathered, later[order]


def _tables(footprint: Footprint, alignment: Alignment, known: Known) -> Tables:
    """Tables by the values of the common counters, then by that of the ordered one."""
    grain, height = alignment.grain, alignment.rows
    key = (footprint, alignment.row, alignment.same, alignment.ordered, grain, height)
    tables = known.get(key)
    if tables is not None:
        return tables
    tables = known[key] = {}
    same = [footprint.loops.index(loop) for loop in alignment.same]
    ordered = alignment.ordered
    place = None if ordered is None else footprint.loops.index(ordered)
    for point in footprint.points:
        by_order = tables.setdefault(tuple(point.counters[i] for i in same), {})
        table = by_order.setdefault(0 if place is None else point.counters[place], {})
        row: Coefficient = point.form.get(alignment.row, 0) if alignment.row else 0
        offset = point.form.get(ONE, 0)
        if grain > 1:
            offset = combine(floordiv, offset, grain)
        for rows in _rows_of(footprint.tile, row, height):
            _fill(table, rows, offset, point.threads, footprint.lanes // grain)
    return tables


def _rows_of(tile: Tile | None, row: Coefficient, height: int) -> Iterator[Coefficient]:
    """The rows of a box, in runs of `height`; the one row of what is no box."""
    if tile is None:
        yield row
        return
    first = combine(floordiv, row, height)
    for plane, place in product(tile.planes, range(tile.height // height)):
        yield combine(add, first, plane // height + place)


def _fill(table: Table, row: Coefficient, offset: Coefficient, threads: int, lanes: int) -> None:
    """Note what threads touch: `lanes` elements, or runs of them, from `offset` on."""
    if isinstance(row, int):
        starts = {offset: threads} if isinstance(offset, int) else _by_start(offset, threads)
        _extend(table.setdefault(row, {}), starts, lanes)
        return
    for line, of_line in _by_start(row, threads).items():
        starts = {offset: of_line} if isinstance(offset, int) else _by_start(offset, of_line)
        _extend(table.setdefault(line, {}), starts, lanes)


def _by_start(values: Sequence[int], threads: int) -> Row:
    """Some threads by their values."""
    found: Row = {}
    bit = 1
    for value in values:
        if threads & bit:
            found[value] = found.get(value, 0) | bit
        bit <<= 1
    return found


def _extend(elements: Row, starts: Row, lanes: int) -> None:
    for start, threads in starts.items():
        for element in range(start, start + lanes):
            elements[element] = elements.get(element, 0) | threads
