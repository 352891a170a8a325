"""Puts a condition around statements, but inside asynchronous scopes.

The scopes then run on every path and commit as many groups, whatever the condition says.
"""

from __future__ import annotations

from collections.abc import Callable

from prismc.checker.types import typed
from prismc.checker.types.context import Context
from prismc.checker.types.model import ScalarType, Type, VectorType
from prismc.checker.types.walk import bodies_of, expressions_in, statements_in
from prismc.source.record import replace
from prismc.source.span import Span

Body = tuple[typed.Statement, ...]


def has_scope(statement: typed.Statement) -> bool:
    """Whether an asynchronous scope is inside a statement."""
    return any(
        isinstance(inner, typed.Narrow) and inner.is_async for inner in statements_in((statement,))
    )


class Guard:
    """`condition` makes the condition anew wherever it stands."""

    def __init__(self, context: Context, condition: Callable[[], typed.Expression]) -> None:
        self._context = context
        self._condition = condition

    def around(self, statements: Body) -> Body:
        """The statements under the condition."""
        if not any(has_scope(statement) for statement in statements):
            return self.under(statements)
        made: list[typed.Statement] = []
        waiting: list[typed.Statement] = []
        for statement in statements:
            is_kept = has_scope(statement) or isinstance(statement, typed.Declare)
            if not is_kept:
                waiting.append(statement)
                continue
            made += self.under(tuple(waiting))
            waiting = []
            made.append(self._kept(statement))
        return (*made, *self.under(tuple(waiting)))

    def under(self, statements: Body, *, is_iteration: bool = False) -> Body:
        """The statements, scopes included, under the condition."""
        if not statements:
            return ()
        return (
            typed.If(
                id=self._context.id(),
                span=statements[0].span,
                condition=self._condition(),
                body=statements,
                otherwise=(),
                is_iteration=is_iteration,
                is_guard=True,
            ),
        )

    def _kept(self, statement: typed.Statement) -> typed.Statement:
        """A statement that stays outside, with the condition in it."""
        match statement:
            case typed.Declare(value=value) if value is not None:
                return replace(statement, value=self._lazy(value))
            case typed.Narrow(body=body) if statement.is_async:
                return replace(statement, body=self.under(body))
            case typed.Split(arms=arms):
                inside = tuple(replace(arm, body=self.around(arm.body)) for arm in arms)
                return replace(statement, arms=inside)
            case typed.If():
                return statement
            case _ if bodies_of(statement):
                return replace(statement, body=self.around(bodies_of(statement)[0]))
            case _:
                return statement

    def _lazy(self, value: typed.Expression) -> typed.Expression:
        """A value that is not evaluated, but zero, where the condition does not hold."""
        touches = (typed.Load, typed.Call)
        zero = self._zero(value.type, value.span)
        if zero is None or not any(isinstance(inner, touches) for inner in expressions_in(value)):
            return value
        return typed.Conditional(
            id=self._context.id(),
            span=value.span,
            type=value.type,
            value=value,
            condition=self._condition(),
            otherwise=zero,
            is_guard=True,
        )

    def _zero(self, of: Type, at: Span) -> typed.Expression | None:
        match of:
            case ScalarType(scalar=scalar):
                value = 0.0 if scalar.is_float else 0 if scalar.is_integer else False
                return self._context.constant(at, of, value)
            case VectorType(element=element, lanes=lanes):
                zero = self._zero(ScalarType(scalar=element), at)
                assert zero is not None
                return typed.MakeVector(
                    id=self._context.id(), span=at, type=of, elements=(zero,) * lanes
                )
            case _:
                return None
