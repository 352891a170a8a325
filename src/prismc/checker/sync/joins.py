"""Compares the elements of two footprints: for whom of their threads one is the same.

A table has the elements of one footprint; what the two indices differ by beside is a line of
numbers (`Line`), for the row and for the place in it where the index has rows. Where both touch
whole runs of elements, a run counts as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import NamedTuple

from prismc.checker.sync.forms import Monomial

# Elements compared for one pair of accesses, at most; more count as unknown.
MOST_WORK = 1 << 17

# A table maps elements (by their row's coefficient, then by their known part) to the threads that
# touch them.
Row = dict[int, int]
Table = dict[int, Row]


class Line(NamedTuple):
    """What the later of two indices has gained beside its known part: `stride` for each iteration
    between the two, and an unknown multiple of `modulus`; 0 if nothing."""

    stride: int = 0
    modulus: int = 0

    @property
    def is_plain(self) -> bool:
        return not (self.stride or self.modulus)


class Alignment(NamedTuple):
    """How two footprints are compared.

    `row` is the product of symbols that is the length of a row, () if there are no rows. `by_row`
    tells what the rows differ by, counted in runs of `rows` rows, `by_element` the places in a row,
    counted in runs of `grain` elements. `same` are the loops with one counter for both; `ordered`
    is the loop whose iteration lies earlier for the earlier access, if both go through its counter.
    `apart` is the least and the most that it lies earlier.
    """

    row: Monomial
    by_row: Line
    by_element: Line
    grain: int
    rows: int
    same: tuple[int, ...]
    ordered: int | None
    apart: tuple[int, int]

    @property
    def is_symbolic(self) -> bool:
        """Whether anything but known elements is compared."""
        return bool(self.row) or not self.by_element.is_plain


def join(
    first: Table, second: Table, alignment: Alignment, found: dict[tuple[int, int], int]
) -> bool:
    """Note the threads that touch one element, different ones; `first` is of the earlier access.

    False where that would compare more pairs than `MOST_WORK` allows.
    """
    if alignment.by_row.is_plain and alignment.by_element.is_plain:
        _join(first, second, found)
        return True
    if alignment.row:
        return _join_rows(first, second, alignment, found)
    if alignment.by_element.modulus:
        _join_modulo(first, second, alignment, found)
        return True
    return _join_strided(first, second, alignment, found)


def _join(first: Table, second: Table, found: dict[tuple[int, int], int]) -> None:
    """The same where the elements are known."""
    for row, elements in first.items():
        others = second.get(row)
        if others is None or elements.keys().isdisjoint(others):
            continue
        # Of many elements few differ in the threads that touch them.
        meeting: dict[tuple[int, int], int] = {}
        for offset, earlier in elements.items():
            if offset in others:
                meeting.setdefault((earlier, others[offset]), offset)
        for (earlier, later), offset in meeting.items():
            _note(earlier, later, offset, found)


def _join_strided(
    first: Table, second: Table, alignment: Alignment, found: dict[tuple[int, int], int]
) -> bool:
    """The same for a second table that has moved by as many strides as iterations lie between."""
    stride, (least, most) = alignment.by_element.stride, alignment.apart
    # Elements meet only if they lie whole strides apart.
    lines: dict[tuple[int, int], dict[int, int]] = {}
    for row, offset, later in _elements(second):
        lines.setdefault((row, offset % stride), {})[offset] = later
    longest = max(map(len, lines.values()), default=0)
    if _size(first) * min(longest, most - least + 1) > MOST_WORK:
        return False
    for row, offset, earlier in _elements(first):
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
    modulus = alignment.by_element.modulus
    shifts = _shifts(alignment.by_element, alignment.apart)
    earlier, later = _residues(first, modulus), _residues(second, modulus)
    for residue, threads in earlier.items():
        for shift in shifts:
            # The later index has gained the shift: it is this much below the earlier one.
            others = later.get((residue - shift) % modulus)
            if others is not None:
                _note(threads, others, residue, found)


def _shifts(line: Line, apart: tuple[int, int]) -> set[int]:
    """What strides add, up to multiples of the modulus."""
    least, most = apart
    distances = range(least, min(most, least + line.modulus) + 1)
    return {distance * line.stride % line.modulus for distance in distances}


def _join_rows(
    first: Table, second: Table, alignment: Alignment, found: dict[tuple[int, int], int]
) -> bool:
    """The same for rows: both the row and the place in it must agree."""
    place, apart = alignment.by_element, alignment.apart
    divisor = gcd(place.stride, place.modulus)
    rows: dict[int, list[tuple[int, int]]] = {}
    for row, offset, later in _elements(second):
        rows.setdefault(offset % divisor if divisor else offset, []).append((row, later))
    if _size(first) * max(map(len, rows.values()), default=0) > MOST_WORK:
        return False
    for row, offset, earlier in _elements(first):
        for other, later in rows.get(offset % divisor if divisor else offset, ()):
            if _agree(row - other, alignment.by_row, apart):
                _note(earlier, later, offset, found)
    return True


def _agree(difference: int, line: Line, apart: tuple[int, int]) -> bool:
    """Whether known parts that differ by so much, the earlier one's less the later one's, can be
    made equal."""
    if line.modulus:
        return difference % line.modulus in _shifts(line, apart)
    if line.stride:
        distance, rest = divmod(difference, line.stride)
        return rest == 0 and apart[0] <= distance <= apart[1]
    return difference == 0


def _residues(table: Table, modulus: int) -> dict[int, int]:
    """The threads by remainder of the elements that they touch."""
    found: dict[int, int] = {}
    for _, offset, threads in _elements(table):
        found[offset % modulus] = found.get(offset % modulus, 0) | threads
    return found


def _elements(table: Table) -> Iterator[tuple[int, int, int]]:
    """Rows, known parts and threads of all elements."""
    return (
        (row, offset, threads)
        for row, elements in table.items()
        for offset, threads in elements.items()
    )


def _size(table: Table) -> int:
    return sum(map(len, table.values()))


def _note(earlier: int, later: int, element: int, found: dict[tuple[int, int], int]) -> None:
    if earlier != later or earlier & (earlier - 1):
        found.setdefault((earlier, later), element)
