"""The mbarriers of a program: where they lie in a kernel's shared memory, and their initialisation.

A kernel's area for mbarriers stands behind its shared arrays and is handed to all functions that it
calls, so mbarriers are numbered for the whole program. One thread initialises those that a kernel
reaches, and a block barrier shows them to the others (PTX ISA, "mbarrier.init").
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from prismc.checker.sync.arms import are_warps
from prismc.checker.sync.choose import VERBS, Planned
from prismc.checker.sync.errors import NoMbarriers
from prismc.checker.sync.graph import Graph, nodes_in
from prismc.checker.sync.plan import (
    MBARRIER_KINDS,
    Access,
    AccessKind,
    Deed,
    Edge,
    Mbarrier,
    Participants,
    Position,
    SyncKind,
    SyncOperation,
    SyncPlan,
    Where,
)
from prismc.checker.sync.split import Arrive, SplitBarrier
from prismc.checker.types import typed
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.features import Feature
from prismc.hardware.groups import BLOCK, Level, Perspective
from prismc.hardware.primitives import (
    FIRST_NAMED_BARRIER,
    LAST_NAMED_BARRIER,
    WARP_THREADS,
    fits_named_barrier,
)
from prismc.hardware.targets import Target

Operations = tuple[SyncOperation, ...]
_NAME = "the mbarriers"
# So many other orders that the target has no barrier for are shown beside the one that is told.
_SHOWN = 4


def group_mbarriers(sizes: Iterable[int], block: int) -> dict[int, Mbarrier]:
    """Mbarriers at which groups of these sizes wait for their threads, in blocks of up to `block`
    threads. Waiters arrive themselves."""
    made: dict[int, Mbarrier] = {}
    first = 0
    for number, size in enumerate(sorted(sizes, reverse=True)):
        copies = max(1, -(-block // size))
        made[size] = Mbarrier(number=number, first=first, copies=copies, unit=size, arrivals=size)
        first += copies
    return made


def split_named(
    program: typed.Program, functions: Iterable[Planned], groups: Collection[int], block: int
) -> dict[SplitBarrier, int]:
    """The first hardware barrier of each split barrier that may have one, behind those of groups,
    and of those that need one first; functions of different kernels may have the same ones. A
    cluster has its own, which has no number."""
    reached = kernels_reaching(program)
    start = FIRST_NAMED_BARRIER + sum(max(1, -(-block // size)) for size in groups)
    ends: dict[str, int] = {}
    made: dict[SplitBarrier, int] = {}
    for planned in functions:
        graph = planned.graph
        kernels = reached[graph.symbol]
        for barrier in sorted(split_barriers(graph), key=lambda one: not one.meets):
            first = max((ends.get(kernel, start) for kernel in kernels), default=start)
            unit = unit_of_barrier(graph, barrier)
            end = first + (max(1, -(-block // unit)) if unit else 1)
            if barrier.is_cluster:
                made[barrier] = 0
            elif barrier.is_named and end - 1 <= LAST_NAMED_BARRIER:
                made[barrier] = first
                ends |= dict.fromkeys(kernels, end)
    return made


def split_mbarriers(
    program: typed.Program,
    functions: Iterable[Planned],
    groups: Collection[Mbarrier],
    block: int,
    named: Collection[SplitBarrier],
    rings: Iterable[tuple[SplitBarrier, ...]] = (),
) -> dict[SplitBarrier, tuple[Mbarrier, int]]:
    """The mbarriers of all split barriers that are not `named`, behind those of groups, with the
    slot: those of a ring are one mbarrier's. Functions of different kernels may have the same
    places and phases."""
    reached = kernels_reaching(program)
    ring_of = {barrier: ring for ring in rings for barrier in ring}
    start = area_of((one.number for one in groups), {one.number: one for one in groups})
    ends: dict[str, tuple[int, int]] = {}
    made: dict[SplitBarrier, tuple[Mbarrier, int]] = {}
    number = len(groups)
    for planned in functions:
        graph = planned.graph
        kernels = reached[graph.symbol]
        for barrier in (*split_barriers(graph), *planned.loads.values()):
            if barrier in named or barrier in made:
                continue
            ring = ring_of.get(barrier, (barrier,))
            first = max((ends.get(kernel, (start, 0))[0] for kernel in kernels), default=start)
            phase = max((ends.get(kernel, (start, 0))[1] for kernel in kernels), default=0)
            unit = unit_of_barrier(graph, barrier)
            one = Mbarrier(
                number=number,
                first=first,
                copies=max(1, -(-block // unit)) if unit else 1,
                unit=unit,
                arrivals=_arrivals(barrier),
                phase=_in_one_word(phase, len(ring)),
                has_credit=barrier.has_credit,
                is_async=bool(barrier.loads) or barrier.is_wide,
                blocks=len(barrier.units) if barrier.is_wide else 1,
                is_remote=barrier.peers is not None,
                slots=len(ring),
            )
            made |= {each: (one, slot) for slot, each in enumerate(ring)}
            ends |= dict.fromkeys(kernels, (first + one.size, one.phase + one.slots))
            number += 1
    return made


def _in_one_word(bit: int, slots: int) -> int:
    """The first bit from `bit` on behind which so many bits lie in one word of 32."""
    return bit if bit % 32 + slots <= 32 else -(-bit // 32) * 32


def kernels_reaching(program: typed.Program) -> dict[str, frozenset[str]]:
    """The kernels that reach each function; a function that none reaches counts as one itself."""
    callers: dict[str, set[str]] = {}
    for symbol, body in reversed(list(program.bodies.items())):
        mine = callers.setdefault(symbol, set())
        if body.instance.is_kernel or not mine:
            mine.add(symbol)
        for call in body.calls:
            callers.setdefault(call.callee.symbol, set()).update(mine)
    return {symbol: frozenset(found) for symbol, found in callers.items()}


def split_barriers(graph: Graph) -> dict[SplitBarrier, None]:
    """The split barriers of a graph, in the order of the text."""
    return {node.barrier: None for node in nodes_in(graph.top.body) if isinstance(node, Arrive)}


def unit_of_barrier(graph: Graph, barrier: SplitBarrier) -> int:
    """The threads that share one mbarrier, as units of the block; 0 if the block has one."""
    if barrier.units[0].bit_count() == graph.block:
        return 0
    if len(barrier.units) > 1:
        return barrier.units[0].bit_count()
    top = graph.top.perspective
    return top.size if top.level is Level.THREAD else 0


def _arrivals(barrier: SplitBarrier) -> int:
    """The arrivals at one unit's barrier: whole warps arrive once each."""
    own = barrier.arrivers if barrier.peers is not None else barrier.units[0] & barrier.arrivers
    threads = own.bit_count()
    return threads // WARP_THREADS if arrives_by_warp(barrier) else threads


