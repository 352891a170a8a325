"""Elaboration of a program: which instances exist, in what order, under which names.

Instances are: each kernel without generics and each `export`; what they reach, specialised; then
each other function of the root files in its own right, generic ones as a trial without arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from prismc.checker.names.errors import UnknownDefine
from prismc.checker.names.symbols import ModuleNames, Names, Symbol, SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.call_errors import (
    EndlessSpecialisation,
    ExportsKernel,
)
from prismc.checker.types.constants import ModuleConstants
from prismc.checker.types.context import UNKNOWN, Argument, Given, Layout, Request
from prismc.checker.types.evaluate import Evaluator
from prismc.checker.types.function import FunctionElaborator
from prismc.checker.types.generic_uses import GenericUse
from prismc.checker.types.numbers import Number
from prismc.checker.types.order import ordered
from prismc.checker.types.show import word
from prismc.checker.types.swizzles import swizzle_function
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.diagnostics.suggest import did_you_mean
from prismc.frontend import ast
from prismc.frontend.modules import ModuleGraph
from prismc.hardware.swizzles import Swizzle
from prismc.source.span import Span

_DEEPEST = 128

_Key = tuple[Symbol, tuple[Argument, ...], int | None, str | None, tuple[Given, ...]]


def elaborate_program(
    graph: ModuleGraph, names: Names, defines: Mapping[str, str], sink: Sink
) -> typed.Program:
    """The typed tree of everything that is to be checked; problems go to the sink.

    `defines` are the `-D NAME=VALUE` of the command line, for constants of the root files.
    """
    elaboration = Elaboration(graph, names, defines, sink)
    elaboration.run()
    return elaboration.program()


class Elaboration:
    """The work list of instances and what they share (`context.Program`)."""

    def __init__(
        self, graph: ModuleGraph, names: Names, defines: Mapping[str, str], sink: Sink
    ) -> None:
        self.sink = sink
        self._graph = graph
        self._names = names
        self._defines = defines
        self._last_id = 0
        self._instances: dict[_Key, typed.Instance | None] = {}
        self._symbols: dict[typed.Instance, Symbol] = {}
        self._made: set[Symbol] = set()
        self._waiting: list[FunctionElaborator] = []
        self._finished: dict[typed.Instance, FunctionElaborator] = {}
        self._bodies: dict[typed.Instance, typed.Body] = {}
        self._evaluator = Evaluator(self._bodies, self._is_refused)
        self._taken: set[str] = set()
        self._swizzles: dict[tuple[Swizzle, int], Layout] = {}
        self._constants = ModuleConstants(self, graph, defines)

    # ------------------------------------------------------------------ the program

    def run(self) -> None:
        """Make all instances."""
        self._check_defines()
        declarations = [d for module in self._graph.roots for d in self._declared(module)]
        self._reserve_kernel_names(declarations)
        for symbol, node in declarations:
            if isinstance(node, ast.Constant):
                self.constant(symbol)
            elif isinstance(node, ast.Kernel) and not node.generics:
                self.instance(Request(symbol=symbol, symbol_name=symbol.name))
            elif isinstance(node, ast.Export):
                self._export(symbol, node)
        self._drain()
        functions = [d for d in declarations if isinstance(d[1], ast.Function | ast.Kernel)]
        for symbol, node in functions:
            if not _generics(node) and symbol not in self._made:
                self.instance(Request(symbol=symbol))
                self._drain()
        for symbol, node in functions:
            if _generics(node) and symbol not in self._made:
                self._try_generic(symbol, len(_generics(node)))

    def program(self) -> typed.Program:
        """What was made, in order; recursion is found here."""
        calls = {instance: done.calls for instance, done in self._finished.items()}
        order, cyclic = ordered(self._bodies, calls, self.sink)
        failed = [i for i, done in self._finished.items() if done.is_failed]
        return typed.Program(
            bodies=MappingProxyType({i.symbol: self._bodies[i] for i in order}),
            refused=frozenset(i.symbol for i in (*failed, *cyclic)),
        )

    def _declared(self, module: ast.Module) -> list[tuple[Symbol, ast.Declaration]]:
        """The declarations that have a name which is theirs, in the order of the text."""
        names = self._names.modules[module.name]
        found: list[tuple[Symbol, ast.Declaration]] = []
        for node in module.declarations:
            if isinstance(node, ast.Constant | ast.Function | ast.Kernel | ast.Export):
                symbol = names.declared.get(node.name.id)
                if symbol is not None:
                    found.append((symbol, node))
        return found

    def _reserve_kernel_names(self, declarations: list[tuple[Symbol, ast.Declaration]]) -> None:
        """A kernel's C name is its source name, whatever else is called so."""
        for symbol, node in declarations:
            if isinstance(node, ast.Export) or (isinstance(node, ast.Kernel) and not node.generics):
                self._taken.add(symbol.name)

    def _try_generic(self, symbol: Symbol, count: int) -> None:
        """A generic that nothing specialised, for what does not depend on its arguments."""
        request = Request(symbol=symbol, arguments=(UNKNOWN,) * count, is_trial=True)
        trial = FunctionElaborator(self, symbol.module, request)
        errors = self.sink.errors_reported
        if trial.signature(symbol.name) is not None and self.sink.errors_reported == errors:
            trial.body()
        self._drain()

    def _export(self, symbol: Symbol, node: ast.Export) -> None:
        """`export name = k[128, 64]`: the kernel's instance, called `name` in C."""
        context = FunctionElaborator(self, symbol.module)
        value = node.value
        callee = value.value if isinstance(value, ast.Index) else value
        kernel = context.symbol_at(callee)
        if kernel is None or kernel.kind is SymbolKind.UNKNOWN:
            return
        if kernel.kind is not SymbolKind.KERNEL:
            note = Related(at=kernel.span, message=f"`{kernel.name}` is declared here")
            self.sink.report(ExportsKernel(at=node.value.span, name=kernel.name, related=(note,)))
            return
        given = value.arguments if isinstance(value, ast.Index) else ()
        named = value.named if isinstance(value, ast.Index) else ()
        use: GenericUse | None = context.generic_use(kernel, given, named, value.span)
        arguments = context.complete(use, value.span) if use is not None else None
        if arguments is not None:
            self.instance(
                Request(
                    symbol=kernel,
                    arguments=arguments,
                    origin=value.span,
                    symbol_name=symbol.name,
                )
            )

    def _check_defines(self) -> None:
        """Each `-D` names a constant of some root file."""
        known = [
            node.name.text
            for module in self._graph.roots
            for node in module.declarations
            if isinstance(node, ast.Constant)
        ]
        for name in self._defines:
            if name not in known and self._graph.roots:
                root = self._graph.roots[0]
                advice = did_you_mean(name, known, "name a top-level `const` of the file")
                at = Span(root.file, 0, 0)
                self.sink.report(UnknownDefine(at=at, name=name, advice=advice))

    # ------------------------------------------------------------------ what bodies ask for

    def next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def names_of(self, module: str) -> ModuleNames:
        return self._names.modules[module]

    def symbol_of(self, callee: typed.Instance) -> Symbol:
        return self._symbols[callee]

    def constant(self, symbol: Symbol) -> typed.Constant | None:
        return self._constants.value(symbol)

    def evaluate(self, callee: typed.Instance, arguments: tuple[Number, ...]) -> Number | None:
        return self._evaluator.value(callee, arguments)

    def why_unknown(self, callee: typed.Instance, arguments: tuple[Number, ...]) -> str:
        return self._evaluator.reason(callee, arguments)

    def swizzle(self, swizzle: Swizzle, size: int, at: Span) -> Layout:
        if (swizzle, size) not in self._swizzles:
            symbol = self._free_name(f"{swizzle.name}_{8 * size}")
            body = swizzle_function(swizzle, size, symbol, at, self.next_id)
            self._taken.add(symbol)
            self._bodies[body.instance] = body
            self._swizzles[swizzle, size] = Layout(
                function=body.instance, run=swizzle.run(size), swizzle=swizzle
            )
        return self._swizzles[swizzle, size]

    def swizzle_of(self, function: typed.Instance) -> Layout | None:
        found = (layout for layout in self._swizzles.values() if layout.function is function)
        return next(found, None)

    def instance(self, request: Request) -> typed.Instance | None:
        key = _key(request, request.threads)
        if key in self._instances:
            return self._instances[key]
        if request.depth > _DEEPEST:
            self._report_endless(request)
            self._instances[key] = None
            return None
        elaborator = FunctionElaborator(self, request.symbol.module, request)
        self._instances[key] = None  # a signature that needs itself is refused
        made = elaborator.signature(request.symbol_name or self._symbol_name(request))
        if made is None:
            return None
        shared = self._without_threads(request, made)
        if shared is not None:
            self._instances[key] = shared
            return shared
        self._taken.add(made.symbol)
        self._instances[key] = made
        self._symbols[made] = request.symbol
        self._made.add(request.symbol)
        if made.kind is typed.InstanceKind.EXPRESSION:
            self._finish(elaborator)
        else:
            self._waiting.append(elaborator)
        return made

    def _without_threads(self, request: Request, made: typed.Instance) -> typed.Instance | None:
        """Code below block level is one for all block sizes: the instance that is there, if any."""
        if made.threads is not None or made.is_kernel or request.threads is None:
            return None
        key = _key(request, None)
        if self._instances.get(key) is None:
            self._instances[key] = made
            return None
        return self._instances[key]

    def _report_endless(self, request: Request) -> None:
        assert request.origin is not None
        note = Related(at=request.symbol.span, message=f"`{request.symbol.name}` is declared here")
        self.sink.report(
            EndlessSpecialisation(
                at=request.origin, name=request.symbol.name, depth=_DEEPEST, related=(note,)
            )
        )

    def _symbol_name(self, request: Request) -> str:
        """The source name with its generic arguments; more where that is taken."""
        base = "_".join((request.symbol.name, *(word(value) for value in request.arguments)))
        candidates = [base]
        if request.threads is not None:
            candidates.append(f"{base}_t{request.threads}")
        module = request.symbol.module.replace(".", "_")
        candidates += [f"{module}_{candidate}" for candidate in candidates]
        for candidate in candidates:
            if candidate not in self._taken:
                return candidate
        return self._free_name(base)

    def _free_name(self, base: str) -> str:
        """`base`, or with a number behind it where that is taken."""
        if base not in self._taken:
            return base
        number = 2
        while f"{base}_{number}" in self._taken:
            number += 1
        return f"{base}_{number}"

    def finish(self) -> None:
        """Make the bodies of all instances that were asked for."""
        self._drain()

    def _drain(self) -> None:
        while self._waiting:
            self._finish(self._waiting.pop(0))

    def _is_refused(self, instance: typed.Instance) -> bool:
        return instance in self._finished and self._finished[instance].is_failed

    def _finish(self, elaborator: FunctionElaborator) -> None:
        assert elaborator.instance is not None
        self._finished[elaborator.instance] = elaborator
        self._bodies[elaborator.instance] = elaborator.body()


def _key(request: Request, threads: int | None) -> _Key:
    return (request.symbol, request.arguments, threads, request.symbol_name, request.given)


def _generics(node: ast.Declaration) -> tuple[ast.Generic, ...]:
    return node.generics if isinstance(node, ast.Function | ast.Kernel) else ()
