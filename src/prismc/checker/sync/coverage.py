"""Who is ordered after whom: coverage, a relation over the threads of one instance.

`later in coverage(earlier)` says: what thread `later` does from here on happens after what thread
`earlier` did before. Every thread is ordered after itself. Sets of threads are bit masks, bit t for
thread t of the function's instance.

What happens on a path also decides when asynchronous operations are complete. They are committed in
groups, and a wait leaves the newest n groups pending (PTX ISA, "cp.async.wait_group"). So an order
counts the commits on its path (the fewest of all ways through it), and for a group with so many
commits after its own, its age, it tells the order (and fences) made since the group's completion.
Each kind of operation has a queue of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakValueDictionary

from prismc.hardware.asynchronous import Completion
from prismc.source.record import Record

# Disjoint sets of earlier threads, each with the later threads that all of them precede.
Classes = tuple[tuple[int, int], ...]
Waits = tuple[tuple[int, "Coverage"], ...]
UNCOMMITTED = -1  # the age of a group before its commit

# What operations queue up for: the groups of one kind, or one mbarrier.
Queue = Completion | Record


class Groups(NamedTuple):
    """What happens to one queue on the way: `commits` are the groups committed. `waits` tells, by
    ascending least age, the order since groups of that age and more are complete; younger ones may
    still be pending."""

    commits: int = 0
    waits: Waits = ()


Queues = tuple[tuple[Queue, Groups], ...]
_KNOWN: WeakValueDictionary[tuple[Classes, frozenset[tuple[Queue, Groups]]], Coverage] = (
    WeakValueDictionary()
)


class Coverage:
    """A relation as classes of threads with the same later threads; the rest reach themselves.
    `queues` are those that the way commits to or waits for. Equal ones are one object: they are
    compared and looked up all the time."""

    __slots__ = ("__weakref__", "_class_of", "_others", "classes", "is_nothing", "queues")

    classes: Classes
    queues: Queues
    is_nothing: bool  # whether nothing happens on the way
    _class_of: dict[int, tuple[int, int]]
    _others: int

    def __new__(cls, classes: Classes, queues: Queues = ()) -> Coverage:
        key = (classes, frozenset(queues))
        known = _KNOWN.get(key)
        if known is None:
            known = _KNOWN[key] = super().__new__(cls)
            known.classes, known.queues = classes, queues
            known.is_nothing = not (classes or queues)
            known._class_of, known._others = {}, ~0
        return known

    def groups(self, queue: Queue) -> Groups:
        """What happens to a queue."""
        for known, groups in self.queues:
            if known == queue:
                return groups
        return _NO_GROUPS

    def completed(self, queue: Queue, age: int = UNCOMMITTED) -> Coverage | None:
        """The order made since a group of `age` is complete; None if it may be pending still."""
        return _completed(self.groups(queue), age)

    def of_accesses(self) -> Coverage:
        """What concerns a thread's ordinary accesses: the order, and fences."""
        queues = tuple(one for one in self.queues if one[0] is PROXY)
        return self if len(queues) == len(self.queues) else Coverage(self.classes, queues)

    def without_groups(self) -> Coverage:
        """The order alone: other threads' commits and waits complete nothing."""
        return Coverage(self.classes) if self.queues else self

    def at(self, starts: Iterable[int]) -> Coverage:
        """The order as each of the instances makes it whose first threads are `starts`."""
        classes = ((s << start, r << start) for start in starts for s, r in self.classes)
        queues = tuple(
            (queue, Groups(known.commits, tuple((age, one.at(starts)) for age, one in known.waits)))
            for queue, known in self.queues
        )
        return Coverage(tuple(classes), queues)

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


class _Fences(Record):
    """The queue of a thread's ordinary accesses, which a fence shows to asynchronous engines."""


class _BulkWrites(Record):
    """The queue of what a thread's bulk stores write. Its groups are those of the queue of what
    they read, but complete later (PTX ISA, "cp.async.bulk.wait_group")."""


PROXY = _Fences()
BULK_WRITES = _BulkWrites()
NONE = Coverage(())
_NO_GROUPS = Groups()
# A thread's own accesses so far are there for engines.
FENCE = Coverage((), ((PROXY, Groups(waits=((UNCOMMITTED, NONE),))),))


