"""Puts the operations of a program together: of each function commits and waits from its graph, and
the barriers, in the order of the text; of a kernel first what initialises mbarriers.

Where several stand at one place, a scope commits first, then threads wait for their own copies, and
then for one another: only so a barrier shows what the copies brought.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from collections.abc import Sequence as List
from types import MappingProxyType

from prismc.checker.sync.arms import part_of
from prismc.checker.sync.between import GridBarrier
from prismc.checker.sync.choose import (
    Hardware,
    Planned,
    barrier_operations,
    edges_of,
    group_sizes,
    largest_block,
    number_barriers,
)
from prismc.checker.sync.conflicts import Conflict
from prismc.checker.sync.coverage import BULK_WRITES, ranges_of
from prismc.checker.sync.graph import (
    Arms,
    Commit,
    Finish,
    Loop,
    Region,
    Sequence,
    Step,
    Wait,
    nodes_in,
    sequences_of,
)
from prismc.checker.sync.lag import Lag
from prismc.checker.sync.loads import arrivers_of
from prismc.checker.sync.mbarriers import (
    arrives_by_warp,
    group_mbarriers,
    initialisation,
    mbarriers_reached,
    split_barriers,
    split_mbarriers,
    split_named,
    unit_of_barrier,
)
from prismc.checker.sync.plan import (
    COMMITS,
    WAITS,
    InstancePlan,
    LoadMbarrier,
    Participants,
    Position,
    SyncKind,
    SyncOperation,
    SyncPlan,
    Where,
)
from prismc.checker.sync.protocol import require_liveness
from prismc.checker.sync.roll import (
    Choice,
    choose_shapes,
    rings_of,
    scopes_of,
    with_one_step,
)
from prismc.checker.sync.split import Arrive, Await, Loads, SplitBarrier
from prismc.checker.sync.weight import loops_in
from prismc.checker.types import typed
from prismc.hardware.asynchronous import Completion
from prismc.hardware.groups import BLOCK, GRID, Level
from prismc.hardware.primitives import WARP_THREADS
from prismc.source.record import replace


def program_plan(program: typed.Program, functions: List[Planned]) -> SyncPlan:
    """The plan of all functions, callees first."""
    hardware = _hardware(program, functions, ())
    shapes = _shapes(program, functions, hardware)
    turning = [one for shape in shapes.values() for one in shape.turning]
    if turning:
        of = {one.number: barrier for barrier, (one, _) in hardware.split.items()}
        rings = (tuple(of[number] for number in ring) for ring in rings_of(turning))
        hardware = _hardware(program, functions, tuple(rings))
    operations = {
        each.graph.symbol: with_one_step(
            function_operations(each, hardware, shapes[each.graph.symbol].behind),
            shapes[each.graph.symbol].turning,
            hardware.by_number(),
        )
        for each in functions
    }
    uses = [one for each in operations.values() for one in each]
    mbarriers = hardware.by_number()
    reached: dict[str, tuple[int, ...]] = {}
    for symbol, numbers in mbarriers_reached(program, operations).items():
        body = program.bodies[symbol]
        if numbers and body.instance.is_kernel and symbol in operations:
            reached[symbol] = numbers
            start = initialisation(body, numbers, mbarriers, uses)
            operations[symbol] = (*start, *operations[symbol])
    return SyncPlan(
        instances=MappingProxyType(_numbered(operations, functions, hardware, shapes)),
        mbarriers=MappingProxyType(mbarriers),
        reached=MappingProxyType(reached),
    )


def has_room(program: typed.Program, functions: List[Planned]) -> bool:
    """Whether there are hardware barriers enough for all split barriers that need one."""
    needed = {one for each in functions for one in split_barriers(each.graph) if one.meets}
    if not needed:
        return True
    named = number_barriers(functions)
    return needed <= split_named(program, functions, named, largest_block(functions)).keys()


def _shapes(
    program: typed.Program, functions: List[Planned], hardware: Hardware
) -> dict[str, Choice]:
    """How the pipelines of each function are written. Raises BlockedPlan."""
    found: dict[str, Choice] = {}
    for each in functions:
        body = program.bodies[each.graph.symbol]
        if any(each_loop.turns for each_loop in loops_in(body)):
            operations = function_operations(each, hardware, each.lags)
            found[each.graph.symbol] = choice = choose_shapes(
                body, program.bodies, operations, hardware.by_number(), each.lags, each.whole
            )
            lags = [each.lags[loop] for loop in sorted(choice.behind)]
            if lags:
                require_liveness(each.graph, each.barriers, each.loads, lags)
        else:
            found[each.graph.symbol] = Choice(pipelines=(), turning=())
    return found


def _hardware(
    program: typed.Program,
    functions: List[Planned],
    rings: tuple[tuple[SplitBarrier, ...], ...],
) -> Hardware:
    """What everybody waits at; the split barriers of a ring are one mbarrier's slots."""
    named = number_barriers(functions)
    sizes = group_sizes(functions).keys() - named.keys()
    block = largest_block(functions)
    groups = group_mbarriers(sizes, block)
    at_hand = split_named(program, functions, named, block)
    split = split_mbarriers(program, functions, groups.values(), block, at_hand, rings)
    return Hardware(named=named, mbarriers=groups, split=split, split_named=at_hand)


