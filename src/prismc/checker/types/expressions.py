"""Expressions: literals, names, elements, loads, components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prismc.checker.names.symbols import Symbol, SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.call_errors import (
    NoSingleValue,
)
from prismc.checker.types.calls import Calls
from prismc.checker.types.constant_errors import (
    IndexOutOfRange,
    SlotNeedsConstant,
)
from prismc.checker.types.context import Binding, Unknown, is_refused
from prismc.checker.types.conversions import root_variable
from prismc.checker.types.errors import (
    NotAValue,
    NotIndexable,
    UnknownMember,
    WrongIndexCount,
)
from prismc.checker.types.model import (
    BOOLEAN,
    INT,
    ArrayType,
    LiteralType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
)
from prismc.checker.types.show import show
from prismc.checker.types.variables import read_type
from prismc.diagnostics.problem import Related
from prismc.frontend import ast
from prismc.hardware.groups import Perspective
from prismc.hardware.orders import MemoryOrder
from prismc.hardware.scalars import I64
from prismc.source.record import replace
from prismc.source.span import Span

_COMPONENTS = "xyzw"


class Expressions(Calls):
    """The dispatch over expression nodes, and those that are no operator and no call."""

    def expression(self, node: ast.Expression, expected: Type | None = None) -> typed.Expression:
        return _BUILD.get(type(node), Expressions._no_value)(self, node, expected)

    def _integer(self, node: ast.Integer, expected: Type | None) -> typed.Expression:
        return self.constant(node.span, LiteralType(is_float=False), node.value)

    def _float(self, node: ast.Float, expected: Type | None) -> typed.Expression:
        return self.constant(node.span, LiteralType(is_float=True), node.value)

    def _boolean(self, node: ast.Boolean, expected: Type | None) -> typed.Expression:
        return self.constant(node.span, BOOLEAN, node.value)

    def _no_value(self, node: ast.Expression, expected: Type | None) -> typed.Expression:
        what = _NO_VALUES.get(type(node), "a type")
        self.report(NotAValue(at=node.span, what=what))
        return self.refused(node.span)

    def _call(self, node: ast.Call, expected: Type | None) -> typed.Expression:
        """A call inside an expression has exactly one result."""
        value = self.call(node, expected)
        if not isinstance(value, typed.Call) or len(value.callee.results) == 1:
            return value
        self.report(
            NoSingleValue(
                at=node.span,
                callee=value.callee.name,
                count=len(value.callee.results),
                related=self.note(value.callee.span, f"`{value.callee.name}` is declared here"),
            )
        )
        return self.refused(node.span)

    # ------------------------------------------------------------------ names

    def _reference(
        self, node: ast.Reference | ast.Member, expected: Type | None
    ) -> typed.Expression:
        symbol = self.symbol_at(node)
        if symbol is None:
            return self.refused(node.span)
        binding = self.environment.get(symbol)
        if isinstance(binding, typed.Variable):
            return self._read(node, binding)
        if isinstance(binding, typed.Constant):
            return self.constant(node.span, binding.type, binding.value)
        if isinstance(binding, Unknown):
            return self.refused(node.span)
        if binding is None:
            return self._outer_name(node, symbol)
        shown = f"`{symbol.name}`, a generic {_kind(binding)},"
        self.report(NotAValue(at=node.span, what=shown, related=self._declared(symbol)))
        return self.refused(node.span)

    def _read(self, node: ast.Expression, variable: typed.Variable) -> typed.Expression:
        if variable.slots:
            self.report(
                SlotNeedsConstant(
                    at=node.span,
                    name=variable.name,
                    slots=variable.slots,
                    reason="its slots are separate arrays",
                    related=self.declared_here(variable),
                )
            )
            return self.refused(node.span)
        return self.read(node.span, variable)

    def _outer_name(self, node: ast.Expression, symbol: Symbol) -> typed.Expression:
        """A name that is no local: a module's constant, a built-in word, or no value at all."""
        if isinstance(symbol.node, ast.Constant):
            value = self.program.constant(symbol)
            if value is None:
                return self.refused(node.span)
            return self.constant(node.span, value.type, value.value)
        if symbol.kind in _SILENT:
            return self.refused(node.span)
        what = "" if symbol.kind is SymbolKind.BUILTIN else f"a {symbol.kind.value},"
        shown = f"`{symbol.name}`{', ' + what if what else ''}"
        self.report(NotAValue(at=node.span, what=shown, related=self._declared(symbol)))
        return self.refused(node.span)

    def _declared(self, symbol: Symbol) -> tuple[Related, ...]:
        """Where a name of a module is declared; built-in words have no place."""
        is_known = bool(symbol.span.file)
        return self.note(symbol.span, f"`{symbol.name}` is declared here") if is_known else ()

    # ------------------------------------------------------------------ members

    def _member(self, node: ast.Member, expected: Type | None) -> typed.Expression:
        if self.symbol_at(node) is not None:
            return self._reference(node, expected)
        base = self.uses.get(node.value.id)
        if base is not None and base.kind in (SymbolKind.MODULE, SymbolKind.UNKNOWN):
            return self.refused(node.span)
        vector = self.expression(node.value)
        if is_refused(vector):
            return self.refused(node.span)
        lane = self.lane_of(node, vector.type)
        if lane is None:
            return self.refused(node.span)
        assert isinstance(vector.type, VectorType)
        type_ = ScalarType(scalar=vector.type.element)
        return typed.Component(id=self.id(), span=node.span, type=type_, vector=vector, lane=lane)

    def lane_of(self, node: ast.Member, of: Type) -> int | None:
        """The lane that `.x .y .z .w` names; None after reporting."""
        name = node.name.text
        lanes = of.lanes if isinstance(of, VectorType) else 0
        lane = _COMPONENTS.find(name) if len(name) == 1 else -1
        if 0 <= lane < lanes:
            return lane
        advice = "only vectors have components"
        if lanes:
            advice = f"a {show(of)} has {', '.join('.' + c for c in _COMPONENTS[:lanes])}"
        variable = self.variable_at(node.value)
        notes = () if variable is None else self.declared_here(variable)
        self.report(
            UnknownMember(at=node.name.span, name=name, type=show(of), advice=advice, related=notes)
        )
        return None

    # ------------------------------------------------------------------ elements

    def _index(self, node: ast.Index, expected: Type | None) -> typed.Expression:
        if isinstance(node.value, ast.Reference | ast.Member):
            symbol = self.symbol_at(node.value)
            if symbol is not None and symbol.kind in _GENERIC_KINDS:
                self.report(
                    NotAValue(at=node.span, what=f"`{symbol.name}[..]`, a {symbol.kind.value},")
                )
                return self.refused(node.span)
        variable = self.variable_at(node.value)
        if variable is not None and variable.slots:
            return self._slot(node, variable)
        base = self.expression(node.value)
        if is_refused(base):
            for argument in node.arguments:
                self.expression(argument, INT)
            return base
        if isinstance(base.type, ArrayType):
            return self._element(node, base, base.type)
        if isinstance(base.type, PointerType):
            return self._load(node, base, base.type)
        related = self.what_it_is(base)
        self.report(NotIndexable(at=node.span, type=show(base.type), related=related))
        return self.refused(node.span)

    def _slot(self, node: ast.Index, variable: typed.Variable) -> typed.Expression:
        """`S[c]`: c is known while compiling, the slot stands for a pointer."""
        value = self.require_integer(node.arguments[0], "a slot")
        if is_refused(value):
            return value
        if not isinstance(value, typed.Constant):
            self.report(
                SlotNeedsConstant(
                    at=node.arguments[0].span,
                    name=variable.name,
                    slots=variable.slots,
                    reason="this index is not known while compiling",
                    related=self.declared_here(variable),
                )
            )
            return self.refused(node.span)
        index = int(value.value)
        if not self._in_range(value.span, index, variable.slots, variable):
            return self.refused(node.span)
        return self.slot(node.span, variable, index)

    def slot(self, at: Span, variable: typed.Variable, index: int) -> typed.Slot:
        """One slot of a shared array, as a pointer."""
        assert isinstance(variable.type, ArrayType)
        return typed.Slot(
            id=self.id(),
            span=at,
            type=read_type(variable),
            variable=variable,
            index=index,
        )

    def _element(
        self, node: ast.Index, array: typed.Expression, type_: ArrayType
    ) -> typed.Expression:
        index = self.element_index(node, array, type_)
        element = type_.element
        if isinstance(element, ArrayType) and type_.is_async:
            element = replace(element, is_async=True)
        elif not self.may_use_elements(array, node.span):
            return self.refused(node.span)
        if index is None:
            return self.refused(node.span)
        return typed.Element(id=self.id(), span=node.span, type=element, array=array, index=index)

    def may_use_elements(self, array: typed.Expression, at: Span) -> bool:
        """Whether elements of an array may be named; reports if not. An `unsafe def` hands those of
        an `async` parameter to its text."""
        variable, instance = root_variable(array), self.instance
        is_unsafe = instance is not None and instance.kind is typed.InstanceKind.UNSAFE
        is_parameter = variable is not None and variable.kind is typed.VariableKind.PARAMETER
        return (is_unsafe and is_parameter) or self.require_plain(array, at)

    def element_index(
        self, node: ast.Index, array: typed.Expression, type_: ArrayType
    ) -> typed.Expression | None:
        """The one index of a register array, in range where it is known."""
        if len(node.arguments) != 1 or node.named:
            self.report(
                WrongIndexCount(
                    at=node.span,
                    given=len(node.arguments),
                    advice="index one dimension at a time: `a[i][j]`",
                )
            )
            return None
        index = self.require_integer(node.arguments[0], "an index")
        if is_refused(index):
            return None
        if isinstance(index, typed.Constant):
            variable = root_variable(array)
            if not self._in_range(index.span, int(index.value), type_.length, variable):
                return None
        return index

    def _in_range(self, at: Span, index: int, length: int, variable: typed.Variable | None) -> bool:
        if 0 <= index < length:
            return True
        related = self.declared_here(variable) if variable else ()
        self.report(
            IndexOutOfRange(at=at, index=index, length=length, last=length - 1, related=related)
        )
        return False

    def _load(
        self, node: ast.Index, pointer: typed.Expression, type_: PointerType
    ) -> typed.Expression:
        index = self.memory_index(node, pointer, type_)
        if index is None:
            return self.refused(node.span)
        return typed.Load(
            id=self.id(), span=node.span, type=type_.element, pointer=pointer, index=index
        )

    def memory_index(
        self, node: ast.Index, pointer: typed.Expression, type_: PointerType
    ) -> typed.Expression | None:
        """The flat index of `p[i]`, or of `p[i, j]` where the pointee has a shape."""
        variable = root_variable(pointer)
        if not self.require_plain(pointer, node.span):
            return None
        index = self.flat_index(node.arguments, variable, node.span)
        if index is None or not isinstance(index, typed.Constant):
            return index
        if variable is None or not isinstance(variable.type, ArrayType):
            return index
        is_inside = self._in_range(index.span, int(index.value), variable.type.length, variable)
        return index if is_inside else None

    def flat_index(
        self,
        nodes: tuple[ast.Expression, ...],
        variable: typed.Variable | None,
        at: Span,
    ) -> typed.Expression | None:
        """`(i, j)` as `i * N + j`, with the row length of the variable's shape."""
        indices = [self.require_integer(node, "an index") for node in nodes]
        if any(is_refused(index) for index in indices):
            return None
        shape = self.shapes.get(variable, ()) if variable is not None else ()
        if len(indices) not in (1, len(shape)):
            self.report(
                WrongIndexCount(
                    at=at,
                    given=len(indices),
                    advice="write one flat index, or declare the shape: `ptr(f32[M, N])`",
                    related=self.declared_here(variable) if variable else (),
                )
            )
            return None
        if len(indices) == 1:
            return indices[0]
        lengths = [self.require_integer(node, "a row's length") for node in shape[1:]]
        return self._horner(indices, lengths, at)

    def _horner(
        self, indices: list[typed.Expression], lengths: list[typed.Expression], at: Span
    ) -> typed.Expression | None:
        """Computed in the common type of indices and lengths, or in 64 bits if they differ."""
        kinds = {part.type for part in (*indices, *lengths)}
        wide = kinds.pop() if len(kinds) == 1 else ScalarType(scalar=I64)
        flat, *rest = (self.as_integer(index, wide) for index in indices)
        for length, index in zip(lengths, rest, strict=True):
            scaled = self.combine("*", flat, self.as_integer(length, wide), at, at)
            flat = self.combine("+", scaled, index, at, at)
        return None if is_refused(flat) else flat


