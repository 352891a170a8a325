"""Variables that a loop turns through the same few values: `part = 1 - part`, `flag = not flag`.

Such a variable has a constant value in front of the loop, and one assignment, which every iteration
comes to and which makes the next value of nothing but the last one. So it is known by the number of
the iteration, like the remainder of a counter (`cycles.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prismc.checker.types import typed
from prismc.checker.types.fold import fold_integers
from prismc.checker.types.model import ScalarType
from prismc.checker.types.walk import (
    expressions_in,
    statement_operands,
    statements_in,
)
from prismc.source.record import Record

# Variables with longer cycles change like others.
MOST_VALUES = 16

_Body = tuple[typed.Statement, ...]


class Turning(Record):
    """The `values` that a variable has in turn, one in each iteration of the loop with id `loop`.
    `steps` tells for each reading in the loop, by its id, whether that iteration's assignment is
    behind it: 0, or in front of it: 1."""

    loop: int
    values: tuple[int, ...]
    steps: Mapping[int, int]

    def value(self, reading: int, counters: Mapping[int, int]) -> int | None:
        """What one reading of the variable gives; None if nobody knows."""
        if self.loop not in counters or reading not in self.steps:
            return None
        return self.values[(counters[self.loop] + self.steps[reading]) % len(self.values)]


def turning_from(body: _Body, following: int, variable: typed.Variable) -> Turning | None:
    """How a variable turns that is declared in front of statement `following`, and assigned once;
    None if it does not."""
    declared = body[following - 1]
    if not isinstance(declared, typed.Declare) or not isinstance(declared.value, typed.Constant):
        return None
    first = declared.value.value
    for loop in _plain(body[following:]):
        if isinstance(loop, typed.For):
            for statement in _plain(loop.body):
                if isinstance(statement, typed.Assign) and _is_of(statement, variable):
                    values = _cycle(int(first), statement) if isinstance(first, int) else None
                    return None if values is None else _turning(loop, statement, values, variable)
    return None


def _plain(body: _Body) -> Iterator[typed.Statement]:
    """The statements that all threads come to once if they come to the body: none behind one that
    may leave it."""
    for statement in body:
        yield statement
        if isinstance(statement, typed.Group | typed.Block | typed.Narrow):
            yield from _plain(statement.body)
        if any(isinstance(one, typed.Continue) for one in statements_in((statement,))):
            return


def _is_of(statement: typed.Assign, variable: typed.Variable) -> bool:
    place = statement.place
    return isinstance(place, typed.VariablePlace) and place.variable is variable


def _turning(
    loop: typed.For, assign: typed.Assign, values: tuple[int, ...], variable: typed.Variable
) -> Turning:
    steps: dict[int, int] = {}
    step = 0
    for statement in statements_in(loop.body):
        for operand in statement_operands(statement):
            for expression in expressions_in(operand):
                if isinstance(expression, typed.Read) and expression.variable is variable:
                    steps[expression.id] = step
        step += statement is assign
    return Turning(loop=loop.id, values=values, steps=steps)


def _cycle(first: int, assign: typed.Assign) -> tuple[int, ...] | None:
    """All values from the first one until it comes again."""
    values = [first]
    while len(values) <= MOST_VALUES:
        following = _following(assign, values[-1])
        if following is None:
            return None
        if following == first:
            return tuple(values)
        values.append(following)
    return None


def _following(assign: typed.Assign, value: int) -> int | None:
    made = _value(assign.value, value, assign)
    if not assign.operator or made is None:
        return made
    return _folded(assign.operator, value, made, assign.place.type)


def _value(expression: typed.Expression, old: int, assign: typed.Assign) -> int | None:
    """The value of an expression of constants and the variable's old value; None for others."""
    match expression:
        case typed.Constant(value=int(number)):
            return int(number)
        case typed.Read(variable=variable) if _is_of(assign, variable):
            return old
        case typed.Unary(operator="not", operand=operand):
            inner = _value(operand, old, assign)
            return None if inner is None else int(not inner)
        case typed.Binary(operator=sign, left=left, right=right):
            sides = _value(left, old, assign), _value(right, old, assign)
            return _folded(sign, *sides, expression.type)
        case _:
            return None


def _folded(sign: str, left: int | None, right: int | None, of: object) -> int | None:
    if left is None or right is None or not isinstance(of, ScalarType):
        return None
    is_sound = of.scalar.is_integer and (sign in "+-*^" or (sign in "/%" and right > 0))
    return fold_integers(sign, left, right, of.scalar) if is_sound else None
