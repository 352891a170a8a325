"""Split barriers: some threads arrive and go on, others wait until all of them have arrived.

In an order a split barrier stands as a number behind those of the threads: who arrives is ordered
before it, it is ordered before who waits. A path meets arrivals and waits in turn (`handover.py`
sees to that), so the last arrival behind a wait is the one that it waits for.
"""

from __future__ import annotations

from collections.abc import Iterable

from prismc.checker.sync.coverage import UNCOMMITTED, Coverage, then, wait
from prismc.checker.sync.footprints import unknown_footprint
from prismc.checker.sync.graph import (
    Access,
    Commit,
    Exit,
    Flow,
    Graph,
    Reach,
    Root,
    Step,
    Summary,
    nodes_in,
)
from prismc.checker.sync.plan import AccessKind, Position
from prismc.hardware.asynchronous import Completion
from prismc.source.record import Record, replace
from prismc.source.span import Span


class Phase(Root):
    """The phase of a split barrier, as if it were memory: arrivals update it, waits read it. So the
    analysis demands that all have waited for a phase before anybody arrives for the next one."""


class Peers(Root):
    """The mbarriers of other blocks, as far as arrivals touch them."""


class _Passed(Record):
    """The queue of waits that threads have passed, see `Await`."""


PASSED = _Passed()


class Loads(Record):
    """The queue of bulk loads that complete at one mbarrier: those of the asynchronous scopes with
    these ids, which fill the memory called `roots`."""

    scopes: tuple[int, ...]
    roots: tuple[Root, ...]

    @property
    def content(self) -> str:
        """What they bring, for people."""
        return f"content of {', '.join(sorted(root.name for root in self.roots))}"


class LoadPhase(Phase):
    """The phase of the mbarrier that counts `loads`, which arrivals update and waits read. Each
    `unit` threads of a block have one of their own."""

    loads: Loads
    unit: int


class SplitBarrier(Record):
    """A barrier of each of `units`, at which the threads `arrivers` arrive and `waiters` wait.

    `bits` stand for it in orders, one for each unit. With `has_credit` the first wait needs no
    arrival. With `of_copies` a thread's arrival comes when its copies until then are complete (PTX
    ISA, "cp.async.mbarrier.arrive"); it orders nothing else that the thread did, except that the
    thread has passed its waits before. With `before_copies` the waiters issue such copies next.
    With `loads` the arrivals say how many bytes come, and all of them have to; `by_warp` tells that
    only first lanes of warps issue them. The units of one
    that `is_wide` are blocks of a cluster: arrivals, or what loads bring, reach all of them;
    `peers` is the memory of other blocks as far as arrivals touch it. One with `is_named` may be a
    hardware barrier: both sides are whole warps, and one phase is over before the next begins. One
    that `meets` is a hardware barrier for certain: who waits arrives there, too, so that those who
    wait are ordered among themselves. One with `is_cluster` is the cluster's own, of all its
    threads: nobody can arrive twice before all have waited.
    """

    phase: Phase
    units: tuple[int, ...]
    arrivers: int
    waiters: int
    bits: tuple[int, ...]
    has_credit: bool
    of_copies: bool
    before_copies: bool
    loads: tuple[Loads, ...] = ()
    is_wide: bool = False
    peers: Peers | None = None
    is_named: bool = False
    meets: bool = False
    is_cluster: bool = False
    by_warp: bool = False

    @property
    def arriving(self) -> int:
        """All threads that arrive."""
        return self.arrivers | self.waiters if self.meets else self.arrivers


class Arrive(Step):
    """The threads of the code arrive."""

    barrier: SplitBarrier


class Await(Step):
    """The threads of the code wait."""

    barrier: SplitBarrier


def arrive_at(
    barrier: SplitBarrier, number: int, position: Position, span: Span, loops: tuple[int, ...]
) -> Arrive:
    """An arrival as a node; `number` is its access', and behind the wait's that to other blocks;
    `loops` are those around it."""
    own = Coverage(tuple((unit & barrier.arrivers, bit) for unit, bit in _by_unit(barrier)))
    wide = Coverage(((barrier.arrivers, sum(1 << bit for bit in barrier.bits)),))
    reached = wide if barrier.is_wide else own
    order = own if barrier.loads else reached
    touch = Access(
        number=number,
        roots=(barrier.phase,),
        kind=AccessKind.UPDATE,
        footprint=unknown_footprint(barrier.arrivers),
        views=(),
        loops=loops,
        own_loops=(),
        at=span,
        queue=Completion.COPY_GROUP if barrier.of_copies else None,
    )
    made = wait(PASSED, UNCOMMITTED, reached)
    copies = wait(Completion.COPY_GROUP, UNCOMMITTED, order)
    made = then(made, copies if barrier.of_copies else order)
    for loads in barrier.loads:
        made = then(made, wait(loads, UNCOMMITTED, reached))
    touches: tuple[Access, ...] = () if barrier.is_cluster else (touch,)
    if barrier.peers is not None:
        far = replace(touch, number=number + 2, roots=(barrier.peers,), reach=Reach.CLUSTER)
        touches = (touch, far)
    return Arrive(before=position, span=span, events=(*touches, passing(made)), barrier=barrier)


def await_at(
    barrier: SplitBarrier, number: int, position: Position, span: Span, loops: tuple[int, ...]
) -> Await:
    """A wait as a node; `number` is its access', `loops` are those around it."""
    order = Coverage(tuple((bit, unit & barrier.waiters) for unit, bit in _by_unit(barrier)))
    if barrier.meets:
        own = Coverage(tuple((unit & barrier.waiters, bit) for unit, bit in _by_unit(barrier)))
        order = then(own, order)
    touch = Access(
        number=number,
        roots=(barrier.phase,),
        kind=AccessKind.READ,
        footprint=unknown_footprint(barrier.waiters),
        views=(),
        loops=loops,
        own_loops=(),
        at=span,
        queue=PASSED if barrier.before_copies else None,
    )
    touches = () if barrier.is_cluster else (touch,)
    return Await(before=position, span=span, events=(passing(order), *touches), barrier=barrier)


def _by_unit(barrier: SplitBarrier) -> Iterable[tuple[int, int]]:
    return zip(barrier.units, (1 << bit for bit in barrier.bits), strict=True)


def passing(order: Coverage) -> Summary:
    """An order as an event."""
    return Summary(entries=(), exits=((Exit.NORMAL, Flow(through=order, pending=())),))


def free_bit(graph: Graph, least: int) -> int:
    """The first number from `least` on that nothing in a function has."""
    bits = [least - graph.stride]
    for node in nodes_in(graph.top.body):
        if isinstance(node, Arrive):
            bits += node.barrier.bits
        elif isinstance(node, Commit):
            bits += [bit for _, bit in node.bits]
    return max(bits) + graph.stride


def outside(summary: Summary) -> Summary:
    """A function's summary without the phases of its split barriers, which are its own business:
    what comes around a loop may come in a second call as well. Those of loads need no loop, so
    only the caller knows what stands between two calls."""
    entries = tuple(entry for entry in summary.entries if not _is_phase(entry.access))
    exits = tuple(
        (kind, Flow(flow.through, tuple(i for i in flow.pending if not _is_phase(i.access))))
        for kind, flow in summary.exits
    )
    return Summary(entries=entries, exits=exits)


def _is_phase(access: Access) -> bool:
    return any(isinstance(root, Phase) and not isinstance(root, LoadPhase) for root in access.roots)
