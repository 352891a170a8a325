"""Expressions of a test: what is known of their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prismc.checker.host.errors import (
    HostArguments,
    HostShapes,
    HostTypes,
    LaunchForm,
    NotHostCode,
)
from prismc.checker.host.functions import FUNCTIONS, MAKER_USAGE, MAKERS, called, converted
from prismc.checker.host.launches import Argument, check_arguments, kernel_of
from prismc.checker.host.operators import applied, combined
from prismc.checker.host.values import (
    UNKNOWN,
    Array,
    Complaint,
    HostValue,
    Number,
    is_condition,
    show,
)
from prismc.checker.names.symbols import HOST_BUILTINS, ModuleNames, Symbol, SymbolKind
from prismc.checker.types import typed
from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.hardware.scalars import ALIASES, SCALARS, Scalar
from prismc.source.span import Span

LAUNCH = "launch"


def scalar_called(name: str) -> Scalar | None:
    """The type that a word names, if the host has arrays of it."""
    scalar = SCALARS.get(name) or ALIASES.get(name)
    return None if scalar is None or (scalar.is_float and scalar.bits == 8) else scalar


class Expressions:
    """Values in one test; `value_of` tells those of variables and constants."""

    def __init__(
        self,
        names: ModuleNames,
        program: typed.Program,
        root: str,
        value_of: Callable[[Symbol], HostValue],
        sink: Sink,
    ) -> None:
        self._names = names
        self._program = program
        self._root = root
        self._value_of = value_of
        self._sink = sink

    def judged(self, result: HostValue | Complaint, at: Span, usage: str = "") -> HostValue:
        """A result, or the problem that it is."""
        if not isinstance(result, Complaint):
            return result
        what, advice = result.what, result.advice
        match result.kind:
            case "types":
                self._sink.report(HostTypes(at=at, what=what, advice=advice))
            case "shapes":
                self._sink.report(HostShapes(at=at, what=what, advice=advice))
            case _:
                self._sink.report(HostArguments(at=at, what=what, usage=usage))
        return UNKNOWN

    def value(self, node: ast.Expression) -> HostValue:
        """What is known of an expression's value."""
        match node:
            case ast.Integer(value=value):
                return Number(kind="int", value=value)
            case ast.Float(value=value):
                return Number(kind="float", value=value)
            case ast.Boolean(value=value):
                return Number(kind="bool", value=value)
            case ast.Reference() | ast.Member():
                return self._reference(node)
            case ast.Unary(operator=sign, operand=operand):
                return self.judged(applied(sign, self.value(operand)), node.span)
            case ast.Binary():
                return self._binary(node)
            case ast.Index():
                return self._element(node)
            case ast.Call():
                return self._call(node)
            case _:
                self._sink.report(NotHostCode(at=node.span, what="this expression"))
                return UNKNOWN

    def _symbol(self, node: ast.Expression) -> Symbol | None:
        return self._names.uses.get(node.id)

    def _reference(self, node: ast.Reference | ast.Member) -> HostValue:
        symbol = self._symbol(node)
        if symbol is None or symbol.kind is SymbolKind.UNKNOWN:
            if isinstance(node, ast.Member) and self.value(node.value) != UNKNOWN:
                self._sink.report(NotHostCode(at=node.name.span, what=f"`.{node.name.text}`"))
            return UNKNOWN
        if symbol.kind in (SymbolKind.CONSTANT, SymbolKind.LOCAL, SymbolKind.LOOP):
            return self._value_of(symbol)
        what = f"the {symbol.kind.value} `{symbol.name}` as a value"
        self._sink.report(NotHostCode(at=node.span, what=what))
        return UNKNOWN

    def _binary(self, node: ast.Binary) -> HostValue:
        left, right = self.value(node.left), self.value(node.right)
        if node.operator not in ("and", "or"):
            return self.judged(combined(node.operator, left, right), node.span)
        for side, value in ((node.left, left), (node.right, right)):
            if value != UNKNOWN and not is_condition(value):
                what = f"`{node.operator}` of {show(value)}"
                self._sink.report(
                    HostTypes(at=side.span, what=what, advice="compare it with something")
                )
        return Number(kind="bool")

    def _element(self, node: ast.Index) -> HostValue:
        """`x[i]`, `x[i, j]`: an element, or a part where indices are left out at the end."""
        value = self.value(node.value)
        indices = [self.value(argument) for argument in node.arguments]
        if value == UNKNOWN or UNKNOWN in indices:
            return UNKNOWN
        if not isinstance(value, Array) or node.named or len(indices) > len(value.shape):
            what = f"{len(indices)} indices into {show(value)}"
            self._sink.report(
                HostTypes(at=node.span, what=what, advice="give an index for each dimension")
            )
            return UNKNOWN
        for index, length, argument in zip(indices, value.shape, node.arguments, strict=False):
            if not isinstance(index, Number) or index.kind != "int":
                what, advice = f"an index that is {show(index)}", "give it an int"
                self._sink.report(HostTypes(at=argument.span, what=what, advice=advice))
                return UNKNOWN
            if _is_outside(index.value, length):
                self._sink.report(
                    HostShapes(
                        at=argument.span,
                        what=f"index {index.value} into {show(value)}",
                        advice="give one from 0 to the length less 1",
                    )
                )
        return Array(scalar=value.scalar, shape=value.shape[len(indices) :])

    # ------------------------------------------------------------------ calls

    def _call(self, node: ast.Call) -> HostValue:
        symbol = self._symbol(node.callee)
        if symbol is None:
            if isinstance(node.callee, ast.Call):
                self.launch(node, is_statement=False)
            elif not isinstance(node.callee, ast.Reference):
                self._sink.report(NotHostCode(at=node.span, what="this call"))
            return UNKNOWN
        name = symbol.name
        if symbol.kind is not SymbolKind.BUILTIN or symbol is not HOST_BUILTINS.get(name):
            if symbol.kind is not SymbolKind.UNKNOWN:
                what = f"a call of the {symbol.kind.value} `{name}`"
                self._sink.report(NotHostCode(at=node.callee.span, what=what))
            return UNKNOWN
        if name == LAUNCH:
            self._sink.report(
                LaunchForm(at=node.span, what="a launch without arguments", name="kernel")
            )
            return UNKNOWN
        if name in MAKERS:
            return self._made(name, node)
        named = {each.name.text: self.value(each.value) for each in node.named}
        values = [self.value(argument) for argument in node.arguments]
        if name in FUNCTIONS:
            return self.judged(called(name, values, named), node.span, FUNCTIONS[name].usage)
        return self._converted(name, node, values)

    def _made(self, name: str, node: ast.Call) -> HostValue:
        """`zeros(T, n)` and its like."""
        usage = MAKER_USAGE[name]
        first = node.arguments[0] if node.arguments else None
        scalar = scalar_called(first.name) if isinstance(first, ast.Reference) else None
        values = [self.value(argument) for argument in node.arguments[1:]]
        if scalar is None or not values or node.named:
            what = f"`{name}` needs a type of numbers and a shape"
            return self.judged(Complaint(kind="arguments", what=what), node.span, usage)
        if UNKNOWN in values:
            return UNKNOWN
        return self.judged(MAKERS[name](scalar, values), node.span, usage)

    def _converted(self, name: str, node: ast.Call, values: Sequence[HostValue]) -> HostValue:
        scalar = scalar_called(name)
        if scalar is None:
            what = f"a conversion to `{name}`"
            self._sink.report(NotHostCode(at=node.span, what=what))
            return UNKNOWN
        if len(values) != 1 or node.named:
            what = f"{len(values)} values for `{name}`"
            return self.judged(Complaint(kind="arguments", what=what), node.span, f"{name}(x)")
        return values[0] if values[0] == UNKNOWN else converted(scalar, values[0])

    # ------------------------------------------------------------------ launches

    def launch(self, node: ast.Expression, is_statement: bool = True) -> None:
        """`launch(k, blocks = n)(args)`, the one expression that is a statement."""
        head = node.callee if isinstance(node, ast.Call) else None
        is_launch = (
            isinstance(head, ast.Call)
            and isinstance(head.callee, ast.Reference)
            and self._symbol(head.callee) is HOST_BUILTINS[LAUNCH]
        )
        if not is_launch or not isinstance(head, ast.Call) or not isinstance(node, ast.Call):
            if self.value(node) != UNKNOWN:
                self._sink.report(NotHostCode(at=node.span, what="a value that nobody uses"))
            return
        if not is_statement:
            self._sink.report(LaunchForm(at=node.span, what="a launch as a value", name="kernel"))
            return
        kernel = self._kernel(head)
        arguments = [self._argument(None, value) for value in node.arguments]
        arguments += [self._argument(each.name, each.value) for each in node.named]
        if kernel is not None:
            check_arguments(kernel, arguments, node.span, self._sink)

    def _kernel(self, head: ast.Call) -> typed.Instance | None:
        """The kernel of `launch(k, blocks = n)`, with its number of blocks judged."""
        name = "kernel"
        if len(head.arguments) == 1 and isinstance(head.arguments[0], ast.Reference):
            name = head.arguments[0].name
        if len(head.arguments) != 1 or [each.name.text for each in head.named] != ["blocks"]:
            what = "`launch` takes a kernel and `blocks`"
            self._sink.report(LaunchForm(at=head.span, what=what, name=name))
            return None
        blocks = self.value(head.named[0].value)
        if blocks != UNKNOWN and not _is_count(blocks):
            at, what = head.named[0].span, "`blocks` is an int from 1 on"
            self._sink.report(LaunchForm(at=at, what=what, name=name))
        symbol = self._symbol(head.arguments[0])
        if symbol is None:
            self.value(head.arguments[0])
            return None
        at = head.arguments[0].span
        return kernel_of(symbol, at, self._program, self._root, self._sink)

    def _argument(self, name: ast.Name | None, node: ast.Expression) -> Argument:
        variable = node.name if isinstance(node, ast.Reference) else ""
        return Argument(name=name, at=node.span, value=self.value(node), variable=variable)


def _is_count(value: HostValue) -> bool:
    known = value.value if isinstance(value, Number) and value.kind == "int" else 0
    return known is None or known >= 1


def _is_outside(index: int | float | bool | None, length: int | None) -> bool:
    if index is None:
        return False
    return index < 0 or (length is not None and index >= length)
