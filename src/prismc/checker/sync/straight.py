"""Barriers in code that runs straight ahead: each just before the first node that needs one.

Choices, arms and inner regions are planned inside first and are one node here, and so are loops,
which somebody else plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import Coverage, barrier
from prismc.checker.sync.flow import NOTHING, either_of, is_alone, leave, side_by_side_of
from prismc.checker.sync.graph import (
    Arms,
    Choice,
    Jump,
    Loop,
    Node,
    Pending,
    Region,
    Sequence,
    Step,
    Summary,
    position_at,
)
from prismc.checker.sync.path import State, in_sequence, step_summary
from prismc.checker.sync.plan import Position
from prismc.source.record import Record

# How many nodes are looked at to choose between placements of the one before them.
MOST_AHEAD = 64


# The conflicts that ask for barriers, by gap: the node that the barrier stands in front of; after
# the last node, their number.
Gaps = Mapping[int, Conflict]


class Insertion(Record):
    """A full barrier in the code of `region`: in front of `node`, or (with `is_end`) after the last
    statement of the loop `node`. `conflict` asked for it."""

    node: Node
    is_end: bool
    region: Region
    conflict: Conflict

    @property
    def position(self) -> Position:
        return position_at(self.node, is_end=self.is_end)


class Planned(Record):
    """A node with the barriers inside it, and what its surroundings need to know."""

    insertions: tuple[Insertion, ...]
    summary: Summary

    @property
    def numbers(self) -> frozenset[int]:
        """The accesses that can be in conflict with something outside."""
        behind = [item.access for _, flow in self.summary.exits for item in flow.pending]
        ahead = [entry.access for entry in self.summary.entries]
        return frozenset(access.number for access in (*behind, *ahead))


class Gap(Record):
    """A barrier in front of node number `index` (after the last one: the number of nodes), and the
    conflict that asked for it."""

    index: int
    conflict: Conflict


class Straight:
    """Plans the code of one region; `plan_loop` plans the loops in it."""

    def __init__(self, region: Region, conflicts: Conflicts, plan_loop: PlansLoop) -> None:
        self._region = region
        self._plan_loop = plan_loop
        self.conflicts = conflicts
        self.order: Coverage = barrier(region.units)
        self.speaks_alone = not self.order.classes

    def sequence(self, nodes: Sequence, expected: tuple[Pending, ...] = ()) -> Planned:
        """Plan nodes that run one after the other, after accesses that are `expected` behind."""
        if not expected and is_alone(nodes):
            return self.options(nodes[0])[0]
        state = self.state()
        state.expect(expected)
        chosen, gaps = self.chosen([self.options(node) for node in nodes], state)
        return Planned(
            insertions=self.insertions(nodes, chosen, gaps, around=None),
            summary=self.along(chosen, gaps),
        )

    def chosen(
        self, options: list[tuple[Planned, ...]], state: State
    ) -> tuple[list[Planned], Gaps]:
        """For each node in turn the option after which barriers come latest, and the barriers: each
        just before the first node that needs one. (A barrier that comes later never makes more
        barriers necessary behind it.)"""
        chosen = [found[0] for found in options]
        gaps: dict[int, Conflict] = {}
        for index, found in enumerate(options):
            if len(found) > 1:
                ahead = [self._next_barriers(state.copy(), chosen, index, each) for each in found]
                chosen[index] = found[ahead.index(max(ahead))]
            gaps |= places(self.walk(state, chosen, range(index, index + 1)))
        return chosen, gaps

    def _next_barriers(
        self, state: State, chosen: list[Planned], index: int, option: Planned
    ) -> list[int]:
        """The gaps of the next barriers, if node `index` is planned so: up to the first one behind
        the node, or the end of what is looked at."""
        trial = [option, *chosen[index + 1 : index + MOST_AHEAD]]
        found: list[int] = []
        for gap in self.walk(state, trial, range(len(trial))):
            found.append(gap.index)
            if gap.index:
                return found
        return [*found, len(trial)]

    def options(self, node: Node) -> tuple[Planned, ...]:
        """The ways to plan a node's inside, the preferred one first."""
        match node:
            case Step():
                return (_without_barriers(step_summary(self.conflicts, node)),)
            case Jump(exit=exit):
                return (_without_barriers(leave(exit)),)
            case Region():
                return (self._inner(node).sequence(node.body),)
            case Arms(regions=regions):
                arms = [self._inner(arm).sequence(arm.body) for arm in regions]
                return (_joined(arms, side_by_side_of(arm.summary for arm in arms)),)
            case Choice():
                return (self._choice(node),)
            case Loop():
                return self._plan_loop(self, node)
        raise TypeError(f"no such node: {node!r}")

    def _inner(self, region: Region) -> Straight:
        return Straight(region, self.conflicts, self._plan_loop)

    def _choice(self, node: Choice) -> Planned:
        head = step_summary(self.conflicts, node.head)
        behind = head.pending
        arms = [self.sequence(arm, behind) for arm in node.arms]
        either = either_of(arm.summary for arm in arms)
        return _joined(arms, in_sequence(self.conflicts, (head, either)))

    # ----------------------------------------------------------------------- sequences

    def state(self) -> State:
        """The start of a path through this code."""
        return State(self.conflicts, self._region.units)

    def walk(self, state: State, chosen: list[Planned], order: Iterable[int]) -> Iterator[Gap]:
        """Barriers for a straight line: each just before the first node that needs one."""
        for index in order:
            found = self._needed(state, chosen[index].summary)
            if found is not None:
                yield Gap(index=index, conflict=found)
                state.barrier(self.order)
            state.apply(chosen[index].summary)

    def _needed(self, state: State, summary: Summary) -> Conflict | None:
        return None if self.speaks_alone else state.conflict(summary)

    def along(self, chosen: list[Planned], gaps: Gaps) -> Summary:
        """The sequence with its barriers as one node."""
        if not chosen and not gaps:
            return NOTHING
        state = self.state()
        for index, planned in enumerate(chosen):
            if index in gaps:
                state.barrier(self.order)
            state.apply(planned.summary)
        if len(chosen) in gaps and state.is_live:
            state.barrier(self.order)
        return state.summary()

    def insertions(
        self,
        nodes: Sequence,
        chosen: list[Planned],
        gaps: Gaps,
        *,
        around: Loop | None,
    ) -> tuple[Insertion, ...]:
        """The barriers of a sequence in the order of the text; `around` is the loop whose body it
        is."""
        found: list[Insertion] = []
        for index, node in enumerate(nodes):
            if index in gaps:
                found.append(self._insertion(node, gaps[index], is_end=False))
            found += chosen[index].insertions
        if len(nodes) in gaps and around is not None and around.end is not None:
            found.append(self._insertion(around, gaps[len(nodes)], is_end=True))
        return tuple(found)

    def _insertion(self, node: Node, conflict: Conflict, *, is_end: bool) -> Insertion:
        return Insertion(node=node, is_end=is_end, region=self._region, conflict=conflict)


# What plans a loop in some code: the ways to do it, the preferred one first.
PlansLoop = Callable[[Straight, Loop], tuple[Planned, ...]]


def places(gaps: Iterable[Gap]) -> Gaps:
    """The gaps by their numbers."""
    return {gap.index: gap.conflict for gap in gaps}


def _without_barriers(summary: Summary) -> Planned:
    return Planned(insertions=(), summary=summary)


def _joined(parts: Iterable[Planned], summary: Summary) -> Planned:
    insertions = tuple(insertion for part in parts for insertion in part.insertions)
    return Planned(insertions=insertions, summary=summary)