def arrives_by_warp(barrier: SplitBarrier) -> bool:
    """Whether one lane of each warp arrives for its warp."""
    counts = barrier.of_copies or (barrier.loads and not barrier.by_warp)
    return are_warps(barrier.arrivers) and not counts


def mbarriers_reached(
    program: typed.Program, operations: Mapping[str, Operations]
) -> dict[str, tuple[int, ...]]:
    """The numbers of the mbarriers of each function and of those it calls, ascending; callees stand
    before callers."""
    reached: dict[str, tuple[int, ...]] = {}
    for symbol, body in program.bodies.items():
        found = {one.barrier for one in operations.get(symbol, ()) if one.kind in MBARRIER_KINDS}
        for call in body.calls:
            found.update(reached.get(call.callee.symbol, ()))
        reached[symbol] = tuple(sorted(found))
    return reached


def area_of(numbers: Iterable[int], mbarriers: Mapping[int, Mbarrier]) -> int:
    """How many 8-byte objects an area for these mbarriers holds."""
    return max((mbarriers[n].first + mbarriers[n].size for n in numbers), default=0)


def initialisation(
    body: typed.Body, numbers: Collection[int], mbarriers: Mapping[int, Mbarrier]
) -> Iterator[SyncOperation]:
    """What stands at the start of a kernel: thread 0 initialises its mbarriers."""
    for number in numbers:
        yield _operation(body, SyncKind.MBARRIER_INIT, number, mbarriers[number].arrivals, ())