def _numbered(
    operations: Mapping[str, tuple[SyncOperation, ...]],
    functions: List[Planned],
    hardware: Hardware,
    shapes: Mapping[str, Choice],
) -> dict[str, InstancePlan]:
    """The operations of each function with their numbers in the program."""
    plans: dict[str, InstancePlan] = {}
    first = 0
    for planned in functions:
        symbol = planned.graph.symbol
        found = operations[symbol]
        numbered = tuple(replace(each, number=first + i) for i, each in enumerate(found))
        plans[symbol] = InstancePlan(
            symbol=symbol,
            operations=numbered,
            projected=planned.projected,
            completions=MappingProxyType(
                _completions(planned, hardware, scopes_of(shapes[symbol].turning))
            ),
            pipelines=shapes[symbol].pipelines,
        )
        first += len(found)
    return plans


def _completions(
    planned: Planned, hardware: Hardware, turning: frozenset[int]
) -> dict[int, LoadMbarrier]:
    """The mbarrier at which the loads of each scope complete, by the scope's id; it turns for those
    among `turning`."""
    found: dict[int, LoadMbarrier] = {}
    for barrier in (*split_barriers(planned.graph), *planned.loads.values()):
        for loads in barrier.loads:
            one, slot = hardware.split[barrier]
            for scope in loads.scopes:
                turns = scope in turning and one.slots > 1
                found[scope] = LoadMbarrier(barrier=one.number, slot=slot, turns=turns)
    return found


def function_operations(
    planned: Planned, hardware: Hardware, behind: Collection[int]
) -> tuple[SyncOperation, ...]:
    """The operations of one function in the order of the text, not numbered yet. Those for products
    that run on in the loops with ids `behind` are marked, and what drains the loops is there."""
    top = planned.graph.top
    lags = [lag for loop, lag in planned.lags.items() if loop in behind]
    late = {node: lag for lag in lags for node in (*lag.waits, *lag.arrivals)}
    places = {place: index for index, place in enumerate(dict.fromkeys(_places(top.body)))}
    operations = [
        *_node_operations(top, planned, hardware, late),
        *barrier_operations(planned, hardware),
        *_fence_operations(planned),
        *_product_fences(planned, lags),
        *(one for lag in lags for one in _drained(lag, planned, hardware)),
    ]
    operations.sort(key=lambda one: (places[one.position], _rank(one.kind)))
    return tuple(operations)


def _rank(kind: SyncKind) -> int:
    """Commits, waits, fences, barriers; registers are handed over last."""
    if kind in COMMITS.values():
        return 0
    if kind in (*WAITS.values(), SyncKind.WAIT_BULK_WRITES, SyncKind.MBARRIER_WAIT):
        return 1
    if kind in (SyncKind.PROXY_FENCE, SyncKind.FULL_PROXY_FENCE):
        return 2
    if kind is SyncKind.BLOCK_VOTE:
        return 5
    return 4 if kind is SyncKind.FENCE_PRODUCTS else 3


def _places(nodes: Sequence) -> Iterator[Position]:
    """The places of a sequence in the order of the text."""
    for node in nodes:
        yield node.before
        for inner in sequences_of(node):
            yield from _places(inner)
        if isinstance(node, Loop):
            if node.end is not None:
                yield node.end
            yield _behind(node)


def _behind(loop: Loop) -> Position:
    """The place behind a loop."""
    return Position(where=Where.AFTER, anchor=loop.loop)


def _node_operations(
    region: Region, planned: Planned, hardware: Hardware, late: Mapping[Step, Lag]
) -> Iterator[SyncOperation]:
    """What stands in the graph itself: commits and waits, of which all threads of the code around
    them are part, and split barriers."""
    for node in _same_code(region.body):
        match node:
            case Region():
                yield from _node_operations(node, planned, hardware, late)
            case Arms(regions=regions):
                for arm in regions:
                    yield from _node_operations(arm, planned, hardware, late)
            case Commit(queue=Loads() as loads) | Wait(queue=Loads() as loads):
                if loads in planned.loads:
                    yield _of_loads(node, loads, region, planned, hardware)
            case Commit() | Wait():
                drained = late[node].drained if node in late else ()
                made = _operation(node, region, planned, without=drained)
                yield replace(made, is_behind=node in late)
            case Finish():
                yield _vote(node)
            case GridBarrier():
                yield _of_grid(node, planned)
            case Arrive() | Await():
                made = _at_split_barrier(node, region, planned, hardware)
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


