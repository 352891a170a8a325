"""Where threads wait for their asynchronous copies, and for how many of them.

A copy is complete when the thread that issued it has waited for its group; only then a barrier can
show it to others. So waits are placed first, each just before the first node that touches what may
still be on its way, then the barriers. The count is the age of the youngest group that has to be
complete: the fewest commits after it, on any path and around any loop. Loops are planned from the
inside out, as for barriers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from prismc.checker.sync.conflicts import Conflict, Conflicts, Looked
from prismc.checker.sync.coverage import BULK_WRITES, NONE, Coverage, Queue, then, wait
from prismc.checker.sync.flow import (
    either_of,
    leave,
    loop_of,
    repeated,
    side_by_side_of,
    through_only,
)
from prismc.checker.sync.graph import (
    Access,
    Arms,
    Choice,
    Commit,
    Exit,
    Flow,
    Jump,
    Loop,
    Node,
    Pending,
    Region,
    Sequence,
    Step,
    Summary,
    Wait,
    groups_of,
    nodes_in,
)
from prismc.checker.sync.path import Copies, Pair, State, in_sequence, iteration_of, step_summary
from prismc.checker.sync.plan import Position
from prismc.checker.sync.split import Loads
from prismc.hardware.asynchronous import Completion
from prismc.hardware.groups import BLOCK
from prismc.source.record import Record, replace
from prismc.source.span import Span

# So many nodes are looked at to try what can be left out, one after the other. In larger code waits
# and split barriers keep the reasons for which they were put in.
MOST_VISITS = 4_000


def is_tried(top: Region, number: int) -> bool:
    """Whether so many things are left out of some code one by one."""
    return number * sum(1 for _ in nodes_in(top.body)) <= MOST_VISITS


class Counted(Record):
    """A function's code with all the waits that it needs: the conflicts that ask for each, and the
    numbers of the accesses that settle how many groups one leaves pending. (Complete with a younger
    group, they would be waited for differently.)"""

    top: Region
    asked: Mapping[Step, tuple[Conflict, ...]]
    decisive: frozenset[int]


def with_waits(top: Region, conflicts: Conflicts, early: Collection[Pair] = ()) -> Counted:
    """Place the waits of a function; for what is `early` in front of the node that has the later
    access, where a barrier may stand, even if there are others in it."""
    commits = (node for node in nodes_in(top.body) if isinstance(node, Commit))
    bits = {node.queue: node.bits for node in commits}
    walk = _Walk(conflicts, bits, early, places=True)
    made = walk.region(top)[0]
    return Counted(top=made, asked=walk.asked, decisive=frozenset(walk.decisive))


def unfinished(
    top: Region, conflicts: Conflicts, early: Collection[Pair] = ()
) -> tuple[Conflict, ...]:
    """What touches memory of copies that may still be on their way."""
    walk = _Walk(conflicts, {}, early, places=False)
    walk.region(top)
    return tuple(walk.found.values())


def summary_of(node: Node, region: Region, conflicts: Conflicts) -> Summary:
    """What a node of a region does, without barriers."""
    return _Walk(conflicts, {}, (), places=False).node(node, region)[1]


def wait_before(
    position: Position,
    span: Span,
    queue: Queue,
    groups: int,
    registers: tuple[int, ...] = (),
    order: Coverage = NONE,
    touch: Access | None = None,
    acquired: Coverage = NONE,
) -> Wait:
    """A wait as a node; it makes `order` between those who issued and those who wait, and
    `acquired` between those who arrived and them. `touch` is that of the phase it waits for."""
    through = wait(queue, groups, order)
    if queue is BULK_WRITES:  # who has written, has read
        through = then(wait(Completion.BULK_GROUP, groups), through)
    through = then(through, acquired)
    flow = Flow(through=through, pending=())
    summary = Summary(entries=(), exits=((Exit.NORMAL, flow),))
    return Wait(
        before=position,
        span=span,
        events=(summary,) if touch is None else (summary, touch),
        queue=queue,
        groups=groups,
        registers=registers,
        order=order,
        acquired=acquired,
    )


class _Walk:
    """Goes through a function, with or without placing waits; `found` asks for them. `bits` are
    those of the arrivals for each queue."""

    def __init__(
        self,
        conflicts: Conflicts,
        bits: Mapping[Queue, tuple[tuple[int, int], ...]],
        early: Collection[Pair],
        *,
        places: bool,
    ) -> None:
        self._conflicts = conflicts
        self._bits = bits
        self._early = early
        self._places = places
        # What is only looked at comes out the same each time; changes keep most of the nodes.
        self._known: dict[Node, Looked] = {} if places or early else conflicts.looked
        self.found: dict[object, Conflict] = {}
        self.asked: dict[Step, tuple[Conflict, ...]] = {}
        self.decisive: set[int] = set()

    def region(self, region: Region) -> tuple[Region, Summary]:
        body, summary = self._sequence(region.body, region)
        return replace(region, body=body), summary

    def _sequence(
        self, nodes: Sequence, region: Region, expected: tuple[Pending, ...] = ()
    ) -> tuple[Sequence, Summary]:
        """A sequence; `expected` is behind its start, but no part of it."""
        own, around = (Copies(self._conflicts, region.units) for _ in range(2))
        around.expect(expected)
        made: list[Node] = []
        for node in nodes:
            node, summary = self.node(node, region)
            steps = [*self._needed((own, around), node.before, node.span, summary, region), node]
            for step in steps:
                passed = summary if step is node else self.node(step, region)[1]
                own.apply(passed)
                around.apply(through_only(passed))
            made += steps
        return tuple(made), own.summary()

    def _needed(
        self,
        states: Iterable[State],
        position: Position,
        span: Span,
        summary: Summary,
        region: Region,
    ) -> Iterator[Node]:
        """Waits in front of a node that touches what is on its way, one for each queue."""
        ages: dict[Queue, int] = {}
        asked: dict[Queue, list[tuple[Conflict, int]]] = {}
        registers: dict[int, None] = {}
        for state in states:
            for conflict, age in state.unfinished(summary, self._early):
                key = (conflict.earlier.number, conflict.later.number, conflict.crossed)
                self.found[key] = conflict
                queue = conflict.earlier.queue
                assert queue is not None
                ages[queue] = min(age, ages.get(queue, age))
                asked.setdefault(queue, []).append((conflict, age))
                registers |= dict.fromkeys(root.register for root in conflict.earlier.roots)
        for queue, age in ages.items():
            if age >= 0 and self._places:
                touched = tuple(sorted(filter(None, registers)))
                order = self._meeting(queue, region)
                touch = self._conflicts.load_waits.get(queue)
                acquired = _acquired(self._bits.get(queue, ()), region)
                wait = wait_before(position, span, queue, age, touched, order, touch, acquired)
                self.asked[wait] = tuple(conflict for conflict, _ in asked[queue])
                self.decisive |= {one.earlier.number for one, old in asked[queue] if old == age}
                yield wait

    def node(self, node: Node, region: Region) -> tuple[Node, Summary]:
        """A node with the waits inside it, which do not depend on its surroundings."""
        known = self._known.get(node)
        if known is None:
            around, self.found = self.found, {}
            made, summary = self._planned(node, region)
            known = self._known[node] = self._known[made] = Looked(made, summary, self.found)
            self.found = around
        self.found |= known.found
        return known.node, known.summary

    def _planned(self, node: Node, region: Region) -> tuple[Node, Summary]:
        match node:
            case Step():
                return node, step_summary(self._conflicts, node)
            case Jump(exit=exit):
                return node, leave(exit)
            case Region():
                return self.region(node)
            case Arms(regions=regions):
                arms = [self.region(arm) for arm in regions]
                summary = side_by_side_of(summary for _, summary in arms)
                return replace(node, regions=tuple(arm for arm, _ in arms)), summary
            case Choice():
                return self._choice(node, region)
            case Loop():
                return self._loop(node, region)
        raise TypeError(f"no such node: {node!r}")

    def _choice(self, node: Choice, region: Region) -> tuple[Node, Summary]:
        head = step_summary(self._conflicts, node.head)
        behind = head.pending
        first, second = (self._sequence(arm, region, behind) for arm in node.arms)
        either = either_of((first[1], second[1]))
        made = replace(node, arms=(first[0], second[0]))
        return made, in_sequence(self._conflicts, (head, either))

    def _loop(self, node: Loop, region: Region) -> tuple[Node, Summary]:
        """The body alone, then after itself until nothing more has to wait."""
        head, test = (step_summary(self._conflicts, step) for step in (node.head, node.test))
        nodes, body = self._sequence(node.body, region, test.pending)
        is_ended = False
        while True:
            iteration = iteration_of(self._conflicts, test, body)
            expected = (*head.pending, *repeated(iteration, node.loop))
            longer, body = self._sequence(nodes, region, (*test.pending, *expected))
            state = Copies(self._conflicts, region.units)
            state.expect(repeated(iteration_of(self._conflicts, test, body), node.loop))
            if node.end is not None and not is_ended:
                is_ended = True
                longer = (*longer, *self._needed((state,), node.end, node.test.span, test, region))
            if len(longer) == len(nodes):
                break
            nodes, body = self._sequence(longer, region, test.pending)
        whole = loop_of(test, iteration, node)
        return replace(node, body=nodes), in_sequence(self._conflicts, (head, whole))

    def _meeting(self, queue: Queue, region: Region) -> Coverage:
        """A wait at an mbarrier: what the loads of all issuers brought is there for all who wait in
        their block, or in the cluster where each block counts the loads of all."""
        if not isinstance(queue, Loads):
            return NONE
        issuers = self._conflicts.load_issuers[queue]
        is_wide = any(root.is_mirrored for root in queue.roots)
        blocks = groups_of(region.units, BLOCK, self._conflicts.block)
        classes = ((issuers & unit, unit) for unit in (region.units if is_wide else blocks))
        return Coverage(tuple(one for one in classes if one[0]))


def _acquired(bits: Iterable[tuple[int, int]], region: Region) -> Coverage:
    """What a wait in code of `region` puts in order behind arrivals: all waiting threads that share
    the mbarrier."""
    classes = (
        (1 << bit, unit & region.threads)
        for unit, bit in bits
        if any(unit & ~whole == 0 for whole in region.units)
    )
    return Coverage(tuple(classes))
