"""Conflicts between the units of a region: threads that no barrier in the region brings together.

Stores go through narrowings, so each unit is taken to keep to its own piece; atomic updates, tensor
copies and raw text need no narrowing. What they touch in code of a `group`, or in an arm, other
units may touch at the same time: their order needs a barrier of the code around. Of accesses
through one view only those are told whose pieces meet for certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

from prismc.checker.sync.conflicts import Conflicts, is_hazard
from prismc.checker.sync.graph import (
    ENDED,
    Access,
    Arms,
    Graph,
    Loop,
    Region,
    Sequence,
    Step,
    Summary,
    nodes_in,
    sequences_of,
)
from prismc.checker.sync.meetings import Meeting
from prismc.checker.sync.plan import AccessKind
from prismc.source.record import Record


class Apart(Record):
    """Two accesses of different units of `region`, in code around it that is one unit; or of one
    statement of `region`, which is `around` then.

    `pieces` tells how the pieces of one view meet, if both go through it.
    """

    region: Region
    around: Region
    first: Access
    second: Access
    pieces: Meeting | None = None


def conflicts_of_units(graph: Graph, conflicts: Conflicts) -> Iterator[Apart]:
    """All conflicts between units that no narrowing keeps apart, each pair once."""
    told: set[tuple[int, int]] = set()
    for apart in _inside(graph.top.body, graph.top, (), conflicts):
        pair = (apart.first.number, apart.second.number)
        if pair not in told:
            told.add(pair)
            yield apart


def _inside(
    nodes: Sequence, around: Region, loops: tuple[int, ...], conflicts: Conflicts
) -> Iterator[Apart]:
    for node in nodes:
        if isinstance(node, Region):
            yield from _region(node, around, loops, conflicts)
        elif isinstance(node, Arms):
            yield from _side_by_side(node, around, conflicts)
            for arm in node.regions:
                yield from _region(arm, around, loops, conflicts)
        else:
            if isinstance(node, Step):
                yield from _statement(node, around, conflicts)
            inner = (*loops, node.loop) if isinstance(node, Loop) else loops
            for sequence in sequences_of(node):
                yield from _inside(sequence, around, inner, conflicts)


def _region(
    region: Region, around: Region, loops: tuple[int, ...], conflicts: Conflicts
) -> Iterator[Apart]:
    accesses = list(accesses_in(region))
    for first in accesses:
        if first.kind is AccessKind.READ:
            continue
        for second in accesses:
            if second.kind is AccessKind.READ or second.number > first.number:
                yield from _pair(region, around, first, second, loops, conflicts)
    yield from _inside(region.body, region, loops, conflicts)


def _side_by_side(arms: Arms, around: Region, conflicts: Conflicts) -> Iterator[Apart]:
    """What different arms touch of the array of a tensor map: nothing claims it for one of them."""
    for one, other in combinations(arms.regions, 2):
        for first, second in product(accesses_in(one), accesses_in(other)):
            is_of_maps = _is_of_map(first) and _is_of_map(second)
            if not is_of_maps or not is_hazard(first.kind, second.kind):
                continue
            if share_view(first, second) or first.roots != second.roots:
                continue
            if conflicts.meeting(first, second, (), around.units).classes:
                yield Apart(region=other, around=around, first=first, second=second)


def _is_of_map(access: Access) -> bool:
    return all(root.is_map for root in access.roots)


def _statement(step: Step, around: Region, conflicts: Conflicts) -> Iterator[Apart]:
    """What one statement reads and writes through one view, where the pieces meet for certain."""
    accesses = [event for event in step.events if isinstance(event, Access)]
    for second, first in combinations(accesses, 2):
        if not is_hazard(second.kind, first.kind) or not share_view(first, second):
            continue
        crossed = tuple((loop, ENDED) for loop in sorted(first.own_loops))
        pieces = conflicts.meeting(first, second, crossed, around.units)
        if pieces.is_exact and pieces.classes:
            yield Apart(region=around, around=around, first=first, second=second, pieces=pieces)


def _pair(
    region: Region,
    around: Region,
    first: Access,
    second: Access,
    loops: tuple[int, ...],
    conflicts: Conflicts,
) -> Iterator[Apart]:
    """The two, if they conflict in different units of `region` inside one unit of `around`."""
    if not is_hazard(first.kind, second.kind) or _are_kept_apart(first, second):
        return
    if conflicts.memory_of(first) != conflicts.memory_of(second):
        return
    own = sorted(loop for loop in first.loops if loop not in loops)
    crossed = tuple((loop, ENDED) for loop in own)
    meeting = conflicts.meeting(first, second, crossed, around.units)
    pieces = meeting if share_view(first, second) else None
    if pieces is not None and not pieces.is_exact:
        return
    if any(
        mine & unit & part and other & unit & ~part
        for mine, other in meeting.classes
        for unit in around.units
        for part in region.units
    ):
        yield Apart(region=region, around=around, first=first, second=second, pieces=pieces)


def _are_kept_apart(first: Access, second: Access) -> bool:
    """Whether a swap keeps the two names apart: each may stand for several roots, its own first.
    Inside a narrowing of one of them nothing else that may be its memory is visible."""
    return len(first.roots) > 1 and first.roots != second.roots


def share_view(first: Access, second: Access) -> bool:
    """Whether two accesses go through one narrowing."""
    views = {use.view for use in second.views}
    return any(use.view in views for use in first.views)


def accesses_in(region: Region) -> Iterator[Access]:
    """Every access of a region, what its calls leave included."""
    return accesses_of(region.body)


def accesses_of(nodes: Sequence) -> Iterator[Access]:
    """Every access of some nodes, what their calls leave included."""
    for node in nodes_in(nodes):
        parts = [getattr(node, "head", None), getattr(node, "test", None), node]
        for step in parts:
            if isinstance(step, Step):
                for event in step.events:
                    yield from _of_event(event)


def _of_event(event: Access | Summary) -> Iterator[Access]:
    if isinstance(event, Access):
        yield event
        return
    found = {entry.access.number: entry.access for entry in event.entries}
    for _, flow in event.exits:
        found |= {item.access.number: item.access for item in flow.pending}
    yield from found.values()
