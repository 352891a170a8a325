"""Makes a placement exact: no barrier too many or wider than it has to be, each with its reasons.

Greedy placement is best for each sequence; across the arms of a choice and the levels of a loop
nest a barrier can still turn out to be covered by others. What is left is then narrowed: where all
pairs of threads that a barrier puts in order lie inside single warps, warps need not wait for one
another.
"""

from __future__ import annotations

from collections.abc import Iterable

from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import Coverage, barrier
from prismc.checker.sync.graph import Graph, Node
from prismc.checker.sync.place import Insertion
from prismc.checker.sync.verify import Verdict, verify
from prismc.hardware.primitives import WARP_THREADS
from prismc.source.record import Record

# Above this many node visits, barriers keep the reasons for which they were put in.
MOST_VISITS = 20_000


class Barrier(Record):
    """A full barrier of each of `units`, sets of threads; `reasons` are the conflicts that nothing
    else settles."""

    insertion: Insertion
    units: tuple[int, ...]
    reasons: tuple[Conflict, ...]

    @property
    def key(self) -> tuple[Node, bool]:
        return self.insertion.node, self.insertion.is_end

    @property
    def size(self) -> int:
        """Threads of a unit."""
        return self.units[0].bit_count()


def refine(
    graph: Graph, conflicts: Conflicts, insertions: Iterable[Insertion], visits: int
) -> tuple[tuple[Barrier, ...], Verdict]:
    """Drop, narrow and explain the barriers of a function with `visits` nodes; judge the rest."""
    barriers = [
        Barrier(insertion=insertion, units=insertion.region.units, reasons=(insertion.conflict,))
        for insertion in insertions
    ]
    if len(barriers) * visits <= MOST_VISITS:
        barriers = _explained(graph, conflicts, barriers)
        barriers = [_narrowed(graph, conflicts, barriers, index) for index in range(len(barriers))]
    return tuple(barriers), verify(graph, conflicts, orders_of(barriers))


def orders_of(barriers: Iterable[Barrier]) -> dict[tuple[Node, bool], Coverage]:
    """The order that each barrier makes, by its place."""
    return {item.key: barrier(item.units) for item in barriers}


def _explained(graph: Graph, conflicts: Conflicts, barriers: list[Barrier]) -> list[Barrier]:
    """The barriers that are needed, each with the conflicts that it alone settles."""
    needed = list(barriers)
    while True:
        reasons = [_missing_without(graph, conflicts, needed, item) for item in needed]
        if all(reasons):
            break
        del needed[next(i for i, found in enumerate(reasons) if not found)]
    return [
        Barrier(insertion=item.insertion, units=item.units, reasons=found)
        for item, found in zip(needed, reasons, strict=True)
    ]


def _missing_without(
    graph: Graph, conflicts: Conflicts, barriers: list[Barrier], item: Barrier
) -> tuple[Conflict, ...]:
    rest = orders_of(other for other in barriers if other is not item)
    return verify(graph, conflicts, rest).conflicts


def _narrowed(graph: Graph, conflicts: Conflicts, barriers: list[Barrier], index: int) -> Barrier:
    """The barrier as one of each warp, if that is enough."""
    item = barriers[index]
    if item.size <= WARP_THREADS or any(unit.bit_count() % WARP_THREADS for unit in item.units):
        return item
    if not all(_stays_in_warps(conflicts, item, reason) for reason in item.reasons):
        return item
    warps = tuple(warp for unit in item.units for warp in _warps(unit))
    narrow = Barrier(insertion=item.insertion, units=warps, reasons=item.reasons)
    trial = [*barriers[:index], narrow, *barriers[index + 1 :]]
    is_enough = not verify(graph, conflicts, orders_of(trial)).conflicts
    if is_enough:
        barriers[index] = narrow
    return barriers[index]


def _stays_in_warps(conflicts: Conflicts, item: Barrier, reason: Conflict) -> bool:
    """Whether all threads that meet for one reason are in one warp (a necessary condition)."""
    meeting = conflicts.meeting(reason.earlier, reason.later, reason.crossed, item.units)
    return all(
        (first | second).bit_length() - 1 < _warp_end(first | second)
        for first, second in meeting.classes
    )


def _warp_end(threads: int) -> int:
    lowest = (threads & -threads).bit_length() - 1
    return (lowest // WARP_THREADS + 1) * WARP_THREADS


def _warps(unit: int) -> Iterable[int]:
    warp = (1 << WARP_THREADS) - 1
    start = 0
    while unit >> start:
        if unit & warp << start:
            yield unit & warp << start
        start += WARP_THREADS
