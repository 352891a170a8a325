"""Who is ordered after whom: coverage, a relation over the threads of one instance.

`later in coverage(earlier)` says: what thread `later` does from here on happens after what thread
`earlier` did before. Every thread is ordered after itself. Sets of threads are bit masks, bit t for
thread t of the function's instance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

# Disjoint sets of earlier threads, each with the later threads that all of them precede.
Classes = tuple[tuple[int, int], ...]


class Coverage:
    """A relation as classes of threads with the same later threads; the rest reach themselves."""

    __slots__ = ("_class_of", "_hash", "_others", "classes")

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self._hash = hash(classes)
        self._class_of: dict[int, tuple[int, int]] = {}
        self._others = ~0

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Coverage) and self.classes == other.classes

    def is_total(self, earlier: int, everyone: int) -> bool:
        """Whether all of `everyone` is ordered after each thread of `earlier`."""
        for sources, reach in self.classes:
            if reach & everyone == everyone:
                earlier &= ~sources
        return earlier == 0

    def uncovered(self, earlier: int, later: int) -> tuple[int, int] | None:
        """Two sets of threads, from `earlier` and from `later`, without order between different
        threads; None if all pairs of different threads are ordered."""
        if not self.classes:
            return _distinct(earlier, later)
        if not self._class_of:
            self._index()
        while earlier:
            lowest = (earlier & -earlier).bit_length()
            sources, reach = self._class_of.get(lowest, (self._others, 0))
            found = _distinct(earlier & sources, later & ~reach)
            if found is not None:
                return found
            earlier &= ~sources
        return None

    def _index(self) -> None:
        """Note the class of each thread (counted from 1), and the threads of none."""
        for sources, reach in self.classes:
            self._others &= ~sources
            for thread in threads_in(sources):
                self._class_of[thread + 1] = sources, reach


NONE = Coverage(())


def _distinct(first: int, second: int) -> tuple[int, int] | None:
    """Both sets if they hold two different threads, one each."""
    if not first or not second or (first == second and first & (first - 1) == 0):
        return None
    return first, second


def barrier(units: Iterable[int]) -> Coverage:
    """The order that a barrier makes: every unit's threads wait for one another."""
    return Coverage(tuple((unit, unit) for unit in units if unit & (unit - 1)))


@lru_cache(maxsize=4096)
def then(first: Coverage, second: Coverage) -> Coverage:
    """Order by `first`, then by `second`: what `first` reaches carries on through `second`."""
    if not first.classes or not second.classes:
        return first if not second.classes else second
    joined: dict[int, int] = {}
    known = 0
    for sources, reach in first.classes:
        known |= sources
        after = reach
        for middle, further in second.classes:
            if reach & middle:
                after |= further
        joined[after] = joined.get(after, 0) | sources
    for sources, reach in second.classes:
        if fresh := sources & ~known:
            joined[reach] = joined.get(reach, 0) | fresh
    return Coverage(tuple((sources, reach) for reach, sources in joined.items()))


@lru_cache(maxsize=4096)
def both(first: Coverage, second: Coverage) -> Coverage:
    """The order that holds on either of two paths: the intersection."""
    if first == second:
        return first
    joined: dict[int, int] = {}
    for sources, reach in first.classes:
        for others, further in second.classes:
            common, after = sources & others, reach & further
            if _distinct(common, after):
                joined[after] = joined.get(after, 0) | common
    return Coverage(tuple((sources, reach) for reach, sources in joined.items()))


def side_by_side(parts: Iterable[Coverage]) -> Coverage:
    """The order that arms make together: their threads are disjoint."""
    return Coverage(tuple(entry for part in parts for entry in part.classes))


def threads_in(mask: int) -> Iterator[int]:
    """The threads of a set, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def ranges_of(mask: int) -> tuple[tuple[int, int], ...]:
    """The threads of a set as ranges [start, end), ascending."""
    ranges: list[tuple[int, int]] = []
    while mask:
        start = (mask & -mask).bit_length() - 1
        shifted = mask >> start
        length = (~shifted & (shifted + 1)).bit_length() - 1
        ranges.append((start, start + length))
        mask = mask >> (start + length) << (start + length)
    return tuple(ranges)
