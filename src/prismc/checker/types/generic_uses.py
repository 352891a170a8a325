"""One use of something generic: what its arguments are, as they become known."""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.names.symbols import ModuleNames, Symbol, SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.context import Argument, Binding
from prismc.checker.types.model import (
    BOOLEAN,
    INT,
    ArrayType,
    PointerType,
    ScalarType,
    TensorMapType,
    Type,
    VectorType,
)
from prismc.checker.types.type_expressions import SCALAR_TYPES
from prismc.frontend import ast
from prismc.hardware.groups import Perspective
from prismc.source.span import NOWHERE

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

    def expected(self, pattern: ast.Expression) -> Type | None:
        """What a parameter's type is, as far as that is known by now: a scalar or what a generic
        stands for, or a vector of them."""
        match pattern:
            case ast.QualifiedType(type=inner):
                return self.expected(inner)
            case ast.Reference(name=name):
                symbol = self.names.uses.get(pattern.id)
                if symbol is not None and symbol.kind is SymbolKind.BUILTIN:
                    return SCALAR_TYPES.get(name)
                found = None if symbol is None else self.found.get(symbol)
                return found if isinstance(found, Type) else None
            case ast.VectorTypeExpression(element=element, lanes=lanes):
                scalar, count = self.expected(element), self._integer(lanes)
                if isinstance(scalar, ScalarType) and count is not None:
                    return VectorType(element=scalar.scalar, lanes=count)
        return None

    def _integer(self, pattern: ast.Expression) -> int | None:
        if isinstance(pattern, ast.Integer):
            return pattern.value
        symbol = self.names.uses.get(pattern.id)
        found = None if symbol is None else self.found.get(symbol)
        return found if isinstance(found, int) else None

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
