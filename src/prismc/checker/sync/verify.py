"""Judges a placement: which conflicts does it leave without order, whatever made it.

The placement is clever, this is not: it goes through the graph with the barriers that are there and
lists every pair of accesses that nothing puts in order. Planning ends when the list is empty;
leaving one barrier out and listing what is then missing tells why the barrier is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import Coverage
from prismc.checker.sync.flow import (
    either_of,
    is_alone,
    leave,
    loop_of,
    repeated,
    side_by_side_of,
    through_only,
    touch,
)
from prismc.checker.sync.graph import (
    Access,
    Arms,
    Choice,
    Graph,
    Jump,
    Loop,
    Node,
    Pending,
    Region,
    Sequence,
    Step,
    Summary,
)
from prismc.checker.sync.path import State, in_sequence, iteration_of, step_summary
from prismc.checker.sync.units import share_view
from prismc.source.record import Record

# The order that stands in front of a node, or (True) at the end of a loop's body.
Orders = Mapping[tuple[Node, bool], Coverage]


class Verdict(Record):
    """What a placement leaves: conflicts that a barrier could settle, conflicts inside one
    statement (no barrier can stand there), and the function as one node."""

    conflicts: tuple[Conflict, ...]
    inside: tuple[Conflict, ...]
    summary: Summary


def verify(graph: Graph, conflicts: Conflicts, orders: Orders) -> Verdict:
    """Go through a function with barriers in the places of `orders`."""
    walk = _Walk(conflicts, orders)
    summary = walk.sequence(graph.top.body, graph.top)
    return Verdict(conflicts=tuple(walk.found), inside=tuple(walk.inside), summary=summary)


class _Walk:
    def __init__(self, conflicts: Conflicts, orders: Orders) -> None:
        self._conflicts = conflicts
        self._orders = orders
        self.found: list[Conflict] = []
        self.inside: list[Conflict] = []

    def sequence(
        self,
        nodes: Sequence,
        region: Region,
        expected: tuple[Pending, ...] = (),
        around: Loop | None = None,
    ) -> Summary:
        """Go through a sequence; `expected` is behind its start, but no part of it."""
        if not expected and is_alone(nodes) and not self._has_order(nodes[0], around):
            return self._node(nodes[0], region)
        state = State(self._conflicts, region.units)
        guard = State(self._conflicts, region.units) if expected else None
        if guard is not None:
            guard.expect(expected)
        for node in nodes:
            self._pass(state, guard, (node, False))
            summary = self._node(node, region)
            self.found += state.conflicts(summary)
            state.apply(summary)
            if guard is not None:
                self.found += guard.conflicts(summary)
                guard.apply(through_only(summary))
        if around is not None and state.is_live:
            self._pass(state, guard, (around, True))
        return state.summary()

    def _has_order(self, node: Node, around: Loop | None) -> bool:
        """Whether there is a barrier before or behind the only node of a sequence."""
        return (node, False) in self._orders or (around, True) in self._orders

    def _pass(self, state: State, guard: State | None, place: tuple[Node, bool]) -> None:
        order = self._orders.get(place)
        if order is not None and state.is_live:
            state.barrier(order)
            if guard is not None:
                guard.barrier(order)

    def _node(self, node: Node, region: Region) -> Summary:
        match node:
            case Step():
                return self._step(node, region)
            case Jump(exit=exit):
                return leave(exit)
            case Region(body=body):
                return self.sequence(body, node)
            case Arms(regions=regions):
                return side_by_side_of([self.sequence(arm.body, arm) for arm in regions])
            case Choice():
                head = self._step(node.head, region)
                arms = [self.sequence(arm, region, head.pending) for arm in node.arms]
                return in_sequence(self._conflicts, (head, either_of(arms)))
            case Loop():
                return self._loop(node, region)
        raise TypeError(f"no such node: {node!r}")

    def _loop(self, node: Loop, region: Region) -> Summary:
        head, test = self._step(node.head, region), self._step(node.test, region)
        body = self.sequence(node.body, region, test.pending, around=node)
        iteration = iteration_of(self._conflicts, test, body)
        start = State(self._conflicts, region.units)
        start.expect(head.pending)
        start.expect(repeated(iteration, node.loop))
        self.found += start.conflicts(iteration)
        whole = loop_of(test, iteration, node)
        return in_sequence(self._conflicts, (head, whole))

    def _step(self, step: Step, region: Region) -> Summary:
        """A step; what its calls need between them and the rest of the statement is `inside`."""
        if any(isinstance(event, Summary) for event in step.events):
            state = State(self._conflicts, region.units)
            called: set[int] = set()
            for event in step.events:
                summary = event if isinstance(event, Summary) else touch(event)
                is_call = isinstance(event, Summary)
                for conflict in state.conflicts(summary):
                    if is_call or conflict.earlier.number in called:
                        self.inside.append(conflict)
                if is_call:
                    called.update(entry.access.number for entry in summary.entries)
                    called.update(item.access.number for item in summary.pending)
                state.apply(summary)
        else:
            self.inside += self._between_views(step, region)
        return step_summary(self._conflicts, step)

    def _between_views(self, step: Step, region: Region) -> Iterator[Conflict]:
        """What a statement reads through one view and writes through another of the same memory."""
        accesses = [event for event in step.events if isinstance(event, Access) and event.views]
        for earlier, later in combinations(accesses, 2):
            if earlier.roots == later.roots and not share_view(earlier, later):
                state = State(self._conflicts, region.units)
                state.apply(touch(earlier))
                yield from state.conflicts(touch(later))
