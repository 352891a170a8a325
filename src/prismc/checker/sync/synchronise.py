"""The sync pass: from typed trees to the plan that lowering applies.

For each function, callees first: build the graph of its accesses, place barriers, drop and narrow
what is too much, report what cannot be ordered, and keep a summary for the callers. Instructions
and hardware barriers are chosen at the end, when all functions are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prismc.checker.memory.facts import MemoryFacts
from prismc.checker.perspectives.facts import PerspectiveFacts
from prismc.checker.sync.assemble import has_room, program_plan
from prismc.checker.sync.between import Between, GridBarrier, plan_between
from prismc.checker.sync.build import Built, build_graph, instance_threads
from prismc.checker.sync.choose import Planned
from prismc.checker.sync.clusters import report_parts
from prismc.checker.sync.conflicts import Conflicts
from prismc.checker.sync.fences import plan_fences, with_unfenced
from prismc.checker.sync.forms import Atom
from prismc.checker.sync.graph import Graph, Loop, Summary, nodes_in
from prismc.checker.sync.grid import Clash, clashes
from prismc.checker.sync.groups import Groups, late_waits, plan_groups
from prismc.checker.sync.halves import plan_halves
from prismc.checker.sync.handover import Handover, plan_handover
from prismc.checker.sync.lag import plan_lags
from prismc.checker.sync.leaving import plan_leaving
from prismc.checker.sync.loads import load_barriers, with_equal_arrivals
from prismc.checker.sync.paper import place_as_paper
from prismc.checker.sync.passing import Passing, plan_passing
from prismc.checker.sync.path import Pair
from prismc.checker.sync.plan import SyncPlan
from prismc.checker.sync.product_fences import plan_product_fences
from prismc.checker.sync.project import copied_barriers, projected_loops, projected_tails
from prismc.checker.sync.protocol import require_liveness
from prismc.checker.sync.races import report_meetings
from prismc.checker.sync.refine import Barrier, orders_of, refine
from prismc.checker.sync.releases import with_releases
from prismc.checker.sync.report import (
    report_clashes,
    report_conflicts,
    report_overlaps,
    report_unbalanced,
    report_unfinished,
    report_units,
)
from prismc.checker.sync.settings import DEFAULT_SETTINGS, Placement, SyncSettings
from prismc.checker.sync.split import Arrive, free_bit, outside
from prismc.checker.sync.straight import Planned as Placed
from prismc.checker.sync.summaries import FunctionSummary
from prismc.checker.sync.verify import Verdict, verify
from prismc.checker.sync.weight import Work, loops_with_early_ends
from prismc.checker.types import typed
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import Level
from prismc.hardware.primitives import LARGEST_CLUSTER, MOST_THREADS
from prismc.source.record import Record, replace


class Function(Record):
    """A function with its barriers, the judge of its accesses that they were found with, and what
    its callers know of it."""

    instance: typed.Instance
    planned: Planned
    conflicts: Conflicts
    summary: FunctionSummary


_PLANNED = (typed.InstanceKind.KERNEL, typed.InstanceKind.DEVICE)


def plan_synchronisation(
    program: typed.Program,
    perspectives: PerspectiveFacts,
    memory: MemoryFacts,
    sink: Sink,
    settings: SyncSettings = DEFAULT_SETTINGS,
) -> SyncPlan:
    """Plan every function that earlier passes have accepted."""
    functions = functions_of(program, perspectives, memory, sink, settings)
    planned = [each.planned for each in functions]
    report_parts(program, planned, sink)
    return program_plan(program, planned)


def build_graphs(
    program: typed.Program,
    perspectives: PerspectiveFacts,
    memory: MemoryFacts,
    settings: SyncSettings = DEFAULT_SETTINGS,
) -> tuple[Graph, ...]:
    """The graphs alone, for people; problems are reported when the program is planned."""
    functions = functions_of(program, perspectives, memory, Sink(), settings)
    return tuple(each.planned.graph for each in functions)


def functions_of(
    program: typed.Program,
    perspectives: PerspectiveFacts,
    memory: MemoryFacts,
    sink: Sink,
    settings: SyncSettings = DEFAULT_SETTINGS,
) -> tuple[Function, ...]:
    """Each function with its graph and its barriers, callees first."""
    functions = tuple(_functions(program, perspectives, memory, sink, settings))
    if has_room(program, [each.planned for each in functions]):
        return functions
    fewer = replace(settings, early_work=None)
    return tuple(_functions(program, perspectives, memory, sink, fewer))


def _functions(
    program: typed.Program,
    perspectives: PerspectiveFacts,
    memory: MemoryFacts,
    sink: Sink,
    settings: SyncSettings,
) -> Iterator[Function]:
    callees: dict[str, FunctionSummary] = {}
    has_copies = any(_has_scope(body) for body in program.bodies.values())
    has_engines = has_copies and any(_calls_engine(body) for body in program.bodies.values())
    told: set[int] = set()
    accepted = _accepted(program, perspectives)
    most = max((instance_threads(body.instance)[0] for body in accepted), default=0)
    bit = max(most, MOST_THREADS)
    for body in accepted:
        function, large = None, loops_with_early_ends(body, program.bodies)
        # Loads whose arrivals stand behind a condition are still open where a loop ends early.
        for cut in (large, frozenset[int]()):
            built = build_graph(
                body,
                program.bodies,
                memory,
                callees,
                most=most,
                cut=cut,
                has_scopes=settings.placement is Placement.PAPER,
                prover=settings.prover,
            )
            function = _plan(
                body,
                program.bodies,
                built,
                told,
                sink,
                settings,
                has_copies=has_copies,
                has_engines=has_engines,
                first_bit=bit,
                whole=large - cut,
            )
            if function is not None:
                break
        assert function is not None
        bit = free_bit(function.planned.graph, bit)
        callees[body.instance.symbol] = function.summary
        yield function


def _accepted(program: typed.Program, perspectives: PerspectiveFacts) -> tuple[typed.Body, ...]:
    """The functions that can run; none does that asks for more threads than a block may have."""
    return tuple(
        body
        for symbol, body in program.bodies.items()
        if body.instance.kind in _PLANNED
        and symbol not in perspectives.refused
        and _fits(body.instance)
    )


def _fits(instance: typed.Instance) -> bool:
    """Whether the hardware has blocks, and clusters, of the size."""
    threads, block = instance_threads(instance)
    return block <= MOST_THREADS and threads <= max(MOST_THREADS, block * LARGEST_CLUSTER)


def _has_scope(body: typed.Body) -> bool:
    return any(
        isinstance(statement, typed.Narrow) and statement.is_async
        for statement in body.all_statements
    )


def _calls_engine(body: typed.Body) -> bool:
    effects = (call.callee.effects for call in body.calls)
    return any(one is not None and one.agent.is_async_proxy for one in effects)


def _plan(
    body: typed.Body,
    bodies: Mapping[str, typed.Body],
    built: Built,
    told: set[int],
    sink: Sink,
    settings: SyncSettings,
    *,
    has_copies: bool,
    has_engines: bool,
    first_bit: int,
    whole: frozenset[int],
) -> Function | None:
    """The plan of one function; None, and nothing told, if its loops cannot be cut."""
    instance = body.instance
    between = _between(instance, built)
    graph = between.graph
    has_others = instance.bound.code.level is Level.THREAD
    conflicts = Conflicts(
        graph.everyone,
        graph.accesses,
        block=graph.block,
        has_others=has_others,
        has_copies=has_copies,
    )
    handover = _handover(graph, conflicts, settings, first_bit)
    graph = with_releases(with_equal_arrivals(handover.graph), first_bit)
    conflicts = handover.conflicts
    groups, barriers, verdict = _ordered(
        graph,
        conflicts,
        settings,
        balances=not built.cut,
        has_callers=not instance.is_kernel,
    )
    graph = groups.graph
    passing = Passing(
        graph=graph, conflicts=conflicts, barriers=barriers, verdict=verdict, reasons={}
    )
    may_split = instance.is_kernel and _may_split(settings)
    if barriers and may_split:
        work = Work(body, bodies)
        passing = plan_passing(
            graph, conflicts, barriers, verdict, first_bit, work, settings.early_work
        )
    passing = plan_leaving(passing)
    if may_split and any(0 < graph.block < one.size for one in passing.barriers):
        passing = plan_halves(passing, first_bit, Work(body, bodies))
    graph, conflicts = passing.graph, passing.conflicts
    barriers, verdict = passing.barriers, passing.verdict
    loads, unbalanced = load_barriers(graph, has_callers=not instance.is_kernel)
    if unbalanced and built.cut:
        return None
    report_unbalanced(unbalanced, sink)
    report_unfinished(groups.left, sink)
    report_conflicts(verdict, sink)
    report_units(graph, conflicts, unbalanced, sink)
    report_overlaps(graph, conflicts, barriers, told, sink)
    report_meetings(conflicts, barriers, sink)
    report_clashes(between.left, sink, is_cooperative=_is_cooperative(instance))
    tails = projected_tails(body.statements, graph)
    projected = (*projected_loops(graph, handover.loops, barriers), *tails)
    waits = {**groups.reasons, **handover.reasons, **between.reasons, **passing.reasons}
    is_ordered = not (verdict.conflicts or verdict.inside or groups.left or unbalanced)
    loops = {node.loop: node.span for node in nodes_in(graph.top.body) if isinstance(node, Loop)}
    found = Planned(
        graph=graph,
        barriers=barriers,
        fences=plan_fences(graph, conflicts, barriers, is_ordered=is_ordered),
        loads=loads,
        waits=waits,
        block_threads=built.block_threads,
        loops=loops,
        projected=projected,
        copied=copied_barriers(body.statements, tails, barriers),
        product_fences=plan_product_fences(graph, body),
        lags=plan_lags(graph, conflicts, waits, projected, is_kernel=instance.is_kernel),
        whole=whole,
    )
    _check_liveness(found)
    seen = verdict.summary
    if has_engines:
        seen = with_unfenced(graph, conflicts, barriers, found.fences, seen)
    summary = _summary(body, built, seen, has_engines=has_engines)
    return Function(instance=instance, planned=found, conflicts=conflicts, summary=summary)


def _check_liveness(planned: Planned) -> None:
    """Split barriers, bulk loads and barriers of the grid must let everybody go on in the end; that
    full barriers do is known from the perspectives: whoever waits there runs the same code. Raises
    BlockedPlan."""
    graph = planned.graph
    halves = any(isinstance(node, Arrive | GridBarrier) for node in nodes_in(graph.top.body))
    if halves or planned.loads:
        require_liveness(graph, planned.barriers, planned.loads)


def _between(instance: typed.Instance, built: Built) -> Between:
    """What a kernel's blocks do to one another, with barriers of the grid where there may be."""
    found: tuple[Clash, ...] = ()
    if instance.is_kernel:
        block = built.accesses.evaluator.symbols.of_block()
        found = tuple(clashes(built.graph.between_blocks, block))
    if found and _is_cooperative(instance):
        return plan_between(built.graph, found)
    return Between(graph=built.graph, reasons={}, left=found)


