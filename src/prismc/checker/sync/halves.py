"""Cluster barriers in halves: all arrive behind the last access that others wait for, and wait in
front of the first that needs it.

A cluster's barrier is two instructions anyhow, `barrier.cluster.arrive` and `.wait`, so to hide its
latency costs nothing. It is one barrier, and its phases follow one another: all threads of the
cluster arrive, and none arrives again before it has waited (PTX ISA, "barrier.cluster"). So both
halves stay in one iteration of code that whole blocks run, and no other barrier of the cluster may
stand between them, nor a call that may have one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prismc.checker.sync.arms import Code
from prismc.checker.sync.build import instance_threads
from prismc.checker.sync.early import (
    Interval,
    Sides,
    Split,
    code_at,
    interval_of,
    phase_name,
    sides_of,
    split_at,
)
from prismc.checker.sync.graph import Graph, Region, nodes_in
from prismc.checker.sync.passing import Passing, needed, with_splits
from prismc.checker.sync.refine import MOST_VISITS, Barrier
from prismc.checker.sync.split import LoadPhase, Phase, SplitBarrier, free_bit
from prismc.checker.sync.weight import Work
from prismc.source.record import replace

# Instructions between the halves: anything is won that runs meanwhile.
_LEAST = 1


def plan_halves(found: Passing, first_bit: int, work: Work) -> Passing:
    """The kernel with barriers of its cluster in halves. They are numbers from `first_bit` on in
    orders."""
    graph, barriers = found.graph, found.barriers
    visits = len(barriers) * sum(1 for _ in nodes_in(graph.top.body))
    if found.verdict.conflicts or visits > MOST_VISITS:
        return found
    bit = free_bit(graph, first_bit)
    chosen: list[Split] = []
    for barrier in barriers:
        for split in _ways(graph, barrier, (len(chosen), bit), work):
            if not _is_free(split, barriers, chosen, graph.block, work):
                continue
            trial = with_splits(graph, found.conflicts, barriers, [*chosen, split])
            if not trial.verdict.conflicts:
                chosen, bit = [*chosen, split], bit + 1
                break
    if not chosen:
        return found
    best = needed(graph, found.conflicts, barriers, chosen)
    return replace(best, reasons={**found.reasons, **best.reasons})


def _ways(graph: Graph, barrier: Barrier, numbers: tuple[int, int], work: Work) -> Iterator[Split]:
    """A barrier of the cluster in halves with something between them, as one of the split ones and
    with its bit, the better way first. They are not judged yet."""
    everyone = graph.everyone
    is_whole = barrier.units == barrier.insertion.region.units == (everyone,)
    is_wide = 0 < graph.block < barrier.size
    if not (is_whole and is_wide) or work.is_in_pipeline(barrier.insertion.position):
        return
    code = code_at(graph, barrier)
    if code is None:
        return

    def enters(region: Region, threads: int) -> bool:
        return region.threads == threads and region.has_whole(graph.block)

    found: list[tuple[int, Interval]] = []
    sides = _with_loads(graph, barrier, sides_of(barrier, everyone, everyone))
    for standing in _places(barrier, code):
        interval = interval_of(code, standing, sides, work, enters)
        if interval is not None:
            hidden = work.between(interval.arrive.position, interval.wait.position)
            found.append((hidden, interval))
    access = max((one.number for one in graph.accesses), default=-1) + 1 + 2 * numbers[0]
    for hidden, interval in sorted(found, key=lambda one: -one[0]):
        if hidden >= _LEAST:
            halves = _halves(barrier, interval, numbers[1])
            yield split_at(barrier, halves, interval, access, code.loops)


def _with_loads(graph: Graph, barrier: Barrier, sides: Sides) -> Sides:
    """The sides of a barrier where those that wait arrive for loads: what these bring comes to the
    mbarriers of other blocks, too, whose last phase has to be over before the loads are issued."""
    later = {root for one in barrier.reasons for root in one.later.roots}
    phases = [root for root in later if isinstance(root, LoadPhase)]
    wide = {one.loads for one in phases if any(root.is_mirrored for root in one.loads.roots)}
    loads = {access.number for access in graph.accesses if access.queue in wide}
    return sides._replace(taken=sides.taken | loads)


def _places(barrier: Barrier, code: Code) -> Iterator[Barrier]:
    """Where a barrier may stand as well: what only comes around a loop waits at its end, too."""
    yield barrier
    loop = code.loop
    if loop is not None and all(one.around == loop.loop for one in barrier.reasons):
        yield replace(barrier, insertion=replace(barrier.insertion, node=loop, is_end=True))


def _halves(barrier: Barrier, interval: Interval, bit: int) -> SplitBarrier:
    (everyone,) = barrier.units
    return SplitBarrier(
        phase=Phase(name=phase_name(barrier), span=interval.arrive.beside.span),
        units=barrier.units,
        arrivers=everyone,
        waiters=everyone,
        bits=(bit,),
        has_credit=False,
        of_copies=False,
        before_copies=False,
        is_cluster=True,
    )


def _is_free(
    split: Split, barriers: Sequence[Barrier], chosen: Sequence[Split], block: int, work: Work
) -> bool:
    """Whether no other barrier of the cluster comes between the halves."""
    start, end = split.arrive.before, split.wait.before
    others = [
        one.insertion.position for one in barriers if one is not split.barrier and one.size > block
    ]
    others += [half.before for one in chosen for half in (one.arrive, one.wait)]
    is_alone = not any(work.is_between(place, start, end) for place in others)
    is_outside = not any(
        work.is_between(start, one.arrive.before, one.wait.before) for one in chosen
    )
    calls = work.calls_between(start, end)
    return is_alone and is_outside and all(instance_threads(c.callee)[0] <= block for c in calls)
