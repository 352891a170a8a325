"""Runs expression functions on constants: their bodies are small programs over scalars."""

from __future__ import annotations

from typing import Any

from prismc.checker.types import typed
from prismc.checker.types.fold import (
    COMPARISONS,
    fold_booleans,
    fold_floats,
    fold_integers,
    fold_unary,
)
from prismc.checker.types.model import ArrayType, Type, scalar_of
from prismc.checker.types.numbers import Number, convert, is_convertible
from prismc.hardware.scalars import Kind, Scalar

# Statements and iterations of one evaluation, and of all that a program asks for.
MOST_STEPS = 100_000
MOST_STEPS_TOGETHER = 5 * MOST_STEPS


class NotKnown(Exception):
    """The value depends on more than the arguments, or takes too long to find."""


class _Left(Exception):
    """A `break`, `continue` or `return` on its way out."""

    def __init__(self, statement: typed.Statement, value: Number | None = None) -> None:
        super().__init__()
        self.statement = statement
        self.value = value


class Evaluator:
    """Evaluations of one program. `bodies` are those of finished expression functions."""

    def __init__(self, bodies: dict[typed.Instance, typed.Body]) -> None:
        self._bodies = bodies
        self._found: dict[tuple[object, ...], Number] = {}
        self._steps = 0
        self._steps_before = 0

    def value(self, callee: typed.Instance, arguments: tuple[Number, ...]) -> Number | None:
        """The result of a call; None if it is not known or takes too long to find."""
        # 0.0 and -0.0 are equal and not the same.
        key = (callee, *map(repr, arguments))
        if key in self._found:
            return self._found[key]
        self._steps = 0
        try:
            return self._found.setdefault(key, self._call(callee, arguments))
        except (NotKnown, RecursionError):
            return None
        finally:
            self._steps_before += self._steps

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS or self._steps_before + self._steps > MOST_STEPS_TOGETHER:
            raise NotKnown

    def _call(self, callee: typed.Instance, arguments: tuple[Number, ...]) -> Number:
        """The result of a call.

        Raises NotKnown.
        """
        body = self._bodies.get(callee)
        if body is None or len(callee.results) != 1:
            raise NotKnown
        values: dict[typed.Variable, Any] = dict(zip(callee.parameters, arguments, strict=True))
        try:
            self._statements(body.statements, values)
        except _Left as left:
            if isinstance(left.statement, typed.Return) and left.value is not None:
                return left.value
        raise NotKnown

    def _statements(
        self, statements: tuple[typed.Statement, ...], values: dict[typed.Variable, Any]
    ) -> None:
        for statement in statements:
            self._step()
            self._statement(statement, values)

    def _statement(self, statement: typed.Statement, values: dict[typed.Variable, Any]) -> None:
        match statement:
            case typed.Declare(variable=variable, value=value):
                if isinstance(variable.type, ArrayType):
                    raise NotKnown
                if value is not None:
                    values[variable] = self._value(value, values)
            case typed.Assign(place=typed.VariablePlace(variable=variable), operator=sign):
                right = self._value(statement.value, values)
                if sign:
                    right = _operate(sign, values[variable], right, variable.type)
                values[variable] = right
            case typed.If(condition=condition, body=body, otherwise=otherwise):
                chosen = body if self._value(condition, values) else otherwise
                self._statements(chosen, values)
            case typed.Block(body=body):
                self._statements(body, values)
            case typed.While(condition=condition, body=body):
                while self._value(condition, values) and self._iteration(body, values):
                    pass
            case typed.For():
                self._for(statement, values)
            case typed.Return(values=(value,)):
                raise _Left(statement, self._value(value, values))
            case typed.Break() | typed.Continue():
                raise _Left(statement)
            case _:
                raise NotKnown

    def _iteration(
        self, body: tuple[typed.Statement, ...], values: dict[typed.Variable, Any]
    ) -> bool:
        """Run a loop's body once; False after a `break`."""
        self._step()
        try:
            self._statements(body, values)
        except _Left as left:
            if isinstance(left.statement, typed.Return):
                raise
            return isinstance(left.statement, typed.Continue)
        return True

    def _for(self, loop: typed.For, values: dict[typed.Variable, Any]) -> None:
        start, stop, step = (
            int(self._value(part, values)) for part in (loop.start, loop.stop, loop.step)
        )
        counts_down = isinstance(loop.step, typed.Constant)
        if step == 0 or (step < 0 and not counts_down):
            raise NotKnown  # at run time a step that is not constant counts up
        for index in range(start, stop, step):
            values[loop.variable] = index
            if not self._iteration(loop.body, values):
                return

    def _value(self, expression: typed.Expression, values: dict[typed.Variable, Any]) -> Number:
        match expression:
            case typed.Constant(value=value):
                return value
            case typed.Read(variable=variable):
                if variable not in values:
                    raise NotKnown
                return _number(values[variable])
            case typed.Unary(operator=sign, operand=operand):
                return fold_unary(sign, self._value(operand, values), scalar_of(operand.type))
            case typed.Binary(operator=sign, left=left, right=right):
                one, other = self._value(left, values), self._value(right, values)
                return _operate(sign, one, other, left.type)
            case typed.Logical(operator=sign, left=left, right=right):
                known = bool(self._value(left, values))
                return known if known == (sign == "or") else self._value(right, values)
            case typed.Conditional(value=value, condition=condition, otherwise=otherwise):
                chosen = value if self._value(condition, values) else otherwise
                return self._value(chosen, values)
            case typed.Convert(operand=operand):
                return _converted(self._value(operand, values), _require(expression.type))
            case typed.Call(callee=callee, arguments=arguments):
                return self._call(callee, tuple(self._value(a, values) for a in arguments))
            case _:
                raise NotKnown


def _number(value: Any) -> Number:
    if isinstance(value, int | float):
        return value
    raise NotKnown


def _require(of: Type) -> Scalar:
    scalar = scalar_of(of)
    if scalar is None:
        raise NotKnown
    return scalar


def _converted(value: Number, target: Scalar) -> Number:
    if not is_convertible(value, target):
        raise NotKnown
    return convert(value, target)


def _operate(sign: str, left: Number, right: Number, of: Type) -> Number:
    """An operator at run time's meaning; what traps or is undefined there is not known here."""
    if sign in COMPARISONS:
        return COMPARISONS[sign](left, right)
    scalar = _require(of)
    if scalar.kind is Kind.BOOL:
        return fold_booleans(sign, bool(left), bool(right))
    if scalar.is_float:
        return fold_floats(sign, float(left), float(right), scalar)
    if sign in ("/", "%") and right == 0:
        raise NotKnown
    if sign in ("<<", ">>") and not 0 <= right < scalar.bits:
        raise NotKnown
    return fold_integers(sign, int(left), int(right), scalar)
