"""Conflicts between the units of a region: threads that no barrier in the region brings together.

Stores go through narrowings, so each unit keeps to its own piece; atomic updates and raw text need
no narrowing. What they touch in code of a `group`, other units may touch at the same time: their
order needs a barrier of the code around the group.
"""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.sync.conflicts import Conflicts, is_hazard
from prismc.checker.sync.graph import (
    Access,
    Arms,
    Crossing,
    Graph,
    Loop,
    Region,
    Sequence,
    Step,
    Summary,
    nodes_in,
    sequences_of,
)
from prismc.checker.sync.plan import AccessKind
from prismc.source.record import Record


class Apart(Record):
    """Two accesses of different units of `region`, in code around it that is one unit."""

    region: Region
    around: Region
    first: Access
    second: Access


def conflicts_of_units(graph: Graph, conflicts: Conflicts) -> Iterator[Apart]:
    """All conflicts between units that no narrowing keeps apart."""
    yield from _inside(graph.top.body, graph.top, (), conflicts)


def _inside(
    nodes: Sequence, around: Region, loops: tuple[int, ...], conflicts: Conflicts
) -> Iterator[Apart]:
    for node in nodes:
        if isinstance(node, Region):
            yield from _region(node, around, loops, conflicts)
        elif isinstance(node, Arms):
            for arm in node.regions:
                yield from _region(arm, around, loops, conflicts)
        else:
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
            is_pair = second.kind is AccessKind.READ or second.number > first.number
            if is_pair and _are_apart(region, around, first, second, loops, conflicts):
                yield Apart(region=region, around=around, first=first, second=second)
    yield from _inside(region.body, region, loops, conflicts)


def _are_apart(
    region: Region,
    around: Region,
    first: Access,
    second: Access,
    loops: tuple[int, ...],
    conflicts: Conflicts,
) -> bool:
    """Whether the two conflict in different units of `region` inside one unit of `around`."""
    if not is_hazard(first.kind, second.kind):
        return False
    if conflicts.memory_of(first) != conflicts.memory_of(second):
        return False
    views = {use.view for use in second.views}
    if any(use.view in views for use in first.views):
        return False
    own = sorted(loop for loop in first.loops if loop not in loops)
    crossed = tuple((loop, Crossing.ENDED) for loop in own)
    meeting = conflicts.meeting(first, second, crossed, around.units)
    return any(
        mine & unit & part and other & unit & ~part
        for mine, other in meeting.classes
        for unit in around.units
        for part in region.units
    )


def accesses_in(region: Region) -> Iterator[Access]:
    """Every access of a region, what its calls leave included."""
    for node in nodes_in(region.body):
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