def publication(body: typed.Body, edges: tuple[Edge, ...], *, is_wide: bool) -> SyncOperation:
    """The barrier behind that: the block waits, or the cluster where other blocks reach the
    mbarriers."""
    kind = SyncKind.CLUSTER_BARRIER if is_wide else SyncKind.BLOCK_BARRIER
    return _operation(body, kind, 0, 0, edges)


def shown_for(
    body: typed.Body, numbers: Iterable[int], uses: Iterable[SyncOperation]
) -> tuple[Edge, ...]:
    """The reasons of what shows mbarriers: the first use of each, in the order of the text."""
    first_use = {one.barrier: one for one in reversed(list(uses)) if one.kind in MBARRIER_KINDS}
    return tuple(_edge(body.instance, first_use[each]) for each in numbers if each in first_use)


def _operation(
    body: typed.Body, kind: SyncKind, barrier: int, count: int, edges: tuple[Edge, ...]
) -> SyncOperation:
    is_init = kind is SyncKind.MBARRIER_INIT
    launch = body.instance.launch
    is_wide = kind is SyncKind.CLUSTER_BARRIER and launch is not None
    perspective = Perspective(Level.BLOCK, launch.cluster) if is_wide and launch else BLOCK
    return SyncOperation(
        number=0,
        kind=kind,
        position=Position(where=Where.BEFORE, anchor=body.statements[0].id),
        participants=Participants(perspective=perspective, ranges=((0, 1),) if is_init else ()),
        lanes=0,
        count=count,
        barrier=barrier,
        at=body.statements[0].span,
        edges=edges,
    )


def _edge(kernel: typed.Instance, use: SyncOperation) -> Edge:
    thread = Participants(perspective=Perspective(Level.THREAD, 1), ranges=((0, 1),))
    return Edge(
        earlier=Access(
            root=_NAME,
            kind=AccessKind.WRITE,
            deed=Deed.INITIALISE,
            at=kernel.span,
            participants=thread,
        ),
        later=Access(
            root=_NAME,
            kind=AccessKind.UPDATE,
            deed=Deed.WAIT if use.kind is SyncKind.MBARRIER_WAIT else Deed.ARRIVE,
            at=use.at,
            participants=use.participants,
        ),
        hazard="RAW",
        around_loop=None,
    )


def check_target(plan: SyncPlan, target: Target, sink: Sink) -> None:
    """Refuse orders that need mbarriers where the target has none, of each size of groups in a
    function the first."""
    if target.has(Feature.MBARRIER):
        return
    for instance in plan.instances.values():
        of_size: dict[int, list[SyncOperation]] = {}
        for one in instance.operations:
            if one.kind in MBARRIER_KINDS and one.kind is not SyncKind.MBARRIER_INIT:
                of_size.setdefault(one.participants.perspective.size, []).append(one)
        for size, operations in of_size.items():
            sink.report(_refusal(size, operations, target))


def _refusal(size: int, operations: Sequence[SyncOperation], target: Target) -> NoMbarriers:
    reason = f"{size} is neither 2, 4, 8, 16 nor a multiple of 32"
    if fits_named_barrier(size):
        reason = "the block's groups need more than the 15 hardware barriers"
    first = operations[0]
    earlier = first.edges[0].earlier
    note = Related(at=earlier.at, message=f"`{earlier.root}` {VERBS[earlier.kind.name]} here")
    others = (Related(at=each.at, message="needs one, too") for each in operations[1 : 1 + _SHOWN])
    return NoMbarriers(
        at=first.at, size=size, target=target.name, reason=reason, related=(note, *others)
    )
