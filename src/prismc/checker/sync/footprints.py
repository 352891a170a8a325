"""Which elements an access touches, and for which threads two accesses may meet.

A footprint is evaluated for every thread and for every value of the counters of loops with
constant bounds; what is left over are uniform symbols, which cancel where both accesses read them
at one time. Unknown means that the accesses may meet (decision 0061).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product, repeat
from math import gcd
from types import MappingProxyType
from typing import NamedTuple

from prismc.checker.sync.coverage import threads_in
from prismc.checker.sync.forms import ONE, Atom, Coefficient, Form, Monomial
from prismc.source.record import Record

# Elements compared for one pair of accesses, at most; more count as unknown.
MOST_WORK = 1 << 17


# A table maps an element (its row's coefficient and its known part) to the threads that touch it.
Table = dict[tuple[int, int], int]
Tables = dict[tuple[int, ...], dict[int, Table]]


class Point(Record):
    """A footprint for one choice of the counters: element `form` for each of `threads`.

    `rows` bounds products of symbols from below, thread by thread, where a condition around the
    access does.
    """

    counters: tuple[int, ...]
    form: Form
    threads: int
    rows: Mapping[Monomial, Coefficient]


class Footprint(Record):
    """`lanes` elements from each point's on. No points: any element.

    `loops` are the loops whose counters the points go through; the counters are iteration numbers.
    Of a loop in `cycles` they go through so many iterations only, which come again and again.
    `threads` holds all that may access; with `is_certain` they all do. `common` is what all points
    share, `varying` the products of symbols whose coefficients differ.
    """

    threads: int
    lanes: int = 1
    loops: tuple[int, ...] = ()
    points: tuple[Point, ...] = ()
    cycles: Mapping[int, int] = MappingProxyType({})
    is_certain: bool = True
    common: Mapping[Monomial, int] = MappingProxyType({})
    varying: tuple[Monomial, ...] = ()


class Meeting(Record):
    """For whom two accesses may touch one element: pairs of sets of threads (earlier, later).

    `is_exact` holds if they do for certain; `example` is then an element, relative to the uniform
    part of the index.
    """

    classes: tuple[tuple[int, int], ...]
    is_exact: bool
    element: int = 0


NEVER = Meeting(classes=(), is_exact=True)


def unknown_footprint(threads: int) -> Footprint:
    """Any element, for any of `threads`."""
    return Footprint(threads=threads, is_certain=False)


def footprint_of(
    points: tuple[Point, ...],
    loops: tuple[int, ...],
    lanes: int,
    *,
    is_certain: bool,
    cycles: Mapping[int, int] | None = None,
) -> Footprint:
    """A footprint of points that are all known."""
    common: dict[Monomial, int] = {}
    varying: dict[Monomial, None] = {}
    monomials = {monomial: None for point in points for monomial in point.form if monomial}
    for monomial in monomials:
        values = {point.form.get(monomial, 0) for point in points}
        value = values.pop()
        if values or not isinstance(value, int):
            varying[monomial] = None
        else:
            common[monomial] = value
    threads = 0
    for point in points:
        threads |= point.threads
    return Footprint(
        threads=threads,
        lanes=lanes,
        loops=loops,
        points=points,
        cycles={loop: cycle for loop, cycle in (cycles or {}).items() if loop in loops},
        is_certain=is_certain,
        common=common,
        varying=tuple(varying),
    )


class Alignment(NamedTuple):
    """How two footprints are compared.

    `row` is the one product of symbols that is left beside the known part, if any. `stride` is what
    the later index gains in each iteration between the two, 0 if nothing. The rest of the index
    differs by an unknown multiple of `modulus`, 0 if not at all. `same` are the loops with
    one counter for both; `ordered` is the loop whose iteration lies earlier for the earlier access,
    if both go through its counter. `apart` is the least and the most that it lies earlier.
    """

    row: Monomial
    stride: int
    modulus: int
    same: tuple[int, ...]
    ordered: int | None
    apart: tuple[int, int]


# The tables of footprints that have been compared, by what was left and which loops counted.
Known = dict[tuple[Footprint, Monomial, tuple[int, ...], int | None], Tables]


class Between(Record):
    """What lies between two accesses: the loop whose back edge the path takes, if any, with the
    least and the most iterations it goes on; and the loops that end on the way."""

    loop: int | None = None
    least: int = 1
    most: int = 1
    ended: frozenset[int] = frozenset()


FAR = 1 << 40


def meet(
    first: Footprint,
    second: Footprint,
    between: Between,
    known: Known,
    *,
    width: int,
    assume_rows: bool,
) -> Meeting:
    """For whom `first`, the earlier one, and `second` may meet, in different threads or the same.

    `known` keeps what one comparison works out for the next. `width` is how many threads are
    compared: a symbol that is uniform over fewer does not cancel. `assume_rows` takes a symbol that
    multiplies a varying part for the length of a row: rows do not overlap.
    """
    anyone = Meeting(classes=((first.threads, second.threads),), is_exact=False)
    if not first.points or not second.points:
        return anyone
    alignment = _align(first, second, between, width)
    if alignment is None or max(_work(first), _work(second)) > MOST_WORK:
        return anyone
    if alignment.row and not (
        assume_rows or (_fits_rows(first, alignment.row) and _fits_rows(second, alignment.row))
    ):
        return anyone
    is_symbolic = alignment.row or alignment.stride or alignment.modulus
    is_exact = first.is_certain and second.is_certain and not is_symbolic
    found: dict[tuple[int, int], int] = {}
    for mine, other in _pairs_of_tables(first, second, alignment, known):
        if alignment.modulus:
            _join_modulo(mine, other, alignment, found)
        elif not alignment.stride:
            _join(mine, other, found)
        elif not _join_strided(mine, other, alignment, found):
            return anyone
    if not found:
        return NEVER
    return Meeting(classes=tuple(found), is_exact=is_exact, element=next(iter(found.values())))


def _work(footprint: Footprint) -> int:
    return sum(point.threads.bit_count() for point in footprint.points) * footprint.lanes


def _align(first: Footprint, second: Footprint, between: Between, width: int) -> Alignment | None:
    """How to compare two footprints; None if their symbols may make any difference."""
    row: Monomial = ()
    stride, modulus, most = 0, 0, between.most
    crossed = between.ended if between.loop is None else between.ended | {between.loop}
    for monomial in dict.fromkeys((*first.common, *second.common, *first.varying, *second.varying)):
        is_settled = all(
            atom.width >= width and crossed.isdisjoint(atom.loops) for atom in monomial
        )
        mine, other = first.common.get(monomial, 0), second.common.get(monomial, 0)
        is_equal = mine == other and monomial not in (*first.varying, *second.varying)
        step = _step_between(monomial, between, width) if is_equal else 0
        if is_equal and is_settled:
            continue
        if step and not stride:
            stride = mine * step
            most = most if monomial[0].is_regular else FAR
        elif is_settled and not row:
            row = monomial
        else:
            modulus = gcd(modulus, *_multiples(first, monomial), *_multiples(second, monomial))
    if row and (stride or modulus):
        modulus = gcd(modulus, *_multiples(first, row), *_multiples(second, row))
        row = ()
    if modulus == 1:
        return None
    both = [loop for loop in first.loops if loop in second.loops]
    return Alignment(
        row=row,
        stride=stride,
        modulus=modulus,
        same=tuple(loop for loop in both if loop not in crossed),
        ordered=between.loop if between.loop in both else None,
        apart=(between.least, most),
    )


def _multiples(footprint: Footprint, monomial: Monomial) -> Iterator[int]:
    """All coefficients that a product of symbols has."""
    for point in footprint.points:
        value = point.form.get(monomial, 0)
        yield from (value,) if isinstance(value, int) else value


def _step_between(monomial: Monomial, between: Between, width: int) -> int:
    """What a lone loop counter gains from one iteration of its loop to the next; 0 if it is none,
    or if more than its own loop lies between."""
    if len(monomial) != 1:
        return 0
    atom: Atom = monomial[0]
    if atom.width < width or not atom.loops or not between.ended.isdisjoint(atom.loops):
        return 0
    return atom.step if between.loop == atom.loops[-1] else 0


def _fits_rows(footprint: Footprint, row: Monomial) -> bool:
    """Whether the known part stays inside one row of length `row` for every thread, by what the
    conditions around the access say."""
    for point in footprint.points:
        length, offset = point.rows.get(row, 0), point.form.get(ONE, 0)
        for thread in threads_in(point.threads):
            start = offset if isinstance(offset, int) else offset[thread]
            end = length if isinstance(length, int) else length[thread]
            if start < 0 or start + footprint.lanes > end:
                return False
    return True


def _pairs_of_tables(
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
            for element, threads in before[waiting.pop(0)].items():
                gathered[element] = gathered.get(element, 0) | threads
        if gathered:
            yield gathered, later[order]


def _tables(footprint: Footprint, alignment: Alignment, known: Known) -> Tables:
    """Tables by the values of the common counters, then by that of the ordered one."""
    key = (footprint, alignment.row, alignment.same, alignment.ordered)
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
        _fill(table, row, point.form.get(ONE, 0), point.threads, footprint.lanes)
    return tables


def _fill(table: Table, row: Coefficient, offset: Coefficient, threads: int, lanes: int) -> None:
    if isinstance(row, int) and isinstance(offset, int):
        for lane in range(lanes):
            element = (row, offset + lane)
            table[element] = table.get(element, 0) | threads
        return
    rows = repeat(row) if isinstance(row, int) else row
    offsets = repeat(offset) if isinstance(offset, int) else offset
    bit = 1
    for line, start in zip(rows, offsets, strict=False):
        if threads & bit:
            for lane in range(lanes):
                element = (line, start + lane)
                table[element] = table.get(element, 0) | bit
        bit <<= 1


def _join(first: Table, second: Table, found: dict[tuple[int, int], int]) -> None:
    """Note the threads that touch one element, different ones."""
    if first.keys().isdisjoint(second):
        return
    # Of thousands of elements few differ in the threads that touch them.
    meeting: dict[tuple[int, int], int] = {}
    for element, earlier in first.items():
        if element in second:
            meeting.setdefault((earlier, second[element]), element[1])
    for (earlier, later), offset in meeting.items():
        _note(earlier, later, offset, found)


def _join_strided(
    first: Table, second: Table, alignment: Alignment, found: dict[tuple[int, int], int]
) -> bool:
    """The same for a second table that has moved by as many strides as iterations lie between.

    False where that would compare more pairs than `MOST_WORK` allows.
    """
    stride, (least, most) = alignment.stride, alignment.apart
    # Elements meet only if they lie whole strides apart.
    lines: dict[tuple[int, int], dict[int, int]] = {}
    for (row, offset), later in second.items():
        lines.setdefault((row, offset % stride), {})[offset] = later
    longest = max(map(len, lines.values()), default=0)
    if len(first) * min(longest, most - least + 1) > MOST_WORK:
        return False
    for (row, offset), earlier in first.items():
        line = lines.get((row, offset % stride), {})
        # The later index has gained a stride for each iteration: the known parts differ by them.
        if most - least < len(line):
            starts = range(offset - least * stride, offset - (most + 1) * stride, -stride)
            meeting = [line[start] for start in starts if start in line]
        else:
            spans = ((offset - start) // stride for start in line)
            meeting = [
                later for later, n in zip(line.values(), spans, strict=True) if least <= n <= most
            ]
        for later in meeting:
            _note(earlier, later, offset, found)
    return True


def _join_modulo(
    first: Table, second: Table, alignment: Alignment, found: dict[tuple[int, int], int]
) -> None:
    """The same where the indices differ by the stride and by multiples of the modulus."""
    modulus, (least, most) = alignment.modulus, alignment.apart
    distances = range(least, min(most, least + modulus) + 1)
    shifts = {distance * alignment.stride % modulus for distance in distances}
    earlier, later = _residues(first, modulus), _residues(second, modulus)
    for residue, threads in earlier.items():
        for shift in shifts:
            # The later index has gained the shift: it is this much below the earlier one.
            others = later.get((residue - shift) % modulus)
            if others is not None:
                _note(threads, others, residue, found)


def _residues(table: Table, modulus: int) -> dict[int, int]:
    """The threads by remainder of the elements that they touch."""
    found: dict[int, int] = {}
    for (_, offset), threads in table.items():
        found[offset % modulus] = found.get(offset % modulus, 0) | threads
    return found


def _note(earlier: int, later: int, element: int, found: dict[tuple[int, int], int]) -> None:
    if earlier != later or earlier & (earlier - 1):
        found.setdefault((earlier, later), element)
