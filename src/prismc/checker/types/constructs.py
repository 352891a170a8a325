"""Statements that hold others: control flow, static expansion, whose code, whose pointers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from prismc.checker.types import typed
from prismc.checker.types.context import UNKNOWN, is_boolean, is_refused
from prismc.checker.types.conversions import root_variable
from prismc.checker.types.declarations import Made
from prismc.checker.types.errors import (
    BadUnits,
    CounterLeavesType,
    FinishElsewhere,
    NotAPointer,
    TooManyExpansions,
    ZeroStep,
)
from prismc.checker.types.model import (
    BOOLEAN,
    INT,
    ArrayType,
    LiteralType,
    PointerType,
    ScalarType,
    Type,
)
from prismc.checker.types.narrowing import NarrowKind
from prismc.checker.types.numbers import fits
from prismc.checker.types.show import show
from prismc.checker.types.statements import Statements
from prismc.diagnostics.problem import Related
from prismc.frontend import ast
from prismc.frontend.walk import find
from prismc.hardware.groups import BLOCK, CONSTANT, SPELLINGS, Bound, Perspective
from prismc.hardware.scalars import U32
from prismc.source.record import replace
from prismc.source.span import Span

_LARGEST_EXPANSION = 20_000  # statements of one function
_COUNTER = PointerType(element=ScalarType(scalar=U32), is_atomic=True)
_KINDS = {
    ast.Partition: (NarrowKind.PARTITION, typed.VariableKind.PARTITION),
    ast.Claim: (NarrowKind.CLAIM, typed.VariableKind.CLAIM),
    ast.Async: (NarrowKind.ASYNC, typed.VariableKind.ASYNC),
}


class Constructs(Statements):
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

    # ------------------------------------------------------------------ control flow

    def _if(self, node: ast.If) -> Made:
        if node.is_static:
            return self._static_if(node)
        condition = self.require_bool(node.condition, "`if`")
        return (
            typed.If(
                id=self.id(),
                span=node.span,
                condition=condition,
                body=self.statements(node.body),
                otherwise=self.statements(node.otherwise),
            ),
        )

    def _static_if(self, node: ast.If) -> Made:
        """The taken branch; both while a generic body is tried and the condition is not known."""
        condition = self.expression(node.condition, BOOLEAN)
        if is_refused(condition):
            outer, self.is_undecided = self.is_undecided, True
            body, otherwise = self.statements(node.body), self.statements(node.otherwise)
            self.is_undecided = outer
            return (self._block(node, body), self._block(node, otherwise))
        if not is_boolean(condition.type):
            self.require_bool(node.condition, "`static if`")
            return ()
        constant = self.require_constant(condition, "the condition of `static if`")
        if constant is None:
            return ()
        taken = node.body if constant.value else node.otherwise
        return (self._block(node, self.statements(taken)),)

    def _block(self, node: ast.Node, body: Made, *, is_refused: bool = False) -> typed.Statement:
        return typed.Block(id=self.id(), span=node.span, body=body, is_refused=is_refused)

    def _refused_blocks(self, *nodes: ast.Group | ast.First | ast.Case | ast.Finish) -> Made:
        """The bodies of a construct whose perspective is not known."""
        return tuple(
            self._block(node, self.statements(node.body), is_refused=True) for node in nodes
        )

    def _while(self, node: ast.While) -> Made:
        condition = self.require_bool(node.condition, "`while`")
        return (
            typed.While(
                id=self.id(), span=node.span, condition=condition, body=self._loop_body(node.body)
            ),
        )

    def _loop_body(self, body: tuple[ast.Statement, ...]) -> Made:
        self.loops += 1
        made = self.statements(body)
        self.loops -= 1
        return made

    def _for(self, node: ast.For) -> Made:
        bounds = self.range_of(node)
        if node.mode == "static":
            return self._static_for(node, bounds)
        if bounds is None:
            self.bind(node.variable, UNKNOWN)
            return self._loop_body(node.body)
        start, stop, step = bounds
        self._check_counter(start, stop, step)
        variable = self.variable(node.variable, start.type, typed.VariableKind.LOOP, None)
        return (
            typed.For(
                id=self.id(),
                span=node.span,
                variable=variable,
                start=start,
                stop=stop,
                step=step,
                unroll=node.mode == "unroll",
                body=self._loop_body(node.body),
            ),
        )

    def range_of(self, node: ast.For | ast.Pipeline) -> tuple[typed.Expression, ...] | None:
        """Start, stop and step, all of one integer type; None after reporting."""
        values = [self.expression(part, INT) for part in node.range]
        target = self._range_type(values)
        if target is None:
            return None
        given = [self.require_type(value, target) for value in values]
        if any(is_refused(value) for value in given):
            return None
        if len(given) == 1:
            given.insert(0, self.constant(node.variable.span, target, 0))
        if len(given) == 2:
            given.append(self.constant(node.variable.span, target, 1))
        step = given[2]
        if isinstance(step, typed.Constant) and step.value == 0:
            self.report(ZeroStep(at=step.span))
            return None
        return tuple(given)

    def _check_counter(
        self, start: typed.Expression, stop: typed.Expression, step: typed.Expression
    ) -> None:
        """The counter takes one more step than there are iterations: it must have room for it."""
        parts = [part for part in (start, stop, step) if isinstance(part, typed.Constant)]
        if len(parts) < 3 or not isinstance(start.type, ScalarType):
            return
        first, end, distance = (int(part.value) for part in parts)
        last = (range(first, end, distance) or [first - distance])[-1]
        if not fits(last + distance, start.type.scalar):
            self.report(
                CounterLeavesType(
                    at=start.span.to(step.span),
                    last=last,
                    following=last + distance,
                    type=show(start.type),
                )
            )

    def _range_type(self, values: list[typed.Expression]) -> Type | None:
        if any(is_refused(value) for value in values):
            return None
        known = [value for value in values if not isinstance(value.type, LiteralType)]
        first = known[0] if known else self.settled(values[0])
        if isinstance(first.type, ScalarType) and first.type.scalar.is_integer:
            return first.type
        self.require_type(first, INT)
        return None

    def _static_for(self, node: ast.For, bounds: tuple[typed.Expression, ...] | None) -> Made:
        """One block an iteration, in which the index is a constant."""
        known = [self.require_constant(b, "the range of `static for`") for b in bounds or ()]
        constants = [constant for constant in known if constant is not None]
        loops, self.loops = self.loops, 0
        if len(constants) == 3:
            made = self._expanded(node, constants[0].type, *(int(c.value) for c in constants))
        else:
            self.bind(node.variable, UNKNOWN)
            self.is_failed = True
            made = (self._block(node, self.statements(node.body)),)
        self.loops = loops
        return made

    def _expanded(self, node: ast.For, type_: Type, start: int, stop: int, step: int) -> Made:
        """The iterations, as long as the function stays small enough for what comes after."""
        made: list[typed.Statement] = []
        values = range(start, stop, step)
        is_too_long = bool(values[_LARGEST_EXPANSION:])
        for value in values[:1] if is_too_long else values:
            self.bind(node.variable, self.constant(node.variable.span, type_, value))
            made.append(self._block(node, self.statements(node.body)))
            self.expansions += 1 + len(node.body)
            if self.expansions > _LARGEST_EXPANSION:
                is_too_long = True
                break
        if is_too_long and not self.is_too_long:
            self.is_too_long = True
            self.report(TooManyExpansions(at=node.variable.span, limit=_LARGEST_EXPANSION))
        return tuple(made)

    def _unsafe(self, node: ast.Unsafe) -> Made:
        if self.is_expression_function:
            self.forbid(node.header, "`unsafe`")
        outer, self.is_unsafe = self.is_unsafe, True
        body = self.statements(node.body)
        self.is_unsafe = outer
        return (self._block(node, body),)

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
            return (self._block(node, body),)
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
    ast.If: Constructs._if,
    ast.While: Constructs._while,
    ast.For: Constructs._for,
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
