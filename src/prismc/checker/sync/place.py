"""Where full barriers stand: the fewest places that put all conflicting accesses in order.

Every required order is an interval of places, from just after the earlier access to just before
the later one. In straight-line code the greedy choice (the last place of the interval that ends
first) stabs all intervals with the fewest points. In a loop the intervals lie on a circle: one of
them is stabbed at each of its places in turn and the rest greedily from there. Loops are planned
from the inside out, so a barrier stands in an inner loop only for what the inner loop itself needs;
an order between a loop and what is around it is made outside (A. Darte and R. Schreiber, "A
linear-time algorithm for optimal barrier placement", PPoPP 2005).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import Coverage, barrier
from prismc.checker.sync.flow import (
    NOTHING,
    State,
    either_of,
    in_sequence,
    is_alone,
    iteration_of,
    leave,
    loop_of,
    repeated,
    side_by_side_of,
    step_summary,
    through_only,
)
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
from prismc.checker.sync.plan import Position
from prismc.source.record import Record

# Placements of one loop that are equally good inside it and kept for its surroundings to choose.
MOST_OPTIONS = 8
# In a body of more nodes a circle is not opened at every gap, only where one has to be.
MOST_STARTS = 16
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


def place_barriers(
    region: Region, conflicts: Conflicts, circle: PlansLoop | None = None
) -> Planned:
    """Plan a function's body; `circle` makes what plans the body of a loop."""
    return _Region(region, conflicts, circle or Circle).sequence(region.body)


class _Region:
    """Plans the code of one region."""

    def __init__(self, region: Region, conflicts: Conflicts, circle: PlansLoop) -> None:
        self._region = region
        self._circle = circle
        self.conflicts = conflicts
        self.order: Coverage = barrier(region.units)
        self.speaks_alone = not self.order.classes

    def sequence(self, nodes: Sequence, expected: tuple[Pending, ...] = ()) -> Planned:
        """Plan nodes that run one after the other, after accesses that are `expected` behind."""
        if not expected and is_alone(nodes):
            return self._options(nodes[0])[0]
        state = self.state()
        state.expect(expected)
        chosen, gaps = self.chosen([self._options(node) for node in nodes], state)
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
            gaps |= _places(self.walk(state, chosen, range(index, index + 1)))
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

    def _options(self, node: Node) -> tuple[Planned, ...]:
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
                return self._loop(node)
        raise TypeError(f"no such node: {node!r}")

    def _inner(self, region: Region) -> _Region:
        return _Region(region, self.conflicts, self._circle)

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

    # ----------------------------------------------------------------------- loops

    def _loop(self, node: Loop) -> tuple[Planned, ...]:
        options = [self._options(inner) for inner in node.body]
        circle = self._circle(self, node)
        chosen = circle.chosen(options)
        placements = circle.placements(chosen)
        return tuple(circle.planned(chosen, gaps) for gaps in placements[:MOST_OPTIONS])


