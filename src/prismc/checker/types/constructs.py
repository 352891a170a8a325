"""Statements that hold others and change whose code or whose pointers they are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from prismc.checker.types import typed
from prismc.checker.types.context import UNKNOWN, is_refused
from prismc.checker.types.control_flow import ControlFlow
from prismc.checker.types.conversions import root_variable
from prismc.checker.types.declarations import Made
from prismc.checker.types.errors import BadUnits, FinishElsewhere, NotAPointer
from prismc.checker.types.model import INT, ArrayType, PointerType, ScalarType
from prismc.checker.types.narrowing import NarrowKind
from prismc.checker.types.show import show
from prismc.diagnostics.problem import Related
from prismc.frontend import ast
from prismc.frontend.walk import find
from prismc.hardware.groups import BLOCK, CONSTANT, SPELLINGS, Bound, Perspective
from prismc.hardware.scalars import U32
from prismc.source.record import replace
from prismc.source.span import Span

_COUNTER = PointerType(element=ScalarType(scalar=U32), is_atomic=True)
_KINDS = {
    ast.Partition: (NarrowKind.PARTITION, typed.VariableKind.PARTITION),
    ast.Claim: (NarrowKind.CLAIM, typed.VariableKind.CLAIM),
    ast.Async: (NarrowKind.ASYNC, typed.VariableKind.ASYNC),
}


class Constructs(ControlFlow):
    """Structure only: whether a perspective is legal where it stands is judged later."""

    @abstractmethod
    def pipeline(self, node: ast.Pipeline) -> Made:
        """The loop that a pipeline stands for."""

    def construct(self, node: ast.Statement) -> Made:
        """The typed form of a statement that holds others."""
        return _BUILD[type(node)](self, node)

    def _inside(self, bound: Bound, body: tuple[ast.Statement, ...]) -> Made:
        """A body at another bound."""
        outer, self.bound = self.bound, bound
        made = self.statements(body)
        self.bound = outer
        return made

    def _refused_blocks(self, *nodes: ast.Group | ast.First | ast.Case | ast.Finish) -> Made:
        """The bodies of a construct whose perspective is not known."""
        return tuple(
            self.block(node, self.statements(node.body), is_refused=True) for node in nodes
        )

    def _unsafe(self, node: ast.Unsafe) -> Made:
        if self.is_expression_function:
            self.forbid(node.header, "`unsafe`")
        outer, self.is_unsafe = self.is_unsafe, True
        body = self.statements(node.body)
        self.is_unsafe = outer
        return (self.block(node, body),)

    # ------------------------------------------------------------------ whose code

    def _group(self, node: ast.Group) -> Made:
        if self.is_expression_function:
            self.forbid(node.header, "`group`")
            return ()
        to = self.perspective_of(node.perspective)
        if to is None:
            return self._refused_blocks(node)
        inner = self.bound.group(to)
        return (
            typed.Group(
                id=self.id(),
                span=node.span,
                to=to,
                bound=inner,
                body=self._inside(inner, node.body),
                header=node.header,
            ),
        )

    def _split(self, node: ast.Split) -> Made:
        """Arms stand one after the other, sizes and offsets in threads (blocks for `block`)."""
        if self.is_expression_function:
            self.forbid(node.header, "`split`")
            return ()
        unit = SPELLINGS[node.level]
        if node.level == "grid":
            self.report(BadUnits(at=node.header, level=node.level, keyword="split"))
            return self._refused_blocks(*node.cases)
        arms: list[typed.Arm] = []
        offset = 0
        for case in node.cases:
            size = self._arm_size(case)
            if size is None:
                return self._refused_blocks(*node.cases)
            to = Perspective(unit.level, unit.size * size)
            arms.append(self._arm(case, to, offset))
            offset += to.size
        return (self._split_of(node, tuple(arms), "split", node.header),)

    def _arm_size(self, case: ast.Case) -> int | None:
        size = self.constant_integer(case.size, "the size of an arm")
        if size is None or size >= 1:
            return size
        self.report(BadUnits(at=case.size.span, level=str(size), keyword="case"))
        return None

    def _arm(self, node: ast.Case | ast.First, to: Perspective, offset: int) -> typed.Arm:
        inner = self.bound.arm(to, offset)
        return typed.Arm(
            id=self.id(),
            span=node.span,
            to=to,
            offset=offset,
            bound=inner,
            body=self._inside(inner, node.body),
            header=node.header,
        )

    def _split_of(
        self, node: ast.Statement, arms: tuple[typed.Arm, ...], keyword: str, header: Span
    ) -> typed.Split:
        return typed.Split(
            id=self.id(),
            span=node.span,
            arms=arms,
            keyword=keyword,
            available=self.bound.size(arms[0].to.level),
            header=header,
        )

    def _first(self, node: ast.First) -> Made:
        if self.is_expression_function:
            self.forbid(node.header, "`first`")
            return ()
        to = self.perspective_of(node.perspective)
        if to is None:
            return self._refused_blocks(node)
        if to.level is SPELLINGS["grid"].level:
            self.report(BadUnits(at=node.header, level="grid", keyword="first"))
            return self._refused_blocks(node)
        return (self._split_of(node, (self._arm(node, to, 0),), "first", node.header),)

    # ------------------------------------------------------------------ whose pointers

    def _narrow(self, node: ast.Partition | ast.Claim | ast.Async) -> Made:
        kind, variable_kind = _KINDS[type(node)]
        if self.is_expression_function:
            self.forbid(node.header, f"`{kind.value}`")
            return ()
        views = [self._view(pair, variable_kind) for pair in node.pairs]
        for pair, view in zip(node.pairs, views, strict=True):
            self.bind(pair.name, UNKNOWN if view is None else view.variable)
        body = self.statements(node.body)
        known = tuple(view for view in views if view is not None)
        if not known:
            return (self.block(node, body),)
        return (
            typed.Narrow(
                id=self.id(),
                span=node.span,
                kind=kind,
                views=known,
                body=body,
                header=node.header,
            ),
        )

    def _view(self, pair: ast.Narrow, kind: typed.VariableKind) -> typed.View | None:
        """One pair; None after reporting."""
        source = self.expression(pair.pointer)
        stated = self.stated(pair.at)
        variable = root_variable(source)
        offset = self.flat_index(pair.offset, variable, pair.span) if pair.offset else None
        function = self._index_function(pair.function) if pair.function is not None else None
        if is_refused(source):
            return None
        if kind is typed.VariableKind.ASYNC and isinstance(source.type, ArrayType):
            return self._array_view(pair, source, source.type)
        if not isinstance(source.type, PointerType) or variable is None:
            self.report(
                NotAPointer(
                    at=pair.pointer.span,
                    where="a narrowing",
                    found=show(source.type),
                    related=self.what_it_is(source),
                )
            )
            return None
        if (pair.at is not None and stated is None) or (pair.offset and offset is None):
            return None
        if pair.function is not None and function is None:
            return None
        type_ = source.type
        if pair.is_async:
            if not self.require_mutable(source, pair.pointer):
                return None
            type_ = replace(type_, is_async=True)
        if kind is typed.VariableKind.ASYNC:
            stated = variable.perspective
        made = self.variable(pair.name, type_, kind, stated)
        if variable in self.shapes:
            self.shapes[made] = self.shapes[variable]
        return typed.View(
            id=self.id(),
            span=pair.span,
            variable=made,
            source=source,
            offset=offset,
            function=function,
            is_async=pair.is_async,
        )

    def _array_view(
        self, pair: ast.Narrow, source: typed.Expression, of: ArrayType
    ) -> typed.View | None:
        """`async acc as d:`, an array in registers that operations write after they return."""
        variable = root_variable(source)
        if variable is None or not self.require_mutable_array(source, variable, of):
            return None
        made = self.variable(
            pair.name, replace(of, is_async=True), typed.VariableKind.ASYNC, variable.perspective
        )
        return typed.View(
            id=self.id(),
            span=pair.span,
            variable=made,
            source=source,
            offset=None,
            function=None,
            is_async=True,
        )

    def _index_function(self, node: ast.Lambda) -> typed.IndexFunction | None:
        """`i => e`: the parameter is an int as broad as what it is used with."""
        parameter = replace(
            self.variable(node.parameter, INT, typed.VariableKind.LOOP, None),
            perspective=CONSTANT,
        )
        self.bind(node.parameter, parameter)
        body = self.require_integer(node.body, "an index")
        if is_refused(body):
            return None
        return typed.IndexFunction(id=self.id(), span=node.span, parameter=parameter, body=body)

    # ------------------------------------------------------------------ the last block

    def _finish(self, node: ast.Finish) -> Made:
        """The last statement of a kernel: inside, the grid's pointers are the block's."""
        definition = self.request.symbol.node if self.request is not None else None
        if not isinstance(definition, ast.Kernel) or definition.body[-1] is not node:
            self.report(FinishElsewhere(at=node.header, related=self._around(definition, node)))
            return self._refused_blocks(node)
        counter = self.require_type(self.expression(node.counter), _COUNTER)
        views = self._block_views(node)
        group = typed.Group(
            id=self.id(),
            span=node.span,
            to=BLOCK,
            bound=self.bound.group(BLOCK),
            body=self._inside(self.bound.group(BLOCK), node.body),
            header=node.header,
        )
        if is_refused(counter):
            return (group,)
        finish = typed.Finish(
            id=self.id(), span=node.span, counter=counter, body=(group,), header=node.header
        )
        if not views:
            return (finish,)
        return (
            typed.Narrow(
                id=self.id(),
                span=node.span,
                kind=NarrowKind.PARTITION,
                views=views,
                body=(finish,),
                header=node.header,
            ),
        )

    def _around(self, definition: object, node: ast.Finish) -> tuple[Related, ...]:
        """What keeps `finish` from being a kernel's last statement."""
        if not isinstance(definition, ast.Kernel):
            return ()
        index = next(
            place for place, each in enumerate(definition.body) if node in find(each, ast.Finish)
        )
        if definition.body[index] is not node:
            return self.note(_first_line(definition.body[index]), "it stands inside this")
        return self.note(_first_line(definition.body[index + 1]), "this follows")

    def _block_views(self, node: ast.Finish) -> tuple[typed.View, ...]:
        """The kernel's pointers that the body names, each as a whole for the one block; the names
        stand for these from here on."""
        views: list[typed.View] = []
        named = (self.symbol_at(use) for part in node.body for use in find(part, ast.Reference))
        for symbol in dict.fromkeys(symbol for symbol in named if symbol is not None):
            variable = self.environment.get(symbol)
            if not isinstance(variable, typed.Variable) or not self._is_of_grid(variable):
                continue
            own = replace(
                variable,
                id=self.id(),
                kind=typed.VariableKind.PARTITION,
                perspective=BLOCK,
                is_stated=True,
            )
            if variable in self.shapes:
                self.shapes[own] = self.shapes[variable]
            self.environment[symbol] = own
            views.append(
                typed.View(
                    id=self.id(),
                    span=node.header,
                    variable=own,
                    source=self.read(node.header, variable),
                    offset=None,
                    function=None,
                    is_async=False,
                )
            )
        return tuple(views)

    def _is_of_grid(self, variable: typed.Variable) -> bool:
        is_parameter = variable.kind is typed.VariableKind.PARAMETER
        return is_parameter and isinstance(variable.type, PointerType)


_Build = Callable[[Constructs, Any], Made]

_BUILD: dict[type[ast.Statement], _Build] = {
    ast.If: Constructs.build_if,
    ast.While: Constructs.build_while,
    ast.For: Constructs.build_for,
    ast.Unsafe: Constructs._unsafe,
    ast.Group: Constructs._group,
    ast.Split: Constructs._split,
    ast.First: Constructs._first,
    ast.Partition: Constructs._narrow,
    ast.Claim: Constructs._narrow,
    ast.Async: Constructs._narrow,
    ast.Pipeline: lambda constructs, node: constructs.pipeline(node),
    ast.Finish: Constructs._finish,
}


def _first_line(node: ast.Statement) -> Span:
    """A statement, or the header of one with a block."""
    header: Span = getattr(node, "header", node.span)
    return header
