"""Makes a placement exact: no barrier too many or wider than it has to be, each with its reasons.

Greedy placement is best for each sequence; across the arms of a choice and the levels of a loop
nest a barrier can still turn out to be covered by others. What is left is then narrowed: where all
pairs of threads that a barrier puts in order lie inside single warps, or inside the units of a
partition, these need not wait for one another.
"""

from __future__ import annotations

from collections.abc import Iterable

from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import Coverage, barrier, first_thread
from prismc.checker.sync.graph import Graph, Node
from prismc.checker.sync.straight import Insertion
from prismc.checker.sync.verify import Verdict, verify
from prismc.hardware.primitives import WARP_THREADS
from prismc.source.record import Record

# Above this many node visits, barriers keep the reasons for which they were put in.
MOST_VISITS = 20_000
# Units above a warp take hardware barriers, of which a block has 15.
MOST_UNITS = 8


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
    """The barrier as one of each warp, of each block of a cluster, or of each unit of a partition,
    if that is enough."""
    item = barriers[index]
    for size in _narrower(item, graph):
        is_block = size == graph.block  # what blocks do for one another others may settle
        if is_block or all(_stays_in(size, conflicts, item, each) for each in item.reasons):
            units = tuple(part for unit in item.units for part in _parts(unit, size))
            narrow = Barrier(insertion=item.insertion, units=units, reasons=item.reasons)
            trial = [*barriers[:index], narrow, *barriers[index + 1 :]]
            if not verify(graph, conflicts, orders_of(trial)).conflicts:
                barriers[index] = narrow
                break
    return barriers[index]


def _narrower(item: Barrier, graph: Graph) -> list[int]:
    """The sizes of units that could wait apart, ascending: warps, blocks, and what the memory that
    is touched is partitioned to (sync by unit needs a barrier of its own for each)."""
    block = graph.block
    uses = (
        use
        for reason in item.reasons
        for access in (reason.earlier, reason.later)
        for use in access.views
    )
    sizes = {WARP_THREADS, block, *(use.size for use in uses)}
    total = sum(unit.bit_count() for unit in item.units)
    return sorted(
        size
        for size in sizes
        if (
            0 < size < item.size
            and size % WARP_THREADS == 0
            and (size in (WARP_THREADS, block) or total <= MOST_UNITS * size)
            and all(
                first_thread(unit) % size == 0 == unit.bit_count() % size for unit in item.units
            )
        )
        or (size == WARP_THREADS < item.size and _begins_a_warp(item.units, graph))
    )


def _begins_a_warp(units: tuple[int, ...], graph: Graph) -> bool:
    """Whether one unit of a known block's threads is a run from the first of a warp on: the lanes
    of all its warps are known then, but the last one may have fewer."""
    unit, start = units[0], first_thread(units[0])
    is_run = unit >> start & (unit >> start) + 1 == 0
    is_known = len(units) == 1 and graph.everyone.bit_count() == graph.block
    return is_known and is_run and start % WARP_THREADS == 0


def _stays_in(size: int, conflicts: Conflicts, item: Barrier, reason: Conflict) -> bool:
    """Whether all threads that meet for one reason are in one unit (a necessary condition)."""
    meeting = conflicts.meeting(reason.earlier, reason.later, reason.crossed, item.units)
    return all(
        ((first | second).bit_length() - 1) // size == first_thread(first | second) // size
        for first, second in meeting.classes
    )


def _parts(unit: int, size: int) -> Iterable[int]:
    """The aligned units of `size` threads in a unit."""
    part = (1 << size) - 1
    for start in range(first_thread(unit), unit.bit_length(), size):
        yield unit & part << start