class Circle:
    """The body of a loop as a circle: its test, its nodes, and over the back edge again."""

    def __init__(self, around: _Region, loop: Loop) -> None:
        self.around = around
        self._loop = loop
        self._conflicts = around.conflicts
        self._head = step_summary(self._conflicts, loop.head)
        self.test = step_summary(self._conflicts, loop.test)
        self.size = len(loop.body)

    def chosen(self, options: list[tuple[Planned, ...]]) -> list[Planned]:
        """For each node in turn the option that leaves the fewest barriers around it; in a long
        body, the one after which they come latest."""
        if len(options) >= MOST_STARTS:
            state = self.around.state()
            state.apply(self.test)
            return self.around.chosen(options, state)[0]
        chosen = [found[0] for found in options]
        for index, found in enumerate(options):
            if len(found) > 1:
                trials = [[*chosen[:index], option, *chosen[index + 1 :]] for option in found]
                costs = [len(self.placements(trial)[0]) for trial in trials]
                chosen[index] = found[costs.index(min(costs))]
        return chosen

    def placements(self, chosen: list[Planned]) -> list[Gaps]:
        """The smallest sets of gaps that put everything inside the loop in order."""
        first = self._first_interval(chosen)
        if first is None:
            return [self._repaired(chosen, {})]
        starts, conflict = first
        if self.size < MOST_STARTS:
            starts = range(self.size + 1)
        found: dict[tuple[int, ...], Gaps] = {}
        for start in starts:
            gaps = {start: conflict, **_places(self._from(start, chosen))}
            for same in self._equals(gaps):
                found.setdefault(tuple(sorted(same)), same)
        return self._smallest(chosen, found.values())

    def _smallest(self, chosen: list[Planned], candidates: Iterable[Gaps]) -> list[Gaps]:
        """The smallest of the sets, once they are whole; repair only ever adds to one."""
        found: dict[tuple[int, ...], Gaps] = {}
        for gaps in sorted(candidates, key=len):
            if found and len(gaps) > min(map(len, found)):
                break
            whole = self._repaired(chosen, gaps)
            found.setdefault(tuple(sorted(whole)), whole)
        least = min(map(len, found))
        return [gaps for places, gaps in found.items() if len(places) == least]

    def planned(self, chosen: list[Planned], gaps: Gaps) -> Planned:
        """The whole loop with barriers in `gaps`."""
        loop = self._loop
        summary = loop_of(
            self._conflicts,
            self.test,
            self.iteration(chosen, gaps),
            loop.loop,
            runs=loop.runs,
            ends=loop.ends,
        )
        return Planned(
            insertions=self.around.insertions(loop.body, chosen, gaps, around=loop),
            summary=in_sequence(self._conflicts, (self._head, summary)),
        )

    def _first_interval(self, chosen: list[Planned]) -> tuple[Collection[int], Conflict] | None:
        """The gaps of the shortest interval that is known to need a barrier, and its conflict."""
        intervals: list[tuple[Collection[int], Conflict]] = []
        node_of = _nodes_by_access(chosen)
        state = self.around.state()
        state.apply(self.test)
        for gap in self.around.walk(state, chosen, range(self.size)):
            start = node_of.get(gap.conflict.earlier.number, -1) + 1
            intervals.append((range(start, gap.index + 1), gap.conflict))
        if not intervals:
            found = None if self.around.speaks_alone else self._open(chosen, {})
            if found is None:
                return None
            intervals.append((self._gaps_around(found, chosen), found))
        return min(intervals, key=lambda interval: len(interval[0]))

    def _gaps_around(self, conflict: Conflict, chosen: list[Planned]) -> Collection[int]:
        """The gaps on the way from an access over the back edge to the later one."""
        node_of = _nodes_by_access(chosen)
        earlier = node_of.get(conflict.earlier.number, -1)
        later = node_of.get(conflict.later.number, -1)
        return dict.fromkeys((*range(later + 1), *range(earlier + 1, self.size + 1)))

    def _from(self, start: int, chosen: list[Planned]) -> Iterator[Gap]:
        """Further barriers, greedily, once around from one in gap `start`."""
        around = self.around
        state = around.state()
        yield from around.walk(state, chosen, range(start, self.size))
        state.cross(self._loop.loop)
        found = state.conflict(self.test)
        if found is not None and start != self.size:
            yield Gap(index=self.size, conflict=found)
            state.barrier(around.order)
        state.apply(self.test)
        yield from around.walk(state, chosen, range(min(start, self.size)))

    def _equals(self, gaps: Gaps) -> Iterator[Gaps]:
        """The same places around the circle: the start of the body is the end of the one before,
        unless a test stands between."""
        yield gaps
        if not self._loop.test.events and 0 in gaps and self.size not in gaps:
            yield {index or self.size: found for index, found in gaps.items()}

    def _repaired(self, chosen: list[Planned], gaps: Gaps) -> Gaps:
        """With further barriers for paths that the circle does not show: from `continue`, from what
        is evaluated once before the loop, from copies that are complete only later."""
        if self.around.speaks_alone:
            return gaps
        found = self._open(chosen, gaps)
        while found is not None:
            more = self._swept(chosen, gaps)
            if len(more) > len(gaps):
                gaps, found = more, self._open(chosen, more)
                continue
            more, rest = self._settled(found, chosen, gaps)
            if more is gaps:
                break
            gaps, found = more, rest
        return gaps

    def _swept(self, chosen: list[Planned], gaps: Gaps) -> Gaps:
        """With a barrier just before each node that needs one after what comes before it in its
        iteration; if none does, after what comes before its iteration."""
        if self._conflicts.has_copies:
            state = self.around.state()
            state.apply(self.test)
            more = self._with_gaps(state, [planned.summary for planned in chosen], chosen, gaps)
            if len(more) > len(gaps):
                return more
        state = self.around.state()
        state.expect(self.expected(self.iteration(chosen, gaps)))
        state.apply(through_only(self.test))
        return self._with_gaps(state, [through_only(each.summary) for each in chosen], chosen, gaps)

    def _with_gaps(
        self, state: State, passed: list[Summary], chosen: list[Planned], gaps: Gaps
    ) -> Gaps:
        """With a barrier just before each node that needs one after what is behind; `passed` is
        what is behind each of them then."""
        made = dict(gaps)
        for index, planned in enumerate(chosen):
            found = None if index in gaps else state.conflict(planned.summary)
            if found is not None:
                made[index] = found
            if index in made:
                state.barrier(self.around.order)
            state.apply(passed[index])
        return made

    def _settled(
        self, conflict: Conflict, chosen: list[Planned], gaps: Gaps
    ) -> tuple[Gaps, Conflict | None]:
        """With a gap where a barrier settles a conflict, just before the later access, or any; and
        the conflict that is open then. The same gaps where none does."""
        latest = _nodes_by_access(chosen).get(conflict.later.number, 0)
        candidates: list[int] = [latest, *range(self.size + 1)]
        for gap in candidates:
            if gap not in gaps:
                more = {gap: conflict, **gaps}
                rest = self._open(chosen, more)
                if rest is None or (rest.earlier, rest.later) != (conflict.earlier, conflict.later):
                    return more, rest
        return gaps, conflict

    def _open(self, chosen: list[Planned], gaps: Gaps) -> Conflict | None:
        """A conflict with an earlier iteration, or with what comes before the loop's body; inside
        an iteration only where there may be copies."""
        if self._conflicts.has_copies:
            found = self._open_inside(chosen, gaps)
            if found is not None:
                return found
        iteration = self.iteration(chosen, gaps)
        state = self.around.state()
        state.expect(self.expected(iteration))
        return state.conflict(iteration)

    def expected(self, iteration: Summary) -> tuple[Pending, ...]:
        """What may be behind the start of an iteration."""
        return (*self._head.pending, *repeated(iteration, self._loop.loop))

    def _open_inside(self, chosen: list[Planned], gaps: Gaps) -> Conflict | None:
        """A conflict inside one iteration: a barrier that opens the circle does not order copies
        that are still on their way there."""
        state = self.around.state()
        state.apply(self.test)
        for index, planned in enumerate(chosen):
            if index in gaps:
                state.barrier(self.around.order)
            found = state.conflict(planned.summary)
            if found is not None:
                return found
            state.apply(planned.summary)
        return None

    def iteration(self, chosen: list[Planned], gaps: Gaps) -> Summary:
        """The test and the body with barriers in `gaps`."""
        return iteration_of(self._conflicts, self.test, self.around.along(chosen, gaps))