def _is_cooperative(instance: typed.Instance) -> bool:
    return instance.launch is not None and instance.launch.cooperative


def _handover(
    graph: Graph, conflicts: Conflicts, settings: SyncSettings, first_bit: int
) -> Handover:
    if not _may_split(settings):
        return Handover(graph=graph, conflicts=conflicts, reasons={}, loops=())
    return plan_handover(graph, conflicts, first_bit)


def _ordered(
    graph: Graph,
    conflicts: Conflicts,
    settings: SyncSettings,
    *,
    balances: bool,
    has_callers: bool,
) -> tuple[Groups, tuple[Barrier, ...], Verdict]:
    """The waits and the barriers of a function: waits where they let the most copies overlap, or
    earlier where no barrier can stand behind them."""
    early = frozenset[Pair]()
    while True:
        groups = plan_groups(graph, conflicts, early, balances=balances, has_callers=has_callers)
        barriers, verdict = _placed(groups.graph, conflicts, settings, groups.placed)
        late = late_waits(verdict.conflicts)
        if late <= early:
            return groups, barriers, verdict
        early |= late


def _placed(
    graph: Graph, conflicts: Conflicts, settings: SyncSettings, placed: Placed
) -> tuple[tuple[Barrier, ...], Verdict]:
    """The barriers of a function, `placed` made exact or those of the paper, and what they
    leave."""
    if settings.placement is Placement.PAPER:
        barriers = place_as_paper(graph, conflicts)
        return barriers, verify(graph, conflicts, orders_of(barriers))
    return refine(graph, conflicts, placed.insertions, sum(1 for _ in nodes_in(graph.top.body)))


def _may_split(settings: SyncSettings) -> bool:
    """Whether barriers may become arrivals and waits."""
    return settings.placement is not Placement.PAPER and settings.has_mbarriers


def _summary(
    body: typed.Body, built: Built, summary: Summary, *, has_engines: bool
) -> FunctionSummary:
    evaluator, instance = built.accesses.evaluator, body.instance
    symbols: dict[Atom, int] = {}
    for position, parameter in enumerate(instance.parameters):
        atom = evaluator.symbols.of_parameter(parameter)
        if atom is not None:
            symbols[atom] = position
    return FunctionSummary(
        symbol=instance.symbol,
        threads=built.graph.everyone.bit_length(),
        summary=outside(summary),
        symbols=symbols,
        returned=built.accesses.pointers.returned(body),
        has_engines=has_engines,
    )
