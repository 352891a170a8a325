"""The checker's front page: its passes in order, from parsed modules to facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prismc.checker.alignment.check import check_alignment
from prismc.checker.memory.bounds import bound_memory
from prismc.checker.memory.facts import MemoryFacts
from prismc.checker.memory.mbarriers import charge_mbarriers
from prismc.checker.names.resolve import resolve_names
from prismc.checker.perspectives.check import check_perspectives
from prismc.checker.results import CheckedProgram
from prismc.checker.sync.mbarriers import check_target
from prismc.checker.sync.plan import SyncPlan
from prismc.checker.sync.races import Races, judge_races
from prismc.checker.sync.settings import DEFAULT_SETTINGS, SyncSettings
from prismc.checker.sync.synchronise import functions_of, plan_synchronisation
from prismc.checker.sync.unproven import report_unproven
from prismc.checker.target.needs import check_needs
from prismc.checker.target.symbols import check_symbols
from prismc.checker.types import typed
from prismc.checker.types.elaborate import elaborate_program
from prismc.checker.typical import check_typical, typical_programs
from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.frontend.modules import ModuleGraph
from prismc.hardware.targets import Target
from prismc.source.record import replace

_TYPICAL_BLOCK = 128  # threads


def check_program(
    graph: ModuleGraph,
    defines: Mapping[str, str],
    target: Target,
    sink: Sink,
    races: Races = Races.WARN,
    settings: SyncSettings = DEFAULT_SETTINGS,
    own: Sink | None = None,
) -> CheckedProgram:
    """Run every pass; each reports what it finds and leaves alone what an earlier one refused.

    `own`, where given, gets in place of `sink` what may be so on this target only.
    """
    own = sink if own is None else own
    names = resolve_names(graph, sink)
    program = elaborate_program(graph, names, defines, sink)
    perspectives = check_perspectives(program, sink)
    check_typical(graph, names, defines, program, sink)
    check_symbols(program, sink)
    has_needed = check_needs(program, target, own)
    memory = bound_memory(program, perspectives, target, own)
    check_alignment(program, sink)
    found = Sink()
    plan = plan_synchronisation(program, perspectives, memory, found, settings)
    if settings.has_mbarriers and not _has_room(program, memory, plan, target):
        fewer, few = replace(settings, has_mbarriers=False), Sink()
        without = plan_synchronisation(program, perspectives, memory, few, fewer)
        if _has_room(program, memory, without, target):
            settings, found, plan = fewer, few, without
    if has_needed:  # operations that it lacks bring their mbarriers with them
        check_target(plan, target, own)
    memory = charge_mbarriers(program, memory, plan.areas, target, own)
    sink.report_all(judge_races(found.problems(), races))
    if races is Races.DENY:
        functions = functions_of(program, perspectives, memory, Sink(), settings)
        report_unproven(functions, sink)
    return CheckedProgram(
        names=names,
        program=program,
        perspectives=perspectives,
        memory=memory,
        settings=settings,
        plan=plan,
    )


def _has_room(program: typed.Program, memory: MemoryFacts, plan: SyncPlan, target: Target) -> bool:
    """Whether shared memory holds a plan's mbarriers. Where not, barriers of all threads may
    take the place of those that are split."""
    trial = Sink()
    charge_mbarriers(program, memory, plan.areas, target, trial)
    return not trial.has_errors()


def check_further_target(checked: CheckedProgram, target: Target, sink: Sink) -> None:
    """Report what a further target says of a program that was checked with the same settings.

    Where it refuses nothing the facts are those that are there: they depend on a target's limits
    only where one is exceeded.
    """
    has_needed = check_needs(checked.program, target, sink)
    memory = bound_memory(checked.program, checked.perspectives, target, sink)
    if has_needed:
        check_target(checked.plan, target, sink)
    charge_mbarriers(checked.program, memory, checked.plan.areas, target, sink)


def typical_facts(
    graph: ModuleGraph,
    checked: CheckedProgram,
    node: ast.Function | ast.Kernel,
    target: Target,
) -> Iterator[tuple[typed.Instance, CheckedProgram]]:
    """What is found out about a generic function of the root for typical arguments, in a block of
    several warps, for people who read its description: each instance that keeps to all rules, in a
    program of its own."""
    module = graph.roots[0]
    symbol = checked.names.modules[module.name].declared[node.name.id]
    for typical in typical_programs(graph, checked.names, {}, symbol, node, _TYPICAL_BLOCK):
        program, perspectives = typical.program, typical.perspectives
        found = Sink()
        memory = bound_memory(program, perspectives, target, found)
        plan = plan_synchronisation(program, perspectives, memory, found, checked.settings)
        if typical.problems or found.has_errors():
            continue
        facts = replace(
            checked, program=program, perspectives=perspectives, memory=memory, plan=plan
        )
        yield typical.instance, facts
