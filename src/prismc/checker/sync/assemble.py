"""Puts a function's operations together: commits and waits from its graph, and the barriers, in the
order of the text.

Where several stand at one place, a scope commits first, then threads wait for their own copies, and
then for one another: only so a barrier shows what the copies brought.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prismc.checker.sync.choose import Planned, barrier_operations, edges_of
from prismc.checker.sync.graph import Arms, Commit, Loop, Region, Sequence, Wait, sequences_of
from prismc.checker.sync.plan import (
    GROUP_KINDS,
    InstancePlan,
    Participants,
    Position,
    SyncKind,
    SyncOperation,
)
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import BLOCK, Level
from prismc.source.record import replace


def instance_plan(
    planned: Planned, first: int, numbers: Mapping[int, int], sink: Sink
) -> InstancePlan:
    """The operations of one function, numbered from `first` on. `numbers` gives the first hardware
    barrier of each size."""
    top = planned.graph.top
    places = {place: index for index, place in enumerate(dict.fromkeys(_places(top.body)))}
    operations = [*_group_operations(top, planned), *barrier_operations(planned, numbers, sink)]
    operations.sort(key=lambda one: (places[one.position], _rank(one.kind)))
    return InstancePlan(
        symbol=planned.graph.symbol,
        operations=tuple(
            replace(operation, number=first + index) for index, operation in enumerate(operations)
        ),
    )


def _rank(kind: SyncKind) -> int:
    return GROUP_KINDS.index(kind) if kind in GROUP_KINDS else len(GROUP_KINDS)


def _places(nodes: Sequence) -> Iterator[Position]:
    """The places of a sequence in the order of the text."""
    for node in nodes:
        yield node.before
        for inner in sequences_of(node):
            yield from _places(inner)
        if isinstance(node, Loop) and node.end is not None:
            yield node.end


def _group_operations(region: Region, planned: Planned) -> Iterator[SyncOperation]:
    """Commits and waits; all threads of the code around them take part."""
    for node in _same_code(region.body):
        match node:
            case Region():
                yield from _group_operations(node, planned)
            case Arms(regions=regions):
                for arm in regions:
                    yield from _group_operations(arm, planned)
            case Commit() | Wait():
                yield _operation(node, region, planned)
            case _:
                pass


def _same_code(nodes: Sequence) -> Iterator[object]:
    """The nodes of one code perspective, those inside loops and choices included."""
    for node in nodes:
        yield node
        if not isinstance(node, Region | Arms):
            for inner in sequences_of(node):
                yield from _same_code(inner)


def _operation(node: Commit | Wait, region: Region, planned: Planned) -> SyncOperation:
    perspective = BLOCK if region.perspective.level is Level.GRID else region.perspective
    reasons = planned.waits.get(node, ()) if isinstance(node, Wait) else ()
    return SyncOperation(
        number=0,
        kind=SyncKind.WAIT_GROUP if isinstance(node, Wait) else SyncKind.COMMIT_GROUP,
        position=node.before,
        participants=Participants(perspective=perspective),
        lanes=0,
        count=node.groups if isinstance(node, Wait) else 0,
        barrier=0,
        at=reasons[0].later.at if reasons else node.span,
        edges=edges_of(planned, reasons),
    )
