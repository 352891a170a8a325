"""Places: what an assignment may write, and what it may not."""

from __future__ import annotations

from prismc.checker.names.symbols import Symbol, SymbolKind
from prismc.checker.types import typed
from prismc.checker.types.context import Unknown, is_refused
from prismc.checker.types.conversions import root_variable, writable_instead
from prismc.checker.types.errors import (
    CannotAssign,
    LoopVariableReadOnly,
    StoreThroughConst,
)
from prismc.checker.types.expressions import Expressions
from prismc.checker.types.model import ArrayType, PointerType, ScalarType, VectorType
from prismc.checker.types.variables import read_type
from prismc.diagnostics.problem import Related
from prismc.frontend import ast
from prismc.hardware.groups import Perspective

_NAMED_MEMORY = (
    typed.VariableKind.SHARED,
    typed.VariableKind.PARTITION,
    typed.VariableKind.CLAIM,
    typed.VariableKind.ASYNC,
    typed.VariableKind.RING,
)


class Places(Expressions):
    """Turns assignment targets into places."""

    def place(self, node: ast.Expression) -> typed.Place | None:
        """The place that a target names; None after reporting."""
        match node:
            case ast.Reference():
                return self._variable_place(node)
            case ast.Index():
                return self._indexed_place(node)
            case ast.Member():
                return self._component_place(node)
            case _:
                self._not_assignable(
                    node, "this expression", "assign to a variable or an element", ()
                )
                return None

    def _not_assignable(
        self, node: ast.Expression, what: str, advice: str, related: tuple[Related, ...]
    ) -> None:
        self.report(CannotAssign(at=node.span, what=what, advice=advice, related=related))

    def _variable_place(self, node: ast.Reference) -> typed.Place | None:
        symbol = self.symbol_at(node)
        if symbol is None or symbol.kind is SymbolKind.UNKNOWN:
            self.is_failed = True
            return None
        variable = self.environment.get(symbol)
        if not isinstance(variable, typed.Variable):
            self._refuse_symbol(node, symbol)
            return None
        if variable.kind is typed.VariableKind.LOOP:
            note = self.note(variable.span, f"`{variable.name}` is the loop variable of this loop")
            self.report(LoopVariableReadOnly(at=node.span, name=variable.name, related=note))
            return None
        if variable.kind in _NAMED_MEMORY:
            self._not_assignable(
                node,
                f"`{variable.name}`, a {variable.kind.value},",
                f"assign its elements: `{variable.name}[i] = ..`",
                self.declared_here(variable),
            )
            return None
        if variable.is_const:
            self._refuse_const(node, variable)
            return None
        return typed.VariablePlace(
            id=self.id(), span=node.span, type=variable.type, variable=variable
        )

    def _refuse_symbol(self, node: ast.Reference, symbol: Symbol) -> None:
        """A constant, a function or a type; a local without a binding was refused already."""
        binding = self.environment.get(symbol)
        is_local = symbol.kind in (SymbolKind.LOCAL, SymbolKind.PARAMETER)
        if isinstance(binding, Unknown) or (is_local and binding is None):
            self.is_failed = True
            return
        kind = "constant" if isinstance(binding, typed.Constant) else symbol.kind.value
        if symbol.kind is SymbolKind.LOOP:
            note = self.note(symbol.span, f"`{symbol.name}` is the loop variable of this loop")
            self.report(LoopVariableReadOnly(at=node.span, name=symbol.name, related=note))
            return
        note = self.note(symbol.span, "it is declared here") if symbol.module else ()
        self._not_assignable(node, f"`{symbol.name}`, a {kind},", "declare a variable for it", note)

    def _refuse_const(self, node: ast.Expression, variable: typed.Variable) -> None:
        is_pointer = isinstance(read_type(variable), PointerType)
        what = "points to const" if is_pointer else "is const"
        self.report(
            StoreThroughConst(
                at=node.span,
                name=variable.name,
                what=what,
                advice=writable_instead(variable),
                related=self.note(variable.span, f"`{variable.name}` {what}: declared here"),
            )
        )

    def _indexed_place(self, node: ast.Index) -> typed.Place | None:
        variable = self.variable_at(node.value)
        if variable is not None and variable.slots:
            self._not_assignable(
                node,
                f"`{variable.name}[..]`, a whole slot,",
                f"narrow the slot first: `partition {variable.name}[c] as ..`",
                self.declared_here(variable),
            )
            return None
        base = self.expression(node.value)
        if is_refused(base):
            self.expression(node)
            return None
        variable = root_variable(base)
        if isinstance(base.type, PointerType):
            return self._memory_place(node, base, base.type, variable)
        if not isinstance(base.type, ArrayType):
            self.expression(node)
            return None
        if not self.may_use_elements(base, node.span):
            return None
        if variable is None:
            self._not_assignable(node, "this expression", "assign to a variable or an element", ())
            return None
        if variable.is_const:
            self._refuse_const(node, variable)
            return None
        index = self.element_index(node, base, base.type)
        if index is None:
            return None
        return typed.ElementPlace(
            id=self.id(), span=node.span, type=base.type.element, array=base, index=index
        )

    def _memory_place(
        self,
        node: ast.Index,
        pointer: typed.Expression,
        type_: PointerType,
        variable: typed.Variable | None,
    ) -> typed.Place | None:
        if type_.is_const and variable is not None:
            self._refuse_const(node, variable)
            return None
        if not self.may_store(node):
            return None
        index = self.memory_index(node, pointer, type_)
        if index is None:
            return None
        return typed.MemoryPlace(
            id=self.id(), span=node.span, type=type_.element, pointer=pointer, index=index
        )

    def require_mutable(self, pointer: typed.Expression, node: ast.Expression) -> bool:
        """Whether a plain store may go through a pointer; reports if not."""
        variable = root_variable(pointer)
        assert isinstance(pointer.type, PointerType)
        assert variable is not None
        if pointer.type.is_const:
            self._refuse_const(node, variable)
            return False
        return self.require_plain(pointer, node.span) and self.may_store(node)

    def require_mutable_array(
        self, array: typed.Expression, variable: typed.Variable, of: ArrayType
    ) -> bool:
        """Whether the elements of an array may be written here; reports if not."""
        if variable.is_const:
            self.report(
                StoreThroughConst(
                    at=array.span,
                    name=variable.name,
                    what="is const",
                    advice=writable_instead(variable),
                    related=self.declared_here(variable),
                )
            )
            return False
        return self.require_plain(array, array.span)

    def may_store(self, node: ast.Expression) -> bool:
        """Expression functions store nothing."""
        if not self.is_expression_function:
            return True
        self.forbid(node.span, "a store")
        return False

    def _component_place(self, node: ast.Member) -> typed.Place | None:
        if self.symbol_at(node) is not None:
            self._not_assignable(node, "a name of a module", "declare a variable for it", ())
            return None
        vector = self.place(node.value)
        if vector is None:
            return None
        if isinstance(vector, typed.MemoryPlace):
            self._not_assignable(
                node,
                "a component in memory",
                "load the vector, change it, and store it whole",
                (),
            )
            return None
        lane = self.lane_of(node, vector.type)
        if lane is None:
            return None
        assert isinstance(vector.type, VectorType)
        type_ = ScalarType(scalar=vector.type.element)
        return typed.ComponentPlace(
            id=self.id(), span=node.span, type=type_, vector=vector, lane=lane
        )


def destination_of(place: typed.Place | None) -> Perspective | None:
    """What a bare `id()` counts: the perspective that the target's declaration states."""
    match place:
        case typed.VariablePlace(variable=variable):
            return _stated(variable)
        case typed.ElementPlace(array=array):
            return _stated(root_variable(array))
        case typed.MemoryPlace(pointer=pointer):
            return _stated(root_variable(pointer))
        case typed.ComponentPlace(vector=vector):
            return destination_of(vector)
        case _:
            return None


def _stated(variable: typed.Variable | None) -> Perspective | None:
    return variable.perspective if variable is not None and variable.is_stated else None
