"""The stages in order, from the text of a file to machine code: the page to read first.

Each stage takes what the one before it made and returns its own result, or None when there is
nothing to go on with; problems go to the session's sink. A stage's modules are imported when it
first runs (here only, so that checking a program loads neither the IR nor a compiler).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from prismc.diagnostics.sink import Sink
from prismc.driver.errors import NoSuchOperation, TooLarge
from prismc.driver.options import Options
from prismc.driver.session import Made, Session
from prismc.hardware.features import Feature
from prismc.source.files import SourceFile
from prismc.source.record import replace
from prismc.source.span import NOWHERE, Span

if TYPE_CHECKING:
    from prismc.backend.cuda.emit_functions import Written
    from prismc.backend.cuda_module import CudaModule
    from prismc.checker.results import CheckedProgram
    from prismc.checker.sync.asked import Prover
    from prismc.frontend.modules import ModuleGraph
    from prismc.frontend.outline import Outline
    from prismc.ir.core import Module


class View(NamedTuple):
    """One way to print a stage's result: `prismc dump --after NAME`."""

    name: str
    show: Callable[[Session, Any], str]


class Stage(NamedTuple):
    """A step of the pipeline; `module` is what it imports, `views` what can be printed after it.

    `reads` gives all options that its result depends on: it is not run again while these and what
    it starts from are the same. A stage without `reads` runs every time.
    """

    name: str
    run: Callable[[Session, Any], Any]
    module: str
    views: Callable[[], tuple[View, ...]]
    reads: Callable[[Options], object] | None = None

    def fact(self, session: Session, source: Any) -> Any:
        """What the stage makes of `source`, or has made and reported of it before."""
        if self.reads is None:
            return self.run(session, source)
        options = self.reads(session.options)
        earlier = _made(session, self.name, source, options)
        if earlier is not None:
            session.sink.report_all(earlier.problems)
            return earlier.fact
        known = len(session.sink.problems())
        fact = self.run(session, source)
        session.made[self.name] = Made(source, options, fact, session.sink.since(known))
        return fact


def _made(session: Session, name: str, source: Any, options: object) -> Made | None:
    """What a stage made of `source` with these options, if that is what it made last."""
    earlier = session.made.get(name)
    is_it = earlier is not None and earlier.source is source and earlier.options == options
    return earlier if is_it else None


# --------------------------------------------------------------------------- parse


def _parse(session: Session, file: SourceFile) -> ModuleGraph:
    """The text of a root file, and of all that it imports, to trees."""
    from prismc.frontend.modules import load_program

    include = session.options.include
    session.graph = None
    session.graph = load_program((file,), include, session.files, session.sink, session.parsed)
    return session.graph


def outline_file(session: Session, file: SourceFile) -> Outline:
    """What the importers of a file can depend on."""
    from prismc.frontend.modules import parse_once
    from prismc.frontend.outline import outline

    return outline(parse_once(file, session.parsed))


def _tree_views() -> tuple[View, ...]:
    from prismc.frontend.show import show_tree

    def trees(session: Session, graph: ModuleGraph) -> str:
        known = session.files.known
        return "\n".join(show_tree(module, known(module.file)) for module in graph.roots)

    return (View("ast", trees),)


# --------------------------------------------------------------------------- check


