"""Which code is written once for each class of warps: its arms meet only at split barriers.

Nothing in the code around the arms may make all warps wait for one another, for then the classes
would have to meet in the middle of it. Of loops, the outermost around split barriers is taken, so
that a persistent kernel's outer loop is projected as a whole. A `split` whose arms take registers
from one another is projected with all that follows it, for ptxas obeys `setmaxnreg` only where the
code after it belongs to one class (it tells so with note C7507).
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
    nodes_in,
)
from prismc.checker.sync.refine import Barrier
from prismc.checker.types import typed
from prismc.checker.types.walk import bodies_of, calls_in, statements_in
from prismc.hardware.features import Feature


def projected_loops(
    graph: Graph, changed: Collection[int], barriers: Collection[Barrier]
) -> tuple[int, ...]:
    """The ids of the loops to project; `changed` are those that have split barriers."""
    if not changed:
        return ()
    return tuple(_in(graph.top.body, graph.top, changed, {item.key for item in barriers}))


def projected_tails(
    body: tuple[typed.Statement, ...], graph: Graph, barriers: Collection[Barrier]
) -> tuple[int, ...]:
    """The ids of the splits to project with all that follows them in their bodies."""
    places = {item.key for item in barriers}
    return tuple(
        tail[0].id
        for tail in _tails(body)
        if not _tail_meets({each.id for each in statements_in(tail)}, graph, places)
    )


def _tails(body: tuple[typed.Statement, ...]) -> Iterator[tuple[typed.Statement, ...]]:
    """What follows the splits whose arms set their registers, with these."""
    for index, statement in enumerate(body):
        if isinstance(statement, typed.Split) and any(map(_sets_registers, statement.arms)):
            yield body[index:]
            return
        for inner in bodies_of(statement):
            yield from _tails(inner)


def _sets_registers(arm: typed.Arm) -> bool:
    return any(
        call.callee.effects is not None and str(Feature.SETMAXNREG) in call.callee.effects.needs
        for call in calls_in(arm.body)
    )


def _tail_meets(ids: set[int], graph: Graph, places: set[tuple[Node, bool]]) -> bool:
    """Whether all threads of a region wait for one another in statements with these ids."""
    regions = [graph.top, *(n for n in nodes_in(graph.top.body) if isinstance(n, Region))]
    for region in regions:
        found = [node for node in _own(region.body, region) if node.before.anchor in ids]
        if found:
            return any(_waits_at(node, places) for node in found)
    return False


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
    inner = any(_waits_at(node, places) for node in _own(loop.body, region))
    return inner or (loop, True) in places or _waits(loop.test)


def _waits_at(node: Node, places: set[tuple[Node, bool]]) -> bool:
    """Whether a barrier stands at a node, or in a call in a step of it."""
    steps = (node, getattr(node, "head", None), getattr(node, "test", None))
    stands = (node, False) in places or (node, True) in places
    return stands or any(_waits(step) for step in steps if isinstance(step, Step))


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
