"""Chooses the instruction for each barrier, by how many threads wait for one another, and numbers
the hardware barriers.

Groups of whole warps use barriers 1 to 15: group g of size n has number `first + g`, where g counts
the groups of n threads in the block. All groups of one size share the numbers, in all functions of
a program, so that no two groups which may wait at the same time have one number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prismc.checker.sync.conflicts import Conflict
from prismc.checker.sync.coverage import ranges_of
from prismc.checker.sync.errors import MbarriersUnsupported
from prismc.checker.sync.graph import Access as GraphAccess
from prismc.checker.sync.graph import Graph, Wait
from prismc.checker.sync.plan import (
    Access,
    Edge,
    Participants,
    SyncKind,
    SyncOperation,
)
from prismc.checker.sync.refine import Barrier
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import BLOCK, Level, Perspective
from prismc.hardware.primitives import (
    FIRST_NAMED_BARRIER,
    LAST_NAMED_BARRIER,
    fits_lanes,
    fits_named_barrier,
)
from prismc.source.record import Record
from prismc.source.span import Span


class Planned(Record):
    """The barriers of one function, and the waits in its graph with their reasons; `block_threads`
    is the size of its block."""

    graph: Graph
    barriers: tuple[Barrier, ...]
    waits: Mapping[Wait, tuple[Conflict, ...]]
    block_threads: int
    loops: Mapping[int, Span]

    def is_block(self, barrier: Barrier) -> bool:
        """Whether a barrier is one of the whole block."""
        return barrier.size == self.block_threads


def barrier_operations(
    planned: Planned, numbers: Mapping[int, int], sink: Sink
) -> Iterator[SyncOperation]:
    """The barriers of one function, not numbered yet. `numbers` gives the first hardware barrier of
    each size."""
    for item in planned.barriers:
        kind = _kind(planned, item, numbers, sink)
        if kind is None:
            continue
        size = item.size
        is_block = kind is SyncKind.BLOCK_BARRIER
        perspective = BLOCK if is_block else Perspective(Level.THREAD, size)
        yield SyncOperation(
            number=0,
            kind=kind,
            position=item.insertion.position,
            participants=Participants(perspective=perspective),
            lanes=size if kind is SyncKind.WARP_BARRIER else 0,
            count=size,
            barrier=numbers.get(size, 0) if kind is SyncKind.NAMED_BARRIER else 0,
            at=item.reasons[0].later.at,
            edges=edges_of(planned, item.reasons),
        )


def number_barriers(functions: Iterable[Planned]) -> dict[int, int]:
    """The first hardware barrier by the size of the groups; sizes that find no room have none.

    A function of threads serves blocks of any size, so a size has one number in all kernels, and
    room for the groups of the largest block.
    """
    planned = list(functions)
    block = max((item.block_threads for item in planned), default=0)
    wanted = {
        barrier.size
        for item in planned
        for barrier in item.barriers
        if not item.is_block(barrier)
        and not fits_lanes(barrier.size)
        and fits_named_barrier(barrier.size)
    }
    numbers: dict[int, int] = {}
    first = FIRST_NAMED_BARRIER
    for size in sorted(wanted, reverse=True):
        end = first + max(1, -(-block // size))
        if end - 1 <= LAST_NAMED_BARRIER:
            numbers[size], first = first, end
    return numbers


def _kind(
    planned: Planned, item: Barrier, numbers: Mapping[int, int], sink: Sink
) -> SyncKind | None:
    size = item.size
    if fits_lanes(size):
        return SyncKind.WARP_BARRIER
    if planned.is_block(item):
        return SyncKind.BLOCK_BARRIER
    if size in numbers:
        return SyncKind.NAMED_BARRIER
    reason = f"{size} is neither 2, 4, 8, 16 nor a multiple of 32"
    if fits_named_barrier(size):
        reason = "the block's groups need more than the 15 hardware barriers"
    conflict = item.reasons[0]
    sink.report(
        MbarriersUnsupported(
            at=conflict.later.at,
            size=size,
            reason=reason,
            related=(earlier_note(conflict), _speaker_note(item)),
        )
    )
    return None


def _speaker_note(item: Barrier) -> Related:
    region = item.insertion.region
    return Related(at=region.span, message=f"the code is {region.perspective} from here on")


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
        at=access.at,
        participants=Participants(
            perspective=perspective, ranges=() if everyone else ranges_of(threads)
        ),
    )
