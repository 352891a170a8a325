"""Split barriers instead of full ones where memory passes between arms of a loop.

One group of threads fills memory in its arm of a `split`, another one reads it in an arm of a later
`split`, and the next iteration fills it again. A barrier of the whole block would make each wait
for all; a split barrier at the end of one arm and the start of the other orders what has to be, and
the first group may run ahead. Forward, from an arm to a later one, a wait needs an arrival; around
the loop the first wait passes, since nothing is to be waited for (a credit).

A loop is changed as a whole or not at all: when all barriers of the code around its arms go. Both
arms of a barrier stand under the same conditions and inner loops, and no jump between them, so on
every path arrivals and waits alternate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from prismc.checker.sync.arm_copies import LeftByArms, counted_commits
from prismc.checker.sync.arms import (
    Item,
    Pair,
    arms_of,
    can_pass,
    innermost,
    items_of,
    pair_of,
    unit_of,
)
from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import Queue, threads_in
from prismc.checker.sync.edit import Edits, edited
from prismc.checker.sync.graph import (
    Access,
    Arms,
    Choice,
    Graph,
    Jump,
    Loop,
    Node,
    Region,
    Sequence,
    Step,
    groups_of,
)
from prismc.checker.sync.place import asked_barriers
from prismc.checker.sync.plan import Position, Where
from prismc.checker.sync.split import Loads, Peers, Phase, SplitBarrier, arrive_at, await_at
from prismc.checker.sync.units import accesses_of
from prismc.checker.sync.verify import verify
from prismc.checker.sync.waits import is_tried, unfinished
from prismc.hardware.groups import BLOCK
from prismc.hardware.primitives import WARP_THREADS
from prismc.source.record import Record, replace

# Numbers of accesses that a split barrier takes.
_EVENTS = 3
# Loops with more pairs of arms than this keep their full barriers.
MOST_PAIRS = 128


class Place(NamedTuple):
    """A loop's place in the function."""

    loop: Loop
    region: Region
    items: tuple[Item, ...]


class Trial(NamedTuple):
    """A loop with split barriers: the accesses to their phases, and the nodes of each."""

    loop: Loop
    phases: tuple[Access, ...]
    steps: tuple[tuple[Step, Step], ...]


class Handover(Record):
    """A function with its split barriers, each node with the conflicts that it alone settles;
    `conflicts` knows the phases too. `loops` are those that were changed."""

    graph: Graph
    conflicts: Conflicts
    reasons: Mapping[Step, tuple[Conflict, ...]]
    loops: tuple[int, ...]


def plan_handover(graph: Graph, conflicts: Conflicts, first_bit: int) -> Handover:
    """Put split barriers into loops that need no others then. They are the numbers from `first_bit`
    on in orders, which no other function's are."""
    planner = _Planner(graph, conflicts, first_bit)
    top = planner.region(graph.top, ())
    if top is graph.top:
        return Handover(graph=graph, conflicts=conflicts, reasons={}, loops=())
    return Handover(
        graph=replace(graph, top=top, accesses=(*graph.accesses, *planner.phases)),
        conflicts=planner.knowing(()),
        reasons=planner.reasons,
        loops=tuple(planner.loops),
    )


