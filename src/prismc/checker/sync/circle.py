"""Barriers in the body of a loop, which is a circle: one gap is opened, the rest is straight."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from prismc.checker.sync.conflicts import Conflict
from prismc.checker.sync.flow import loop_of, repeated, through_only
from prismc.checker.sync.graph import Loop, Pending, Summary
from prismc.checker.sync.path import in_sequence, iteration_of, step_summary
from prismc.checker.sync.straight import Gap, Gaps, Planned, Straight, places

# Placements of one loop that are equally good inside it and kept for its surroundings to choose.
MOST_OPTIONS = 8
# In a body of more nodes a circle is not opened at every gap, only where one has to be.
MOST_STARTS = 16


class Circle:
    """The body of a loop as a circle: its test, its nodes, and over the back edge again."""

    def __init__(self, around: Straight, loop: Loop) -> None:
        self.around = around
        self._loop = loop
        self._conflicts = around.conflicts
        self._head = step_summary(self._conflicts, loop.head)
        self.test = step_summary(self._conflicts, loop.test)
        self.size = len(loop.body)

    def options(self) -> tuple[Planned, ...]:
        """The ways to plan the loop that are equally good inside it."""
        chosen = self.chosen([self.around.options(node) for node in self._loop.body])
        return tuple(self.planned(chosen, gaps) for gaps in self.placements(chosen)[:MOST_OPTIONS])

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
        first = self.first_interval(chosen)
        if first is None:
            return [self._repaired(chosen, {}, self.size + 1)]
        starts, conflict = first
        if self.size < MOST_STARTS:
            starts = range(self.size + 1)
        found: dict[tuple[int, ...], Gaps] = {}
        for start in starts:
            gaps = {start: conflict, **places(self._from(start, chosen))}
            for same in self._equals(gaps):
                found.setdefault(tuple(sorted(same)), same)
        return self._smallest(chosen, found.values())

    def _smallest(self, chosen: list[Planned], candidates: Iterable[Gaps]) -> list[Gaps]:
        """The smallest of the sets, once they are whole; repair only ever adds to one."""
        found: dict[tuple[int, ...], Gaps] = {}
        least = self.size + 1
        for gaps in sorted(candidates, key=len):
            if len(gaps) > least:
                break
            whole = self._repaired(chosen, gaps, least)
            found.setdefault(tuple(sorted(whole)), whole)
            least = min(least, len(whole))
        return [gaps for places, gaps in found.items() if len(places) == least]

    def planned(self, chosen: list[Planned], gaps: Gaps) -> Planned:
        """The whole loop with barriers in `gaps`."""
        loop = self._loop
        summary = loop_of(self.test, self.iteration(chosen, gaps), loop)
        return Planned(
            insertions=self.around.insertions(loop.body, chosen, gaps, around=loop),
            summary=in_sequence(self._conflicts, (self._head, summary)),
        )

    def first_interval(self, chosen: list[Planned]) -> tuple[Collection[int], Conflict] | None:
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

    def _repaired(self, chosen: list[Planned], gaps: Gaps, most: int) -> Gaps:
        """With further barriers for paths that the circle does not show: from `continue`, from what
        is evaluated once before the loop, from copies that are complete only later. Some of them
        may be missing where there are more than `most`."""
        if self.around.speaks_alone:
            return gaps
        while True:
            gaps, found = self._swept_inside(chosen, gaps)
            if len(gaps) > most:
                return gaps
            iteration = self.iteration(chosen, gaps)
            expected = self.expected(iteration)
            if found is None:
                found = self._open_around(iteration, expected)
            if found is None:
                return gaps
            more = self._swept_around(expected, chosen, gaps)
            if len(more) == len(gaps):
                more, rest = self._settled(found, chosen, gaps)
                if more is gaps or rest is None:
                    return more
            if len(more) > most:
                return more
            gaps = more

    def _swept_inside(self, chosen: list[Planned], gaps: Gaps) -> tuple[Gaps, Conflict | None]:
        """With a barrier just before each node that needs one after what comes before it in its
        iteration, and a conflict that is open all the same: a barrier does not order copies that
        are still on their way there. Barriers that open a circle leave nothing else open."""
        if not self._conflicts.has_copies:
            return gaps, None
        made, left = dict(gaps), None
        state = self.around.state()
        state.apply(self.test)
        for index, planned in enumerate(chosen):
            found = None
            if index not in made:
                found = state.conflict(planned.summary)
                if found is not None:
                    made[index] = found
            if index in made:
                state.barrier(self.around.order)
                left = left or state.conflict(planned.summary)
            state.apply(planned.summary)
        return made, left

    def _swept_around(
        self, expected: tuple[Pending, ...], chosen: list[Planned], gaps: Gaps
    ) -> Gaps:
        """With a barrier just before each node that needs one after what is `expected` to come
        before its iteration."""
        made = dict(gaps)
        state = self.around.state()
        state.expect(expected)
        state.apply(through_only(self.test))
        for index, planned in enumerate(chosen):
            found = None if index in gaps else state.conflict(planned.summary)
            if found is not None:
                made[index] = found
            if index in made:
                state.barrier(self.around.order)
            state.apply(through_only(planned.summary))
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
        return self._open_around(iteration, self.expected(iteration))

    def _open_around(self, iteration: Summary, expected: tuple[Pending, ...]) -> Conflict | None:
        """A conflict of an iteration with what is `expected` to come before it."""
        state = self.around.state()
        state.expect(expected)
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


def _nodes_by_access(chosen: list[Planned]) -> dict[int, int]:
    """The first node that holds each access; the test of the loop around is none of them."""
    found: dict[int, int] = {}
    for index, planned in enumerate(chosen):
        for number in planned.numbers:
            found.setdefault(number, index)
    return found
