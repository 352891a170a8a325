"""What nodes mean to one another: choices, nodes side by side, and loops, by their summaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prismc.checker.sync.coverage import NONE, Coverage, both, side_by_side, then
from prismc.checker.sync.graph import (
    ENDED,
    PREVIOUS,
    Access,
    Arms,
    Crossing,
    Crossings,
    Entry,
    Exit,
    Flow,
    Pending,
    Sequence,
    Summary,
)
from prismc.checker.sync.meetings import FAR
from prismc.hardware.asynchronous import Completion

NOTHING = Summary(entries=(), exits=((Exit.NORMAL, Flow(through=NONE, pending=())),))

# So many iterations are looked at one by one, at most.
MOST_APART = 8

# One access that is behind, by its number and the loops crossed since.
Key = tuple[int, Crossings]


def crossed(pending: Pending, loop: int, how: Crossing) -> Pending:
    """The access after the path has left an iteration of `loop`, if the access lies in it."""
    if loop not in pending.access.loops:
        return pending
    rest = tuple(item for item in pending.crossed if item[0] != loop)
    crossings = tuple(sorted((*rest, (loop, how)), key=lambda item: item[0]))
    return Pending(access=pending.access, after=pending.after, crossed=crossings)


def touch(access: Access) -> Summary:
    """One access as a node."""
    flow = Flow(through=NONE, pending=(Pending(access=access, after=NONE),))
    return Summary(entries=(Entry(access=access, before=NONE),), exits=((Exit.NORMAL, flow),))


def leave(kind: Exit) -> Summary:
    """A jump as a node."""
    return Summary(entries=(), exits=((kind, Flow(through=NONE, pending=())),))


def through_only(summary: Summary) -> Summary:
    """A node without its accesses: the order that it makes."""
    exits = tuple((kind, Flow(flow.through, ())) for kind, flow in summary.exits)
    return Summary((), exits)


def is_alone(nodes: Sequence) -> bool:
    """Whether a sequence is one node whose summary is that of the sequence. (That of arms may hold
    accesses that everyone is ordered after.)"""
    return len(nodes) == 1 and not isinstance(nodes[0], Arms)


def either_of(summaries: Iterable[Summary]) -> Summary:
    """One of several nodes: what any of them does, the order that all of them make."""
    entries: dict[int, Entry] = {}
    flows: dict[Exit, list[Flow]] = {}
    for summary in summaries:
        _gather(entries, summary)
        for kind, flow in summary.exits:
            flows.setdefault(kind, []).append(flow)
    return Summary(
        entries=tuple(entries.values()),
        exits=tuple((kind, either(found)) for kind, found in flows.items()),
    )


def side_by_side_of(summaries: Iterable[Summary]) -> Summary:
    """Arms: nodes that disjoint sets of threads run at the same time. What one arm waits for is no
    copy of other threads."""
    entries: dict[int, Entry] = {}
    orders: list[Coverage] = []
    pending: list[Pending] = []
    for summary in summaries:
        own = [Entry(entry.access, entry.before.without_groups()) for entry in summary.entries]
        _gather(entries, Summary(entries=tuple(own), exits=()))
        for _, flow in summary.exits:
            orders.append(flow.through)
            pending += flow.pending
    flow = Flow(through=side_by_side(orders), pending=tuple(pending))
    return Summary(entries=tuple(entries.values()), exits=((Exit.NORMAL, flow),))


def repeated(iteration: Summary, loop: int) -> tuple[Pending, ...]:
    """What is behind when a new iteration starts: of the one before, and of those before that."""
    ends = [flow for kind, flow in iteration.exits if kind in (Exit.NORMAL, Exit.CONTINUE)]
    if not ends:
        return ()
    whole = either(ends)
    last = [crossed(item, loop, PREVIOUS) for item in whole.pending]
    return (*last, *(each for item in whole.pending for each in _older(item, whole.through, loop)))


def _older(item: Pending, through: Coverage, loop: int) -> Iterator[Pending]:
    """What was behind before the last iteration. Copies whose elements tell iterations apart have
    an age for each: a ring of slots waits for the oldest."""
    apart = _told_apart(item.access, loop)
    for distance in range(2, apart + 1):
        item = ordered(item, through)
        yield crossed(item, loop, Crossing(distance, distance))
    yield crossed(ordered(item, through), loop, Crossing(apart + 1, FAR))


def _told_apart(access: Access, loop: int) -> int:
    """How many iterations of a loop are looked at one by one."""
    footprint = access.footprint
    if not isinstance(access.queue, Completion) or loop not in footprint.loops:
        return 1
    at = footprint.loops.index(loop)
    return min(MOST_APART, 1 + max(point.counters[at] for point in footprint.points))


def loop_of(
    test: Summary,
    iteration: Summary,
    loop: int,
    *,
    runs: bool,
    ends: bool,
) -> Summary:
    """All iterations of a loop as one node. `runs`: at least one; `ends`: its test can fail."""
    leaving: list[Flow] = []
    returning: list[Flow] = []
    for kind, flow in iteration.exits:
        if kind is Exit.RETURN:
            returning.append(flow)
        elif kind is Exit.BREAK:
            leaving.append(flow)
        elif ends:
            leaving.append(_followed(flow, test))
    if ends and not runs:
        leaving += [flow for kind, flow in test.exits if kind is Exit.NORMAL]
    exits = [(Exit.NORMAL, leaving), (Exit.RETURN, returning)]
    return Summary(
        entries=iteration.entries,
        exits=tuple((kind, _ended(either(flows), loop)) for kind, flows in exits if flows),
    )


def _followed(flow: Flow, test: Summary) -> Flow:
    """A flow that goes through the loop's test once more."""
    after = dict(test.exits).get(Exit.NORMAL)
    if after is None or not (after.pending or not after.through.is_nothing):
        return flow
    return Flow(
        through=then(flow.through, after.through),
        pending=(*(ordered(item, after.through) for item in flow.pending), *after.pending),
    )


def _ended(flow: Flow, loop: int) -> Flow:
    pending = tuple(crossed(item, loop, ENDED) for item in flow.pending)
    return Flow(through=flow.through, pending=pending)


def _gather(entries: dict[int, Entry], summary: Summary) -> None:
    for entry in summary.entries:
        known = entries.get(entry.access.number)
        if known is not None:
            entry = Entry(access=entry.access, before=both(known.before, entry.before))
        entries[entry.access.number] = entry


def either(flows: list[Flow]) -> Flow:
    """One of several flows: what any of them leaves behind, the order that all of them make."""
    if len(flows) == 1:
        return flows[0]
    through = flows[0].through
    for flow in flows[1:]:
        through = both(through, flow.through)
    found: dict[Key, Pending] = {}
    for flow in flows:
        for item in flow.pending:
            key = (item.access.number, item.crossed)
            known = found.get(key)
            found[key] = item if known is None else merged(known, item)
    return Flow(through=through, pending=tuple(found.values()))


def merged(first: Pending, second: Pending) -> Pending:
    """One access that is behind on two ways: with the order that both make."""
    after = both(first.after, second.after)
    return Pending(access=first.access, after=after, crossed=first.crossed)


def ordered(pending: Pending, order: Coverage) -> Pending:
    """An access that is behind, once `order` is made."""
    if not pending.access.is_async:
        order = order.of_accesses()
    if order.is_nothing:
        return pending
    after = then(pending.after, order)
    if after is pending.after:
        return pending
    return Pending(access=pending.access, after=after, crossed=pending.crossed)
