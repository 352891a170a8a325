"""Generic arguments: explicit by position or name, the rest inferred from a call's arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prismc.checker.names.symbols import ModuleNames, Symbol, SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.builtins import Builtins
from prismc.checker.types.call_errors import (
    BadGenericArgument,
    CannotInfer,
)
from prismc.checker.types.context import (
    UNKNOWN,
    Argument,
    Binding,
    Given,
    Request,
    Unknown,
    default_type,
    is_block_level,
    is_refused,
)
from prismc.checker.types.model import (
    BOOLEAN,
    INT,
    ArrayType,
    FunctionType,
    LiteralType,
    PointerType,
    ScalarType,
    TensorMapType,
    Type,
    VectorType,
)
from prismc.checker.types.origins import longer_chain
from prismc.checker.types.show import show
from prismc.diagnostics.problem import Related
from prismc.diagnostics.suggest import did_you_mean
from prismc.frontend import ast
from prismc.hardware.groups import Perspective
from prismc.hardware.orders import ORDERS
from prismc.hardware.swizzles import UNSWIZZLED
from prismc.source.span import NOWHERE, Span

Declared = ast.Function | ast.Kernel


class GenericUse:
    """Generic arguments of one use, as they become known."""

    def __init__(self, symbol: Symbol, names: ModuleNames) -> None:
        assert isinstance(symbol.node, Declared)
        self.symbol = symbol
        self.node = symbol.node
        self.names = names
        self.found: dict[Symbol, Argument] = {}
        # Arguments of kind `fn`, which wait for the types that their kind names.
        self.functions: dict[Symbol, ast.Expression] = {}

    def symbol_of(self, generic: ast.Generic) -> Symbol | None:
        """None for a generic whose name is a duplicate."""
        return self.names.declared.get(generic.name.id)

    def infer(self, pattern: ast.Expression, found: Type) -> None:
        """Match a parameter's type as written against an argument's type."""
        match pattern:
            case ast.Reference():
                self._bind(pattern, "type", found)
            case ast.QualifiedType(type=inner):
                self.infer(inner, found)
            case ast.PointerTypeExpression(element=element):
                if isinstance(found, PointerType):
                    inner = element.value if isinstance(element, ast.Index) else element
                    self.infer(inner, found.element)
            case ast.VectorTypeExpression(element=element, lanes=lanes):
                if isinstance(found, VectorType):
                    self.infer(element, ScalarType(scalar=found.element))
                    self._bind(lanes, "int", found.lanes)
            case ast.TensorMapTypeExpression(box=ast.Index() as box):
                if isinstance(found, TensorMapType) and len(box.arguments) == len(found.box):
                    self.infer(box.value, ScalarType(scalar=found.element))
                    for length, value in zip(box.arguments, found.box, strict=True):
                        self._bind(length, "int", value)
            case ast.Index():
                self._infer_array(pattern, found)
            case _:
                pass

    def infer_layout(self, pattern: ast.Expression, layout: typed.Instance) -> None:
        """Match the layout that a tensor map's type names against that of an argument."""
        if isinstance(pattern, ast.TensorMapTypeExpression) and pattern.layout is not None:
            self._bind(pattern.layout, "fn", layout)

    def _infer_array(self, pattern: ast.Index, found: Type) -> None:
        lengths: list[ast.Expression] = []
        base: ast.Expression = pattern
        while isinstance(base, ast.Index):
            lengths.extend(base.arguments)
            base = base.value
        for length in reversed(lengths):
            if not isinstance(found, ArrayType):
                return
            self._bind(length, "int", found.length)
            found = found.element
        self.infer(base, found)

    def _bind(self, pattern: ast.Expression, kind: str, value: Argument) -> None:
        symbol = self.names.uses.get(pattern.id)
        if symbol is None or symbol.kind is not SymbolKind.GENERIC or symbol in self.found:
            return
        if isinstance(symbol.node, ast.Generic) and kind_of(symbol.node) == kind:
            self.found[symbol] = value

    def infer_perspective(self, at: ast.At | None, perspective: Perspective) -> None:
        """Match a stated `@ P` against the perspective of what was passed."""
        if at is not None:
            self._bind(at.perspective, "perspective", perspective)

    def is_complete(self) -> bool:
        """Whether all is found but what the use's own code perspective gives."""
        return all(
            symbol in self.found or symbol in self.functions or kind_of(generic) == "perspective"
            for generic in self.node.generics
            if (symbol := self.symbol_of(generic)) is not None
        )

    def environment(self) -> Iterator[tuple[Symbol, Binding]]:
        """The generics found so far as bindings for the callee's own expressions."""
        for symbol, value in self.found.items():
            yield symbol, as_binding(value)


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

    def infer_from_arguments(self, use: GenericUse, values: tuple[typed.Expression, ...]) -> None:
        """Types first from what has one, then from literals."""
        pairs = list(zip(use.node.parameters, values, strict=False))
        for parameter, value in pairs:
            if is_refused(value):
                continue
            if not isinstance(value.type, LiteralType):
                use.infer(parameter.type, value.type)
            if isinstance(value.type, TensorMapType):
                use.infer_layout(parameter.type, self._layout_of_map(value.type, value.span))
            perspective = _perspective_given(value)
            if perspective is not None:
                use.infer_perspective(parameter.at, perspective)
        for parameter, value in pairs:
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


def kind_of(generic: ast.Generic) -> str:
    """`type`, `int`, `bool`, `perspective`, `order` or `fn`; other words are reported with the
    signature."""
    if isinstance(generic.kind, ast.FunctionTypeExpression):
        return "fn"
    return generic.kind.name if isinstance(generic.kind, ast.Reference) else ""


def as_binding(value: Argument) -> Binding:
    """A generic argument as what its name stands for."""
    if isinstance(value, int):
        type_ = BOOLEAN if isinstance(value, bool) else INT
        return typed.Constant(id=-1, span=NOWHERE, type=type_, value=value)
    return value


def _perspective_given(value: typed.Expression) -> Perspective | None:
    """The perspective of a pointer or array argument, which is its variable's."""
    if not isinstance(value.type, PointerType | ArrayType):
        return None
    while isinstance(value, typed.Element):
        value = value.array
    if isinstance(value, typed.Read | typed.Slot):
        return value.variable.perspective
    return None