def _check(session: Session, graph: ModuleGraph) -> CheckedProgram:
    """Trees to facts: names, types, perspectives, memory, the synchronisation plan."""
    from prismc.checker.check import check_further_target, check_program
    from prismc.checker.sync.races import Races
    from prismc.checker.sync.settings import Placement, SyncSettings

    session.roots[session.root] = None
    options = session.options
    races = Races(options.races)
    settings = SyncSettings(
        placement=Placement(options.placement),
        has_mbarriers=options.target.has(Feature.MBARRIER),
        prover=_prover(options),
    )
    chosen = (settings, options.defines, races)
    earlier = _made(session, CHECKS, graph, chosen)
    if earlier is not None:
        further = Sink()
        check_further_target(earlier.fact, options.target, further)
        if not further.has_errors():
            session.sink.report_all((*earlier.problems, *further.problems()))
            return cast("CheckedProgram", earlier.fact)
    defines, common, own = dict(options.defines), Sink(), Sink()
    checked = check_program(graph, defines, options.target, common, races, settings, own)
    checked = _with_tests(session, graph, checked, common)
    session.sink.report_all((*common.problems(), *own.problems()))
    # What exceeds a target's limits, or makes do with less, is a matter of that target alone.
    if not own.has_errors() and checked.settings == settings:
        session.made[CHECKS] = Made(graph, chosen, checked, common.problems())
    return checked


def _with_tests(
    session: Session, graph: ModuleGraph, checked: CheckedProgram, sink: Sink
) -> CheckedProgram:
    """The facts together with those of the tests, where a root file has any."""
    from prismc.frontend.ast import Test

    if not any(isinstance(node, Test) for module in graph.roots for node in module.declarations):
        return checked
    from prismc.checker.host.check import check_tests

    defines = dict(session.options.defines)
    tests = check_tests(graph, checked.names, defines, checked.program, sink)
    return replace(checked, tests=tests)


def _prover(options: Options) -> Prover | None:
    """Who is asked about accesses that may meet, if anybody."""
    if options.footprints != "smt":
        return None
    from prismc.checker.sync.solver import PROVER

    return PROVER


def _fact_views() -> tuple[View, ...]:
    from prismc.checker.memory.show import show_memory
    from prismc.checker.perspectives.show import show_perspectives
    from prismc.checker.sync.show import show_graph, show_plan
    from prismc.checker.sync.synchronise import build_graphs
    from prismc.checker.types.dump import dump_program

    def types(session: Session, checked: CheckedProgram) -> str:
        return dump_program(checked.program, session.files)

    def perspectives(session: Session, checked: CheckedProgram) -> str:
        return show_perspectives(checked.program, checked.perspectives, session.files)

    def memory(session: Session, checked: CheckedProgram) -> str:
        return show_memory(checked.program, checked.memory)

    def sync_graph(session: Session, checked: CheckedProgram) -> str:
        graphs = build_graphs(
            checked.program, checked.perspectives, checked.memory, checked.settings
        )
        return show_graph(graphs, session.files)

    def plan(session: Session, checked: CheckedProgram) -> str:
        return show_plan(checked.program, checked.plan, session.files, session.options.target)

    return (
        View("types", types),
        View("perspectives", perspectives),
        View("memory", memory),
        View("sync-graph", sync_graph),
        View("plan", plan),
    )


# --------------------------------------------------------------------------- the IR


def _lower(session: Session, checked: CheckedProgram) -> Module | None:
    """Facts to the IR; only a program without errors has one."""
    from prismc.ir.lowering.module import lower_program

    if session.sink.has_errors():
        return None
    module = lower_program(
        _without_dropped(session, checked),
        session.sink,
        keeps_asserts=session.options.asserts,
        keeps_assumptions=session.options.assumptions,
    )
    return None if session.sink.has_errors() else module


def _lowering_options(options: Options) -> object:
    return options.dropped_sync, options.asserts, options.assumptions


def _without_dropped(session: Session, checked: CheckedProgram) -> CheckedProgram:
    """The facts with a plan that lacks the operations which the options drop."""
    dropped = session.options.dropped_sync
    if not dropped:
        return checked
    known = checked.plan.numbers()
    for number in sorted(set(dropped) - set(known)):
        session.sink.report(NoSuchOperation(at=NOWHERE, number=number, count=len(known)))
    return replace(checked, plan=checked.plan.without(dropped))


def _ir_views() -> tuple[View, ...]:
    from prismc.ir.printer import print_module

    return (View("ir", lambda session, module: print_module(module)),)


class Optimised(NamedTuple):
    """The IR after all passes, and after each of them by the pass's name."""

    module: Module
    steps: dict[str, Module]


