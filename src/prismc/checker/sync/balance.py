"""Waits for bulk loads on the paths that would miss one.

Waits stand in front of what touches the memory that loads fill. A path that leaves before, by a
`break` or a `continue`, would leave a phase behind that nobody has waited for, and the next loads
would complete another one. So it gets a wait of its own: in front of the jump, behind the last
statement of an arm or of a loop's body, or in front of the next loads. (The compensation of
`docs/language.md`, "Where barriers come from".) A wait that no path comes to with open loads goes.
"""

from __future__ import annotations

from prismc.checker.sync.graph import (
    Arms,
    Choice,
    Commit,
    Exit,
    Jump,
    Loop,
    Node,
    Region,
    Sequence,
    Wait,
    nodes_in,
)
from prismc.checker.sync.loads import State, Unbalanced, is_balanced, regions_of, starts_of
from prismc.checker.sync.plan import Position, Where
from prismc.checker.sync.split import Loads
from prismc.source.record import replace
from prismc.source.span import Span

Past = tuple[Sequence, State | None]


def with_balance(top: Region, *, has_callers: bool) -> tuple[Region, frozenset[Wait]]:
    """The code of a kernel, or of a function that `has_callers`, with one wait for each phase of
    its bulk loads on every path, as far as all waits for them stand in code of the same threads;
    and the waits for the loads that were not in balance, all of which have to stay."""
    kept: set[Wait] = set()
    queues = (node.queue for node in nodes_in(top.body) if isinstance(node, Commit))
    for loads in dict.fromkeys(queue for queue in queues if isinstance(queue, Loads)):
        if is_balanced(top, loads, has_callers=has_callers):
            continue
        top = _balanced(top, loads, has_callers=has_callers)
        kept.update(wait for _, wait in _waits(top, loads))
    return top, frozenset(kept)


def _waits(top: Region, loads: Loads) -> list[tuple[Region, Wait]]:
    return [
        (region, node)
        for region, node in regions_of(top)
        if isinstance(node, Wait) and node.queue == loads
    ]


def _balanced(top: Region, loads: Loads, *, has_callers: bool) -> Region:
    """The code with the fewest changes after which waits and phases alternate; itself if nothing
    makes them. (With the first wait before the first phase the mbarrier starts with a credit.)"""
    waits = _waits(top, loads)
    if len({region.units for region, _ in waits}) != 1:
        return top
    before = {wait for _, wait in waits}
    made: list[Region] = []
    for start in starts_of(has_callers=has_callers):
        balance = _Balance(loads, pattern=waits[0][1], units=waits[0][0].units)
        try:
            made.append(replace(top, body=balance.sequence(top.body, top, start)[0]))
        except Unbalanced:
            continue
    changes = [
        len(before.symmetric_difference(wait for _, wait in _waits(one, loads))) for one in made
    ]
    return made[changes.index(min(changes))] if made else top


class _Balance:
    """Follows the phases of loads through code as `loads.py` does. Waits are copies of `pattern`,
    and may stand in code of `units`."""

    def __init__(self, loads: Loads, pattern: Wait, units: tuple[int, ...]) -> None:
        self._loads = loads
        self._pattern = pattern
        self._units = units
        # The states at the starts of the loops around.
        self._loops: list[State] = []

    def sequence(self, nodes: Sequence, region: Region, state: State | None) -> Past:
        """Nodes in code of `region` and the state behind them; None if no path goes on. Raises
        Unbalanced."""
        made: list[Node] = []
        for index, node in enumerate(nodes):
            if state is None:
                return (*made, *nodes[index:]), None
            parts, state = self._node(node, region, state)
            made += parts
        return tuple(made), state

    def _node(self, node: Node, region: Region, state: State) -> Past:
        """A node, behind a wait if it does not go on with open loads."""
        try:
            return self._past(node, region, state)
        except Unbalanced:
            if state is State.IDLE or region.units != self._units:
                raise
        parts, after = self._past(node, region, State.IDLE)
        return (self._wait(node.before, node.span), *parts), after

    def _wait(self, position: Position, span: Span) -> Wait:
        return replace(self._pattern, before=position, span=span)

    def _past(self, node: Node, region: Region, state: State) -> Past:
        match node:
            case Commit(queue=queue) if queue == self._loads:
                if state is State.OPEN:
                    raise Unbalanced(node)
                return (node,), State.OPEN
            case Wait(queue=queue) if queue == self._loads:
                return ((node,) if state is State.OPEN else ()), State.IDLE
            case Jump(exit=exit):
                if exit is not Exit.RETURN and self._loops and state is not self._loops[-1]:
                    raise Unbalanced(node)
                return (node,), None
            case Region():
                body, after = self.sequence(node.body, node, state)
                return (replace(node, body=body),), after
            case Arms():
                return self._arms(node, state)
            case Choice():
                return self._choice(node, region, state)
            case Loop():
                return self._loop(node, region, state)
            case _:
                return (node,), state

    def _arms(self, node: Arms, state: State) -> Past:
        regions: list[Region] = []
        for arm in node.regions:
            body, after = self.sequence(arm.body, arm, state)
            regions.append(replace(arm, body=body))
            state = after or state
        return (replace(node, regions=tuple(regions)),), state

    def _choice(self, node: Choice, region: Region, state: State) -> Past:
        """Both arms end alike: with loads that only one of them leaves open, that waits."""
        arms = [self.sequence(arm, region, state) for arm in node.arms]
        ends = {end for _, end in arms if end is not None}
        after = ends.pop() if len(ends) == 1 else State.IDLE if ends else None
        bodies = [
            (*body, self._at_end(node, body, region)) if end not in (after, None) else body
            for body, end in arms
        ]
        return (replace(node, arms=(bodies[0], bodies[1])),), after

    def _at_end(self, node: Choice, body: Sequence, region: Region) -> Wait:
        if region.units != self._units or not body:
            raise Unbalanced(node)
        return self._wait(Position(Where.AFTER, body[-1].before.anchor), body[-1].span)

    def _loop(self, node: Loop, region: Region, state: State) -> Past:
        """A loop whose iterations, and ways out, all leave the state that it starts with."""
        self._loops.append(state)
        try:
            body, after = self.sequence(node.body, region, state)
        finally:
            self._loops.pop()
        if after not in (state, None):
            if after is State.IDLE or node.end is None or region.units != self._units:
                raise Unbalanced(node)
            body = (*body, self._wait(node.end, node.test.span))
        return (replace(node, body=body),), state
