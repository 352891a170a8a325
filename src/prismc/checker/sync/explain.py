"""Why a plan is as it is: what each operation puts in order, and why some functions need none.

An operation's own edges are the orders that it alone makes (`refine`); here is what it makes all in
all, the orders that others make too included. Worked out only when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from prismc.checker.memory.facts import MemoryFacts
from prismc.checker.perspectives.facts import PerspectiveFacts
from prismc.checker.sync.choose import edges_of
from prismc.checker.sync.conflicts import Conflict, is_hazard
from prismc.checker.sync.coverage import NONE
from prismc.checker.sync.graph import (
    Access,
    Crossings,
    Exit,
    Graph,
    Region,
    Root,
    Summary,
    nodes_in,
)
from prismc.checker.sync.plan import AccessKind, Edge, Position, SyncKind, SyncOperation, SyncPlan
from prismc.checker.sync.refine import MOST_VISITS, Barrier, orders_of
from prismc.checker.sync.requirements import Requirement, requirements_of
from prismc.checker.sync.roll import any_slot
from prismc.checker.sync.settings import SyncSettings
from prismc.checker.sync.split import Phase
from prismc.checker.sync.synchronise import Function, functions_of
from prismc.checker.sync.units import accesses_in
from prismc.checker.sync.verify import verify
from prismc.checker.types import typed
from prismc.diagnostics.sink import Sink
from prismc.source.record import Record, replace

_BARRIERS = (
    SyncKind.BLOCK_BARRIER,
    SyncKind.WARP_BARRIER,
    SyncKind.NAMED_BARRIER,
    SyncKind.MBARRIER,
)


class Settled(Enum):
    """Why memory that a function touches needs no operation."""

    READ = "only read"
    UPDATED = "only updated atomically"
    APART = "each thread keeps to its own elements"
    ORDERED = "functions that are called use it, and make the order"
    ELSEWHERE = "threads meet in it only on different paths, or where a warning tells"


class Touched(Record):
    """Memory that a function touches without an operation for it."""

    root: str
    why: Settled


class OperationAccount(Record):
    """One operation. `merged` are all orders that it makes, those of `operation.edges` first, with
    all threads that take part in each."""

    operation: SyncOperation
    merged: tuple[Edge, ...]


class FunctionAccount(Record):
    """The operations of one function, the memory that needs none of them, and what its callers
    put in order."""

    instance: typed.Instance
    operations: tuple[OperationAccount, ...]
    settled: tuple[Touched, ...]
    required: tuple[Requirement, ...]


def explain_plan(
    program: typed.Program,
    perspectives: PerspectiveFacts,
    memory: MemoryFacts,
    settings: SyncSettings,
    plan: SyncPlan,
) -> tuple[FunctionAccount, ...]:
    """The account of every function of a plan in which nothing was refused."""
    return tuple(
        _function(
            each,
            program.bodies[each.instance.symbol],
            plan.instances[each.instance.symbol].operations,
        )
        for each in functions_of(program, perspectives, memory, Sink(), settings)
    )


def _function(
    function: Function, body: typed.Body, operations: tuple[SyncOperation, ...]
) -> FunctionAccount:
    graph, barriers = function.planned.graph, function.planned.barriers
    visits = (len(barriers) + 1) * sum(1 for _ in nodes_in(graph.top.body))
    merged = _merged(function) if visits <= MOST_VISITS else {}
    accounts = tuple(
        OperationAccount(
            operation=each,
            merged=_with_own(merged, each) if each.kind in _BARRIERS else each.edges,
        )
        for each in operations
    )
    ordered = {
        name
        for account in accounts
        for edge in account.merged
        for side in (edge.earlier, edge.later)
        for name in side.root.split(", ")
    }
    return FunctionAccount(
        instance=function.instance,
        operations=accounts,
        settled=tuple(
            item
            for item in _settled(function, body)
            if ordered.isdisjoint((item.root, any_slot(item.root)))
        ),
        required=() if function.instance.is_kernel else requirements_of(function),
    )


def _with_own(
    merged: Mapping[Position, tuple[Edge, ...]], operation: SyncOperation
) -> tuple[Edge, ...]:
    """The orders of a barrier, those that are not of the graph included: mbarriers are shown."""
    found = merged.get(operation.position, operation.edges)
    known = {(edge.earlier.at, edge.later.at) for edge in found}
    own = (one for one in operation.edges if (one.earlier.at, one.later.at) not in known)
    return (*found, *own)


def _merged(function: Function) -> dict[Position, tuple[Edge, ...]]:
    """For each barrier: what nothing else orders, then what it orders where it stands alone."""
    planned = function.planned
    needed = verify(planned.graph, function.conflicts, {}).conflicts
    return {
        item.insertion.position: edges_of(
            planned, map(_of_all, (*item.reasons, *_made_by(function, item, needed)))
        )
        for item in planned.barriers
    }


def _made_by(function: Function, item: Barrier, needed: Iterable[Conflict]) -> tuple[Conflict, ...]:
    left = verify(function.planned.graph, function.conflicts, orders_of((item,))).conflicts
    missing = {_key(conflict) for conflict in left}
    return tuple(conflict for conflict in needed if _key(conflict) not in missing)


def _of_all(conflict: Conflict) -> Conflict:
    """The conflict with all threads that make the two accesses, not only two that meet."""
    return replace(
        conflict,
        earlier_threads=conflict.earlier.footprint.threads,
        later_threads=conflict.later.footprint.threads,
    )


def _key(conflict: Conflict) -> tuple[int, int, Crossings]:
    return conflict.earlier.number, conflict.later.number, conflict.crossed


# --------------------------------------------------------------------------- what needs nothing


def _settled(function: Function, body: typed.Body) -> tuple[Touched, ...]:
    """Every root of its own that the function touches, as if it needed no operation. The arrays of
    those it calls are in their accounts."""
    graph = function.planned.graph
    by_root: dict[str, list[Access]] = {}
    for access in accesses_in(graph.top):
        for root in access.roots:
            if isinstance(root, Phase) or not _is_declared_in(body, root):
                continue
            by_root.setdefault(root.name, []).append(access)
    calls_order = _makes_order(graph)
    return tuple(
        Touched(root=root, why=_why(accesses, function, calls_order=calls_order))
        for root, accesses in by_root.items()
    )


def _is_declared_in(body: typed.Body, root: Root) -> bool:
    start, end = body.instance.span, body.statements[-1].span
    return start.file == root.span.file and start.start <= root.span.start <= end.end


def _why(accesses: list[Access], function: Function, *, calls_order: bool) -> Settled:
    kinds = {access.kind for access in accesses}
    if kinds == {AccessKind.READ}:
        return Settled.READ
    if kinds == {AccessKind.UPDATE}:
        return Settled.UPDATED
    if not _meet(accesses, function):
        return Settled.APART
    return Settled.ORDERED if calls_order else Settled.ELSEWHERE


def _meet(accesses: list[Access], function: Function) -> bool:
    """Whether two different threads may touch one element through these accesses."""
    everyone = (function.planned.graph.everyone,)
    return any(
        function.conflicts.meeting(first, second, (), everyone).classes
        for index, first in enumerate(accesses)
        for second in accesses[index:]
        if is_hazard(first.kind, second.kind)
    )


def _makes_order(graph: Graph) -> bool:
    """Whether something that the function calls makes threads wait for one another."""
    return any(
        kind is Exit.NORMAL and flow.through != NONE
        for summary in _summaries(graph.top)
        for kind, flow in summary.exits
    )


def _summaries(region: Region) -> Iterable[Summary]:
    for node in nodes_in(region.body):
        for step in (getattr(node, "head", None), getattr(node, "test", None), node):
            for event in getattr(step, "events", ()):
                if isinstance(event, Summary):
                    yield event
