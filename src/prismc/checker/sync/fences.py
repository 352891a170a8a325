"""Where threads fence their ordinary accesses against asynchronous engines.

Bulk copies and products of warpgroups reach memory by a proxy of their own: a barrier alone
does not put a thread's loads and stores before theirs. Each thread fences after its accesses and
before the barrier that hands the memory over (PTX ISA, "Async proxy", "membar / fence"). What the
engines have done is there for threads once it is waited for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import FENCE, NONE, PROXY, Coverage, then
from prismc.checker.sync.graph import (
    Access,
    Commit,
    Entry,
    Flow,
    Graph,
    Node,
    Pending,
    Region,
    Step,
    Summary,
    position_at,
)
from prismc.checker.sync.loads import regions_of
from prismc.checker.sync.plan import Position
from prismc.checker.sync.refine import Barrier, orders_of
from prismc.checker.sync.split import Arrive, Await
from prismc.checker.sync.units import accesses_of
from prismc.checker.sync.verify import verify
from prismc.source.record import Record, replace

Place = tuple[Node, bool]


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


class UnfencedPlan(Exception):
    """No fence suffices in any of the places for one: a defect of the plan."""


def plan_fences(
    graph: Graph, conflicts: Conflicts, barriers: Iterable[Barrier], *, is_ordered: bool
) -> tuple[Fence, ...]:
    """The fences of one function; none where no engine of the proxy touches its memory. Raises
    UnfencedPlan if they do not suffice where all else `is_ordered`."""
    if not any(access.is_engine for access in graph.accesses):
        return ()
    proxies = Proxies(conflicts)
    barriers = tuple(barriers)
    orders = orders_of(barriers)
    chosen: dict[Place, Region] = {}
    left = len(verify(graph, proxies, orders).conflicts)
    places = dict(_places(graph, barriers)) if left else {}
    for place, region in places.items():
        if not left:
            break
        found = len(verify(graph, proxies, _with(orders, (*chosen, place))).conflicts)
        if found < left:
            chosen[place], left = region, found

    if left:  # a fence on each way to an engine, of which one alone settles nothing
        found = len(verify(graph, proxies, _with(orders, places)).conflicts)
        if found < left:
            chosen, left = dict(reversed(places.items())), found
    if left and is_ordered:
        raise UnfencedPlan(
            f"{graph.symbol}: {left} accesses of engines without a fence before them"
        )

    def missing_without(place: Place) -> tuple[Conflict, ...]:
        rest = [other for other in chosen if other != place]
        return verify(graph, proxies, _with(orders, rest)).conflicts

    for place in tuple(chosen):
        if len(missing_without(place)) == left:
            del chosen[place]
    return tuple(
        Fence(node=place[0], is_end=place[1], region=region, reasons=missing_without(place))
        for place, region in chosen.items()
    )


def with_unfenced(
    graph: Graph,
    conflicts: Conflicts,
    barriers: Iterable[Barrier],
    fences: Iterable[Fence],
    summary: Summary,
) -> Summary:
    """A function's summary, as its callers' engines see it too: with ordinary accesses that are
    settled, but not fenced, with engines that come behind barriers, and with its fences."""
    places = [(fence.node, fence.is_end) for fence in fences]
    orders = _with(orders_of(barriers), places)
    seen = verify(graph, Proxies(conflicts), orders).summary
    entries = {(entry.access.number, entry.at): entry for entry in summary.entries}
    for entry in seen.entries:
        key = entry.access.number, entry.at
        if entry.access.is_engine or key in entries:
            entries[key] = entry
    flows = dict(seen.exits)
    return Summary(
        entries=tuple(entries.values()),
        exits=tuple((kind, _joined(flow, flows.get(kind, flow))) for kind, flow in summary.exits),
    )


def _joined(flow: Flow, seen: Flow) -> Flow:
    """What is pending by either judge, with the fences made after it."""
    pending = {
        (item.access.number, item.crossed): item
        for item in (*flow.pending, *seen.pending)
        if not item.access.for_engines
    }
    return Flow(through=seen.through, pending=tuple(pending.values()))


def _with(orders: dict[Place, Coverage], places: Iterable[Place]) -> dict[Place, Coverage]:
    """The orders with fences before them."""
    fenced = {place: then(FENCE, orders[place]) if place in orders else FENCE for place in places}
    return orders | fenced


def _places(graph: Graph, barriers: Iterable[Barrier]) -> Iterator[tuple[Place, Region]]:
    """Where a fence may stand: at barriers and arrivals, else in front of asynchronous scopes and
    of calls with barriers in them."""
    for barrier in barriers:
        yield barrier.key, barrier.insertion.region
    inner = list(regions_of(graph.top))
    for region, node in inner:
        if isinstance(node, Arrive) or (isinstance(node, Await) and node.barrier.meets):
            yield (node, False), region
    for region, node in inner:
        if isinstance(node, Region) and _is_scope(node):
            yield (node, False), region
    for region, node in inner:
        if isinstance(node, Step) and any(_has_barrier(event) for event in node.events):
            yield (node, False), region


def _is_scope(region: Region) -> bool:
    """Whether asynchronous operations are issued in it; the commit may be a later scope's."""
    has_commit = any(isinstance(node, Commit) for node in region.body)
    return has_commit or any(access.is_engine for access in accesses_of(region.body))


