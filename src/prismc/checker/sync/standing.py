"""The operations of what stands in a function's graph itself: commits and waits, split barriers,
barriers of the grid, votes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from prismc.checker.sync.arms import part_of
from prismc.checker.sync.between import GridBarrier
from prismc.checker.sync.choose import Hardware, Planned, edges_of
from prismc.checker.sync.conflicts import Conflict
from prismc.checker.sync.coverage import BULK_WRITES, ranges_of
from prismc.checker.sync.graph import (
    Arms,
    Commit,
    Finish,
    Region,
    Sequence,
    Step,
    Wait,
    sequences_of,
)
from prismc.checker.sync.lag import Lag
from prismc.checker.sync.loads import arrivers_of
from prismc.checker.sync.mbarriers import arrives_by_warp, unit_of_barrier
from prismc.checker.sync.plan import COMMITS, WAITS, Edge, Participants, SyncKind, SyncOperation
from prismc.checker.sync.split import Arrive, Await, Loads
from prismc.hardware.asynchronous import Completion
from prismc.hardware.groups import BLOCK, GRID, Level, Perspective
from prismc.hardware.primitives import WARP_THREADS
from prismc.source.record import replace


def node_operations(
    region: Region, planned: Planned, hardware: Hardware, late: Mapping[Step, Lag]
) -> Iterator[SyncOperation]:
    """What stands in the graph itself: commits and waits, of which all threads of the code around
    them are part, and split barriers."""
    for node in _same_code(region.body):
        match node:
            case Region():
                yield from node_operations(node, planned, hardware, late)
            case Arms(regions=regions):
                for arm in regions:
                    yield from node_operations(arm, planned, hardware, late)
            case Commit(queue=Loads() as loads) | Wait(queue=Loads() as loads):
                if loads in planned.loads:
                    yield _of_loads(node, loads, region, planned, hardware)
            case Commit() | Wait():
                drained = late[node].drained if node in late else ()
                made = group_operation(node, region, planned, without=drained)
                yield replace(made, is_behind=node in late)
            case Finish():
                # A block's threads wait for the answer whether it is the last.
                yield _of_everyone(node, SyncKind.BLOCK_VOTE, BLOCK)
            case GridBarrier():
                ordered = edges_of(planned, planned.waits[node])
                yield _of_everyone(node, SyncKind.GRID_BARRIER, GRID, ordered)
            case Arrive() | Await():
                made = at_split_barrier(node, region, planned, hardware)
                yield replace(made, is_behind=node in late)
            case _:
                pass


def _same_code(nodes: Sequence) -> Iterator[object]:
    """The nodes of one code perspective, those inside loops and choices included."""
    for node in nodes:
        yield node
        if not isinstance(node, Region | Arms):
            for inner in sequences_of(node):
                yield from _same_code(inner)


def everyone_in(region: Region) -> Participants:
    is_grid = region.perspective.level is Level.GRID
    return Participants(perspective=BLOCK if is_grid else region.perspective)


def group_operation(
    node: Commit | Wait, region: Region, planned: Planned, without: Collection[Conflict] = ()
) -> SyncOperation:
    """A commit or a wait; `without` are reasons of another wait."""
    reasons = planned.waits.get(node, ()) if isinstance(node, Wait) else ()
    others = {(one.earlier.number, one.later.number) for one in without}
    reasons = tuple(one for one in reasons if (one.earlier.number, one.later.number) not in others)
    return SyncOperation(
        number=0,
        kind=_kind_of(node),
        position=node.before,
        participants=everyone_in(region),
        lanes=0,
        count=node.groups if isinstance(node, Wait) else 0,
        barrier=0,
        at=reasons[0].later.at if reasons else node.span,
        edges=edges_of(planned, reasons),
        registers=node.registers if isinstance(node, Wait) else (),
    )


def _kind_of(node: Commit | Wait) -> SyncKind:
    """Which operation ends a group, or waits for it."""
    if node.queue is BULK_WRITES:
        return SyncKind.WAIT_BULK_WRITES
    assert isinstance(node.queue, Completion), "groups are committed and waited for"
    return (WAITS if isinstance(node, Wait) else COMMITS)[node.queue]


def _of_loads(
    node: Commit | Wait, loads: Loads, region: Region, planned: Planned, hardware: Hardware
) -> SyncOperation:
    """The arrival that says how many bytes come, or the wait for them."""
    barrier = planned.loads[loads]
    (mbarrier, slot), reasons = hardware.split[barrier], planned.waits.get(node, ())
    is_wait = isinstance(node, Wait)
    threads = region.threads if isinstance(node, Wait) else arrivers_of(node, region)
    is_part = threads != region.threads
    return SyncOperation(
        number=0,
        kind=SyncKind.MBARRIER_WAIT if is_wait else SyncKind.EXPECT_BYTES,
        position=node.before,
        participants=replace(everyone_in(region), ranges=ranges_of(threads) if is_part else ()),
        lanes=0,
        count=mbarrier.arrivals,
        barrier=mbarrier.number,
        at=reasons[0].later.at if reasons else node.span,
        edges=edges_of(planned, reasons),
        slot=slot,
        part=_part(region, threads, planned) if is_part else (),
    )


def _part(region: Region, threads: int, planned: Planned) -> tuple[tuple[int, int], ...]:
    """The threads of an operation, in code of more, as this code counts them."""
    part = part_of(region.units, threads, planned.graph.block)
    assert part is not None, "units are alike"
    return ranges_of(part)


def _of_everyone(
    node: Finish | GridBarrier,
    kind: SyncKind,
    perspective: Perspective,
    edges: tuple[Edge, ...] = (),
) -> SyncOperation:
    """What every thread of a block, or of the grid, takes part in."""
    return SyncOperation(
        number=0,
        kind=kind,
        position=node.before,
        participants=Participants(perspective=perspective),
        lanes=0,
        count=0,
        barrier=0,
        at=node.span,
        edges=edges,
    )


def at_split_barrier(
    node: Arrive | Await, region: Region, planned: Planned, hardware: Hardware
) -> SyncOperation:
    """An arrival or a wait at a split barrier."""
    barrier = node.barrier
    # For their own registers threads wait elsewhere: nobody else has them.
    reasons = tuple(one for one in planned.waits.get(node, ()) if not one.is_own)
    arrives = isinstance(node, Arrive)
    threads = barrier.arrivers if arrives else barrier.waiters
    first, slot = hardware.split_named.get(barrier), 0
    if first is None:
        mbarrier, slot = hardware.split[barrier]
        first, count = mbarrier.number, mbarrier.arrivals
    else:
        count = (barrier.units[0] & (barrier.arrivers | barrier.waiters)).bit_count()
    is_part = barrier.meets and region.threads != threads
    who = replace(everyone_in(region), ranges=ranges_of(threads))
    if barrier.is_cluster:
        blocks = threads.bit_count() // planned.block_threads
        who = Participants(perspective=Perspective(Level.BLOCK, blocks))
    is_elected = arrives and barrier not in hardware.split_named and arrives_by_warp(barrier)
    return SyncOperation(
        number=0,
        kind=_half_of(node, hardware),
        position=node.before,
        participants=who,
        lanes=WARP_THREADS if is_elected else 0,
        count=count,
        barrier=first,
        at=reasons[0].later.at if reasons and not arrives else node.span,
        edges=edges_of(planned, reasons),
        unit=unit_of_barrier(planned.graph, barrier),
        slot=slot,
        part=_part(region, threads, planned) if is_part else (),
    )


def _half_of(node: Arrive | Await, hardware: Hardware) -> SyncKind:
    """Which operation one half of a split barrier is."""
    arrives, is_named = isinstance(node, Arrive), node.barrier in hardware.split_named
    if node.barrier.is_cluster:
        return SyncKind.CLUSTER_ARRIVE if arrives else SyncKind.CLUSTER_WAIT
    if not arrives:
        return SyncKind.NAMED_WAIT if is_named else SyncKind.MBARRIER_WAIT
    if node.barrier.loads:
        return SyncKind.EXPECT_BYTES
    if node.barrier.of_copies:
        return SyncKind.MBARRIER_COPIES
    return SyncKind.NAMED_ARRIVE if is_named else SyncKind.MBARRIER_ARRIVE
