"""Runs expression functions on constants: their bodies are small programs over scalars."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, NoReturn

from prismc.checker.types import typed
from prismc.checker.types.fold import (
    COMPARISONS,
    fold_booleans,
    fold_floats,
    fold_integers,
    fold_unary,
)
from prismc.checker.types.model import ArrayType, Type, scalar_of
from prismc.checker.types.number_folds import FOLDS, reinterpret
from prismc.checker.types.numbers import Number, convert, is_convertible
from prismc.hardware.scalars import Kind, Scalar

# Statements and iterations of one evaluation, and of all that a program asks for.
MOST_STEPS = 100_000
MOST_STEPS_TOGETHER = 5 * MOST_STEPS


REFUSED = ""


class NotKnown(Exception):
    """The value depends on more than the arguments, or takes too long to find.

    `reason` is what the function does, REFUSED where its body has a problem of its own.
    """

    def __init__(self, reason: str = "does what only a run can") -> None:
        super().__init__(reason)
        self.reason = reason


Values = dict[typed.Variable, Number]


class _Left(NamedTuple):
    """What ends the statements around it: a `break`, `continue` or `return`, with its value."""

    statement: typed.Statement
    value: Number | None = None


# What expressions and statements are made into, once for all calls: walking the tree for each
# element of a layout takes several times as long.
_Value = Callable[[Values], Number]
_Action = Callable[[Values], _Left | None]
_Operation = Callable[[Number, Number], Number]


class Evaluator:
    """Evaluations of one program. `bodies` are those of finished expression functions;
    `is_refused` tells which of them have problems."""

    def __init__(
        self,
        bodies: dict[typed.Instance, typed.Body],
        is_refused: Callable[[typed.Instance], bool],
    ) -> None:
        self._bodies = bodies
        self._is_refused = is_refused
        self._found: dict[tuple[object, ...], Number] = {}
        self._reasons: dict[tuple[object, ...], str] = {}
        self._actions: dict[typed.Instance, _Action] = {}
        self._running: set[typed.Instance] = set()
        self._steps = 0
        self._steps_before = 0

    def value(self, callee: typed.Instance, arguments: tuple[Number, ...]) -> Number | None:
        """The result of a call; None if it is not known or takes too long to find."""
        key = _key(callee, arguments)
        if key in self._found:
            return self._found[key]
        self._steps = 0
        try:
            return self._found.setdefault(key, self._call(callee, arguments))
        except NotKnown as unknown:
            self._reasons[key] = unknown.reason
        except RecursionError:
            self._reasons[key] = "nests too deep"
        finally:
            self._steps_before += self._steps
        return None

    def reason(self, callee: typed.Instance, arguments: tuple[Number, ...]) -> str:
        """Why `value` of the same call is None: what the function does, or REFUSED."""
        return self._reasons[_key(callee, arguments)]

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise NotKnown(f"takes more than {MOST_STEPS:,} steps")
        if self._steps_before + self._steps > MOST_STEPS_TOGETHER:
            most = f"{MOST_STEPS_TOGETHER:,}"
            raise NotKnown(f"takes the program past {most} steps of functions while compiling")

    def _call(self, callee: typed.Instance, arguments: tuple[Number, ...]) -> Number:
        """The result of a call.

        Raises NotKnown.
        """
        run = self._actions.get(callee)
        if run is None:
            body = self._bodies.get(callee)
            if body is None:  # it is being made, so that it calls itself
                raise NotKnown(REFUSED)
            if len(callee.results) != 1:
                raise NotKnown
            if self._is_refused(callee):
                raise NotKnown(REFUSED)
            run = self._actions[callee] = self._statements(body.statements)
        if callee in self._running:  # reported as recursion
            raise NotKnown(REFUSED)
        self._running.add(callee)
        try:
            left = run(dict(zip(callee.parameters, arguments, strict=True)))
        finally:
            self._running.remove(callee)
        if left is None or left.value is None:
            raise NotKnown
        return left.value

    # ------------------------------------------------------------------ statements

    def _statements(self, statements: tuple[typed.Statement, ...]) -> _Action:
        actions = [self._statement(statement) for statement in statements]

        def run(values: Values) -> _Left | None:
            for action in actions:
                self._step()
                left = action(values)
                if left is not None:
                    return left
            return None

        return run

    def _statement(self, statement: typed.Statement) -> _Action:
        match statement:
            case typed.Declare(variable=variable, value=value):
                if isinstance(variable.type, ArrayType):
                    return _unknown
                return _nothing if value is None else _setting(variable, self._value(value))
            case typed.Assign(place=typed.VariablePlace(variable=variable), operator=sign):
                right = self._value(statement.value)
                if sign:
                    right = _applied(_operation(sign, variable.type), _read(variable), right)
                return _setting(variable, right)
            case typed.If(condition=condition, body=body, otherwise=otherwise):
                return self._if(self._value(condition), body, otherwise)
            case typed.Block(body=body):
                return self._statements(body)
            case typed.While():
                return self._while(statement)
            case typed.For():
                return self._for(statement)
            case typed.Return(values=(value,)):
                result = self._value(value)
                return lambda values: _Left(statement, result(values))
            case typed.Break() | typed.Continue():
                left = _Left(statement)
                return lambda values: left
            case _:
                return _unknown

    def _if(
        self,
        condition: _Value,
        body: tuple[typed.Statement, ...],
        otherwise: tuple[typed.Statement, ...],
    ) -> _Action:
        first, second = self._statements(body), self._statements(otherwise)
        return lambda values: first(values) if condition(values) else second(values)

    def _while(self, loop: typed.While) -> _Action:
        condition, body = self._value(loop.condition), self._statements(loop.body)

        def run(values: Values) -> _Left | None:
            while condition(values):
                self._step()
                left = body(values)
                if left is not None and not isinstance(left.statement, typed.Continue):
                    return _outside(left)
            return None

        return run

    def _for(self, loop: typed.For) -> _Action:
        start, stop, step = (self._value(part) for part in (loop.start, loop.stop, loop.step))
        counts_down, body = isinstance(loop.step, typed.Constant), self._statements(loop.body)

        def run(values: Values) -> _Left | None:
            first, end, stride = int(start(values)), int(stop(values)), int(step(values))
            if stride == 0 or (stride < 0 and not counts_down):
                raise NotKnown(f"steps by {stride}")  # one that is not constant counts up
            for index in range(first, end, stride):
                values[loop.variable] = index
                self._step()
                left = body(values)
                if left is not None and not isinstance(left.statement, typed.Continue):
                    return _outside(left)
            return None

        return run

    # ------------------------------------------------------------------ expressions

    def _value(self, expression: typed.Expression) -> _Value:
        match expression:
            case typed.Constant(value=number):
                return lambda values: number
            case typed.Read(variable=variable):
                return _read(variable)
            case typed.Unary(operator=sign, operand=operand):
                inner, scalar = self._value(operand), scalar_of(operand.type)
                return lambda values: fold_unary(sign, inner(values), scalar)
            case typed.Binary(operator=sign, left=left, right=right):
                operation = _operation(sign, left.type)
                return _applied(operation, self._value(left), self._value(right))
            case typed.Logical(operator=sign, left=left, right=right):
                return _logical(sign == "or", self._value(left), self._value(right))
            case typed.Conditional(value=value, condition=condition, otherwise=otherwise):
                parts = (condition, value, otherwise)
                test, chosen, other = (self._value(part) for part in parts)
                return lambda values: chosen(values) if test(values) else other(values)
            case typed.Convert(operand=operand):
                return _converted(self._value(operand), scalar_of(expression.type))
            case typed.Builtin(name=name, arguments=arguments) if name in FOLDS:
                return _folded(name, arguments[0].type, [self._value(each) for each in arguments])
            case typed.Bits(operand=operand):
                return _as_bits(
                    self._value(operand), scalar_of(operand.type), scalar_of(expression.type)
                )
            case typed.Call(callee=callee, arguments=arguments):
                inputs = [self._value(argument) for argument in arguments]
                return lambda values: self._call(callee, tuple(one(values) for one in inputs))
            case _:
                return _unknown


def _key(callee: typed.Instance, arguments: tuple[Number, ...]) -> tuple[object, ...]:
    """A call; 0.0 and -0.0 are equal and not the same."""
    return (callee, *map(repr, arguments))


def _unknown(values: Values) -> NoReturn:
    """What nothing is known of."""
    raise NotKnown


def _nothing(values: Values) -> None:
    """A declaration without a value."""


def _setting(variable: typed.Variable, value: _Value) -> _Action:
    def run(values: Values) -> None:
        values[variable] = value(values)

    return run


def _outside(left: _Left) -> _Left | None:
    """What leaves a loop goes on behind it, if it is a `break`."""
    return left if isinstance(left.statement, typed.Return) else None


def _read(variable: typed.Variable) -> _Value:
    def value(values: Values) -> Number:
        if variable not in values:
            raise NotKnown
        return values[variable]

    return value


def _applied(operation: _Operation, left: _Value, right: _Value) -> _Value:
    return lambda values: operation(left(values), right(values))


def _logical(decides: bool, left: _Value, right: _Value) -> _Value:
    """`and` or `or`: the left side, as a bool, if it `decides`."""

    def value(values: Values) -> Number:
        known = bool(left(values))
        return known if known == decides else right(values)

    return value


def _converted(value: _Value, target: Scalar | None) -> _Value:
    if target is None:
        return _unknown

    def converted(values: Values) -> Number:
        number = value(values)
        if not is_convertible(number, target):
            raise NotKnown(f"converts {number} to {target.name}")
        return convert(number, target)

    return converted


def _folded(name: str, of: Type, inputs: list[_Value]) -> _Value:
    fold, scalar = FOLDS[name], scalar_of(of)
    return lambda values: fold(scalar, *(one(values) for one in inputs))


def _as_bits(value: _Value, source: Scalar | None, target: Scalar | None) -> _Value:
    if source is None or target is None:  # a vector's
        return _unknown

    def reinterpreted(values: Values) -> Number:
        found = reinterpret(value(values), source, target)
        if found is None:
            raise NotKnown
        return found

    return reinterpreted


def _operation(sign: str, of: Type) -> _Operation:
    """An operator at run time's meaning; what traps or is undefined there is not known here."""
    if sign in COMPARISONS:
        return COMPARISONS[sign]
    scalar = scalar_of(of)
    if scalar is None:
        return _no_operation
    if scalar.kind is Kind.BOOL:
        return lambda left, right: fold_booleans(sign, bool(left), bool(right))
    if scalar.is_float:
        return lambda left, right: fold_floats(sign, float(left), float(right), scalar)
    bits = scalar.bits

    def operate(left: Number, right: Number) -> Number:
        if sign in ("/", "%") and right == 0:
            raise NotKnown("divides by zero")
        if sign in ("<<", ">>") and not 0 <= right < bits:
            raise NotKnown(f"shifts {bits} bits by {right}")
        return fold_integers(sign, int(left), int(right), scalar)

    return operate


def _no_operation(left: Number, right: Number) -> NoReturn:
    raise NotKnown
