"""Declarations: variables, constants, shared arrays."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.context import UNKNOWN, Layout
from prismc.checker.types.errors import (
    BadAlignment,
    CountsDiffer,
    PointerWithoutValue,
    TypeNotAllowed,
    WholeArray,
)
from prismc.checker.types.layout_errors import SwizzleAlignment
from prismc.checker.types.model import (
    ERROR,
    ArrayType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    size_of,
)
from prismc.checker.types.show import show
from prismc.checker.types.unsafe import Unsafe, element_type
from prismc.diagnostics.problem import Related
from prismc.diagnostics.words import counted
from prismc.frontend import ast
from prismc.hardware.groups import Perspective
from prismc.source.span import Span

_NOT_STATED = 0

Made = tuple[typed.Statement, ...]


class Declarations(Unsafe):
    """One method a kind of declaration; each gives the typed statements that it stands for."""

    def declare(self, node: ast.Declare) -> Made:
        """`x: T @ q = e` and `x := e`."""
        stated = self.stated(node.at)
        type_ = self.type_of(node.type) if node.type is not None else None
        value = None
        if node.value is not None:
            value = self._initial(node.value, type_, stated if node.at else None)
            type_ = value.type if type_ is None else type_
        is_whole = type_ is not None and type_ is not ERROR and (stated or node.at is None)
        if type_ is None or not is_whole or not self._may_declare(node, type_):
            self.bind(node.name, UNKNOWN)
            return ()
        if isinstance(type_, PointerType) and value is None:
            self.report(PointerWithoutValue(at=node.span, name=node.name.text))
        variable = self.variable(node.name, type_, typed.VariableKind.LOCAL, stated)
        if isinstance(type_, PointerType) and value is not None:
            self._keep_shape(variable, node.type, value)
        return (typed.Declare(id=self.id(), span=node.span, variable=variable, value=value),)

    def _keep_shape(
        self, variable: typed.Variable, node: ast.Expression | None, value: typed.Expression
    ) -> None:
        """A pointer variable has the shape that its type states, or that of what it copies."""
        shape = self.shape_of(node) if node is not None else ()
        if not shape and isinstance(value, typed.Read):
            shape = self.shapes.get(value.variable, ())
        if shape:
            self.shapes[variable] = shape

    def _initial(
        self, node: ast.Expression, type_: Type | None, destination: Perspective | None
    ) -> typed.Expression:
        """The value of a declaration, of its type; an array's is a scalar that fills it."""
        target = element_type(type_) if type_ is not None else None
        self.destination = destination
        value = self.expression(node, target)
        self.destination = None
        if target is None:
            return self.settled(value)
        if isinstance(value.type, ArrayType):
            return self.refuse_whole_array(node.span, self.what_it_is(value))
        return self.require_type(value, target)

    def refuse_whole_array(self, at: Span, related: tuple[Related, ...] = ()) -> typed.Expression:
        """Report an array that stands where one value does."""
        self.report(WholeArray(at=at, related=related))
        return self.refused(at)

    def _may_declare(self, node: ast.Declare, type_: Type) -> bool:
        if isinstance(type_, ArrayType) and node.type is None:
            self.report(WholeArray(at=node.span))
            return False
        is_async = isinstance(type_, PointerType) and type_.is_async
        if isinstance(type_, ScalarType | VectorType | ArrayType | PointerType) and not is_async:
            return True
        at = node.type.span if node.type is not None else node.span
        where, advice = "as a variable's type", "declare a scalar, a vector, an array or a pointer"
        self.report(TypeNotAllowed(at=at, type=show(type_), where=where, advice=advice))
        return False

    def declare_several(self, node: ast.DeclareSeveral) -> Made:
        """`a, b := f(x)`."""
        call = self.call(node.value, None) if isinstance(node.value, ast.Call) else None
        if call is None:
            self.report(
                CountsDiffer(
                    at=node.value.span,
                    targets=counted(len(node.names), "target"),
                    values="1 value",
                    what="value",
                )
            )
        if not isinstance(call, typed.Call):
            self._forget(node.names)
            return ()
        results = call.callee.results
        if len(results) != len(node.names):
            self.report(
                CountsDiffer(
                    at=node.span,
                    targets=counted(len(node.names), "target"),
                    values=counted(len(results), "result"),
                    what="result",
                    related=self.note(call.callee.span, f"`{call.callee.name}` is declared here"),
                )
            )
            self._forget(node.names)
            return ()
        variables = tuple(
            self.variable(name, result.type, typed.VariableKind.LOCAL, result.perspective)
            for name, result in zip(node.names, results, strict=True)
        )
        return (typed.DeclareSeveral(id=self.id(), span=node.span, variables=variables, call=call),)

    def _forget(self, names: tuple[ast.Name, ...]) -> None:
        for name in names:
            self.bind(name, UNKNOWN)
        self.is_failed = True

    def local_constant(self, node: ast.ConstantDeclaration) -> Made:
        """`const` in a body: it leaves no statement."""
        value = self.constant_of(node.type, node.value, node.name.text)
        self.bind(node.name, UNKNOWN if value is None else value)
        return ()

    def constant_of(
        self, type_node: ast.Expression | None, node: ast.Expression, name: str
    ) -> typed.Constant | None:
        """A `const`'s value, of its stated type (without one it stays what it is)."""
        type_ = self.type_of(type_node) if type_node is not None else None
        if isinstance(type_, ArrayType | PointerType | VectorType) and type_node is not None:
            where, advice = "as a constant's type", "use a scalar type, or leave the type out"
            self.report(
                TypeNotAllowed(at=type_node.span, type=show(type_), where=where, advice=advice)
            )
            return None
        value = self.expression(node, type_)
        if type_ is not None:
            value = self.require_type(value, type_)
        return self.require_constant(value, f"the constant `{name}`")

    def shared(self, node: ast.Shared) -> Made:
        """`shared x: T[n] @ q align a`."""
        stated = self.stated(node.at)
        type_ = self.type_of(node.type)
        alignment = self._alignment(node, type_)
        if self.is_expression_function:
            self.may_store(node.type)
        if not isinstance(type_, ArrayType):
            if type_ is not ERROR:
                self.report(
                    TypeNotAllowed(
                        at=node.type.span,
                        type=show(type_),
                        where="in shared memory",
                        advice="declare an array, if only of one element: `f32[1]`",
                    )
                )
            self.bind(node.name, UNKNOWN)
            return ()
        if node.at is not None and stated is None:
            self.bind(node.name, UNKNOWN)
            return ()
        slots = 0
        if isinstance(type_.element, ArrayType):
            slots, type_ = type_.length, type_.element
        if isinstance(type_.element, ArrayType):
            advice = "give two lengths, of slots and of elements, and calculate the index"
            self.report(
                TypeNotAllowed(
                    at=node.type.span, type=show(type_), where="as a slot", advice=advice
                )
            )
            self.bind(node.name, UNKNOWN)
            return ()
        layout = None
        if node.layout is not None:
            layout = self.layout_of(node.layout, type_, slots)
        variable = self.variable(
            node.name,
            type_,
            typed.VariableKind.SHARED,
            stated,
            slots=slots,
            alignment=self._aligned(node, alignment, layout),
            layout=layout.function if layout is not None else None,
            run=layout.run if layout is not None else 1,
        )
        return (typed.DeclareShared(id=self.id(), span=node.span, variable=variable),)

    def _aligned(self, node: ast.Shared, alignment: int, layout: Layout | None) -> int:
        """The alignment that is stated or that a swizzle needs, which acts on addresses."""
        if layout is None or layout.swizzle is None:
            return alignment
        least = layout.swizzle.period
        if node.align is not None and alignment and alignment % least:
            self.report(
                SwizzleAlignment(
                    at=node.align.span,
                    alignment=alignment,
                    least=least,
                    name=layout.swizzle.name,
                    related=self.constants_of(node.align),
                )
            )
        return max(alignment, least)

    def _alignment(self, node: ast.Shared, type_: Type) -> int:
        """`align a`: a power of two that holds an element."""
        if node.align is None:
            return _NOT_STATED
        alignment = self.constant_integer(node.align, "an alignment")
        if alignment is None:
            return _NOT_STATED
        least = size_of(element_type(type_)) if isinstance(type_, ArrayType) else 1
        if alignment < least or alignment & (alignment - 1) or alignment > 1 << 16:
            notes = self.constants_of(node.align)
            self.report(
                BadAlignment(at=node.align.span, alignment=alignment, least=least, related=notes)
            )
            return _NOT_STATED
        return alignment
