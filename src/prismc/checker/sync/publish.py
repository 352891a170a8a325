"""Which barriers show a kernel's threads the mbarriers that one of them has initialised.

Barriers of all that stand there anyhow do, if one comes before each use on every path. Threads that
have initialised the mbarriers themselves need none. Where a use has no barrier before it, one of
their own stands behind the initialisation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from prismc.checker.sync.choose import Planned
from prismc.checker.sync.coverage import first_thread, ranges_of
from prismc.checker.sync.graph import Graph, groups_of
from prismc.checker.sync.loads import regions_of
from prismc.checker.sync.mbarriers import publication, shown_for, split_barriers
from prismc.checker.sync.plan import MBARRIER_KINDS, Edge, Position, SyncKind, SyncOperation, Where
from prismc.checker.sync.split import Await
from prismc.checker.types import typed
from prismc.checker.types.walk import bodies_of, calls_of
from prismc.hardware.groups import BLOCK
from prismc.source.record import replace

_OF_CLUSTERS = (SyncKind.CLUSTER_BARRIER, SyncKind.CLUSTER_WAIT)
_BARRIERS = (SyncKind.BLOCK_BARRIER, *_OF_CLUSTERS)
# Their bodies run some number of times, or for some threads or blocks.
_MAYBE = (typed.If, typed.Split, typed.While, typed.For, typed.Finish)

Operations = tuple[SyncOperation, ...]


def with_shown(
    operations: Operations,
    planned: Planned,
    body: typed.Body,
    users: Mapping[str, Operations],
    numbers: Collection[int],
    *,
    is_wide: bool,
) -> Operations:
    """The operations of a kernel behind those that initialise the mbarriers with `numbers`, with
    one more in front if those that stand there anyhow do not show them. `users` are the functions
    that use mbarriers, with their operations; where these are `is_wide` other blocks do."""
    own = 0 if is_wide else _initialisers(planned.graph)
    uses = _uses(planned, operations, own)
    calling = _users(planned, body, users, own)
    kinds = _OF_CLUSTERS if is_wide else _BARRIERS
    at = _steps(planned, operations, kinds, uses)
    way = _Way(at, calling)
    way.along(body.statements)
    called = [one for each in users.values() for one in each]

    def reasons(first: int) -> tuple[Edge, ...]:
        behind = [_by(operations[at], uses[at], planned.graph) for at in uses if at >= first]
        return shown_for(body, numbers, (*behind, *called))

    if way.is_bare:
        return (publication(body, reasons(0), is_wide=is_wide), *operations)
    return tuple(
        replace(one, edges=(*one.edges, *reasons(index))) if index in way.found else one
        for index, one in enumerate(operations)
    )


def _uses(planned: Planned, operations: Operations, own: int) -> dict[int, int]:
    """The indices of the operations at mbarriers that others take part in than the threads `own`,
    which have initialised them; with all threads that do."""
    code: dict[Position, int] = {}
    for region, node in regions_of(planned.graph.top):
        code[node.before] = code.get(node.before, 0) | region.threads
    everyone = planned.graph.everyone
    found = {
        index: _named(one) or code.get(one.position, everyone)
        for index, one in enumerate(operations)
        if one.kind in MBARRIER_KINDS
    }
    return {index: threads for index, threads in found.items() if threads & ~own}


def _by(operation: SyncOperation, threads: int, graph: Graph) -> SyncOperation:
    """An operation with its threads named."""
    ranges = () if threads == graph.everyone else ranges_of(threads)
    return replace(operation, participants=replace(operation.participants, ranges=ranges))


def _initialisers(graph: Graph) -> int:
    """The first thread of each block."""
    blocks = groups_of((graph.everyone,), BLOCK, graph.block) if graph.block else ()
    return sum(1 << first_thread(block) for block in blocks)


def _named(operation: SyncOperation) -> int:
    """The threads that an operation names, 0 where it names none: all of its code."""
    return sum((1 << end) - (1 << start) for start, end in operation.participants.ranges)


def _steps(
    planned: Planned,
    operations: Operations,
    kinds: Collection[SyncKind],
    uses: Collection[int],
) -> dict[Position, list[tuple[int, bool]]]:
    """The indices of the uses, and of the operations that show mbarriers, by their places; whether
    it is a use."""
    places = set(_of_everyone(planned))
    at: dict[Position, list[tuple[int, bool]]] = {}
    for index, one in enumerate(operations):
        if index in uses or (one.kind in kinds and one.position in places):
            at.setdefault(one.position, []).append((index, index in uses))
    return at


def _users(planned: Planned, body: typed.Body, users: Collection[str], own: int) -> set[int]:
    """The ids of the statements that call such functions, and of the asynchronous scopes whose
    loads others issue than the threads `own`."""
    barriers = (*split_barriers(planned.graph), *planned.loads.values())
    issued = (loads for one in barriers if one.arrivers & ~own for loads in one.loads)
    return {scope for loads in issued for scope in loads.scopes} | {
        each.id
        for each in body.all_statements
        if any(call.callee.symbol in users for call in calls_of((each,)))
    }


def _of_everyone(planned: Planned) -> Iterator[Position]:
    """Where all threads, or those of each block, wait for one another."""
    everyone = planned.graph.everyone.bit_count()
    for barrier in planned.barriers:
        threads = sum(unit.bit_count() for unit in barrier.units)
        if threads == everyone and barrier.size >= planned.block_threads:
            yield barrier.insertion.position
    for _, node in regions_of(planned.graph.top):
        if isinstance(node, Await) and node.barrier.is_cluster:
            yield node.before


class _Way:
    """Goes through the statements of a kernel. `found` are the operations, of those `at` places,
    that show the mbarriers before their uses; `is_bare` tells that a path comes to a use before
    any."""

    def __init__(self, at: Mapping[Position, list[tuple[int, bool]]], users: Collection[int]):
        self.found: set[int] = set()
        self.is_bare = False
        self._at = at
        self._users = users

    def along(self, statements: Iterable[typed.Statement], by: int | None = None) -> int | None:
        """The operation by which the mbarriers have been shown behind statements, None if there is
        none; `by` in front of them."""
        for statement in statements:
            by = self._past(Position(where=Where.BEFORE, anchor=statement.id), by)
            if statement.id in self._users:
                self._use(by)
            behind = by
            for body in bodies_of(statement):
                end = self.along(body, by)
                behind = by if isinstance(statement, _MAYBE) else end
            by = self._past(Position(where=Where.AFTER, anchor=statement.id), behind)
        return by

    def _past(self, place: Position, by: int | None) -> int | None:
        for index, is_use in self._at.get(place, ()):
            if is_use:
                self._use(by)
            elif by is None:
                by = index
        return by

    def _use(self, by: int | None) -> None:
        if by is None:
            self.is_bare = True
        else:
            self.found.add(by)
