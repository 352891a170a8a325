"""Generic arguments: explicit by position or name, the rest inferred from a call's arguments."""

from __future__ import annotations

from collections.abc import Mapping

from prismc.checker.names.symbols import Symbol, SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.builtins import Builtins
from prismc.checker.types.call_errors import (
    BadGenericArgument,
    CannotInfer,
)
from prismc.checker.types.context import (
    UNKNOWN,
    Argument,
    Given,
    Request,
    Unknown,
    default_type,
    is_block_level,
    is_refused,
)
from prismc.checker.types.generic_uses import GenericUse, kind_of
from prismc.checker.types.model import (
    BOOLEAN,
    INT,
    ArrayType,
    FunctionType,
    LiteralType,
    PointerType,
    TensorMapType,
)
from prismc.checker.types.origins import longer_chain
from prismc.checker.types.show import show
from prismc.diagnostics.problem import Related
from prismc.diagnostics.suggest import did_you_mean
from prismc.frontend import ast
from prismc.hardware.groups import Perspective
from prismc.hardware.orders import ORDERS
from prismc.hardware.swizzles import UNSWIZZLED
from prismc.source.span import Span


class Generics(Builtins):
    """Evaluates generic arguments at a use."""

    def generic_use(
        self,
        symbol: Symbol,
        nodes: tuple[ast.Expression, ...],
        named: tuple[ast.NamedArgument, ...],
        at: Span,
    ) -> GenericUse | None:
        """The explicit arguments, evaluated; None after reporting."""
        use = GenericUse(symbol, self.program.names_of(symbol.module))
        generics = {generic.name.text: generic for generic in use.node.generics}
        if len(nodes) > len(generics):
            self.report(
                BadGenericArgument(
                    at=nodes[len(generics)].span,
                    reason=f"`{symbol.name}` has {len(generics)} generics, {len(nodes)} are given",
                    advice="leave this one out",
                    related=self.note(symbol.span, f"`{symbol.name}` is declared here"),
                )
            )
            return None
        pairs = list(zip(generics.values(), nodes, strict=False))
        for argument in named:
            generic = generics.get(argument.name.text)
            if generic is None or any(generic is taken for taken, _ in pairs):
                self._report_unknown_generic(argument, symbol, generics)
                return None
            pairs.append((generic, argument.value))
        complete = [self._explicit(use, generic, node) for generic, node in pairs]
        return use if all(complete) else None

    def _report_unknown_generic(
        self, argument: ast.NamedArgument, symbol: Symbol, generics: Mapping[str, ast.Generic]
    ) -> None:
        name = argument.name.text
        advice = did_you_mean(name, generics, f"its generics are: {', '.join(generics) or 'none'}")
        reason = f"`{symbol.name}` has no generic `{name}`"
        if name in generics:
            reason = f"`{name}` is given twice"
            advice = "give it once, by position or by name"
        self.report(
            BadGenericArgument(
                at=argument.name.span,
                reason=reason,
                advice=advice,
                related=self.note(symbol.span, f"`{symbol.name}` is declared here"),
            )
        )

    def _explicit(self, use: GenericUse, generic: ast.Generic, node: ast.Expression) -> bool:
        symbol = use.symbol_of(generic)
        kind = kind_of(generic)
        if symbol is None:
            return False
        if kind == "fn":
            use.functions[symbol] = node
            return True
        if self.binding_at(node) is UNKNOWN:
            use.found[symbol] = UNKNOWN
            return True
        value = self._argument(kind, node)
        if value is None:
            return False
        use.found[symbol] = value
        return True

    def _argument(self, kind: str, node: ast.Expression) -> Argument | None:
        match kind:
            case "type":
                type_ = self.type_of(node)
                return UNKNOWN if self.is_failed and self.is_trial else type_
            case "perspective":
                return self.perspective_of(node)
            case "order":
                return self.order_of(node)
            case "bool":
                constant = self.constant_value(node, "a generic argument", BOOLEAN)
                return self._known(None if constant is None else bool(constant.value))
            case _:
                value = self.settled(self.expression(node, INT))
                if is_refused(value):
                    return self._known(None)
                if value.type != INT:
                    value = self.require_type(value, INT)
                constant = self.require_constant(value, "a generic argument")
                return self._known(None if constant is None else int(constant.value))

    def _known(self, value: int | bool | None) -> Argument | None:
        return UNKNOWN if value is None and self.is_trial else value

    def infer_from_argument(
        self, use: GenericUse, parameter: ast.Parameter, value: typed.Expression
    ) -> None:
        """What an argument that has a type of its own tells; literals adapt to what others tell."""
        if is_refused(value):
            return
        if not isinstance(value.type, LiteralType):
            use.infer(parameter.type, value.type)
        if isinstance(value.type, TensorMapType):
            use.infer_layout(parameter.type, self._layout_of_map(value.type, value.span))
        perspective = _perspective_given(value)
        if perspective is not None:
            use.infer_perspective(parameter.at, perspective)

    def infer_from_literals(self, use: GenericUse, values: tuple[typed.Expression, ...]) -> None:
        """What is still open, from arguments without a type of their own."""
        for parameter, value in zip(use.node.parameters, values, strict=False):
            if isinstance(value.type, LiteralType):
                use.infer(parameter.type, default_type(value.type))

    def _layout_of_map(self, of: TensorMapType, at: Span) -> typed.Instance:
        known = self.layouts.get(of.layout)
        if known is None:
            known = self.program.swizzle(UNSWIZZLED, of.element.size, at)
        return known.function

    def complete(self, use: GenericUse, at: Span) -> tuple[Argument, ...] | None:
        """All generic arguments in order; None after reporting one that nothing determines."""
        arguments: list[Argument] = []
        for generic in use.node.generics:
            symbol = use.symbol_of(generic)
            if symbol is None:
                return None
            value = use.found.get(symbol)
            if value is None and symbol in use.functions:
                value = self._function_argument(use, generic, use.functions[symbol])
            elif value is None and kind_of(generic) == "perspective":
                value = UNKNOWN if self.is_trial and self.generics else self.bound.code
            elif value is None:
                self._report_undetermined(use, generic, at)
            if value is None:
                return None
            use.found[symbol] = value
            arguments.append(value)
        return tuple(arguments)

    def _report_undetermined(self, use: GenericUse, generic: ast.Generic, at: Span) -> None:
        name = generic.name.text
        call = "" if isinstance(use.node, ast.Kernel) else "(..)"
        advice = f"`{use.symbol.name}[{name} = ..]{call}`"
        if kind_of(generic) == "order":
            advice += f"; orders are {', '.join(f'`{word}`' for word in ORDERS)}"
        self.report(
            CannotInfer(
                at=at,
                name=name,
                function=use.symbol.name,
                advice=advice,
                related=self.note(generic.span, f"`{name}` is declared here"),
            )
        )

    # ------------------------------------------------------------------ functions as arguments

    def _function_argument(
        self, use: GenericUse, generic: ast.Generic, node: ast.Expression
    ) -> Argument | None:
        """The instance of an expression function that fits a `fn(..) -> ..`."""
        binding = self.binding_at(node)
        if isinstance(binding, Unknown):
            return UNKNOWN
        kind = self._function_kind(use, generic)
        if kind is None:
            return UNKNOWN if self.is_trial else None
        instance = binding if isinstance(binding, typed.Instance) else None
        if instance is None:
            instance = self._specialised(node, kind)
        if instance is None:
            return None
        found = FunctionType(
            parameters=tuple(parameter.type for parameter in instance.parameters),
            result=instance.results[0].type if instance.results else INT,
        )
        if found == kind:
            return instance
        self.report(
            BadGenericArgument(
                at=node.span,
                reason=f"`{instance.name}` is {show(found)}, this needs {show(kind)}",
                advice="pass a function with these parameters and this result",
                related=self.note(generic.span, f"`{generic.name.text}` is declared here"),
            )
        )
        return None

    def _function_kind(self, use: GenericUse, generic: ast.Generic) -> FunctionType | None:
        """`fn(T, T) -> T` with the types that are known by now."""
        if any(isinstance(value, Unknown) for value in use.found.values()):
            return None
        assert isinstance(generic.kind, ast.FunctionTypeExpression)
        inside = self.__class__(self.program, use.symbol.module)
        inside.environment.update(use.environment())
        kind = FunctionType(
            parameters=tuple(inside.type_of(node) for node in generic.kind.parameters),
            result=inside.type_of(generic.kind.result),
        )
        return None if inside.is_failed else kind

    def _specialised(self, node: ast.Expression, kind: FunctionType) -> typed.Instance | None:
        """A named expression function, its generics found from the parameter types of `kind`."""
        symbol = self.symbol_at(node)
        if symbol is None or symbol.kind is SymbolKind.UNKNOWN:
            self.is_failed = True
            return None
        definition = symbol.node
        if not isinstance(definition, ast.Function) or not is_expression_function(definition):
            note = self.note(symbol.span, "it is declared here") if symbol.module else ()
            advice = "pass a `def` without `@requires`"
            if symbol.kind is SymbolKind.BUILTIN:
                advice += f" that calls `{symbol.name}`"
            self.report(
                BadGenericArgument(
                    at=node.span,
                    reason=f"`{symbol.name}` is no expression function",
                    advice=advice,
                    related=note,
                )
            )
            return None
        use = GenericUse(symbol, self.program.names_of(symbol.module))
        for parameter, type_ in zip(definition.parameters, kind.parameters, strict=False):
            use.infer(parameter.type, type_)
        arguments = self.complete(use, node.span)
        if arguments is None:
            return None
        return self.instance_of(symbol, arguments, node.span)

    def instance_of(
        self,
        symbol: Symbol,
        arguments: tuple[Argument, ...],
        at: Span,
        given: tuple[Given, ...] = (),
    ) -> typed.Instance | None:
        """Ask the program for an instance on behalf of the use at `at`."""
        if any(isinstance(argument, Unknown) for argument in arguments):
            self.is_failed = True
            return None
        depth = 0
        chain: tuple[Related, ...] = ()
        if request := self.request:
            depth = request.depth + 1
            chain = longer_chain(request.symbol.name, self.generics, request.origin, request.chain)
        instance = self.program.instance(
            Request(
                symbol=symbol,
                arguments=arguments,
                threads=self._threads_of_a_block(),
                origin=at,
                chain=chain,
                depth=depth,
                given=given,
            )
        )
        if instance is None:
            self.is_failed = True
        return instance

    def _threads_of_a_block(self) -> int | None:
        """What callees at block level count: what a kernel has fixed, else as many as this function
        counts itself."""
        instance = self.instance
        if instance is None:
            return None
        if instance.threads is None and is_block_level(instance.bound):
            return instance.bound.thread
        return instance.threads


def is_expression_function(node: ast.Function) -> bool:
    """A `def` without `@requires`."""
    return all(attribute.name.text != "requires" for attribute in node.attributes)


def _perspective_given(value: typed.Expression) -> Perspective | None:
    """The perspective of a pointer or array argument, which is its variable's."""
    if not isinstance(value.type, PointerType | ArrayType):
        return None
    while isinstance(value, typed.Element):
        value = value.array
    if isinstance(value, typed.Read | typed.Slot):
        return value.variable.perspective
    return None
