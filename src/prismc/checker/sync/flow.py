"""What nodes mean to one another: choices, nodes side by side, and loops, by their summaries."""

from __future__ import annotations

from collections import Counter
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
    Loop,
    Pending,
    Sequence,
    Summary,
)
from prismc.checker.sync.meetings import FAR
from prismc.hardware.asynchronous import Completion

NOTHING = Summary(entries=(), exits=((Exit.NORMAL, Flow(through=NONE, pending=())),))

# So many iterations are looked at one by one, at most.
MOST_APART = 8
# So many ages an access has behind the loops around it, at most.
MOST_AGES = 16

# One access that is behind, by its number and the loops crossed since; one that is ahead, by its
# number and the iteration.
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
    entries: dict[Key, Entry] = {}
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
    entries: dict[Key, Entry] = {}
    orders: list[Coverage] = []
    pending: list[Pending] = []
    for summary in summaries:
        own = [entry._replace(before=entry.before.without_groups()) for entry in summary.entries]
        _gather(entries, Summary(entries=tuple(own), exits=()))
        for _, flow in summary.exits:
            orders.append(flow.through)
            pending += flow.pending
    flow = Flow(through=side_by_side(orders), pending=tuple(pending))
    return Summary(entries=tuple(entries.values()), exits=((Exit.NORMAL, flow),))


def repeated(iteration: Summary, loop: int) -> tuple[Pending, ...]:
    """What is behind when a new iteration starts: of the one before, and of those before that."""
    whole = _end_of(iteration)
    if whole is None:
        return ()
    last = [crossed(item, loop, PREVIOUS) for item in whole.pending]
    return (*last, *(each for item in whole.pending for each in _older(item, whole.through, loop)))


def _end_of(iteration: Summary) -> Flow | None:
    """What has happened when an iteration ends and another may follow; None if none does."""
    ends = [flow for kind, flow in iteration.exits if kind in (Exit.NORMAL, Exit.CONTINUE)]
    return either(ends) if ends else None


def _older(item: Pending, through: Coverage, loop: int) -> Iterator[Pending]:
    """What was behind before the last iteration. Copies whose elements tell iterations apart have
    an age for each: a ring of slots waits for the oldest."""
    apart = _told_apart(item.access, loop)
    for distance in range(2, apart + 1):
        item = ordered(item, through)
        yield crossed(item, loop, Crossing(distance, distance))
    yield crossed(ordered(item, through), loop, Crossing(apart + 1, FAR))


def _told_apart(access: Access, loop: int) -> int:
    """How many iterations before are looked at one by one."""
    is_copy = isinstance(access.queue, Completion)
    return max(1, _iterations(access, loop)) if is_copy else 1


def _iterations(access: Access, loop: int) -> int:
    """How many iterations of a loop an access' elements tell apart; not all of many."""
    footprint = access.footprint
    if loop not in footprint.loops:
        return 0
    at = footprint.loops.index(loop)
    return min(MOST_APART, 1 + max(point.counters[at] for point in footprint.points))


def loop_of(test: Summary, iteration: Summary, node: Loop) -> Summary:
    """All iterations of a loop as one node."""
    leaving: list[Flow] = []
    returning: list[Flow] = []
    for kind, flow in iteration.exits:
        if kind is Exit.RETURN:
            returning.append(flow)
        elif kind is Exit.BREAK:
            leaving.append(flow)
        elif node.ends:
            leaving.append(_followed(flow, test))
    if node.ends and not node.runs:
        leaving += [flow for kind, flow in test.exits if kind is Exit.NORMAL]
    through = _commits_of(iteration) if node.is_told_apart else NONE
    is_counted = node.trips <= MOST_APART and Exit.BREAK not in dict(iteration.exits)
    trips = node.trips if is_counted and _is_nothing(test) else 0
    exits: list[tuple[Exit, Flow]] = []
    if leaving:
        exits.append((Exit.NORMAL, _ended(either(leaving), node.loop, through, trips)))
    if returning:
        exits.append((Exit.RETURN, _ended(either(returning), node.loop, through, 0)))
    entries = tuple(_entered(iteration, node.loop, through))
    return Summary(entries=entries, exits=tuple(exits))


def _is_nothing(test: Summary) -> bool:
    return not test.entries and all(
        not flow.pending and flow.through.is_nothing for _, flow in test.exits
    )


def _commits_of(iteration: Summary) -> Coverage:
    """What an iteration does that ends groups of copies and is followed by another, so that copies
    have the more groups behind them the more iterations follow; NONE for others."""
    end = _end_of(iteration)
    through = NONE if end is None else end.through
    has_commits = any(
        groups.commits and isinstance(queue, Completion) for queue, groups in through.queues
    )
    return through if has_commits else NONE


def _entered(iteration: Summary, loop: int, through: Coverage) -> Iterator[Entry]:
    """What the iterations of a loop come to. Accesses whose elements tell the first ones apart have
    what those before have made behind them."""
    for entry in iteration.entries:
        apart = 0 if through.is_nothing or entry.at else _iterations(entry.access, loop)
        before = entry.before
        made = NONE
        for number in range(apart):
            if entry.access.footprint.is_in(loop, number):
                yield Entry(entry.access, before, ((loop, ENDED._replace(later=number)),))
            made = then(made, through)
            before = then(made, entry.before)
        yield entry._replace(before=before)


def _followed(flow: Flow, test: Summary) -> Flow:
    """A flow that goes through the loop's test once more."""
    after = dict(test.exits).get(Exit.NORMAL)
    if after is None or not (after.pending or not after.through.is_nothing):
        return flow
    return Flow(
        through=then(flow.through, after.through),
        pending=(*(ordered(item, after.through) for item in flow.pending), *after.pending),
    )


def _ended(flow: Flow, loop: int, through: Coverage, trips: int) -> Flow:
    """What is behind a loop that has ended, after `trips` iterations if that is known (else 0).
    Copies whose elements tell iterations apart then have an age for each."""
    pending: list[Pending] = []
    ages = Counter(item.access.number for item in flow.pending)
    for item in flow.pending:
        access = item.access
        is_copy = isinstance(access.queue, Completion) and loop in access.footprint.loops
        is_apart = is_copy and 0 < trips * ages[access.number] <= MOST_AGES
        if not is_apart or through.is_nothing:
            pending.append(crossed(item, loop, ENDED))
            continue
        for number in reversed(range(trips)):
            if access.footprint.is_in(loop, number):
                pending.append(crossed(item, loop, ENDED._replace(earlier=number)))
            item = ordered(item, through)
    return Flow(through=flow.through, pending=tuple(pending))


def _gather(entries: dict[Key, Entry], summary: Summary) -> None:
    for entry in summary.entries:
        key = (entry.access.number, entry.at)
        known = entries.get(key)
        if known is not None:
            entry = entry._replace(before=both(known.before, entry.before))
        entries[key] = entry


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
