"""Where threads fence their ordinary accesses against asynchronous engines.

Bulk copies and products of warpgroups reach memory by a proxy of their own: a barrier alone
does not put a thread's loads and stores before theirs. Each thread fences after its accesses and
before the barrier that hands the memory over (PTX ISA, "Async proxy", "membar / fence"). What the
engines have done is there for threads once it is waited for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import NONE, PROXY, UNCOMMITTED, Coverage, then, wait
from prismc.checker.sync.graph import (
    Access,
    Commit,
    Entry,
    Graph,
    Node,
    Pending,
    Region,
    position_at,
)
from prismc.checker.sync.loads import regions_of
from prismc.checker.sync.plan import Position
from prismc.checker.sync.refine import Barrier, orders_of
from prismc.checker.sync.split import Arrive, Await
from prismc.checker.sync.verify import verify
from prismc.source.record import Record, replace

Place = tuple[Node, bool]
FENCE = wait(PROXY, UNCOMMITTED)


class Fence(Record):
    """A fence of every thread of `region`, before `node` (or, `is_end`, after the last statement of
    the loop `node`) and the barrier there; `reasons` are what nothing else puts in order."""

    node: Node
    is_end: bool
    region: Region
    reasons: tuple[Conflict, ...]

    @property
    def is_full(self) -> bool:
        """Whether other memory than the block's own shared memory is concerned."""
        return any(root.parameter >= 0 for one in self.reasons for root in one.later.roots)

    @property
    def position(self) -> Position:
        """Where it stands."""
        return position_at(self.node, is_end=self.is_end)


def plan_fences(
    graph: Graph, conflicts: Conflicts, barriers: Iterable[Barrier]
) -> tuple[Fence, ...]:
    """The fences of one function; none where no engine of the proxy touches its memory."""
    if not any(_is_engine(access) for access in graph.accesses):
        return ()
    proxies = Proxies(conflicts)
    barriers = tuple(barriers)
    orders = orders_of(barriers)
    chosen: dict[Place, Region] = {}
    left = len(verify(graph, proxies, orders).conflicts)
    for place, region in _places(graph, barriers):
        if not left:
            break
        found = len(verify(graph, proxies, _with(orders, (*chosen, place))).conflicts)
        if found < left:
            chosen[place], left = region, found

    def missing_without(place: Place) -> tuple[Conflict, ...]:
        rest = [other for other in chosen if other is not place]
        return verify(graph, proxies, _with(orders, rest)).conflicts

    for place in tuple(chosen):
        if len(missing_without(place)) == left:
            del chosen[place]
    return tuple(
        Fence(node=place[0], is_end=place[1], region=region, reasons=missing_without(place))
        for place, region in chosen.items()
    )


def _with(orders: dict[Place, Coverage], places: Iterable[Place]) -> dict[Place, Coverage]:
    """The orders with fences before them."""
    fenced = {place: then(FENCE, orders[place]) if place in orders else FENCE for place in places}
    return orders | fenced


def _is_engine(access: Access) -> bool:
    return access.agent.is_async_proxy and any(not root.is_private for root in access.roots)


def _places(graph: Graph, barriers: Iterable[Barrier]) -> Iterator[tuple[Place, Region]]:
    """Where a fence may stand: at barriers and arrivals, else in front of asynchronous scopes."""
    for barrier in barriers:
        yield barrier.key, barrier.insertion.region
    inner = list(regions_of(graph.top))
    for region, node in inner:
        if isinstance(node, Arrive) or (isinstance(node, Await) and node.barrier.meets):
            yield (node, False), region
    for region, node in inner:
        if isinstance(node, Region) and any(isinstance(last, Commit) for last in node.body):
            yield (node, False), region


class Proxies(Conflicts):
    """Judges pairs of which an ordinary access is followed by an engine's."""

    def __init__(self, known: Conflicts) -> None:
        vars(self).update(vars(known))
        self.steps = {}

    def is_settled(self, pending: Pending) -> bool:
        if pending.access.agent.is_async_proxy or pending.access.roots[0].is_private:
            return True
        order = pending.after.completed(PROXY)
        return order is not None and super().is_settled(pending._replace(after=order))

    def is_complete(self, order: Coverage) -> bool:
        fenced = order.completed(PROXY)
        return fenced is not None and super().is_complete(fenced)

    def settles_all(self, order: Coverage) -> bool:
        return False

    def between(self, pending: Pending, entry: Entry, units: tuple[int, ...]) -> Conflict | None:
        """A pair without a fence between, or without an order behind the fence."""
        earlier, later = pending.access, entry.access
        if not _is_engine(later) or not _may_share(earlier, later):
            return None
        fenced = then(pending.after, entry.before).completed(PROXY)
        if fenced is not None:
            return super().between(
                pending._replace(access=replace(earlier, queue=None), after=fenced),
                Entry(later, NONE),
                units,
            )
        return Conflict(
            earlier=earlier,
            later=later,
            earlier_threads=earlier.footprint.threads,
            later_threads=later.footprint.threads,
            crossed=pending.crossed,
            is_exact=False,
        )


def _may_share(first: Access, second: Access) -> bool:
    return any(mine.overlaps(other) for mine in first.roots for other in second.roots)
