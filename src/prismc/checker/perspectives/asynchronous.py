"""Asynchronous scopes run on every path: each one is a commit, and waits count commits.

A copy may be conditional, its scope may not (`docs/language.md`, "Asynchronous scopes"): threads
that left a scope out would have committed fewer groups, and would wait for the wrong ones.
"""

from __future__ import annotations

from collections.abc import Container

from prismc.checker.perspectives.errors import ConditionalScope
from prismc.checker.types import typed
from prismc.checker.types.walk import bodies_of, operands, statement_operands
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.source.span import Span

_INSIDE = "`async x as y: if c: ..`"


def check_scopes(body: typed.Body, committing: Container[str], sink: Sink) -> bool:
    """Report scopes under a condition; whether the body holds any scope, its calls' included.

    `committing` holds the symbols of functions that do.
    """
    walk = _Walk(committing, sink)
    walk.statements(body.statements, None)
    return walk.commits


class _Walk:
    """`condition` is the innermost condition around what is looked at."""

    def __init__(self, committing: Container[str], sink: Sink) -> None:
        self._committing = committing
        self._sink = sink
        self.commits = False

    def statements(self, body: tuple[typed.Statement, ...], condition: Span | None) -> None:
        for statement in body:
            if isinstance(statement, typed.Narrow) and statement.is_async:
                self._scope(None, statement.header, condition)
            for operand in statement_operands(statement):
                self._expression(operand, condition)
            inside = condition
            if isinstance(statement, typed.If) and not statement.is_iteration:
                inside = statement.condition.span
            for inner in bodies_of(statement):
                self.statements(inner, inside)

    def _expression(self, expression: typed.Expression, condition: Span | None) -> None:
        if isinstance(expression, typed.Call) and expression.callee.symbol in self._committing:
            self._scope(expression.callee.name, expression.span, condition)
        for operand in operands(expression):
            self._expression(operand, _decides(expression, operand) or condition)

    def _scope(self, callee: str | None, at: Span, condition: Span | None) -> None:
        """A scope, or the call of a function that holds one."""
        self.commits = True
        if condition is None:
            return
        what, advice = "this scope", f"put the condition inside, around the copies: {_INSIDE}"
        if callee is not None:
            what = f"`{callee}`"
            advice = f"call it on every path, and give it the condition for its copies: {_INSIDE}"
        note = Related(at=condition, message="this condition is around it")
        self._sink.report(ConditionalScope(at=at, what=what, advice=advice, related=(note,)))


def _decides(expression: typed.Expression, operand: typed.Expression) -> Span | None:
    """What decides whether an operand is evaluated, if anything does."""
    match expression:
        case typed.Logical(left=decides, right=lazy) if operand is lazy:
            return decides.span
        case typed.Conditional(condition=decides) if operand is not decides:
            return decides.span
        case _:
            return None
