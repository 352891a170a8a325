"""Constants of modules: evaluated when they are first needed, overridden by `-D`."""

from __future__ import annotations

from collections.abc import Mapping

from prismc.checker.names.symbols import Symbol
from prismc.checker.types import typed
from prismc.checker.types.constant_errors import (
    BadDefine,
    ConstantNeedsItself,
)
from prismc.checker.types.context import Program
from prismc.checker.types.function import FunctionElaborator
from prismc.checker.types.model import BOOLEAN, LiteralType, ScalarType
from prismc.checker.types.numbers import Number, fits
from prismc.checker.types.show import show
from prismc.diagnostics.problem import Related
from prismc.frontend import ast
from prismc.frontend.modules import ModuleGraph


class ModuleConstants:
    """The values found so far; a constant that is being evaluated needs itself."""

    def __init__(self, program: Program, graph: ModuleGraph, defines: Mapping[str, str]) -> None:
        self._program = program
        self._defines = defines
        self._roots = {module.name for module in graph.roots}
        self._values: dict[Symbol, typed.Constant | None] = {}
        self._open: list[Symbol] = []

    def value(self, symbol: Symbol) -> typed.Constant | None:
        """The constant's value, None if it was refused."""
        if symbol not in self._values:
            if symbol in self._open:
                self._report_cycle(symbol)
                return None
            self._open.append(symbol)
            self._values[symbol] = self._evaluate(symbol)
            self._open.pop()
        return self._values[symbol]

    def _evaluate(self, symbol: Symbol) -> typed.Constant | None:
        node = symbol.node
        assert isinstance(node, ast.Constant)
        context = FunctionElaborator(self._program, symbol.module)
        value = context.constant_of(node.type, node.value, symbol.name)
        if value is None or symbol.module not in self._roots or symbol.name not in self._defines:
            return value
        return self._overridden(symbol, node, value, context)

    def _overridden(
        self,
        symbol: Symbol,
        node: ast.Constant,
        value: typed.Constant,
        context: FunctionElaborator,
    ) -> typed.Constant | None:
        """The `-D` value, read as one of the constant's type."""
        text = self._defines[symbol.name]
        number = _parsed(text)
        type_ = value.type
        if isinstance(number, bool):
            agrees = type_ == BOOLEAN
        elif number is None:
            agrees = False
        elif isinstance(type_, LiteralType):
            agrees = type_.is_float or not isinstance(number, float)
        else:
            agrees = isinstance(type_, ScalarType) and fits(number, type_.scalar)
        if agrees and number is not None:
            given = context.constant(node.value.span, LiteralType(is_float=False), number)
            if isinstance(number, float):
                given = context.constant(node.value.span, LiteralType(is_float=True), number)
            if isinstance(number, bool) or isinstance(type_, LiteralType):
                return context.constant(node.value.span, type_, number)
            adapted = context.adapt(given, type_)
            return adapted if isinstance(adapted, typed.Constant) else None
        self._program.sink.report(
            BadDefine(at=node.span, name=symbol.name, text=text, type=show(type_))
        )
        return None

    def _report_cycle(self, symbol: Symbol) -> None:
        cycle = [*self._open[self._open.index(symbol) :], symbol]
        last = cycle[-2]
        notes = tuple(
            Related(at=other.span, message=f"`{other.name}` is part of the circle")
            for other in cycle[1:-1]
        )
        self._program.sink.report(
            ConstantNeedsItself(
                at=symbol.span,
                cycle=" -> ".join(other.name for other in cycle),
                related=notes if last is not symbol else (),
            )
        )


def _parsed(text: str) -> Number | None:
    """`true`, `false`, an integer in any base, or a float."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None