def commit(queue: Queue) -> Coverage:
    """What is in a queue becomes a group."""
    return Coverage((), ((queue, Groups(commits=1)),))


def wait(queue: Queue, groups: int, order: Coverage = NONE) -> Coverage:
    """Wait until at most the newest `groups` groups of a queue are pending; the wait itself makes
    `order` between the threads whose groups they are and those that wait."""
    return Coverage((), ((queue, Groups(waits=((groups, order),))),))


def _completed(groups: Groups, age: int) -> Coverage | None:
    found = [order for least, order in groups.waits if least <= age]
    return found[-1] if found else None


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
    if first.is_nothing or second.is_nothing:
        return first if second.is_nothing else second
    classes = _chained(first.classes, second.classes)
    queues = dict.fromkeys(queue for queue, _ in (*first.queues, *second.queues))
    return Coverage(classes, tuple((queue, _groups_then(queue, first, second)) for queue in queues))


def _chained(first: Classes, second: Classes) -> Classes:
    if not first or not second:
        return first or second
    joined: dict[int, int] = {}
    known = 0
    for sources, reach in first:
        known |= sources
        after = reach
        for middle, further in second:
            if reach & middle:
                after |= further
        if own := sources & ~reach:
            sources &= reach
            for part, further in _parts(own, second):
                joined[after | further] = joined.get(after | further, 0) | part
        if sources:
            joined[after] = joined.get(after, 0) | sources
    for sources, reach in second:
        if fresh := sources & ~known:
            joined[reach] = joined.get(reach, 0) | fresh
    return tuple((sources, reach) for reach, sources in joined.items())


def _parts(threads: int, classes: Classes) -> Iterator[tuple[int, int]]:
    """Threads that reach only themselves of their kind, by what each goes on to reach."""
    for sources, reach in classes:
        if part := threads & sources:
            yield part, reach
            threads &= ~sources
    if threads:
        yield threads, 0


def _groups_then(queue: Queue, first: Coverage, second: Coverage) -> Groups:
    """The first wait on the way that is enough counts: of `first`, or of `second`, where the group
    is older by the commits of `first`."""
    mine, other = first.groups(queue), second.groups(queue)
    commits = mine.commits + other.commits
    # A fence counts for what is complete before it.
    known = [(age, then(order, second.of_accesses())) for age, order in mine.waits]
    if known and known[0][0] == UNCOMMITTED:
        return Groups(commits, tuple(known))
    later: dict[int, Coverage] = {}
    for age, order in other.waits:
        least = max(UNCOMMITTED, age - mine.commits)
        if not known or least < known[0][0]:
            later[least] = order
    return Groups(commits, (*later.items(), *known))


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
    classes = tuple((sources, reach) for reach, sources in joined.items())
    queues = {queue for queue, _ in first.queues} & {queue for queue, _ in second.queues}
    found = (
        (queue, _groups_of_both(known, second.groups(queue)))
        for queue, known in first.queues
        if queue in queues
    )
    return Coverage(classes, tuple(one for one in found if one[1] != _NO_GROUPS))


def _groups_of_both(first: Groups, second: Groups) -> Groups:
    """The fewest commits; complete is what is complete on either path."""
    found: dict[int, Coverage] = {}
    for age in sorted({age for age, _ in (*first.waits, *second.waits)}):
        mine, other = _completed(first, age), _completed(second, age)
        if mine is not None and other is not None:
            found[age] = both(mine, other)
    return Groups(min(first.commits, second.commits), tuple(found.items()))


def side_by_side(parts: Iterable[Coverage]) -> Coverage:
    """The order that arms make together: their threads are disjoint, and so are their groups."""
    return Coverage(tuple(entry for part in parts for entry in part.classes))


def first_thread(mask: int) -> int:
    """The lowest thread of a set that is not empty."""
    return (mask & -mask).bit_length() - 1


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
        start = first_thread(mask)
        shifted = mask >> start
        length = (~shifted & (shifted + 1)).bit_length() - 1
        ranges.append((start, start + length))
        mask = mask >> (start + length) << (start + length)
    return tuple(ranges)


def two_threads(first: int, second: int) -> tuple[int, int]:
    """Two different threads, one of each set."""
    one = first_thread(first)
    others = second & ~(1 << one)
    if not others:
        one, others = first_thread(first & ~(1 << one)), second
    return one, first_thread(others)
