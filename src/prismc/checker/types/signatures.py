"""Signatures: attributes, parameters and results of one instance."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.attributes import Requires
from prismc.checker.types.call_errors import (
    BadGenericKind,
    NarrowKernelPointer,
)
from prismc.checker.types.context import UNKNOWN, Argument, Given, Unknown, is_block_level
from prismc.checker.types.effect_attributes import EffectAttributes
from prismc.checker.types.errors import (
    TypeNotAllowed,
)
from prismc.checker.types.generic_uses import as_binding, kind_of
from prismc.checker.types.generics import is_expression_function
from prismc.checker.types.model import (
    ERROR,
    ArrayType,
    PointerType,
    ScalarType,
    TensorMapType,
    Type,
    VectorType,
)
from prismc.checker.types.show import show, show_argument
from prismc.checker.types.signature import Result
from prismc.frontend import ast
from prismc.frontend.walk import find
from prismc.hardware.groups import THREAD, Level, Perspective
from prismc.source.record import replace

_KINDS = ("type", "int", "bool", "perspective", "order", "fn")


def _asks_for_block(node: ast.Node) -> bool:
    """Whether a body counts the threads of its block: `count(thread[1], block[1])`."""
    return any(
        isinstance(call.callee, ast.Reference)
        and call.callee.name == "count"
        and len(call.arguments) == 2
        for call in find(node, ast.Call)
    )


class Signatures(EffectAttributes):
    """Makes the instance that calls refer to; its body is elaborated later."""

    def signature(self, symbol_name: str) -> typed.Instance | None:
        """The instance of the request, or None after reporting that its signature is wrong."""
        assert self.request is not None
        node = self.request.symbol.node
        assert isinstance(node, ast.Function | ast.Kernel)
        self._bind_generics(node, self.request.arguments)
        kind = self._kind(node)
        requires = self.requires(node)
        self.bound = requires.bound if requires is not None else self.bound
        self.is_unsafe = isinstance(node, ast.Function) and node.is_unsafe
        given = self.request.given or (Given(),) * len(node.parameters)
        parameters = [
            self._parameter(parameter, kind, node.name, known)
            for parameter, known in zip(node.parameters, given, strict=False)
        ]
        launch = self.launch(node) if kind is typed.InstanceKind.KERNEL else None
        threads = launch.threads if launch is not None else self.request.threads
        results = self._results(node, kind)
        effects = self.effects(node)
        if self.is_trial and requires is None:
            requires = Requires(bound=self.bound, shared=None, span=node.name.span)
        known = tuple(parameter for parameter in parameters if parameter is not None)
        is_whole = len(known) == len(parameters) and all(r.type is not ERROR for r in results)
        if requires is None or not (is_whole or self.is_trial):
            self.is_failed = True
            return None
        self.instance = typed.Instance(
            symbol=symbol_name,
            name=node.name.text,
            kind=kind,
            bound=self.bound,
            parameters=known,
            results=results,
            threads=threads if is_block_level(self.bound) or _asks_for_block(node) else None,
            declared_shared=requires.shared,
            launch=launch,
            effects=effects,
            generics=self.generics,
            origin=self.request.origin,
            chain=self.request.chain,
            span=node.name.span,
            requires_span=requires.span,
            module=self.module,
        )
        assumptions = self.assumptions(node)
        if assumptions:
            self.instance = replace(self.instance, assumptions=assumptions)
        return self.instance

    def _bind_generics(
        self, node: ast.Function | ast.Kernel, arguments: tuple[Argument, ...]
    ) -> None:
        shown: list[tuple[str, str]] = []
        for position, generic in enumerate(node.generics):
            if kind_of(generic) not in _KINDS:
                self.report(BadGenericKind(at=generic.kind.span, name=generic.name.text))
            value = arguments[position] if position < len(arguments) else UNKNOWN
            self.bind(generic.name, as_binding(value))
            text = "?" if isinstance(value, Unknown) else show_argument(value)
            shown.append((generic.name.text, text))
        self.generics = tuple(shown)

    def _kind(self, node: ast.Function | ast.Kernel) -> typed.InstanceKind:
        if isinstance(node, ast.Kernel):
            return typed.InstanceKind.KERNEL
        if is_expression_function(node):
            return typed.InstanceKind.EXPRESSION
        return typed.InstanceKind.UNSAFE if node.is_unsafe else typed.InstanceKind.DEVICE

    def _parameter(
        self,
        node: ast.Parameter,
        kind: typed.InstanceKind,
        name: ast.Name,
        given: Given,
    ) -> typed.Variable | None:
        type_node, is_const, is_async = node.type, False, False
        if isinstance(type_node, ast.QualifiedType):
            is_async = type_node.qualifier == "async"
            is_const = not is_async
            type_node = type_node.type
        is_expression = kind is typed.InstanceKind.EXPRESSION
        stated = self.stated(node.at)
        if is_expression and node.at is not None:
            self.forbid(node.at.span, "a perspective", name)
        type_ = self.type_of(type_node)
        if type_ is not ERROR and not self._may_take(node, type_, kind):
            type_ = ERROR
        if is_async:
            type_ = self._async_type(node, type_, kind)
        if isinstance(type_, PointerType) and given.mirrors > 1:
            type_ = replace(type_, mirrors=given.mirrors)
        layout = given.layout
        if layout is not None and isinstance(type_, PointerType):
            self.known_layout(layout)
            self.calls.append((layout.function, node.span))
            type_ = replace(type_, layout=layout.function.symbol)
        if kind is typed.InstanceKind.KERNEL and isinstance(type_, PointerType):
            self._check_kernel_pointer(node, type_, stated)
        if is_const and isinstance(type_, ScalarType | VectorType | PointerType):
            where = f"before {show(type_)}"
            advice = "leave it out: arrays are `const`, pointers are `ptr(const ..)`"
            self.report(
                TypeNotAllowed(at=node.type.span, type="`const`", where=where, advice=advice)
            )
        if type_ is ERROR:
            self.bind(node.name, UNKNOWN)
            return None
        is_array = isinstance(type_, ArrayType)
        variable = self.variable(
            node.name,
            type_,
            typed.VariableKind.PARAMETER,
            THREAD if is_expression else stated,
            is_const=is_array and (is_const or is_expression),
        )
        variable = replace(variable, is_stated=stated is not None)
        self.bind(node.name, variable)
        shape = self.shape_of(node.type)
        if shape:
            self.shapes[variable] = shape
        return variable

    def _async_type(self, node: ast.Parameter, type_: Type, kind: typed.InstanceKind) -> Type:
        """`async ptr(T)`, `async T[n]`: what a scope shows; only functions take it."""
        if type_ is ERROR:
            return ERROR
        is_function = kind in (typed.InstanceKind.DEVICE, typed.InstanceKind.UNSAFE)
        if is_function and isinstance(type_, ArrayType):
            return replace(type_, is_async=True)
        is_pointer = isinstance(type_, PointerType) and not (type_.is_const or type_.is_atomic)
        if is_function and isinstance(type_, PointerType) and is_pointer:
            return replace(type_, is_async=True)
        advice = "use `async` for a function's `ptr(T)` that is written to, and its arrays, only"
        shown = f"async {show(type_)}"
        self.report(TypeNotAllowed(at=node.type.span, type=shown, where="here", advice=advice))
        return ERROR

    def _check_kernel_pointer(
        self, node: ast.Parameter, type_: PointerType, stated: Perspective | None
    ) -> None:
        """A launch passes one pointer to all threads: memory that is written is the grid's."""
        if stated is not None and stated.level is not Level.GRID and not type_.is_const:
            assert node.at is not None
            self.report(
                NarrowKernelPointer(at=node.at.span, name=node.name.text, perspective=stated)
            )

    def _may_take(self, node: ast.Parameter, type_: Type, kind: typed.InstanceKind) -> bool:
        """Kernels take scalars, vectors, pointers and tensor maps; functions arrays too, by
        reference; expression functions no tensor maps."""
        allowed: tuple[type[Type], ...] = (ScalarType, VectorType, PointerType, TensorMapType)
        if kind is typed.InstanceKind.EXPRESSION:
            allowed = (ScalarType, VectorType, PointerType, ArrayType)
        elif kind is not typed.InstanceKind.KERNEL:
            allowed = (*allowed, ArrayType)
        if isinstance(type_, allowed):
            return True
        if kind is not typed.InstanceKind.KERNEL:
            where, advice = "here", "pass a scalar, a vector, an array or a pointer"
            self.report(
                TypeNotAllowed(at=node.type.span, type=show(type_), where=where, advice=advice)
            )
            return False
        self.report(
            TypeNotAllowed(
                at=node.type.span,
                type=show(type_),
                where="as a kernel's parameter",
                advice="pass a pointer to memory, `ptr(T)` or `ptr(const T)`, or a scalar",
            )
        )
        return False

    def _results(
        self, node: ast.Function | ast.Kernel, kind: typed.InstanceKind
    ) -> tuple[Result, ...]:
        if isinstance(node, ast.Kernel):
            return ()
        results: list[Result] = []
        for result in node.results:
            stated = self.stated(result.at)
            if kind is typed.InstanceKind.EXPRESSION and result.at is not None:
                self.forbid(result.at.span, "a perspective", node.name)
            type_ = self.type_of(result.type)
            if type_ is not ERROR and not isinstance(type_, ScalarType | VectorType | PointerType):
                advice = "pass an array as a parameter, and fill it"
                self.report(
                    TypeNotAllowed(
                        at=result.type.span, type=show(type_), where="as a result", advice=advice
                    )
                )
                type_ = ERROR
            perspective = stated or self.bound.code
            results.append(Result(type=type_, perspective=perspective, span=result.span))
        return tuple(results)