def _kind(binding: Binding) -> str:
    """How messages call a generic that is no value."""
    match binding:
        case Type():
            return "type"
        case Perspective():
            return "perspective"
        case MemoryOrder():
            return "order"
        case _:
            return "function"


_GENERIC_KINDS = (SymbolKind.FUNCTION, SymbolKind.KERNEL, SymbolKind.BUILTIN)

# Locals without a binding: their declaration was refused.
_SILENT = (
    SymbolKind.UNKNOWN,
    SymbolKind.CONSTANT,
    SymbolKind.GENERIC,
    SymbolKind.PARAMETER,
    SymbolKind.LOCAL,
    SymbolKind.LOOP,
)

_NO_VALUES: dict[type[ast.Expression], str] = {
    ast.String: "a string",
    ast.PerspectiveLiteral: "a perspective",
    ast.Lambda: "an index function",
}

_Build = Callable[[Expressions, Any, Type | None], typed.Expression]

_BUILD: dict[type[ast.Expression], _Build] = {
    ast.Integer: Expressions._integer,
    ast.Float: Expressions._float,
    ast.Boolean: Expressions._boolean,
    ast.Reference: Expressions._reference,
    ast.Member: Expressions._member,
    ast.Unary: lambda self, node, expected: self.unary(node, expected),
    ast.Binary: lambda self, node, expected: self.binary(node, expected),
    ast.Conditional: lambda self, node, expected: self.conditional(node, expected),
    ast.Index: Expressions._index,
    ast.Call: Expressions._call,
}
