"""Which loops are written once for each class of warps: their arms meet only at split barriers.

Nothing in the code around the arms may make all warps wait for one another, for then the classes
would have to meet in the middle of their loops. The outermost such loop around split barriers is
taken, so that a persistent kernel's outer loop is projected as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from prismc.checker.sync.graph import (
    Arms,
    Choice,
    Graph,
    Loop,
    Node,
    Region,
    Sequence,
    Step,
    Summary,
)
from prismc.checker.sync.refine import Barrier


def projected_loops(
    graph: Graph, changed: Collection[int], barriers: Collection[Barrier]
) -> tuple[int, ...]:
    """The ids of the loops to project; `changed` are those that have split barriers."""
    if not changed:
        return ()
    return tuple(_in(graph.top.body, graph.top, changed, {item.key for item in barriers}))


def _in(
    nodes: Sequence, region: Region, changed: Collection[int], places: set[tuple[Node, bool]]
) -> Iterator[int]:
    for node in nodes:
        match node:
            case Loop() if _has(node, region, changed) and not _meets(node, region, places):
                yield node.loop
            case Loop(body=body):
                yield from _in(body, region, changed, places)
            case Region(body=body):
                yield from _in(body, node, changed, places)
            case Arms(regions=regions):
                for arm in regions:
                    yield from _in(arm.body, arm, changed, places)
            case Choice(arms=sides):
                for side in sides:
                    yield from _in(side, region, changed, places)
            case _:
                pass


def _has(loop: Loop, region: Region, changed: Collection[int]) -> bool:
    """Whether a loop has split barriers in its own code."""
    return loop.loop in changed or any(
        isinstance(node, Loop) and node.loop in changed for node in _own(loop.body, region)
    )


def _meets(loop: Loop, region: Region, places: set[tuple[Node, bool]]) -> bool:
    """Whether all threads of `region` wait for one another in a loop."""
    if (loop, True) in places:
        return True
    for node in _own(loop.body, region):
        if (node, False) in places or (node, True) in places:
            return True
        steps = (node, getattr(node, "head", None), getattr(node, "test", None))
        if any(_waits(step) for step in steps if isinstance(step, Step)):
            return True
    return _waits(loop.test)


def _own(nodes: Sequence, region: Region) -> Iterator[Node]:
    """The nodes of a region's own code, without what is inside arms and groups."""
    for node in nodes:
        yield node
        match node:
            case Loop(body=body):
                yield from _own(body, region)
            case Region(body=body) if node.units == region.units:
                yield from _own(body, region)
            case Choice(arms=arms):
                for arm in arms:
                    yield from _own(arm, region)
            case _:
                pass


def _waits(step: Step) -> bool:
    """Whether a call in a step makes threads wait for one another."""
    return any(
        isinstance(event, Summary) and any(flow.through.classes for _, flow in event.exits)
        for event in step.events
    )