def _has_barrier(event: Access | Summary) -> bool:
    return isinstance(event, Summary) and any(
        order.classes
        for order in (
            *(flow.through for _, flow in event.exits),
            *(entry.before for entry in event.entries),
        )
    )


class Proxies(Conflicts):
    """Judges pairs of which an ordinary access is followed by an engine's."""

    def __init__(self, known: Conflicts) -> None:
        super().__init__(
            known._everyone,
            known._accesses,
            block=known.block,
            has_others=known.has_others,
            has_copies=known.has_copies,
            like=known,
        )
        self._uncovered, self._settled = known._uncovered, known._settled
        self.steps = {}
        self._copies: dict[Access, Access] = {}

    def is_settled(self, pending: Pending) -> bool:
        access = pending.access
        is_of_nobody = not access.footprint.threads
        if is_of_nobody or access.agent.is_async_proxy or access.roots[0].is_private:
            return True
        fenced = self._fenced(pending.access, pending.after)
        return fenced is not None and super().is_settled(self._made(pending, fenced))

    def is_complete(self, order: Coverage) -> bool:
        fenced = order.completed(PROXY)
        return fenced is not None and super().is_complete(fenced)

    def settles_all(self, order: Coverage) -> bool:
        return False

    def between(self, pending: Pending, entry: Entry, units: tuple[int, ...]) -> Conflict | None:
        """A pair without a fence between, or without an order behind the fence."""
        earlier, later = pending.access, entry.access
        if not later.is_engine or not _may_share(earlier, later):
            return None
        fenced = self._fenced(earlier, then(pending.after, entry.before))
        if fenced is not None:
            return super().between(self._made(pending, fenced), Entry(later, NONE, entry.at), units)
        crossed = entry.crossed_from(pending)
        if self.are_elsewhere(earlier, later, crossed):
            return None
        return Conflict(
            earlier=earlier,
            later=later,
            earlier_threads=earlier.footprint.threads,
            later_threads=later.footprint.threads,
            crossed=crossed,
            is_exact=False,
        )

    def _fenced(self, access: Access, after: Coverage) -> Coverage | None:
        """The order since a fence behind an access, of copies behind their completion; None
        without one."""
        order = after if access.queue is None else after.completed(access.queue)
        return None if order is None else order.completed(PROXY)

    def _made(self, pending: Pending, fenced: Coverage) -> Pending:
        """The access as if it were complete and fenced, with the order since."""
        access = pending.access
        if access.queue is not None:
            access = self._copies.setdefault(access, replace(access, queue=None))
        return pending._replace(access=access, after=fenced)


def _may_share(first: Access, second: Access) -> bool:
    return any(mine.overlaps(other) for mine in first.roots for other in second.roots)
