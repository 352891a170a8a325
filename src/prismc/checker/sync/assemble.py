"""Puts the operations of a program together: of each function commits and waits from its graph, and
the barriers, in the order of the text; of a kernel first what initialises mbarriers.

Where several stand at one place, a scope commits first, then threads wait for their own copies, and
then for one another: only so a barrier shows what the copies brought.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as List
from types import MappingProxyType

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
from prismc.checker.sync.coverage import ranges_of
from prismc.checker.sync.graph import (
    Arms,
    Commit,
    Finish,
    Loop,
    Region,
    Sequence,
    Wait,
    sequences_of,
)
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
    Participants,
    Position,
    SyncKind,
    SyncOperation,
    SyncPlan,
)
from prismc.checker.sync.split import Arrive, Await, Loads
from prismc.checker.sync.units import accesses_in
from prismc.checker.types import typed
from prismc.hardware.asynchronous import Completion
from prismc.hardware.groups import BLOCK, GRID, Level
from prismc.hardware.primitives import WARP_THREADS
from prismc.source.record import replace


def program_plan(program: typed.Program, functions: List[Planned]) -> SyncPlan:
    """The plan of all functions, callees first."""
    named = number_barriers(functions)
    sizes = group_sizes(functions).keys() - named.keys()
    groups = group_mbarriers(sizes, largest_block(functions))
    block = largest_block(functions)
    at_hand = split_named(program, functions, named, block)
    split = split_mbarriers(program, functions, groups.values(), block, at_hand)
    hardware = Hardware(named=named, mbarriers=groups, split=split, split_named=at_hand)
    mbarriers = {one.number: one for one in (*groups.values(), *split.values())}
    operations = {each.graph.symbol: function_operations(each, hardware) for each in functions}
    uses = [one for each in operations.values() for one in each]
    reached: dict[str, tuple[int, ...]] = {}
    for symbol, numbers in mbarriers_reached(program, operations).items():
        body = program.bodies[symbol]
        if numbers and body.instance.is_kernel and symbol in operations:
            reached[symbol] = numbers
            start = initialisation(body, numbers, mbarriers, uses)
            operations[symbol] = (*start, *operations[symbol])
    return SyncPlan(
        instances=MappingProxyType(_numbered(operations, functions, hardware)),
        mbarriers=MappingProxyType(mbarriers),
        reached=MappingProxyType(reached),
    )


def _numbered(
    operations: Mapping[str, tuple[SyncOperation, ...]],
    functions: List[Planned],
    hardware: Hardware,
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
            completions=MappingProxyType(_completions(planned, hardware)),
        )
        first += len(found)
    return plans


def _completions(planned: Planned, hardware: Hardware) -> dict[int, int]:
    """The mbarrier at which the loads of each scope complete, by the scope's id."""
    return {
        scope: hardware.split[barrier].number
        for barrier in (*split_barriers(planned.graph), *planned.loads.values())
        for loads in barrier.loads
        for scope in loads.scopes
    }


def function_operations(planned: Planned, hardware: Hardware) -> tuple[SyncOperation, ...]:
    """The operations of one function in the order of the text, not numbered yet."""
    top = planned.graph.top
    places = {place: index for index, place in enumerate(dict.fromkeys(_places(top.body)))}
    operations = [
        *_node_operations(top, planned, hardware),
        *barrier_operations(planned, hardware),
        *_fence_operations(planned),
    ]
    operations.sort(key=lambda one: (places[one.position], _rank(one.kind)))
    return tuple(operations)


def _rank(kind: SyncKind) -> int:
    """Commits, waits, fences, barriers; registers are handed over last."""
    if kind in COMMITS.values():
        return 0
    if kind in WAITS.values() or kind is SyncKind.MBARRIER_WAIT:
        return 1
    if kind is SyncKind.PROXY_FENCE:
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
        if isinstance(node, Loop) and node.end is not None:
            yield node.end


