"""Split barriers instead of full ones where memory passes once from one arm to another, or where
only some warps have to wait.

A barrier all of whose reasons lie between two arms of different warps becomes an arrival at the end
of the one and a wait at the start of the other: the first group does not wait, and who takes part
in neither is left alone. What a full barrier did for the phases themselves, that nobody arrives
again before all have waited, others must do; otherwise the barrier stays. The same holds where some
warps arrive early (`early.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from prismc.checker.sync.arms import (
    Item,
    Pair,
    are_warps,
    arms_of,
    can_pass,
    code_in,
    innermost,
    items_of,
    pair_of,
    unit_of,
)
from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.early import Split, early_splits
from prismc.checker.sync.edit import Edits, edited_with, joined_edits
from prismc.checker.sync.graph import (
    Access,
    Graph,
    Jump,
    Node,
    Region,
    Step,
    nodes_in,
)
from prismc.checker.sync.plan import Position, Where
from prismc.checker.sync.refine import MOST_VISITS, Barrier, orders_of
from prismc.checker.sync.split import (
    Phase,
    SplitBarrier,
    arrive_at,
    await_at,
    free_bit,
)
from prismc.checker.sync.verify import Verdict, verify
from prismc.checker.sync.weight import Work
from prismc.hardware.primitives import WARP_THREADS
from prismc.source.record import Record, replace


class Passing(Record):
    """A function with its barriers, some of them split, and what they leave; `reasons` are those of
    the split ones' nodes."""

    graph: Graph
    conflicts: Conflicts
    barriers: tuple[Barrier, ...]
    verdict: Verdict
    reasons: Mapping[Step, tuple[Conflict, ...]]


def plan_passing(
    graph: Graph,
    conflicts: Conflicts,
    barriers: tuple[Barrier, ...],
    verdict: Verdict,
    first_bit: int,
    work: Work,
    early_work: int | None,
) -> Passing:
    """Split the barriers of a kernel for which that is enough, and (`early_work` is not None) those
    at which warps may arrive so many instructions earlier. They are numbers from `first_bit` on in
    orders. (In a function the next call may come too early.)"""
    found = Passing(
        graph=graph, conflicts=conflicts, barriers=barriers, verdict=verdict, reasons={}
    )
    visits = len(barriers) * sum(1 for _ in nodes_in(graph.top.body))
    if verdict.conflicts or visits > MOST_VISITS:
        return found
    chosen: list[Split] = []
    bit = free_bit(graph, first_bit)
    for barrier in barriers:
        numbers = len(chosen), bit
        for split in _ways(graph, conflicts, barrier, numbers, work, early_work):
            trial = with_splits(graph, conflicts, barriers, [*chosen, split])
            if not trial.verdict.conflicts:
                chosen, found = [*chosen, split], trial
                bit += len(barrier.units)
                break
    return needed(graph, conflicts, barriers, chosen) if chosen else found


def needed(
    graph: Graph, conflicts: Conflicts, barriers: tuple[Barrier, ...], splits: list[Split]
) -> Passing:
    """The function without barriers that have nothing to do any more, where some are split: a wait
    stands elsewhere than its barrier stood."""
    found = with_splits(graph, conflicts, barriers, splits)
    for barrier in barriers:
        kept = tuple(one for one in barriers if one is not barrier)
        rest = [split for split in splits if split.barrier is not barrier]
        trial = with_splits(graph, conflicts, kept, rest)
        if not trial.verdict.conflicts:
            barriers, splits, found = kept, rest, trial
    return found


def _ways(
    graph: Graph,
    conflicts: Conflicts,
    barrier: Barrier,
    numbers: tuple[int, int],
    work: Work,
    early_work: int | None,
) -> Iterator[Split]:
    """How a barrier may be split, the better way first."""
    between_arms = _split(graph, barrier, numbers)
    if between_arms is not None:
        yield between_arms
    if early_work is not None:
        yield from early_splits(graph, conflicts, barrier, numbers, work, early_work)


