"""Generic functions that nobody calls, for typical arguments: what is wrong for all of them.

What depends on the arguments is judged in instances (`docs/language.md`, "Generics"). Where the
program makes none, a few are tried; a perspective rule that every one of them breaks at the same
place would be broken in the instances to come. One that keeps to all rules ends the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prismc.checker.names.symbols import Names, Symbol
from prismc.checker.perspectives.check import check_perspectives
from prismc.checker.perspectives.facts import PerspectiveFacts
from prismc.checker.types import typed
from prismc.checker.types.context import Argument, Request
from prismc.checker.types.elaborate import Elaboration
from prismc.checker.types.generic_uses import kind_of
from prismc.checker.types.model import ScalarType
from prismc.diagnostics.problem import Problem
from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.frontend.modules import ModuleGraph
from prismc.hardware.groups import BLOCK, THREAD, WARP, Perspective
from prismc.hardware.orders import MemoryOrder
from prismc.hardware.scalars import F32, I32
from prismc.source.record import Record, replace
from prismc.source.span import Span

# Numbers and perspectives that are tried together, the likeliest first.
_TRIED: tuple[tuple[int, Perspective], ...] = (
    (32, WARP), (4, BLOCK), (2, THREAD), (128, BLOCK), (1, WARP),
)  # fmt: skip


def check_typical(
    graph: ModuleGraph,
    names: Names,
    defines: Mapping[str, str],
    program: typed.Program,
    sink: Sink,
) -> None:
    """Judge the generic functions of the root files that have no instance."""
    made = {(body.instance.module, body.instance.span) for body in program.bodies.values()}
    for module in graph.roots:
        declared = names.modules[module.name].declared
        for node in module.declarations:
            if not isinstance(node, ast.Function | ast.Kernel) or not node.generics:
                continue
            symbol = declared.get(node.name.id)
            if symbol is None or (module.name, node.name.span) in made:
                continue
            for problem in _common(graph, names, defines, symbol, node):
                sink.report(problem)


def _common(
    graph: ModuleGraph,
    names: Names,
    defines: Mapping[str, str],
    symbol: Symbol,
    node: ast.Function | ast.Kernel,
) -> Iterator[Problem]:
    """The problems that all instances have which can be made."""
    common: dict[tuple[str, Span], Problem] | None = None
    for typical in typical_programs(graph, names, defines, symbol, node):
        problems = {(problem.code, problem.at): problem for problem in typical.problems}
        shared = problems if common is None else {k: p for k, p in common.items() if k in problems}
        if not shared:
            return
        common = shared
    if common is not None:
        note = "for all arguments that were tried: the program makes no instance"
        yield from (replace(problem, notes=(*problem.notes, note)) for problem in common.values())


class Typical(Record):
    """A program that holds one instance of a generic function and what it calls."""

    instance: typed.Instance
    program: typed.Program
    perspectives: PerspectiveFacts
    problems: tuple[Problem, ...]


def typical_programs(
    graph: ModuleGraph,
    names: Names,
    defines: Mapping[str, str],
    symbol: Symbol,
    node: ast.Function | ast.Kernel,
    threads: int | None = None,
) -> Iterator[Typical]:
    """The instances that can be made for typical arguments, in blocks of so many threads."""
    for arguments in _arguments(node):
        elaboration = Elaboration(graph, names, defines, found := Sink())
        instance = elaboration.instance(
            Request(symbol=symbol, arguments=arguments, threads=threads)
        )
        elaboration.finish()
        if instance is None or found.has_errors():
            continue
        program = elaboration.program()
        perspectives = check_perspectives(program, found)
        yield Typical(
            instance=instance,
            program=program,
            perspectives=perspectives,
            problems=found.problems(),
        )


def _arguments(node: ast.Function | ast.Kernel) -> Iterator[tuple[Argument, ...]]:
    """Typical generic arguments; none where a function is among them."""
    kinds = [kind_of(generic) for generic in node.generics]
    for scalar in (F32, I32):
        for number, perspective in _TRIED:
            known: dict[str, Argument] = {
                "type": ScalarType(scalar=scalar),
                "int": number,
                "bool": True,
                "perspective": perspective,
                "order": MemoryOrder.RELAXED,
            }
            if not known.keys() >= set(kinds):
                return
            yield tuple(known[kind] for kind in kinds)
