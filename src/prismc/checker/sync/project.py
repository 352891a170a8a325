"""Which code is written once for each class of warps: its arms meet only at split barriers.

Nothing in the code around the arms may make all warps wait for one another, for then the classes
would have to meet in the middle of it. Of loops, the outermost around split barriers is taken, so
that a persistent kernel's outer loop is projected as a whole. A `split` whose arms take registers
from one another is projected with all that follows it, for ptxas obeys `setmaxnreg` only where the
code after it belongs to one class (it tells so with note C7507). Barriers of the block in it become
ones with a number and a count, which threads may come to from different copies (PTX ISA,
"barrier"), while `__syncthreads()` is one place in the text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from prismc.checker.sync.coverage import ranges_of
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
from prismc.checker.sync.split import Arrive, Await
from prismc.checker.types import typed
from prismc.checker.types.walk import bodies_of, calls_in, statements_in
from prismc.hardware.features import Feature
from prismc.hardware.groups import Level
from prismc.hardware.primitives import WARP_THREADS


def projected_loops(
    graph: Graph, changed: Collection[int], barriers: Collection[Barrier]
) -> tuple[int, ...]:
    """The ids of the loops to project; `changed` are those that have split barriers."""
    if not changed:
        return ()
    places = _meetings(graph, barriers)
    return tuple(_in(graph.top.body, graph.top, changed, places, graph.block))


def projected_tails(body: tuple[typed.Statement, ...], graph: Graph) -> tuple[int, ...]:
    """The ids of the splits to project with all that follows them in their bodies."""
    return tuple(
        tail[0].id
        for tail in _tails(body)
        if not _calls_meet({each.id for each in statements_in(tail)}, graph)
    )


def copied_barriers(
    body: tuple[typed.Statement, ...], tails: Collection[int], barriers: Iterable[Barrier]
) -> frozenset[Barrier]:
    """The barriers in such tails: threads come to them from several copies of the code."""
    inside = {
        each.id for tail in _tails(body) if tail[0].id in tails for each in statements_in(tail)
    }
    return frozenset(one for one in barriers if one.insertion.position.anchor in inside)


def _meetings(graph: Graph, barriers: Collection[Barrier]) -> set[tuple[Node, bool]]:
    """The places of barriers at which warps wait for one another that take different arms."""
    ends = {
        end
        for node in nodes_in(graph.top.body)
        for arm in (node.regions if isinstance(node, Arms) else ())
        for unit in arm.units
        for part in ranges_of(unit)
        for end in part
    }
    return {item.key for item in barriers if any(_is_cut(unit, ends) for unit in item.units)}


def _is_cut(unit: int, ends: Collection[int]) -> bool:
    (start, end), *others = ranges_of(unit)
    return bool(others) or any(start < one < end for one in ends if one % WARP_THREADS == 0)


def _tails(
    body: tuple[typed.Statement, ...], *, in_block: bool = False
) -> Iterator[tuple[typed.Statement, ...]]:
    """What follows the splits whose arms set their registers, with these."""
    for index, statement in enumerate(body):
        if _sets(statement, in_block=in_block):
            yield body[index:]
            return
        is_block = isinstance(statement, typed.Group) and statement.to.level is Level.BLOCK
        for inner in bodies_of(statement):
            yield from _tails(inner, in_block=in_block or is_block)


def _sets(statement: typed.Statement, *, in_block: bool) -> bool:
    """Whether arms set their registers, those of each block where the code is that of a cluster."""
    match statement:
        case typed.Split(arms=arms):
            return any(map(_sets_registers, arms))
        case typed.Group(to=to, body=body) if in_block and to.level is Level.BLOCK:
            return any(_sets(inner, in_block=in_block) for inner in body)
        case _:
            return False


def _sets_registers(arm: typed.Arm) -> bool:
    return any(
        call.callee.effects is not None and str(Feature.SETMAXNREG) in call.callee.effects.needs
        for call in calls_in(arm.body)
    )


def _calls_meet(ids: set[int], graph: Graph) -> bool:
    """Whether all threads of a region wait for one another inside of statements with these ids:
    in a call, at `finish`, or for the grid."""
    regions = [graph.top, *(n for n in nodes_in(graph.top.body) if isinstance(n, Region))]
    for region in regions:
        own = _own(region.body, region, graph.block)
        found = [node for node in own if node.before.anchor in ids]
        if found:
            return any(_waits_at(node, set()) for node in found)
    return False


def _in(
    nodes: Sequence,
    region: Region,
    changed: Collection[int],
    places: set[tuple[Node, bool]],
    block: int,
) -> Iterator[int]:
    for node in nodes:
        match node:
            case Loop() if _has(node, region, changed, block) and not _meets(
                node, region, places, block
            ):
                yield node.loop
            case Loop(body=body):
                yield from _in(body, region, changed, places, block)
            case Region(body=body):
                yield from _in(body, node, changed, places, block)
            case Arms(regions=regions):
                for arm in regions:
                    yield from _in(arm.body, arm, changed, places, block)
            case Choice(arms=sides):
                for side in sides:
                    yield from _in(side, region, changed, places, block)
            case _:
                pass


def _has(loop: Loop, region: Region, changed: Collection[int], block: int) -> bool:
    """Whether a loop has split barriers in its own code."""
    return loop.loop in changed or any(
        isinstance(node, Loop) and node.loop in changed for node in _own(loop.body, region, block)
    )


def _meets(loop: Loop, region: Region, places: set[tuple[Node, bool]], block: int) -> bool:
    """Whether all threads of `region`, or of blocks in it, wait for one another in a loop."""
    inner = any(_waits_at(node, places) for node in _own(loop.body, region, block))
    return inner or (loop, True) in places or _waits(loop.test)


def _waits_at(node: Node, places: set[tuple[Node, bool]]) -> bool:
    """Whether a barrier stands at a node, or in a call in a step of it. To a split barrier threads
    may come from several copies of the code."""
    if isinstance(node, Arrive | Await):
        return False
    steps = (node, getattr(node, "head", None), getattr(node, "test", None))
    stands = (node, False) in places or (node, True) in places
    return stands or any(_waits(step) for step in steps if isinstance(step, Step))


def _own(nodes: Sequence, region: Region, block: int) -> Iterator[Node]:
    """The nodes of a region's own code, without what is inside arms and groups of fewer threads
    than a block has."""
    for node in nodes:
        yield node
        match node:
            case Loop(body=body):
                yield from _own(body, region, block)
            case Region(body=body) if node.units == region.units or node.has_whole(block):
                yield from _own(body, region, block)
            case Choice(arms=arms):
                for arm in arms:
                    yield from _own(arm, region, block)
            case _:
                pass


def _waits(step: Step) -> bool:
    """Whether a call in a step makes threads wait for one another."""
    return any(
        isinstance(event, Summary) and any(flow.through.classes for _, flow in event.exits)
        for event in step.events
    )
