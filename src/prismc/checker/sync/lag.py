"""Products that run on into the next iteration of a pipeline.

An arm that reads a slot by products waits for them before it gives the slot free. In a loop that is
written as one step it may do so one iteration later, when the next products are under way: it waits
until at most those are pending, and gives the slot of the iteration before free. The last slot, and
the sums, are waited for behind the loop.

That takes at least two slots: an iteration then waits for nothing that depends on the slot of the
one before. And nothing else in the loop may wait for the products: neither does the code touch
their registers, nor is other memory overwritten that they read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from prismc.checker.sync.arms import items_of
from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import first_thread
from prismc.checker.sync.edit import Edits, edited
from prismc.checker.sync.graph import (
    Commit,
    Graph,
    Loop,
    Region,
    Sequence,
    Step,
    Wait,
    nodes_in,
    sequences_in,
    sequences_of,
)
from prismc.checker.sync.product_fences import product_registers
from prismc.checker.sync.split import Arrive
from prismc.checker.sync.units import accesses_of
from prismc.checker.sync.waits import unfinished
from prismc.hardware.asynchronous import Completion
from prismc.source.record import Record, replace


class Lag(Record):
    """A loop whose products may run on: of each step the wait for them, and what it gives free.
    `drained` are the conflicts with what comes behind the loop. Where the loop runs once at most
    (`is_last`), nobody waits for the last slot. `arm` are the threads [start, end) of the loop's
    code that run the copy with the products."""

    loop: Loop
    scopes: tuple[Region, ...]
    waits: tuple[Wait, ...]
    arrivals: tuple[Arrive, ...]
    registers: tuple[int, ...]
    arm: tuple[int, int]
    drained: tuple[Conflict, ...]
    is_last: bool


def plan_lags(
    graph: Graph,
    conflicts: Conflicts,
    reasons: Mapping[Step, tuple[Conflict, ...]],
    projected: Collection[int],
    *,
    is_kernel: bool,
) -> dict[int, Lag]:
    """The loops of a function whose products may run on, by their ids."""
    if not any(_product_scopes(graph.top.body)):
        return {}
    left = {_key(one) for one in unfinished(graph.top, conflicts)}
    found: dict[int, Lag] = {}
    for loop, region, depth, inside in _loops(graph.top.body, graph.top, projected):
        lag = _lag(graph, conflicts, reasons, (loop, region), left, inside=inside)
        if lag is not None:
            found[loop.loop] = replace(lag, is_last=is_kernel and depth == 0)
    return found


def _loops(
    nodes: Sequence,
    region: Region,
    projected: Collection[int],
    depth: int = 0,
    *,
    inside: bool = False,
) -> Iterator[tuple[Loop, Region, int, bool]]:
    """The loops of a function with their code, how many are around, and whether each class of warps
    has a copy."""
    for node in nodes:
        own = node if isinstance(node, Region) else region
        if isinstance(node, Loop):
            copied = inside or node.loop in projected
            yield node, region, depth, copied
            yield from _loops(node.body, region, projected, depth + 1, inside=copied)
            continue
        regions = getattr(node, "regions", ())
        for arm in regions:
            yield from _loops(arm.body, arm, projected, depth, inside=inside)
        if not regions:
            for inner in sequences_of(node):
                yield from _loops(inner, own, projected, depth, inside=inside)


def _lag(
    graph: Graph,
    conflicts: Conflicts,
    reasons: Mapping[Step, tuple[Conflict, ...]],
    place: tuple[Loop, Region],
    left: set[tuple[int, int]],
    *,
    inside: bool,
) -> Lag | None:
    """How a loop's products run on; None if they may not."""
    loop, region = place
    scopes = _product_scopes(loop.body)
    steps = [step for scope in scopes for step in _released(loop.body, scope)]
    if not scopes or len(steps) != len(scopes) or len({scope.threads for scope in scopes}) > 1:
        return None
    arm = _arm(graph, loop, region, scopes[0].threads) if inside else None
    if arm is None:
        return None
    waits, arrivals = tuple(step[0] for step in steps), tuple(step[1] for step in steps)
    body = edited(graph.top.body, Edits(without=frozenset(waits)))
    top = replace(graph.top, body=body)
    new = [one for one in unfinished(top, conflicts) if _key(one) not in left]
    freed = {_key(one) for arrival in arrivals for one in reasons.get(arrival, ())}
    own = {access.number for access in accesses_of(loop.body)}
    drained = tuple(one for one in new if one.later.number not in own)
    if any(_key(one) not in freed for one in new if one.later.number in own):
        return None
    return Lag(
        loop=loop,
        scopes=scopes,
        waits=waits,
        arrivals=arrivals,
        registers=product_registers(loop.body),
        arm=arm,
        drained=drained,
        is_last=False,
    )


def _arm(graph: Graph, loop: Loop, region: Region, threads: int) -> tuple[int, int] | None:
    """The threads [start, end) of a loop's code (of each block) that are `threads`, if these are an
    arm's in it."""
    arms = (item.node for item in items_of(loop.body, region, (), (), graph.block))
    if not any(isinstance(arm, Region) and arm.threads == threads for arm in arms):
        return None
    unit = region.units[0]
    mine = (threads & unit) >> first_thread(unit)
    if graph.block:
        mine &= (1 << graph.block) - 1
    return first_thread(mine), mine.bit_length()


def _key(conflict: Conflict) -> tuple[int, int]:
    return conflict.earlier.number, conflict.later.number


def _product_scopes(nodes: Sequence) -> tuple[Region, ...]:
    """The asynchronous scopes that end with the commit of products."""
    return tuple(
        node
        for node in nodes_in(nodes)
        if isinstance(node, Region)
        and any(
            isinstance(last, Commit) and last.queue is Completion.PRODUCT_GROUP
            for last in node.body
        )
    )


def _released(nodes: Sequence, scope: Region) -> Iterator[tuple[Wait, Arrive]]:
    """The wait and the arrival right behind a scope of products."""
    for sequence in sequences_in(nodes):
        for at, node in enumerate(sequence):
            if node is not scope:
                continue
            behind = sequence[at + 1 : at + 3]
            match behind:
                case (Wait(queue=Completion.PRODUCT_GROUP, groups=0) as wait, Arrive() as arrive):
                    if arrive.barrier.has_credit:
                        yield wait, arrive
                case _:
                    pass
