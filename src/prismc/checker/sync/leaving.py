"""The end of kernels in clusters: no block leaves while others may still touch its memory.

A block's shared memory is gone when all its threads have exited (PTX ISA, "Cluster of Cooperative
Thread Arrays"; "mapa"). So where other blocks may still read it at the end, or arrive at its
mbarriers, the cluster waits for all of its threads first. This barrier is found after all others,
for what comes again and again should not stand in for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prismc.checker.sync.conflicts import Conflicts
from prismc.checker.sync.edit import Edits, edited_with
from prismc.checker.sync.footprints import unknown_footprint
from prismc.checker.sync.graph import Access, Graph, Leave, Node, Reach, Root, Step, nodes_in
from prismc.checker.sync.loads import regions_of
from prismc.checker.sync.passing import Passing, with_moved
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.refine import Barrier, orders_of
from prismc.checker.sync.straight import Insertion
from prismc.checker.sync.verify import verify
from prismc.source.record import replace


def plan_leaving(found: Passing) -> Passing:
    """The function with barriers of the cluster at its ends, if others may arrive late."""
    peers = tuple(dict.fromkeys(_peers(found.graph)))
    if not peers:
        return found
    graph, moved = _with_ends(found.graph, peers)
    barriers = tuple(with_moved(item, moved) for item in found.barriers)
    judge = Conflicts.beside(found.conflicts, graph.accesses)
    left = verify(graph, judge, orders_of(barriers)).conflicts
    ends: list[Barrier] = []
    for region, node in regions_of(graph.top):
        reasons = tuple(one for one in left if isinstance(node, Leave) and one.later in node.events)
        if reasons:
            place = Insertion(node=node, is_end=False, region=region, conflict=reasons[0])
            ends.append(Barrier(insertion=place, units=region.units, reasons=reasons))
    barriers = (*barriers, *ends)
    return Passing(
        graph=graph,
        conflicts=judge,
        barriers=barriers,
        verdict=verify(graph, judge, orders_of(barriers)),
        reasons=found.reasons,
    )


def _peers(graph: Graph) -> Iterator[Root]:
    """The memory of other blocks that is touched."""
    for access in graph.accesses:
        if access.reach is Reach.CLUSTER:
            yield from access.roots


def _with_ends(graph: Graph, peers: Iterable[Root]) -> tuple[Graph, dict[Node, Node]]:
    """The graph with the end of each block as what it does to memory that others touch; and what
    has become of the nodes that changed."""
    number = max((access.number for access in graph.accesses), default=-1) + 1
    after: dict[Node, tuple[Step, ...]] = {}
    made: list[Access] = []
    for node in nodes_in(graph.top.body):
        if isinstance(node, Leave):
            events = tuple(
                _end(root, number + len(made) + offset, graph.everyone, node)
                for offset, root in enumerate(peers)
            )
            made += events
            after[node] = (replace(node, events=events),)
    body, moved = edited_with(graph.top.body, Edits(after=after))
    top = replace(graph.top, body=body)
    changed = replace(graph, top=top, accesses=(*graph.accesses, *made))
    return changed, {**moved, graph.top: top}


def _end(root: Root, number: int, everyone: int, node: Leave) -> Access:
    return Access(
        number=number,
        roots=(root,),
        kind=AccessKind.WRITE,
        footprint=unknown_footprint(everyone),
        views=(),
        loops=(),
        own_loops=(),
        at=node.span,
        reach=Reach.END,
    )
