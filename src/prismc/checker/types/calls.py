"""Calls: what is called, its instance, and whether the arguments have the parameters' types."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prismc.checker.names.symbols import Symbol, SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.call_errors import (
    NamedArgumentHere,
    NotCallable,
    WrongArgumentCount,
)
from prismc.checker.types.context import Unknown, is_refused
from prismc.checker.types.conversions import root_variable, writable_instead
from prismc.checker.types.errors import (
    StoreThroughConst,
)
from prismc.checker.types.evaluate import REFUSED
from prismc.checker.types.generic_uses import GenericUse
from prismc.checker.types.generics import is_expression_function
from prismc.checker.types.layouts import Layouts
from prismc.checker.types.model import (
    ArrayType,
    PointerType,
    ScalarType,
    Type,
    VoidType,
)
from prismc.checker.types.number_builtins import BuiltinCall
from prismc.checker.types.show import show
from prismc.checker.types.variables import read_type
from prismc.diagnostics.problem import Related
from prismc.diagnostics.words import counted
from prismc.frontend import ast
from prismc.hardware.swizzles import SWIZZLES, UNSWIZZLED
from prismc.source.span import Span


class Callee:
    """What stands before the parentheses, taken apart: a name and its generic arguments."""

    def __init__(self, node: ast.Expression) -> None:
        self.node = node.value if isinstance(node, ast.Index) else node
        self.generics = node.arguments if isinstance(node, ast.Index) else ()
        self.named = node.named if isinstance(node, ast.Index) else ()


class Calls(Layouts):
    """Turns a call into a typed call, a built-in, a conversion or a constant."""

    def call(self, node: ast.Call, expected: Type | None) -> typed.Expression:
        """The typed call; its type is `VoidType` without a result."""
        callee = Callee(node.callee)
        if node.named:
            self.report(NamedArgumentHere(at=node.named[0].span))
            return self.refused(node.span)
        if self.names_type(callee.node) and not callee.generics:
            return self.conversion(self.type_of(callee.node), self._builtin_call("", node, callee))
        symbol = self.symbol_at(callee.node)
        if symbol is None or symbol.kind is SymbolKind.UNKNOWN:
            return self._call_of_unknown(node, callee, symbol)
        binding = self.environment.get(symbol)
        if isinstance(binding, typed.Instance):
            return self._call_instance(node, binding, None)
        if isinstance(binding, Unknown):
            return self.refused(node.span)
        if symbol.kind is SymbolKind.BUILTIN and not self.names_type(callee.node):
            return self.builtin(self._builtin_call(symbol.name, node, callee), expected)
        if symbol.kind is SymbolKind.FUNCTION:
            return self._call_function(node, callee, symbol)
        return self._not_callable(node, symbol)

    def _builtin_call(self, name: str, node: ast.Call, callee: Callee) -> BuiltinCall:
        return BuiltinCall(
            name=name or _type_word(callee.node),
            generics=callee.generics,
            arguments=node.arguments,
            span=node.span,
        )

    def statement_builtin(self, node: ast.Expression) -> BuiltinCall | None:
        """The call of a built-in, for those that are statements."""
        if not isinstance(node, ast.Call):
            return None
        callee = Callee(node.callee)
        symbol = self.symbol_at(callee.node)
        if symbol is None or symbol.kind is not SymbolKind.BUILTIN:
            return None
        return self._builtin_call(symbol.name, node, callee)

    # ------------------------------------------------------------------ layouts

    def layout_named(self, node: ast.Expression) -> str | None:
        symbol = self.symbol_at(node)
        if symbol is not None and symbol.kind is SymbolKind.BUILTIN and symbol.name in SWIZZLES:
            return symbol.name
        binding = self.binding_at(node)
        if isinstance(binding, typed.Instance):
            return self._shown_layout(binding.symbol)
        call = self.statement_builtin(node)
        if call is None or call.name != "layout_of" or len(call.arguments) != 1:
            return None
        variable = self.variable_at(call.arguments[0])
        type_ = read_type(variable) if variable is not None else None
        return self._shown_layout(type_.layout) if isinstance(type_, PointerType) else None

    def _shown_layout(self, symbol: str) -> str:
        """A layout by its name, which is one for all sizes of elements if it is a swizzle's."""
        layout = self.layouts.get(symbol)
        if layout is None or layout.swizzle is None:
            return symbol or UNSWIZZLED.name
        return layout.swizzle.name

    # ------------------------------------------------------------------ what is no call

    def _call_of_unknown(
        self, node: ast.Call, callee: Callee, symbol: Symbol | None
    ) -> typed.Expression:
        """A name that was refused stays silent; anything that is no name is not callable."""
        if symbol is None and not isinstance(callee.node, ast.Reference | ast.Member):
            self.report(NotCallable(at=callee.node.span, what="this expression", advice=_NAME_IT))
        return self.refused(node.span)

    def _not_callable(self, node: ast.Call, symbol: Symbol) -> typed.Expression:
        advice = _NAME_IT
        if symbol.kind is SymbolKind.KERNEL:
            advice = "kernels are launched by the host; move what is shared into a `def`"
        self.report(
            NotCallable(
                at=node.callee.span,
                what=f"`{symbol.name}`, a {symbol.kind.value},",
                advice=advice,
                related=self.note(symbol.span, "it is declared here"),
            )
        )
        return self.refused(node.span)

    # ------------------------------------------------------------------ functions

    def _call_function(self, node: ast.Call, callee: Callee, symbol: Symbol) -> typed.Expression:
        definition = symbol.node
        assert isinstance(definition, ast.Function)
        values: tuple[typed.Expression, ...] | None = None
        use = self.generic_use(symbol, callee.generics, callee.named, node.span)
        if use is None:
            self._arguments(node, ())
            return self.refused(node.span)
        if definition.generics:
            values = self._generic_arguments(node, use, is_expression_function(definition))
            names = tuple(parameter.name.text for parameter in definition.parameters)
            if not self._counts_agree(node, names, symbol):
                return self.refused(node.span)
            self.infer_from_literals(use, values)
            if any(is_refused(value) for value in values) and not use.is_complete():
                return self.refused(node.span)
        arguments = self.complete(use, callee.node.span)
        instance = None
        if arguments is not None:
            given = self.given_by(node.arguments)
            instance = self.instance_of(symbol, arguments, node.span, given)
        if instance is None:
            if values is None:
                self._arguments(node, ())
            return self.refused(node.span)
        return self._call_instance(node, instance, values)

    def _counts_agree(self, node: ast.Call, names: tuple[str, ...], symbol: Symbol) -> bool:
        """Whether there is an argument for each of the parameters `names`; reports if not."""
        if len(node.arguments) == len(names):
            return True
        listed = ", ".join(f"`{name}`" for name in names)
        self.report(
            WrongArgumentCount(
                at=node.span,
                callee=symbol.name,
                wanted=counted(len(names), "argument"),
                given=len(node.arguments),
                parameters=f": {listed}" if listed else "",
                related=self.note(symbol.span, f"`{symbol.name}` is declared here"),
            )
        )
        return False

    def _arguments(
        self,
        node: ast.Call,
        parameters: tuple[typed.Variable, ...],
        keeps_destination: bool = False,
    ) -> tuple[typed.Expression, ...]:
        """The arguments for parameters whose types are known."""
        hints = (parameter.type for parameter in parameters)
        with self._arguments_of(keeps_destination):
            return tuple(
                self.expression(argument, next(hints, None)) for argument in node.arguments
            )

    def _generic_arguments(
        self, node: ast.Call, use: GenericUse, keeps_destination: bool
    ) -> tuple[typed.Expression, ...]:
        """The arguments of something generic: each is read knowing what generics it was given, and
        what the arguments before it tell."""
        parameters = iter(use.node.parameters)
        values = []
        with self._arguments_of(keeps_destination):
            for argument in node.arguments:
                parameter = next(parameters, None)
                hint = None if parameter is None else use.expected(parameter.type)
                values.append(self.expression(argument, hint))
                if parameter is not None:
                    self.infer_from_argument(use, parameter, values[-1])
        return tuple(values)

    @contextmanager
    def _arguments_of(self, keeps_destination: bool) -> Iterator[None]:
        """While arguments are read. A bare `id()` counts for the parameter of a device function, so
        it has no destination there; an expression function is like an operator."""
        destination = self.destination
        if not keeps_destination:
            self.destination = None
        yield
        self.destination = destination

    def _call_instance(
        self,
        node: ast.Call,
        instance: typed.Instance,
        values: tuple[typed.Expression, ...] | None,
    ) -> typed.Expression:
        is_expression = instance.kind is typed.InstanceKind.EXPRESSION
        symbol = self.program.symbol_of(instance)
        names = tuple(parameter.name for parameter in instance.parameters)
        if not self._counts_agree(node, names, symbol):
            if values is None:
                self._arguments(node, ())
            return self.refused(node.span)
        if values is None:
            values = self._arguments(node, instance.parameters, is_expression)
        if self.is_expression_function and not is_expression:
            self.forbid(node.span, f"a call of `{instance.name}`, which has `@requires`,")
            return self.refused(node.span)
        arguments = tuple(
            self._argument_for(parameter, value)
            for parameter, value in zip(instance.parameters, values, strict=True)
        )
        self.calls.append((instance, node.span))
        return self._folded_call(instance, arguments, node.span)

    def _folded_call(
        self, instance: typed.Instance, arguments: tuple[typed.Expression, ...], span: Span
    ) -> typed.Expression:
        """A call of an expression function with constants is its value; what it makes of a refused
        argument is refused, as is what generics make of one: they may be the mistake."""
        is_expression = instance.kind is typed.InstanceKind.EXPRESSION
        depends = is_expression or bool(instance.generics)
        if depends and any(is_refused(argument) for argument in arguments):
            return self.refused(span)
        type_: Type = instance.results[0].type if instance.results else VoidType()
        constants = [value for value in arguments if isinstance(value, typed.Constant)]
        if (
            is_expression
            and len(constants) == len(arguments)
            and len(instance.results) == 1
            and isinstance(type_, ScalarType)
        ):
            known = tuple(constant.value for constant in constants)
            value = self.program.evaluate(instance, known)
            if value is not None:
                return self.constant(span, type_, value)
            if self.program.why_unknown(instance, known) == REFUSED:
                return self.refused(span)
        return typed.Call(
            id=self.id(),
            span=span,
            type=type_,
            callee=instance,
            arguments=arguments,
            bound=self.bound,
        )

    def _argument_for(self, parameter: typed.Variable, value: typed.Expression) -> typed.Expression:
        """One argument with the parameter's type; an array that is only read stays so."""
        why = (
            Related(
                at=parameter.span,
                message=f"the parameter `{parameter.name}` is {show(parameter.type)}",
            ),
        )
        value = self.require_type(value, parameter.type, why)
        if isinstance(parameter.type, ArrayType) and not parameter.is_const:
            return self.require_writable_array(value, why)
        return value

    def require_writable_array(
        self, value: typed.Expression, why: tuple[Related, ...]
    ) -> typed.Expression:
        """An array argument for a parameter that may be written."""
        variable = root_variable(value)
        if variable is None or not variable.is_const:
            return value
        self.report(
            StoreThroughConst(
                at=value.span,
                name=variable.name,
                what="is const",
                advice=writable_instead(variable),
                related=(*self.declared_here(variable), *why),
            )
        )
        return self.refused(value.span)


_NAME_IT = "call a function by its name"


def _type_word(node: ast.Expression) -> str:
    return node.name if isinstance(node, ast.Reference) else "a conversion"
