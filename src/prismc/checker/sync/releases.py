"""What an arrival for bulk loads puts in order besides what they bring.

Who issues loads arrives at their mbarrier, and an arrival releases, a wait acquires (PTX ISA,
"mbarrier.arrive", "mbarrier.try_wait"): what the arriving threads have done before comes before
what the waiting threads do behind. So an arrival leads to a number, as that of a split barrier
does, and each wait goes on from there; the two come in turn, or the function is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.sync.coverage import Coverage
from prismc.checker.sync.edit import Edits, edited
from prismc.checker.sync.graph import Commit, Graph, Node, Region, groups_of, nodes_in
from prismc.checker.sync.loads import arrivers_of, regions_of
from prismc.checker.sync.split import Loads, free_bit, passing
from prismc.hardware.groups import BLOCK
from prismc.source.record import replace

Units = tuple[int, ...]


def with_releases(graph: Graph, first_bit: int) -> Graph:
    """The function with what its arrivals for loads release, as numbers from `first_bit` on in
    orders. Loads for several blocks of a cluster release nothing: of the mbarriers that their bytes
    come to, only the own block's is arrived at."""
    units = _units_of_loads(graph)
    bit, bits = free_bit(graph, first_bit), dict[Loads, tuple[tuple[int, int], ...]]()
    for loads, found in units.items():
        bits[loads] = tuple((unit, bit + n * graph.stride) for n, unit in enumerate(found))
        bit += len(found) * graph.stride
    releasing: dict[Node, Node] = {}
    for region, node in regions_of(graph.top):
        if isinstance(node, Commit) and isinstance(node.queue, Loads) and node.queue in bits:
            arrivers = arrivers_of(node, region)
            released = bits[node.queue]
            order = Coverage(
                tuple((unit & arrivers, 1 << bit) for unit, bit in released if unit & arrivers)
            )
            releasing[node] = replace(node, events=(*node.events, passing(order)), bits=released)
    if not releasing:
        return graph
    body = edited(graph.top.body, Edits(instead=releasing))
    return replace(graph, top=replace(graph.top, body=body))


def _units_of_loads(graph: Graph) -> dict[Loads, Units]:
    """The threads that share one mbarrier of each of a function's loads, where that is the same of
    all scopes."""
    found: dict[Loads, set[Units]] = {}
    for scope, loads in _scopes(graph):
        whole = scope.has_whole(graph.block)
        units = groups_of(scope.units, BLOCK, graph.block) if whole else scope.units
        found.setdefault(loads, set()).add(units)
    return {
        loads: next(iter(units))
        for loads, units in found.items()
        if len(units) == 1 and not any(root.is_mirrored for root in loads.roots)
    }


def _scopes(graph: Graph) -> Iterator[tuple[Region, Loads]]:
    """The scopes of loads, each of which holds the commit of its text."""
    for scope in nodes_in(graph.top.body):
        if not isinstance(scope, Region):
            continue
        for node in nodes_in(scope.body):
            queue = node.queue if isinstance(node, Commit) and node.span == scope.span else None
            if isinstance(queue, Loads):
                yield scope, queue