def _fence_operations(planned: Planned) -> Iterator[SyncOperation]:
    """The fences that show ordinary accesses to asynchronous engines."""
    for fence in planned.fences:
        yield SyncOperation(
            number=0,
            kind=SyncKind.FULL_PROXY_FENCE if fence.is_full else SyncKind.PROXY_FENCE,
            position=fence.position,
            participants=_everyone_in(fence.region),
            lanes=0,
            count=0,
            barrier=0,
            at=fence.reasons[0].later.at if fence.reasons else fence.node.span,
            edges=edges_of(planned, fence.reasons),
        )


def _product_fences(planned: Planned, lags: Collection[Lag]) -> Iterator[SyncOperation]:
    """Registers that the threads may have touched are the tensor cores' from here on."""
    late = {node for lag in lags for node in nodes_in(lag.loop.body)}
    for fence in planned.product_fences:
        yield SyncOperation(
            number=0,
            kind=SyncKind.FENCE_PRODUCTS,
            position=fence.scope.before,
            participants=_everyone_in(fence.scope),
            lanes=0,
            count=0,
            barrier=0,
            at=fence.scope.span,
            edges=(),
            registers=fence.registers,
            is_behind=fence.scope in late,
        )


def _drained(lag: Lag, planned: Planned, hardware: Hardware) -> Iterator[SyncOperation]:
    """Behind a loop, the wait for its last products, which gives their slot free."""
    place = _behind(lag.loop)
    wait = replace(_operation(lag.waits[0], lag.scopes[0], planned), edges=())
    edges = edges_of(planned, lag.drained)
    at = lag.drained[0].later.at if lag.drained else lag.scopes[0].span
    yield replace(wait, position=place, at=at, registers=lag.registers, arm=lag.arm, edges=edges)
    if not lag.is_last:
        arrive = _at_split_barrier(lag.arrivals[0], lag.scopes[0], planned, hardware)
        yield replace(arrive, position=place, is_behind=True, arm=lag.arm)


def _everyone_in(region: Region) -> Participants:
    is_grid = region.perspective.level is Level.GRID
    return Participants(perspective=BLOCK if is_grid else region.perspective)


def _operation(
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
        participants=_everyone_in(region),
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
        participants=replace(_everyone_in(region), ranges=ranges_of(threads) if is_part else ()),
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


def _of_grid(node: GridBarrier, planned: Planned) -> SyncOperation:
    return SyncOperation(
        number=0,
        kind=SyncKind.GRID_BARRIER,
        position=node.before,
        participants=Participants(perspective=GRID),
        lanes=0,
        count=0,
        barrier=0,
        at=node.span,
        edges=edges_of(planned, planned.waits[node]),
    )


def _vote(node: Finish) -> SyncOperation:
    """At `finish` a block's threads wait for the answer whether it is the last."""
    return SyncOperation(
        number=0,
        kind=SyncKind.BLOCK_VOTE,
        position=node.before,
        participants=Participants(perspective=BLOCK),
        lanes=0,
        count=0,
        barrier=0,
        at=node.span,
        edges=(),
    )


def _at_split_barrier(
    node: Arrive | Await, region: Region, planned: Planned, hardware: Hardware
) -> SyncOperation:
    """An arrival or a wait at a split barrier."""
    barrier, reasons = node.barrier, planned.waits.get(node, ())
    arrives = isinstance(node, Arrive)
    threads = barrier.arrivers if arrives else barrier.waiters
    first, slot = hardware.split_named.get(barrier), 0
    if first is None:
        mbarrier, slot = hardware.split[barrier]
        first, count = mbarrier.number, mbarrier.arrivals
    else:
        count = (barrier.units[0] & (barrier.arrivers | barrier.waiters)).bit_count()
    is_part = barrier.meets and region.threads != threads
    is_elected = arrives and barrier not in hardware.split_named and arrives_by_warp(barrier)
    return SyncOperation(
        number=0,
        kind=_half_of(node, hardware),
        position=node.before,
        participants=replace(_everyone_in(region), ranges=ranges_of(threads)),
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
    if not arrives:
        return SyncKind.NAMED_WAIT if is_named else SyncKind.MBARRIER_WAIT
    if node.barrier.loads:
        return SyncKind.EXPECT_BYTES
    if node.barrier.of_copies:
        return SyncKind.MBARRIER_COPIES
    return SyncKind.NAMED_ARRIVE if is_named else SyncKind.MBARRIER_ARRIVE
