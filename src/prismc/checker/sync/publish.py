"""Which barrier shows a kernel's threads the mbarriers that one of them has initialised.

A barrier of all that stands there anyhow does, if it comes before the first use: on every path,
and only once. Elsewhere one of their own stands behind the initialisation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from prismc.checker.sync.choose import Planned
from prismc.checker.sync.graph import Node, Region
from prismc.checker.sync.plan import MBARRIER_KINDS, Position, SyncKind, SyncOperation
from prismc.checker.sync.split import Await
from prismc.checker.sync.text_order import TextOrder
from prismc.checker.types import typed
from prismc.checker.types.walk import calls_in

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
    inside = [order.extent[scope][0] for scope in scopes]
    inside += [
        order.extent[each.id][0]
        for each in body.all_statements
        if any(call.callee.symbol in users for call in calls_in((each,)))
    ]
    first = min(inside, default=len(order.extent))
    on_the_way = set(_on_every_path(planned))
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


def _on_every_path(planned: Planned) -> Iterator[Position]:
    """Where the kernel comes to barriers of all threads, or of each block, once, by any way."""
    nodes = set(_outermost(planned.graph.top))
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


def _outermost(region: Region) -> Iterator[Node]:
    """The nodes of code that all threads run, without those in loops and choices."""
    for node in region.body:
        yield node
        if isinstance(node, Region) and node.threads == region.threads:
            yield from _outermost(node)