def with_splits(
    graph: Graph, conflicts: Conflicts, barriers: Collection[Barrier], splits: Sequence[Split]
) -> Passing:
    """The function with these barriers split, and judged."""
    body, moved = edited_with(graph.top.body, joined_edits(split.edits for split in splits))
    steps = [step for split in splits for step in (split.arrive, split.wait)]
    phases = [event for step in steps for event in step.events if isinstance(event, Access)]
    accesses = (*graph.accesses, *phases)
    top = replace(graph.top, body=body)
    changed = replace(graph, top=top, accesses=accesses)
    moved = {**moved, graph.top: top}
    judge = Conflicts.beside(conflicts, accesses)
    instead = {split.barrier: split.left for split in splits}
    kept = (instead.get(item, item) for item in barriers)
    left = tuple(with_moved(item, moved) for item in kept if item is not None)
    return Passing(
        graph=changed,
        conflicts=judge,
        barriers=left,
        verdict=verify(changed, judge, orders_of(left)),
        reasons={
            step: split.barrier.reasons for split in splits for step in (split.arrive, split.wait)
        },
    )


def with_moved(barrier: Barrier, moved: Mapping[Node, Node]) -> Barrier:
    """A barrier in code some of whose nodes have become others."""
    insertion = barrier.insertion
    node = moved.get(insertion.node, insertion.node)
    region = moved.get(insertion.region, insertion.region)
    assert isinstance(region, Region)
    return replace(barrier, insertion=replace(insertion, node=node, region=region))


def _split(graph: Graph, barrier: Barrier, numbers: tuple[int, int]) -> Split | None:
    """How a barrier is split: if all its reasons lead from one arm to a later one."""
    region = barrier.insertion.region
    is_wide = 0 < graph.block < barrier.size
    if barrier.units != region.units or barrier.size <= WARP_THREADS or is_wide:
        return None
    loops = next((code.loops for code in code_in(graph.top) if code.nodes is region.body), None)
    if loops is None or any(reason.around is not None for reason in barrier.reasons):
        return None
    items = tuple(items_of(region.body, region, (), loops, graph.block))
    where = arms_of(items)
    keys = {
        (where.get(reason.earlier.number), where.get(reason.later.number))
        for reason in barrier.reasons
    }
    (first, second), *others = keys
    if others or first is None or second is None or not can_pass(items[first], items[second]):
        return None
    if any(isinstance(item.node, Jump) for item in items[first:second]):
        return None
    pair = pair_of((first, second), list(barrier.reasons))
    return _placed(graph, barrier, items, pair, numbers)


def _placed(
    graph: Graph, barrier: Barrier, items: Sequence[Item], pair: Pair, numbers: tuple[int, int]
) -> Split | None:
    """A barrier split between two arms, as one of the split ones, with its first bit."""
    number, bit = numbers
    units = barrier.units
    giver, last = innermost(items[pair.earlier].node, pair.left, at=-1, whole=True)
    taker, first = innermost(items[pair.later].node, pair.taken, at=0, whole=True)
    if not are_warps(giver.threads) or not are_warps(taker.threads):
        return None
    name = f"content of {', '.join(pair.roots)}"
    split = SplitBarrier(
        phase=Phase(name=name, span=last.span, base=unit_of(units)),
        units=units,
        arrivers=giver.threads,
        waiters=taker.threads,
        bits=tuple(range(bit, bit + len(units))),
        has_credit=False,
        of_copies=False,
        before_copies=False,
        is_named=True,
    )
    access = max((one.number for one in graph.accesses), default=-1) + 1 + 2 * number
    loops = items[pair.earlier].loops
    behind = Position(where=Where.AFTER, anchor=last.before.anchor)
    arrive = arrive_at(split, access, behind, last.span, loops)
    wait = await_at(split, access + 1, first.before, first.span, loops)
    edits = Edits(before={first: (wait,)}, after={last: (arrive,)})
    return Split(barrier, arrive, wait, edits)