def _optimise(session: Session, module: Module) -> Optimised:
    """Run the passes over the IR; each leaves the module before it as it was."""
    from prismc.ir.passes.order import run_passes

    steps: dict[str, Module] = {}
    final = run_passes(module, verify=session.options.verify, after=steps.__setitem__)
    return Optimised(final, steps)


def _pass_views() -> tuple[View, ...]:
    from prismc.ir.passes.order import PASSES
    from prismc.ir.printer import print_module

    def after(name: str) -> View:
        return View(name, lambda session, optimised: print_module(optimised.steps[name]))

    return tuple(after(each.name) for each in PASSES)


# --------------------------------------------------------------------------- CUDA


def _write(session: Session, optimised: Optimised) -> Written:
    """The IR's functions to CUDA C++, the same for all targets."""
    from prismc.backend.cuda.emit_functions import write_functions

    static_shared = session.options.target.static_shared_limit
    return write_functions(optimised.module, static_shared, session.files)


def _emit(session: Session, written: Written) -> CudaModule:
    """The whole CUDA C++ text for the session's target."""
    from prismc.backend.cuda.emit_module import emit_module

    name = os.path.splitext(os.path.basename(session.root))[0] + ".cu"
    return emit_module(written, session.options.target, name)


def _cuda_views() -> tuple[View, ...]:
    return (View("cuda", lambda session, module: str(module.text)),)


# --------------------------------------------------------------------------- the order


STAGES: tuple[Stage, ...] = (
    Stage("parse", _parse, "frontend.modules", _tree_views, lambda options: options.include),
    Stage("check", _check, "checker.check", _fact_views),
    Stage("lower", _lower, "ir.lowering.module", _ir_views, _lowering_options),
    Stage("optimise", _optimise, "ir.passes.order", _pass_views, lambda options: options.verify),
    Stage(
        "write",
        _write,
        "backend.cuda.emit_functions",
        tuple,
        lambda options: options.target.static_shared_limit,
    ),
    Stage("emit", _emit, "backend.cuda.emit_module", _cuda_views),
)
CHECKS = "check"  # the last stage of `prismc check`
EMITS = "emit"  # the last stage before a CUDA compiler runs


def import_stages(last: str) -> None:
    """Import what the stages up to `last` else import when they first run."""
    for stage in STAGES:
        import_module(f"prismc.{stage.module}")
        if stage.name == last:
            return


def run_stages(
    session: Session, file: SourceFile, last: str, facts: dict[str, Any] | None = None
) -> Any:
    """What stage `last` makes of `file`; None where problems kept a stage from running.

    `facts`, if given, collects what each stage made, by its name. A program that is too deep or too
    large for the interpreter is an ordinary problem.
    """
    fact: Any = file
    session.root = file.name
    try:
        for stage in STAGES:
            fact = stage.fact(session, fact)
            if facts is not None:
                facts[stage.name] = fact
            if fact is None or stage.name == last:
                return fact
    except RecursionError:
        session.sink.report(TooLarge(at=Span(file.name, 0, 0), what="too many levels of nesting"))
    except MemoryError:
        session.sink.report(TooLarge(at=Span(file.name, 0, 0), what="the memory does not suffice"))
    return None


def view_names() -> list[str]:
    """The names that `dump_file` knows, in order of the stages."""
    return [view.name for stage in STAGES for view in stage.views()]


def dump_file(session: Session, file: SourceFile, name: str) -> str | None:
    """What view `name` shows of `file`; None where problems kept its stage from running."""
    for stage in STAGES:
        for view in stage.views():
            if view.name == name:
                fact = run_stages(session, file, stage.name)
                return None if fact is None else view.show(session, fact)
    raise KeyError(name)


def check_file(session: Session, file: SourceFile) -> None:
    """Everything up to the sync plan; all that is found goes to the session's sink."""
    run_stages(session, file, CHECKS)
