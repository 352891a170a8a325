"""Barriers of the whole grid, in kernels that are launched cooperatively.

Memory that several blocks touch is planned like memory of one block, with the grid in its place:
only code of the grid can hold a barrier of the grid, so everything narrower is one node. Two
accesses that different blocks may make at one element need a barrier on every path from one to the
other; where none can stand, they are refused as in any kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import Coverage, barrier, then
from prismc.checker.sync.edit import Edits, edited
from prismc.checker.sync.footprints import unknown_footprint
from prismc.checker.sync.graph import (
    Access,
    Arms,
    Choice,
    Entry,
    Exit,
    Flow,
    Graph,
    Loop,
    Node,
    Pending,
    Region,
    Sequence,
    Step,
    Summary,
)
from prismc.checker.sync.grid import Clash
from prismc.checker.sync.place import place_barriers
from prismc.checker.sync.straight import Insertion
from prismc.checker.sync.verify import verify
from prismc.source.record import Record, replace


class GridBarrier(Step):
    """All blocks of the grid wait for one another."""


class Between(Record):
    """A kernel with its barriers of the grid, each with the conflicts that it alone settles, and
    the clashes that none settles."""

    graph: Graph
    reasons: Mapping[Step, tuple[Conflict, ...]]
    left: tuple[Clash, ...]


def plan_between(graph: Graph, found: Iterable[Clash]) -> Between:
    """Put barriers of the grid where blocks would clash; pieces that overlap at once stay."""
    clashes = tuple(found)
    judge = _BetweenBlocks(graph, clashes)
    grid = _Grid(graph, judge)
    chosen = list(place_barriers(grid.top, judge).insertions)
    left = frozenset(_key(one) for one in grid.conflicts(chosen))
    for each in tuple(chosen):
        rest = [other for other in chosen if other is not each]
        if {_key(one) for one in grid.conflicts(rest)} == left:
            chosen = rest
    comings = _comings(graph, grid, chosen)
    steps = {each: _barrier(graph, each, comings[each]) for each in chosen}
    reasons: dict[Step, tuple[Conflict, ...]] = {
        step: tuple(
            one
            for one in grid.conflicts([other for other in chosen if other is not each])
            if _key(one) not in left
        )
        for each, step in steps.items()
    }
    return Between(
        graph=replace(
            graph,
            top=grid.with_steps(steps),
            accesses=(*graph.accesses, *(one for several in comings.values() for one in several)),
        ),
        reasons=reasons,
        left=tuple(one for one in clashes if one.in_pieces or _key(one) in left),
    )


def _key(pair: Clash | Conflict) -> frozenset[int]:
    return frozenset((pair.earlier.number, pair.later.number))


def _comings(
    graph: Graph, grid: _Grid, chosen: Iterable[Insertion]
) -> dict[Insertion, tuple[Access, ...]]:
    """What other blocks do behind each barrier, as accesses of nobody in front of it: copies that a
    block has made have to be complete there, and fenced what engines of others come to."""
    number = len(graph.accesses)
    found: dict[Insertion, tuple[Access, ...]] = {}
    unordered = grid.conflicts(())
    for each in chosen:
        left = {_way(one) for one in grid.conflicts((each,))}
        settled = (one.later for one in unordered if _way(one) not in left)
        alike = {(one.roots, one.kind, one.agent): one for one in settled}
        found[each] = tuple(
            replace(
                one,
                number=number + place,
                footprint=unknown_footprint(0),
                views=(),
                loops=(),
                own_loops=(),
                queue=None,
                asked=None,
            )
            for place, one in enumerate(alike.values())
        )
        number += len(alike)
    return found


def _way(conflict: Conflict) -> tuple[int, int]:
    return conflict.earlier.number, conflict.later.number


def _barrier(graph: Graph, insertion: Insertion, comings: tuple[Access, ...]) -> GridBarrier:
    """A barrier of the grid as a node: all of a block's threads wait for one another, too."""
    flow = Flow(through=barrier((graph.everyone,)), pending=())
    return GridBarrier(
        before=insertion.position,
        span=insertion.conflict.later.at,
        events=(
            *comings,
            Summary(entries=(), exits=((Exit.NORMAL, flow),)),
        ),
    )


