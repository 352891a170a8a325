"""Which barrier shows a kernel's threads the mbarriers that one of them has initialised.

A barrier of all that stands there anyhow does, if it comes before the first use on every path: in
code that runs once, or in the loop that all uses are in. Elsewhere one of their own stands behind
the initialisation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from prismc.checker.sync.choose import Planned
from prismc.checker.sync.graph import Loop, Node, Region
from prismc.checker.sync.graph import Sequence as Nodes
from prismc.checker.sync.plan import MBARRIER_KINDS, Position, SyncKind, SyncOperation
from prismc.checker.sync.split import Await
from prismc.checker.sync.text_order import TextOrder
from prismc.checker.types import typed
from prismc.checker.types.walk import calls_of

_OF_CLUSTERS = (SyncKind.CLUSTER_BARRIER, SyncKind.CLUSTER_WAIT)
_BARRIERS = (SyncKind.BLOCK_BARRIER, *_OF_CLUSTERS)


def publisher(
    planned: Planned,
    body: typed.Body,
    operations: Sequence[SyncOperation],
    users: Collection[str],
    scopes: Collection[int],
    *,
    is_wide: bool,
) -> int | None:
    """The index of the operation that does, None if a kernel needs one more. `users` are the
    functions, `scopes` the ids of asynchronous scopes that use mbarriers; where these are `is_wide`
    other blocks do."""
    kinds = _OF_CLUSTERS if is_wide else _BARRIERS
    order, used = TextOrder(body), _first_use(operations)
    using = set(scopes)
    using |= {
        each.id
        for each in body.all_statements
        if any(call.callee.symbol in users for call in calls_of((each,)))
    }
    first = min((order.extent[each][0] for each in using), default=len(order.extent))
    using |= {one.position.anchor for one in operations if one.kind in MBARRIER_KINDS}
    on_the_way = set(_on_every_path(planned, _around(using, body, order)))
    return next(
        (
            index
            for index, one in enumerate(operations[:used])
            if one.kind in kinds and one.position in on_the_way and order.at(one.position) <= first
        ),
        None,
    )


def _first_use(operations: Sequence[SyncOperation]) -> int:
    uses = (index for index, one in enumerate(operations) if one.kind in MBARRIER_KINDS)
    return next(uses, len(operations))


def _around(using: Collection[int], body: typed.Body, order: TextOrder) -> set[int]:
    """The loops that hold all statements with uses; a pipeline's loop has steps before it."""
    found: set[int] = set()
    for loop in body.all_statements:
        is_plain = isinstance(loop, typed.While | typed.For) and loop.id not in using
        if is_plain and not (isinstance(loop, typed.For) and loop.turns):
            start, end = order.extent[loop.id]
            if all(start < order.extent[each][0] < end for each in using):
                found.add(loop.id)
    return found


def _on_every_path(planned: Planned, around: Collection[int]) -> Iterator[Position]:
    """Where the kernel comes to barriers of all threads, or of each block, by any way that leads to
    the body of the loops `around`."""
    nodes = set(_outermost(planned.graph.top.body, planned.graph.top, around))
    for barrier in planned.barriers:
        node, is_end = barrier.key
        threads = sum(unit.bit_count() for unit in barrier.units)
        is_of_all = threads == planned.graph.everyone.bit_count()
        is_whole = barrier.size >= planned.block_threads
        if node in nodes and not is_end and is_of_all and is_whole:
            yield barrier.insertion.position
    for node in nodes:
        if isinstance(node, Await) and node.barrier.is_cluster:
            yield node.before


def _outermost(nodes: Nodes, region: Region, around: Collection[int]) -> Iterator[Node]:
    """The nodes of code that all threads run, without those in choices and other loops."""
    for node in nodes:
        yield node
        if isinstance(node, Region) and node.threads == region.threads:
            yield from _outermost(node.body, node, around)
        elif isinstance(node, Loop) and node.loop in around:
            yield from _outermost(node.body, region, around)
