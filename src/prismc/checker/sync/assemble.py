"""Puts the operations of a program together: of each function commits and waits from its graph, and
the barriers, in the order of the text; of a kernel first what initialises mbarriers.

Where several stand at one place, a scope commits first, then threads wait for their own copies, and
then for one another: only so a barrier shows what the copies brought.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from collections.abc import Sequence as List
from types import MappingProxyType

from prismc.checker.sync.choose import (
    Hardware,
    Planned,
    barrier_operations,
    edges_of,
    group_sizes,
    largest_block,
    number_barriers,
)
from prismc.checker.sync.graph import (
    Loop,
    Sequence,
    nodes_in,
    sequences_of,
)
from prismc.checker.sync.lag import Lag
from prismc.checker.sync.mbarriers import (
    group_mbarriers,
    initialisation,
    mbarriers_reached,
    split_barriers,
    split_mbarriers,
    split_named,
)
from prismc.checker.sync.plan import (
    COMMITS,
    WAITS,
    InstancePlan,
    LoadMbarrier,
    Position,
    SyncKind,
    SyncOperation,
    SyncPlan,
    Where,
)
from prismc.checker.sync.protocol import require_liveness
from prismc.checker.sync.publish import with_shown
from prismc.checker.sync.roll import (
    Choice,
    choose_shapes,
    rings_of,
    scopes_of,
    with_one_step,
)
from prismc.checker.sync.split import SplitBarrier
from prismc.checker.sync.standing import (
    at_split_barrier,
    everyone_in,
    group_operation,
    node_operations,
)
from prismc.checker.sync.weight import loops_in
from prismc.checker.types import typed
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
    mbarriers = hardware.by_number()
    found = {symbol: one for symbol, one in mbarriers_reached(program, operations).items() if one}
    users = {
        symbol: operations[symbol]
        for symbol in found
        if symbol in operations and not program.bodies[symbol].instance.is_kernel
    }
    reached: dict[str, tuple[int, ...]] = {}
    for each in functions:
        symbol = each.graph.symbol
        body, numbers = program.bodies[symbol], found.get(symbol, ())
        if numbers and body.instance.is_kernel:
            reached[symbol] = numbers
            start = initialisation(body, numbers, mbarriers)
            is_wide = any(mbarriers[number].blocks > 1 for number in numbers)
            shown = with_shown(operations[symbol], each, body, users, numbers, is_wide=is_wide)
            operations[symbol] = (*start, *shown)
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
        *node_operations(top, planned, hardware, late),
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


def _fence_operations(planned: Planned) -> Iterator[SyncOperation]:
    """The fences that show ordinary accesses to asynchronous engines."""
    for fence in planned.fences:
        yield SyncOperation(
            number=0,
            kind=SyncKind.FULL_PROXY_FENCE if fence.is_full else SyncKind.PROXY_FENCE,
            position=fence.position,
            participants=everyone_in(fence.region),
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
            participants=everyone_in(fence.scope),
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
    wait = replace(group_operation(lag.waits[0], lag.scopes[0], planned), edges=())
    edges = edges_of(planned, lag.drained)
    at = lag.drained[0].later.at if lag.drained else lag.scopes[0].span
    yield replace(wait, position=place, at=at, registers=lag.registers, arm=lag.arm, edges=edges)
    if not lag.is_last:
        arrive = at_split_barrier(lag.arrivals[0], lag.scopes[0], planned, hardware)
        yield replace(arrive, position=place, is_behind=True, arm=lag.arm)