class _BetweenBlocks(Conflicts):
    """Judges pairs of accesses of different blocks. Two numbers behind those of the threads stand
    for two blocks in an order."""

    def __init__(self, graph: Graph, clashes: Iterable[Clash]) -> None:
        super().__init__(graph.everyone, graph.accesses)
        self._pairs = {_key(clash) for clash in clashes if not clash.in_pieces}
        self._one = 1 << graph.everyone.bit_length()
        self.blocks = self._one | self._one << 1

    def near(self, access: object) -> None:
        """Any access may be near."""

    def is_settled(self, pending: Pending) -> bool:
        """Whether all blocks are ordered after an access already."""
        return self._orders(pending.after)

    def is_complete(self, order: Coverage) -> bool:
        """Whether all blocks have waited for one another."""
        return self._orders(order)

    def _orders(self, order: Coverage) -> bool:
        return order.uncovered(self._one, self.blocks) is None

    def between(self, pending: Pending, entry: Entry, units: tuple[int, ...]) -> Conflict | None:
        """The conflict of two accesses of different blocks, unless an order covers it."""
        earlier, later = pending.access, entry.access
        if frozenset((earlier.number, later.number)) not in self._pairs:
            return None
        if self._orders(then(pending.after, entry.before)):
            return None
        return Conflict(
            earlier=earlier,
            later=later,
            earlier_threads=earlier.footprint.threads,
            later_threads=later.footprint.threads,
            crossed=pending.crossed,
            is_exact=False,
        )


class _Grid:
    """A kernel as the grid sees it: its own code is one unit of several blocks, all other code
    speaks for itself. `_known` leads back from its nodes to the kernel's."""

    def __init__(self, graph: Graph, judge: _BetweenBlocks) -> None:
        self._graph = graph
        self._judge = judge
        self._known: dict[Node, Node] = {}
        self.top = replace(graph.top, units=(judge.blocks,), body=self._sequence(graph.top.body))

    def conflicts(self, chosen: Iterable[Insertion]) -> tuple[Conflict, ...]:
        """What these barriers leave without order."""
        order = barrier((self._judge.blocks,))
        orders = {(each.node, each.is_end): order for each in chosen}
        verdict = verify(replace(self._graph, top=self.top), self._judge, orders)
        return (*verdict.conflicts, *verdict.inside)

    def with_steps(self, steps: Mapping[Insertion, GridBarrier]) -> Region:
        """The kernel's code with barriers in it."""
        before = {self._of(each.node): (step,) for each, step in steps.items() if not each.is_end}
        ends = {self._of(each.node): (step,) for each, step in steps.items() if each.is_end}
        top = self._graph.top
        return replace(top, body=edited(top.body, Edits(before=before, ends=ends)))

    def _of(self, node: Node) -> Node:
        return self._known.get(node, node)

    def _sequence(self, nodes: Sequence) -> Sequence:
        return tuple(self._node(node) for node in nodes)

    def _node(self, node: Node) -> Node:
        made = self._seen(node)
        self._known[made] = node
        return made

    def _seen(self, node: Node) -> Node:
        match node:
            case Region():
                return self._alone(node)
            case Arms(regions=regions):
                return replace(node, regions=tuple(map(self._alone, regions)))
            case Loop(body=body):
                return replace(node, body=self._sequence(body))
            case Choice(arms=(first, second)):
                return replace(node, arms=(self._sequence(first), self._sequence(second)))
            case _:
                return node

    def _alone(self, region: Region) -> Region:
        """Code in which no barrier of the grid can stand."""
        return replace(region, units=(1,), body=self._sequence(region.body))
