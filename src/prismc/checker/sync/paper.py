"""The paper's placement (Prism paper, section 5, "Inserting Synchronization"), to compare with.

Nodes are whole scopes. Each variable is looked at by itself: a barrier stands right before a scope
if the variable is written there, or was before it and since the last of its barriers. Nothing
moves, nothing is merged, and indices do not count, except inside one scope: it may run again after
itself without a barrier where its pieces are shown to be apart, as figure 6 takes for granted.
"""

from __future__ import annotations

from prismc.checker.sync.circle import Circle
from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.graph import Access, Crossings, Entry, Graph, Node, Pending
from prismc.checker.sync.meetings import Meeting
from prismc.checker.sync.near import known_elements
from prismc.checker.sync.place import place_barriers
from prismc.checker.sync.refine import Barrier
from prismc.checker.sync.straight import Gap, Gaps, Insertion, Planned
from prismc.checker.sync.units import share_view
from prismc.source.record import replace


class ScopeConflicts(Conflicts):
    """Judges scopes, not elements, and one variable at a time: the memory with number `chosen`."""

    chosen = 0

    def between(self, pending: Pending, entry: Entry, units: tuple[int, ...]) -> Conflict | None:
        if self.memory_of(entry.access) != self.chosen:
            return None
        return super().between(pending, entry, units)

    def near(self, access: Access) -> None:
        """Anything may meet: elements do not count."""

    def _compare(self, earlier: Access, later: Access, crossed: Crossings, width: int) -> Meeting:
        if share_view(earlier, later) and _stays_apart(earlier, later, crossed):
            return super()._compare(earlier, later, crossed, width)
        threads = (earlier.footprint.threads, later.footprint.threads)
        return Meeting(classes=(threads,), is_exact=False)


class ScopeCircle(Circle):
    """A loop's body, gone through in the order of the text until nothing is missing."""

    def placements(self, chosen: list[Planned]) -> list[Gaps]:
        gaps: dict[int, Conflict] = {}
        while (found := self._missing(chosen, gaps)) is not None:
            gaps[found.index] = found.conflict
        return [gaps]

    def _missing(self, chosen: list[Planned], gaps: Gaps) -> Gap | None:
        """The first barrier that an iteration lacks, after what may be behind its start."""
        if self.around.speaks_alone:
            return None
        state = self.around.state()
        state.expect(self.expected(self.iteration(chosen, gaps)))
        found = state.conflict(self.test)
        if found is not None and self.size not in gaps:
            return Gap(index=self.size, conflict=found)
        state.apply(self.test)
        for index, planned in enumerate(chosen):
            if index in gaps:
                state.barrier(self.around.order)
            found = state.conflict(planned.summary)
            if found is not None and index not in gaps:
                return Gap(index=index, conflict=found)
            state.apply(planned.summary)
        return None


def _stays_apart(earlier: Access, later: Access, crossed: Crossings) -> bool:
    """Whether two accesses lie in one execution of their scope, or in two that touch different
    elements, whoever touches them."""
    loops = [loop for loop, _ in crossed if any(loop in use.loops for use in later.views)]
    if not loops:
        return True
    mine, other = earlier.footprint, later.footprint
    if len(loops) > 1 or mine.common != other.common or mine.varying or other.varying:
        return False
    owner: dict[int, int] = {}
    for footprint in (mine, other):
        if loops[0] not in footprint.loops or loops[0] in footprint.cycles:
            return False
        place = footprint.loops.index(loops[0])
        for point in footprint.points:
            for element in known_elements(replace(footprint, points=(point,))):
                if owner.setdefault(element, point.counters[place]) != point.counters[place]:
                    return False
    return True


def place_as_paper(graph: Graph, exact: Conflicts) -> tuple[Barrier, ...]:
    """The barriers of a function, in whose graph scopes are nodes; `exact` judges its elements."""
    conflicts = ScopeConflicts.beside(exact, graph.accesses)
    found: dict[tuple[Node, bool], list[Insertion]] = {}
    for memory in sorted({conflicts.memory_of(access) for access in graph.accesses}):
        conflicts.chosen = memory
        for insertion in place_barriers(graph.top, conflicts, ScopeCircle).insertions:
            found.setdefault((insertion.node, insertion.is_end), []).append(insertion)
    return tuple(
        Barrier(
            insertion=same[0],
            units=same[0].region.units,
            reasons=tuple(insertion.conflict for insertion in same),
        )
        for same in found.values()
    )