def _node_operations(
    region: Region, planned: Planned, hardware: Hardware
) -> Iterator[SyncOperation]:
    """What stands in the graph itself: commits and waits, of which all threads of the code around
    them are part, and split barriers."""
    for node in _same_code(region.body):
        match node:
            case Region():
                yield from _product_fences(node)
                yield from _node_operations(node, planned, hardware)
            case Arms(regions=regions):
                for arm in regions:
                    yield from _node_operations(arm, planned, hardware)
            case Commit(queue=Loads() as loads) | Wait(queue=Loads() as loads):
                if loads in planned.loads:
                    yield _of_loads(node, loads, region, planned, hardware)
            case Commit() | Wait():
                yield _operation(node, region, planned)
            case Finish():
                yield _vote(node)
            case GridBarrier():
                yield _of_grid(node, planned)
            case Arrive() | Await():
                yield _at_split_barrier(node, region, planned, hardware)
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
            kind=SyncKind.PROXY_FENCE,
            position=fence.position,
            participants=_everyone_in(fence.region),
            lanes=0,
            count=0,
            barrier=0,
            at=fence.reasons[0].later.at if fence.reasons else fence.node.span,
            edges=edges_of(planned, fence.reasons),
        )


def _product_fences(region: Region) -> Iterator[SyncOperation]:
    """A scope of products starts with a fence: registers that the threads have written are the
    tensor cores' from there on (PTX ISA, "wgmma.fence")."""
    for node in region.body:
        if isinstance(node, Commit) and node.queue is Completion.PRODUCT_GROUP:
            yield SyncOperation(
                number=0,
                kind=SyncKind.FENCE_PRODUCTS,
                position=region.before,
                participants=_everyone_in(region),
                lanes=0,
                count=0,
                barrier=0,
                at=node.span,
                edges=(),
                registers=_product_registers(region),
            )


def _product_registers(region: Region) -> tuple[int, ...]:
    """The arrays that the products of a scope write or read."""
    roots = (root for access in accesses_in(region) for root in access.roots)
    return tuple(sorted({root.register for root in roots if root.is_private}))


def _everyone_in(region: Region) -> Participants:
    is_grid = region.perspective.level is Level.GRID
    return Participants(perspective=BLOCK if is_grid else region.perspective)


def _operation(node: Commit | Wait, region: Region, planned: Planned) -> SyncOperation:
    assert isinstance(node.queue, Completion), "groups are committed and waited for"
    reasons = planned.waits.get(node, ()) if isinstance(node, Wait) else ()
    return SyncOperation(
        number=0,
        kind=(WAITS if isinstance(node, Wait) else COMMITS)[node.queue],
        position=node.before,
        participants=_everyone_in(region),
        lanes=0,
        count=node.groups if isinstance(node, Wait) else 0,
        barrier=0,
        at=reasons[0].later.at if reasons else node.span,
        edges=edges_of(planned, reasons),
        registers=node.registers if isinstance(node, Wait) else (),
    )


def _of_loads(
    node: Commit | Wait, loads: Loads, region: Region, planned: Planned, hardware: Hardware
) -> SyncOperation:
    """The arrival that says how many bytes come, or the wait for them."""
    barrier = planned.loads[loads]
    mbarrier, reasons = hardware.split[barrier], planned.waits.get(node, ())
    is_wait = isinstance(node, Wait)
    return SyncOperation(
        number=0,
        kind=SyncKind.MBARRIER_WAIT if is_wait else SyncKind.EXPECT_BYTES,
        position=node.before,
        participants=_everyone_in(region),
        lanes=0,
        count=mbarrier.arrivals,
        barrier=mbarrier.number,
        at=reasons[0].later.at if reasons else node.span,
        edges=edges_of(planned, reasons),
    )


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
    first = hardware.split_named.get(barrier)
    if first is None:
        mbarrier = hardware.split[barrier]
        first, count = mbarrier.number, mbarrier.arrivals
    else:
        count = (barrier.units[0] & (barrier.arrivers | barrier.waiters)).bit_count()
    is_elected = arrives and barrier not in hardware.split_named and arrives_by_warp(barrier)
    return SyncOperation(
        number=0,
        kind=_half_of(node, hardware),
        position=node.before,
        participants=Participants(perspective=region.perspective, ranges=ranges_of(threads)),
        lanes=WARP_THREADS if is_elected else 0,
        count=count,
        barrier=first,
        at=reasons[0].later.at if reasons and not arrives else node.span,
        edges=edges_of(planned, reasons),
        unit=unit_of_barrier(planned.graph, barrier),
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
