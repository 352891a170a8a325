"""Chooses the instruction for each barrier, by how many threads wait for one another, and numbers
the hardware barriers.

Groups of whole warps use barriers 1 to 15: group g of size n has number `first + g`, where g counts
the groups of n threads in the block. All groups of one size share the numbers, in all functions of
a program, so that no two groups which may wait at the same time have one number. Groups that find
no room there, or are no whole warps, use mbarriers in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prismc.checker.sync.conflicts import Conflict
from prismc.checker.sync.coverage import first_thread, ranges_of
from prismc.checker.sync.fences import Fence
from prismc.checker.sync.graph import Access as GraphAccess
from prismc.checker.sync.graph import Graph, Reach, Step
from prismc.checker.sync.lag import Lag
from prismc.checker.sync.plan import (
    Access,
    AccessKind,
    Deed,
    Edge,
    Mbarrier,
    Participants,
    SyncKind,
    SyncOperation,
)
from prismc.checker.sync.product_fences import ProductFence
from prismc.checker.sync.refine import Barrier
from prismc.checker.sync.split import Loads, Peers, Phase, SplitBarrier
from prismc.diagnostics.problem import Related
from prismc.hardware.groups import BLOCK, Level, Perspective
from prismc.hardware.primitives import (
    FIRST_NAMED_BARRIER,
    LAST_NAMED_BARRIER,
    WARP_THREADS,
    fits_lanes,
    fits_named_barrier,
)
from prismc.source.record import Record
from prismc.source.span import Span


class Planned(Record):
    """The barriers and fences of one function, and the waits and split barriers in its graph with
    their reasons; `loads` are the barriers of bulk loads. `block_threads` is the size of its block,
    `loops` are the lines of all loops by their ids, `projected` the statements to write once for
    each class of warps, `copied` the barriers in some of these, `lags` the loops whose products may
    run on, `whole` those of large pipelines that cannot end behind each step all the same."""

    graph: Graph
    barriers: tuple[Barrier, ...]
    fences: tuple[Fence, ...]
    loads: Mapping[Loads, SplitBarrier]
    waits: Mapping[Step, tuple[Conflict, ...]]
    block_threads: int
    loops: Mapping[int, Span]
    projected: tuple[int, ...]
    copied: frozenset[Barrier]
    product_fences: tuple[ProductFence, ...]
    lags: Mapping[int, Lag]
    whole: frozenset[int]

    def is_block(self, barrier: Barrier) -> bool:
        """Whether a barrier is one of the whole block, at one place in the text."""
        return barrier.size == self.block_threads and barrier not in self.copied

    def is_warp(self, barrier: Barrier) -> bool:
        """Whether a barrier is one of lanes of a warp."""
        return fits_lanes(barrier.size) or self.last_warp(barrier) is not None

    def last_warp(self, barrier: Barrier) -> tuple[int, int] | None:
        """Of a barrier of whole warps and of some lanes of one more the first thread of the block
        in this one, 0 if there is no other, and its lanes as a mask; None for others."""
        *whole, last = barrier.units
        start, lanes = first_thread(last) // WARP_THREADS * WARP_THREADS, last.bit_count()
        is_known = self.graph.everyone.bit_count() == self.graph.block
        is_in_warp = last.bit_length() <= start + WARP_THREADS
        are_whole = all(unit.bit_count() == WARP_THREADS for unit in whole)
        if not (is_known and is_in_warp and are_whole) or lanes == WARP_THREADS:
            return None
        if not whole and fits_lanes(lanes):
            return None
        return start if whole else 0, last >> start

    def is_cluster(self, barrier: Barrier) -> bool:
        """Whether a barrier is one of several blocks."""
        return 0 < self.block_threads < barrier.size


class Hardware(Record):
    """What groups of each size wait at: the first hardware barrier, or mbarriers; and the hardware
    barrier or the mbarrier, with the slot, of each split barrier."""

    named: Mapping[int, int]
    mbarriers: Mapping[int, Mbarrier]
    split: Mapping[SplitBarrier, tuple[Mbarrier, int]]
    split_named: Mapping[SplitBarrier, int]

    def by_number(self) -> dict[int, Mbarrier]:
        """All mbarriers of the program."""
        split = (one for one, _ in self.split.values())
        return {one.number: one for one in (*self.mbarriers.values(), *split)}


def barrier_operations(planned: Planned, hardware: Hardware) -> Iterator[SyncOperation]:
    """The barriers of one function, not numbered yet."""
    for item in planned.barriers:
        kind, barrier = _kind(planned, item, hardware)
        size, is_warp = item.size, kind is SyncKind.WARP_BARRIER
        last = planned.last_warp(item)
        yield SyncOperation(
            number=0,
            kind=kind,
            position=item.insertion.position,
            participants=Participants(perspective=_who(planned, kind, size)),
            lanes=size if is_warp and last is None else 0,
            count=size,
            barrier=barrier,
            at=item.reasons[0].later.at,
            edges=edges_of(planned, item.reasons),
            unit=size if kind is SyncKind.NAMED_BARRIER else 0,
            last=last if is_warp else None,
        )


def _who(planned: Planned, kind: SyncKind, size: int) -> Perspective:
    """Who waits at a barrier of `size` threads."""
    if kind is SyncKind.CLUSTER_BARRIER:
        return Perspective(Level.BLOCK, size // planned.block_threads)
    return BLOCK if kind is SyncKind.BLOCK_BARRIER else Perspective(Level.THREAD, size)


def group_sizes(functions: Iterable[Planned]) -> dict[int, None]:
    """The sizes of groups of threads that wait at barriers in shared memory or hardware."""
    return {
        barrier.size: None
        for item in functions
        for barrier in item.barriers
        if not item.is_block(barrier) and not item.is_cluster(barrier) and not item.is_warp(barrier)
    }


def number_barriers(functions: Iterable[Planned]) -> dict[int, int]:
    """The first hardware barrier by the size of the groups; sizes that find no room have none.

    A function of threads serves blocks of any size, so a size has one number in all kernels, and
    room for the groups of the largest block.
    """
    planned = list(functions)
    block = largest_block(planned)
    numbers: dict[int, int] = {}
    first = FIRST_NAMED_BARRIER
    for size in sorted(filter(fits_named_barrier, group_sizes(planned)), reverse=True):
        end = first + max(1, -(-block // size))
        if end - 1 <= LAST_NAMED_BARRIER:
            numbers[size], first = first, end
    return numbers


def largest_block(functions: Iterable[Planned]) -> int:
    """The threads of the largest block."""
    return max((item.block_threads for item in functions), default=0)


def _kind(planned: Planned, item: Barrier, hardware: Hardware) -> tuple[SyncKind, int]:
    """The instruction, and the number of the barrier that it names."""
    size = item.size
    if planned.is_cluster(item):
        return SyncKind.CLUSTER_BARRIER, 0
    if planned.is_warp(item):
        return SyncKind.WARP_BARRIER, 0
    if planned.is_block(item):
        return SyncKind.BLOCK_BARRIER, 0
    if size in hardware.named:
        return SyncKind.NAMED_BARRIER, hardware.named[size]
    return SyncKind.MBARRIER, hardware.mbarriers[size].number


def earlier_note(conflict: Conflict) -> Related:
    """Where the earlier access of a conflict is."""
    access = conflict.earlier
    names = ", ".join(f"`{root.name}`" for root in access.roots)
    later = "" if conflict.around is None else ", in an earlier iteration"
    return Related(at=access.at, message=f"{names} {VERBS[access.kind.name]} here{later}")


VERBS = {"READ": "is read", "WRITE": "is written", "UPDATE": "is updated atomically"}


def edges_of(planned: Planned, reasons: Iterable[Conflict]) -> tuple[Edge, ...]:
    """Conflicts for people, each pair of places in the text once."""
    found: dict[object, Edge] = {}
    for reason in reasons:
        key = (reason.earlier.at, reason.later.at, reason.hazard, reason.around)
        if key not in found:
            found[key] = _edge(planned, reason)
    return tuple(found.values())


def _edge(planned: Planned, conflict: Conflict) -> Edge:
    around = None if conflict.around is None else planned.loops.get(conflict.around)
    return Edge(
        earlier=_access(planned, conflict.earlier, conflict.earlier_threads),
        later=_access(planned, conflict.later, conflict.later_threads),
        hazard=conflict.hazard,
        around_loop=around,
    )


def _access(planned: Planned, access: GraphAccess, threads: int) -> Access:
    perspective = planned.graph.top.perspective
    everyone = threads == planned.graph.everyone
    return Access(
        root=", ".join(root.name for root in access.roots),
        kind=access.kind,
        deed=_deed(access),
        at=access.at,
        participants=Participants(
            perspective=perspective, ranges=() if everyone else ranges_of(threads)
        ),
    )


def _deed(access: GraphAccess) -> Deed:
    """What an access is to people."""
    if access.reach is Reach.END:
        return Deed.END
    if any(isinstance(root, Phase | Peers) for root in access.roots):
        return Deed.WAIT if access.kind is AccessKind.READ else Deed.ARRIVE
    return Deed[access.kind.name]
