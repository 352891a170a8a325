"""Barriers at which some warps arrive early and go on: others wait for them, but they for nobody.

Where all that a barrier orders leads to some of its warps, the others need not wait. They arrive
right behind the last access that somebody waits for, and those who wait do so in front of the first
that needs it: `bar.arrive` and `bar.sync` with one number and the count of both (PTX ISA, "bar").
What threads of one warp do to one another needs a barrier of the warp then.

It pays if enough work lies between the two places. An arrival does not leave the iteration that its
wait is in: a hardware barrier has no credit for the first wait, nor may arrivals be left over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from prismc.checker.sync.arms import (
    Code,
    are_warps,
    code_in,
    regions_at,
    touches,
    unit_of,
    warps_of,
)
from prismc.checker.sync.conflicts import Conflicts
from prismc.checker.sync.coverage import first_thread
from prismc.checker.sync.edit import Edits, joined_edits
from prismc.checker.sync.graph import (
    Access,
    Commit,
    Finish,
    Graph,
    Jump,
    Node,
    Region,
    Step,
    Wait,
    nodes_in,
)
from prismc.checker.sync.plan import Position, Where
from prismc.checker.sync.refine import Barrier
from prismc.checker.sync.split import Arrive, Await, Phase, SplitBarrier, arrive_at, await_at
from prismc.checker.sync.weight import Work
from prismc.hardware.primitives import WARP_THREADS
from prismc.source.record import replace

Numbers = frozenset[int]


class Split(NamedTuple):
    """A barrier that is split: an arrival and a wait, what puts them into the code, and the barrier
    that is left where it was."""

    barrier: Barrier
    arrive: Arrive
    wait: Await
    edits: Edits
    left: Barrier | None = None


class Place(NamedTuple):
    """Where nodes are put: in front of `beside` (`is_after`: behind it, `is_end`: at the end of the
    body of the loop that it is)."""

    position: Position
    beside: Node
    is_after: bool = False
    is_end: bool = False

    def edits(self, *nodes: Step) -> Edits:
        """The edit that puts nodes there."""
        if self.is_end:
            return Edits(ends={self.beside: nodes})
        beside = {self.beside: nodes}
        return Edits(after=beside) if self.is_after else Edits(before=beside)


class Sides(NamedTuple):
    """The whole warps that need not wait, `early`, and those that wait; the accesses of the first
    that the others wait for, and the accesses that they do not make before, by number."""

    early: int
    waiting: int
    left: Numbers
    taken: Numbers


def early_splits(
    graph: Graph, conflicts: Conflicts, barrier: Barrier, numbers: tuple[int, int],
    work: Work, least: int,
) -> Iterator[Split]:  # fmt: skip
    """How a barrier may be split so that some of its warps arrive early, the better way first: as
    the split one with a number, and with its first bit. They are not judged yet."""
    region, units = barrier.insertion.region, barrier.units
    is_block = barrier.size > WARP_THREADS and not 0 < graph.block < barrier.size
    if units != region.units or len(units) > 1 or not (is_block and are_warps(units[0])):
        return
    sides = _sides(barrier, conflicts)
    if sides is None or work.is_in_pipeline(barrier.insertion.position):
        return
    code = code_at(graph, barrier)
    interval = None if code is None else interval_of(code, barrier, sides, work, _is_arm)
    if code is None or interval is None or work.between(*interval.extent) < least:
        return
    split = _split(graph, barrier, code.loops, interval, sides, numbers)
    warps = tuple(
        (1 << WARP_THREADS) - 1 << start
        for start in range(first_thread(units[0]), units[0].bit_length(), WARP_THREADS)
    )
    yield split
    yield split._replace(left=replace(barrier, units=warps))


def _sides(barrier: Barrier, conflicts: Conflicts) -> Sides | None:
    """Who waits, and who need not; None if all have to, or nobody."""
    unit = barrier.units[0]
    giving, waiting = 0, 0
    for reason in barrier.reasons:
        meeting = conflicts.meeting(reason.earlier, reason.later, reason.crossed, barrier.units)
        for first, second in meeting.classes:
            givers = _whole_warps(first & unit)
            takers = _whole_warps(second & unit)
            if givers.bit_count() == WARP_THREADS:
                takers &= ~givers
            if givers and takers:
                giving, waiting = giving | givers, waiting | takers
    early = giving & ~waiting
    if not early or not waiting:
        return None
    return sides_of(barrier, early, waiting)


def sides_of(barrier: Barrier, early: int, waiting: int) -> Sides:
    """Some threads that arrive and some that wait, with the accesses of either."""
    left = (one.earlier for one in barrier.reasons if one.earlier.footprint.threads & early)
    taken = (one.later for one in barrier.reasons if one.later.footprint.threads & waiting)
    return Sides(early, waiting, _numbers(left), _numbers(taken))


@lru_cache(maxsize=1024)
def _whole_warps(threads: int) -> int:
    """The threads of all warps that hold some of these."""
    warps, found, warp = warps_of(threads), 0, (1 << WARP_THREADS) - 1
    while warps:
        lowest = first_thread(warps)
        found |= warp << lowest * WARP_THREADS
        warps &= warps - 1
    return found


def _numbers(accesses: Iterator[Access]) -> Numbers:
    return frozenset(access.number for access in accesses)


# --------------------------------------------------------------------------- places


# Whether a place in a region may be taken for the threads of one side.
Enters = Callable[[Region, int], bool]


def _is_arm(region: Region, threads: int) -> bool:
    """Whether it is code of these threads alone."""
    return region.threads == threads


class Interval(NamedTuple):
    """The places of an arrival and of its wait, with the code that they are in, and how far apart
    these are in the code around the arms."""

    arrive: Place
    giver: Region
    wait: Place
    taker: Region
    extent: tuple[Position, Position]


def code_at(graph: Graph, barrier: Barrier) -> Code | None:
    """The sequence that a barrier stands in."""
    key, is_end = barrier.key
    for code in code_in(graph.top):
        if code.nodes and (code.loop is key if is_end else key in code.nodes):
            return code
    return None


def interval_of(
    code: Code, barrier: Barrier, sides: Sides, work: Work, enters: Enters
) -> Interval | None:
    """The earliest arrival and the latest wait around a barrier, in one iteration of its code."""
    nodes = code.nodes
    at = len(nodes) if barrier.insertion.is_end else nodes.index(barrier.insertion.node)
    start = max((i + 1 for i in range(at) if _holds_up(nodes[i], sides.left)), default=0)
    end = next((i for i in range(at, len(nodes)) if touches(nodes[i], sides.taken)), len(nodes))
    between = nodes[start:end]
    if any(isinstance(node, Finish) for node in nodes):
        return None
    if any(isinstance(node, Jump) for node in nodes_in(between)):
        return None
    first, last = _start(code, start, work), _end(code, end, work)
    if first is None or last is None:
        return None
    arrive, giver = first, code.region
    if start:
        inside = _in_arm(nodes[start - 1], sides.early, sides.left, enters, work)
        arrive, giver = inside or (first, giver)
    wait, taker = last, code.region
    if end < len(nodes):
        wait, taker = _in_arm(nodes[end], sides.waiting, sides.taken, enters) or (last, taker)
    return Interval(arrive, giver, wait, taker, (first.position, last.position))


def _holds_up(node: Node, left: Numbers) -> bool:
    """Whether an arrival has to be behind a node: it makes an access, or waits for copies."""
    waits = any(isinstance(one, Wait | Commit) for one in nodes_in((node,)))
    return waits or touches(node, left)


def _start(code: Code, index: int, work: Work) -> Place | None:
    """The first place in front of a node of the sequence at which no statement of the ones before
    it is left."""
    if index:
        return _behind(code.nodes[index - 1], work) or _before(code, index)
    if code.loop is not None:
        return Place(work.start_of(code.loop.loop), code.nodes[0])
    return _before(code, 0)


def _before(code: Code, index: int) -> Place | None:
    return Place(code.nodes[index].before, code.nodes[index]) if index < len(code.nodes) else None


def _behind(node: Node, work: Work) -> Place | None:
    """The place behind the statement that a node stands for; None if it is only a part of one."""
    is_inserted = isinstance(node, Commit | Wait | Arrive | Await)
    if is_inserted or (isinstance(node, Step) and not work.is_whole(node.before)):
        return None
    return Place(Position(where=Where.AFTER, anchor=node.before.anchor), node, is_after=True)


def _end(code: Code, index: int, work: Work) -> Place | None:
    """The last place in front of a node of the sequence, or at its end."""
    if index < len(code.nodes):
        is_inserted = isinstance(code.nodes[index], Commit | Wait | Arrive | Await)
        return None if is_inserted else _before(code, index)
    if code.loop is not None and code.loop.end is not None:
        return Place(code.loop.end, code.loop, is_end=True)
    return _behind(code.nodes[-1], work)


def _in_arm(
    node: Node, threads: int, numbers: Numbers, enters: Enters, behind: Work | None = None
) -> tuple[Place, Region] | None:
    """The place in the code that these threads enter, if it makes all of the accesses: in front of
    the first one, or `behind` the last."""
    found: tuple[Place, Region] | None = None
    while len(regions := regions_at(node, numbers)) == 1 and enters(regions[0], threads):
        inside = [one for one in regions[0].body if touches(one, numbers)]
        node = inside[-1] if behind else inside[0]
        place = Place(node.before, node) if behind is None else _behind(node, behind)
        if place is None:
            break
        found = place, regions[0]
    return found


# --------------------------------------------------------------------------- nodes


def _split(
    graph: Graph,
    barrier: Barrier,
    loops: tuple[int, ...],
    interval: Interval,
    sides: Sides,
    numbers: tuple[int, int],
) -> Split:
    number, bit = numbers
    split = SplitBarrier(
        phase=Phase(
            name=phase_name(barrier),
            span=interval.arrive.beside.span,
            base=unit_of(barrier.units),
        ),
        units=barrier.units,
        arrivers=sides.early,
        waiters=sides.waiting,
        bits=(bit,),
        has_credit=False,
        of_copies=False,
        before_copies=False,
        is_named=True,
        meets=True,
    )
    access = max((one.number for one in graph.accesses), default=-1) + 1 + 2 * number
    return split_at(barrier, split, interval, access, loops)


def phase_name(barrier: Barrier) -> str:
    """What a barrier tells when it is split."""
    names = dict.fromkeys(root.name for one in barrier.reasons for root in one.earlier.roots)
    word = "room in" if all(one.hazard == "WAR" for one in barrier.reasons) else "content of"
    return f"{word} {', '.join(names)}"


def split_at(
    barrier: Barrier, split: SplitBarrier, interval: Interval, access: int, loops: tuple[int, ...]
) -> Split:
    """A barrier with both halves in the places of an interval; `access` is the first number of
    theirs."""
    first, last = interval.arrive, interval.wait
    arrive = arrive_at(split, access, first.position, first.beside.span, loops)
    wait = await_at(split, access + 1, last.position, last.beside.span, loops)
    return Split(barrier, arrive, wait, joined_edits((first.edits(arrive), last.edits(wait))))