class Asking(Circle):
    """Tells whether the body of a loop needs barriers, wherever they would stand best."""

    def placements(self, chosen: list[Planned]) -> list[Gaps]:
        """No gap, or any."""
        first = self._first_interval(chosen)
        return [{} if first is None else {0: first[1]}]


# What plans the body of a loop in the code of a region.
PlansLoop = Callable[[_Region, Loop], Circle]


def asked_barriers(region: Region, conflicts: Conflicts, loop: Loop) -> tuple[Insertion, ...]:
    """The barriers of some code, where those of the body of `loop` show only whether it needs
    any."""

    def circle(around: _Region, node: Loop) -> Circle:
        return (Asking if node is loop else Circle)(around, node)

    return place_barriers(region, conflicts, circle).insertions


def _places(gaps: Iterable[Gap]) -> Gaps:
    return {gap.index: gap.conflict for gap in gaps}


def _nodes_by_access(chosen: list[Planned]) -> dict[int, int]:
    """The first node that holds each access; the test of the loop around is none of them."""
    found: dict[int, int] = {}
    for index, planned in enumerate(chosen):
        for number in planned.numbers:
            found.setdefault(number, index)
    return found


def _without_barriers(summary: Summary) -> Planned:
    return Planned(insertions=(), summary=summary)


def _joined(parts: Iterable[Planned], summary: Summary) -> Planned:
    insertions = tuple(insertion for part in parts for insertion in part.insertions)
    return Planned(insertions=insertions, summary=summary)