class _Planner:
    def __init__(self, graph: Graph, conflicts: Conflicts, first_bit: int) -> None:
        self._graph = graph
        self._conflicts = conflicts
        self._left = LeftByArms(graph, conflicts)
        # Of the next access to a phase: those of all trials have numbers of their own.
        self._number = max((access.number for access in graph.accesses), default=-1) + 1
        self._bit = first_bit
        self._stride = graph.stride
        self.phases: tuple[Access, ...] = ()
        self.reasons: dict[Step, tuple[Conflict, ...]] = {}
        self.loops: list[int] = []

    def knowing(self, phases: Iterable[Access]) -> Conflicts:
        """A judge of all accesses, those to phases included."""
        known = self._conflicts
        accesses = (*self._graph.accesses, *self.phases, *phases)
        return Conflicts.beside(known, accesses, like=known)

    # ----------------------------------------------------------------------- where loops are

    def region(self, region: Region, loops: tuple[int, ...]) -> Region:
        """A region with its loops changed; itself if none is."""
        body = self._sequence(region.body, region, loops)
        return region if body is region.body else replace(region, body=body)

    def _sequence(self, nodes: Sequence, region: Region, loops: tuple[int, ...]) -> Sequence:
        made = tuple(self._node(node, region, loops) for node in nodes)
        return nodes if all(a is b for a, b in zip(made, nodes, strict=True)) else made

    def _node(self, node: Node, region: Region, loops: tuple[int, ...]) -> Node:
        match node:
            case Loop():
                return self._loop(node, region, loops)
            case Region():
                return self.region(node, loops)
            case Arms(regions=regions):
                arms = tuple(self.region(arm, loops) for arm in regions)
                return node if arms == regions else replace(node, regions=arms)
            case Choice(arms=(first, second)):
                sides = tuple(self._sequence(arm, region, loops) for arm in (first, second))
                is_same = sides[0] is first and sides[1] is second
                return node if is_same else replace(node, arms=(sides[0], sides[1]))
            case _:
                return node

    def _loop(self, node: Loop, region: Region, loops: tuple[int, ...]) -> Loop:
        inside = (*loops, node.loop)
        place = Place(
            node, region, tuple(items_of(node.body, region, (), inside, self._graph.block))
        )
        pairs = self._pairs(place)
        changed = self._changed(place, pairs) if pairs else None
        if changed is not None:
            return changed
        body = self._sequence(node.body, region, inside)
        return node if body is node.body else replace(node, body=body)

    # ----------------------------------------------------------------------- what passes

    def _pairs(self, place: Place) -> list[Pair]:
        """The arms of a loop between which memory passes; none if anything else needs order."""
        if not _may_split(place):
            return []
        found: dict[tuple[int, int], list[Conflict]] = {}
        where = arms_of(place.items)
        for conflict in self._missing(place, Trial(place.loop, (), ()), is_async=True):
            if conflict.is_own:
                continue
            earlier = where.get(conflict.earlier.number)
            later = where.get(conflict.later.number)
            if earlier is None or later is None:
                return []
            if earlier != later:
                found.setdefault((earlier, later), []).append(conflict)
        passes = all(can_pass(place.items[i], place.items[j]) for i, j in found)
        if not passes or len(found) > MOST_PAIRS:
            return []
        pairs = [
            pair_of(key, conflicts, is_wide=any(self._crosses(one, place) for one in conflicts))
            for key, conflicts in found.items()
        ]
        loads = [one for pair in pairs for one in self._left.loads(pair)]
        if len(loads) > len(set(loads)) or self._are_elsewhere(loads, place):
            return []  # a load completes at one barrier
        is_part = len(place.region.units) > 1
        is_far = any(pair.is_wide and (is_part or self._left.copies(pair)) for pair in pairs)
        return pairs if not is_far and all(self._left.is_pure(pair) for pair in pairs) else []

    def _are_elsewhere(self, loads: Collection[Loads], place: Place) -> bool:
        """Whether other scopes whose loads complete at the same barrier stand outside the loop."""
        return any(
            access.queue in loads and place.loop.loop not in access.loops
            for access in self._graph.accesses
        )

    def _crosses(self, conflict: Conflict, place: Place) -> bool:
        """Whether threads of different blocks are in conflict."""
        block, units = self._graph.block, place.region.units
        if not place.region.has_whole(block) or units[0].bit_count() == block:
            return False
        found = self._conflicts.meeting(
            conflict.earlier, conflict.later, conflict.crossed, units
        ).classes
        blocks = groups_of(units, BLOCK, block)
        return any(first & one and second & ~one for first, second in found for one in blocks)

    def _missing(self, place: Place, trial: Trial, *, is_async: bool) -> tuple[Conflict, ...]:
        """What has no order in a loop by itself, or (where there are asynchronous accesses) may be
        on its way."""
        conflicts, top = self.knowing(trial.phases), replace(place.region, body=(trial.loop,))
        found = verify(replace(self._graph, top=top), conflicts, {}).conflicts
        return (*found, *unfinished(top, conflicts)) if is_async else found

    # ----------------------------------------------------------------------- barriers

    def _changed(self, place: Place, pairs: list[Pair]) -> Loop | None:
        """The loop with the fewest split barriers that leave no other in the code around its arms;
        None if no number does. What goes one way only gets a way back: nobody may arrive for a
        phase before all have waited for the last one."""
        known = {(pair.earlier, pair.later) for pair in pairs}
        back = [pair.turned() for pair in pairs if (pair.later, pair.earlier) not in known]
        chosen = [*pairs, *back]
        if not self._is_enough(place, chosen):
            return None
        needed: set[object] = set()
        for pair in (*back, *pairs):
            # Slots of a ring come from the same text: if one pair of arms is needed, all are.
            arms = (place.items[pair.earlier].node.span, place.items[pair.later].node.span)
            fewer = [other for other in chosen if other is not pair]
            if arms in needed:
                continue
            if self._is_enough(place, fewer):
                chosen = fewer
            else:
                needed.add(arms)
        trial = self._trial(place, chosen)
        self._explain(place, chosen, trial)
        self.phases = (*self.phases, *trial.phases)
        self._bit += len(chosen) * len(self._waiting(place)) * self._stride
        self.loops.append(place.loop.loop)
        return trial.loop

    def _is_enough(self, place: Place, pairs: list[Pair]) -> bool:
        trial, units, block = self._trial(place, pairs), place.region.units, self._graph.block
        conflicts, top = self.knowing(trial.phases), replace(place.region, body=(trial.loop,))
        if any(
            one.region.units == units or one.region.has_whole(block)
            for one in asked_barriers(top, conflicts, trial.loop)
        ):
            return False
        where = arms_of(items_of(trial.loop.body, place.region, (), (), self._graph.block))
        # What an arm has to wait for in itself is waited for there.
        return all(
            conflict.is_own
            or where.get(conflict.earlier.number, -1) == where.get(conflict.later.number, -2)
            for conflict in unfinished(top, conflicts)
        )

    def _explain(self, place: Place, pairs: list[Pair], trial: Trial) -> None:
        """For each barrier, what has no order without it; in a large loop, what asked for it."""
        is_small = is_tried(replace(place.region, body=(trial.loop,)), len(pairs))
        for index, pair in enumerate(pairs):
            passed = () if is_small else pair.conflicts
            passed = passed or self._without(place, pairs, pair)
            for step in trial.steps[index]:
                self.reasons[step] = passed

    def _without(self, place: Place, pairs: list[Pair], pair: Pair) -> tuple[Conflict, ...]:
        """What has no order without the barrier of a pair of arms."""
        rest = self._trial(place, [other for other in pairs if other is not pair])
        where = arms_of(items_of(rest.loop.body, place.region, (), (), self._graph.block))
        return tuple(
            conflict
            for conflict in self._missing(place, rest, is_async=bool(self._left.accesses(pair)))
            if where.get(conflict.earlier.number) != where.get(conflict.later.number)
        )

    def _trial(self, place: Place, pairs: list[Pair]) -> Trial:
        """The loop with a split barrier for each pair."""
        before: dict[Node, list[Step]] = {}
        after: dict[Node, list[Step]] = {}
        steps: list[tuple[Step, Step]] = []
        for index, pair in enumerate(pairs):
            giver, last = innermost(place.items[pair.earlier].node, pair.left, at=-1)
            taker, first = innermost(place.items[pair.later].node, pair.taken, at=0)
            barrier = self._barrier(place, pairs, index, (giver, taker))
            number, loops = self._number, place.items[pair.earlier].loops
            self._number += _EVENTS
            behind = Position(where=Where.AFTER, anchor=last.before.anchor)
            arrive = arrive_at(barrier, number, behind, last.span, loops)
            wait = await_at(barrier, number + 1, first.before, first.span, loops)
            after.setdefault(last, []).extend((*self._left.waits(pair, giver, arrive), arrive))
            before.setdefault(first, []).append(wait)
            steps.append((arrive, wait))
        phases = (event for pair in steps for step in pair for event in step.events)
        copies = {
            access.number
            for pair in pairs
            for access in self._left.accesses(pair)
            if access.queue not in self._left.waited_for(pair)
        }
        edits = Edits(
            before={node: tuple(found) for node, found in before.items()},
            after={node: tuple(found) for node, found in after.items()},
            without=frozenset(counted_commits(place.loop.body, copies)),
        )
        return Trial(
            loop=replace(place.loop, body=edited(place.loop.body, edits)),
            phases=tuple(event for event in phases if isinstance(event, Access)),
            steps=tuple(steps),
        )

    def _barrier(
        self, place: Place, pairs: list[Pair], index: int, arms: tuple[Region, Region]
    ) -> SplitBarrier:
        pair = pairs[index]
        is_back = pair.earlier > pair.later
        units, loads = self._waiting(place), self._left.loads(pair)
        first = self._bit + index * len(units) * self._stride
        word = "room in" if is_back else "content of"
        arrives_far, span = pair.is_wide and not loads, arms[0].span
        return SplitBarrier(
            phase=Phase(
                name=f"{word} {', '.join(pair.roots)}",
                span=span,
                base=0 if arrives_far else unit_of(units),
            ),
            units=units,
            arrivers=arms[0].threads,
            waiters=arms[1].threads,
            bits=tuple(first + number * self._stride for number in range(len(units))),
            has_credit=is_back,
            of_copies=self._left.copies(pair),
            before_copies=any(
                other.earlier == pair.later and self._left.bring_passes(other) for other in pairs
            ),
            loads=loads,
            by_warp=_by_warp(arms[0], loads),
            is_wide=pair.is_wide,
            peers=Peers(name="mbarriers of other blocks", span=span) if arrives_far else None,
        )

    def _waiting(self, place: Place) -> tuple[int, ...]:
        """The units of threads that have a barrier of their own: blocks, in code of several."""
        units, block = place.region.units, self._graph.block
        return groups_of(units, BLOCK, block) if place.region.has_whole(block) else units


def _by_warp(arm: Region, loads: Collection[Queue]) -> bool:
    """Whether loads are issued by first lanes of warps alone: these can arrive for their warps."""
    found = [access for access in accesses_of((arm,)) if access.queue in loads]
    return bool(found) and all(
        thread % WARP_THREADS == 0
        for access in found
        for thread in threads_in(access.footprint.threads)
    )


def _may_split(place: Place) -> bool:
    """Whether there are arms of different warps, and no jump among the arms."""
    if max(unit.bit_count() for unit in place.region.units) <= WARP_THREADS:
        return False
    items = place.items
    arms = [index for index, item in enumerate(items) if isinstance(item.node, Region)]
    jumps = [index for index, item in enumerate(items) if isinstance(item.node, Jump)]
    if any(arms[0] < index < arms[-1] for index in jumps if arms):
        return False
    return any(can_pass(items[i], items[j]) for i in arms for j in arms if i < j)
