"""Control flow: conditions, loops, and what is expanded while a program is checked."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.constant_errors import (
    CounterLeavesType,
    TooManyExpansions,
    ZeroStep,
)
from prismc.checker.types.context import UNKNOWN, is_boolean, is_refused
from prismc.checker.types.declarations import Made
from prismc.checker.types.model import BOOLEAN, INT, LiteralType, ScalarType, Type
from prismc.checker.types.numbers import fits
from prismc.checker.types.show import show
from prismc.checker.types.statements import Statements
from prismc.frontend import ast

_LARGEST_EXPANSION = 20_000  # statements of one function


class ControlFlow(Statements):
    """`if`, `while` and `for`, of the program and of its expansion."""

    def build_if(self, node: ast.If) -> Made:
        """`if`, or what `static if` takes."""
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
            return (self.block(node, body), self.block(node, otherwise))
        if not is_boolean(condition.type):
            self.require_bool(node.condition, "`static if`")
            return ()
        constant = self.require_constant(condition, "the condition of `static if`")
        if constant is None:
            return ()
        taken = node.body if constant.value else node.otherwise
        return (self.block(node, self.statements(taken)),)

    def block(self, node: ast.Node, body: Made, *, is_refused: bool = False) -> typed.Statement:
        """Statements that were made of `node`, as one."""
        return typed.Block(id=self.id(), span=node.span, body=body, is_refused=is_refused)

    def build_while(self, node: ast.While) -> Made:
        """`while`."""
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

    def build_for(self, node: ast.For) -> Made:
        """`for`, or the iterations of `static for`."""
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
            made = (self.block(node, self.statements(node.body)),)
        self.loops = loops
        return made

    def _expanded(self, node: ast.For, type_: Type, start: int, stop: int, step: int) -> Made:
        """The iterations, as long as the function stays small enough for what comes after."""
        made: list[typed.Statement] = []
        values = range(start, stop, step)
        is_too_long = bool(values[_LARGEST_EXPANSION:])
        for value in values[:1] if is_too_long else values:
            self.bind(node.variable, self.constant(node.variable.span, type_, value))
            made.append(self.block(node, self.statements(node.body)))
            self.expansions += 1 + len(node.body)
            if self.expansions > _LARGEST_EXPANSION:
                is_too_long = True
                break
        if is_too_long and not self.is_too_long:
            self.is_too_long = True
            self.report(TooManyExpansions(at=node.variable.span, limit=_LARGEST_EXPANSION))
        return tuple(made)
