"""Assertions and prints, where they are kept."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from prismc.checker.types import typed
from prismc.checker.types.dump import readable
from prismc.hardware.asynchronous import Agent
from prismc.hardware.scalars import F32, F64
from prismc.ir.analysis.ranges import Range, range_of_type
from prismc.ir.core import Value
from prismc.ir.lowering.builtins import scalar_of
from prismc.ir.lowering.errors import PrintLeftOut
from prismc.ir.lowering.expressions import Expressions
from prismc.ir.lowering.frame import Frame
from prismc.ir.ops.intrinsic import Assert, Print
from prismc.ir.types import ScalarType


class Asserts(Enum):
    """What becomes of assertions. A call between the products of a warpgroup would serialise them
    (ptxas C7510), so that programs which have some trap without a word, and print nothing."""

    OUT = "left out"
    TELL = "tell what failed"
    TRAP = "trap"


class Checks(NamedTuple):
    """What becomes of assertions and prints, and of what `assume(..)` takes for true."""

    asserts: Asserts
    assumptions: Asserts


def checks_of(program: typed.Program, *, keeps_asserts: bool, keeps_assumptions: bool) -> Checks:
    """What becomes of a program's checks. Kept assertions keep assumptions too."""
    how = _telling(program) if keeps_asserts or keeps_assumptions else Asserts.OUT
    return Checks(how if keeps_asserts else Asserts.OUT, how)


def _telling(program: typed.Program) -> Asserts:
    effects = [body.instance.effects for body in program.bodies.values()]
    has_products = any(each is not None and each.agent is Agent.WGMMA for each in effects)
    return Asserts.TRAP if has_products else Asserts.TELL


def lower_assert(
    frame: Frame, expressions: Expressions, statement: typed.Assert | typed.Print, mode: Asserts
) -> None:
    """One assertion or print."""
    if isinstance(statement, typed.Assert):
        frame.builder.add(
            Assert(
                condition=expressions.value(statement.condition),
                message=statement.message,
                tells=mode is Asserts.TELL,
                span=statement.span,
            )
        )
        return
    if mode is Asserts.TRAP:
        frame.sink.report(PrintLeftOut(at=statement.span))
        return
    values = tuple(_printable(frame, expressions.value(value)) for value in statement.arguments)
    frame.builder.add(Print(arguments=values, format=statement.format, span=statement.span))


def lower_assumption(
    frame: Frame, expressions: Expressions, condition: typed.Expression, mode: Asserts
) -> None:
    """A condition that the author answers for, as an assertion."""
    frame.builder.add(
        Assert(
            condition=expressions.value(condition),
            message=f"assumed: {readable(condition)}",
            tells=mode is Asserts.TELL,
            span=condition.span,
        )
    )


def learn_assumptions(frame: Frame) -> None:
    """Bounds of parameters that `@assume` states: an index may then fit 32 bits."""
    for condition in frame.instance.assumptions:
        _learn(frame, condition)


def _learn(frame: Frame, condition: typed.Expression) -> None:
    match condition:
        case typed.Logical(operator="and", left=left, right=right):
            _learn(frame, left)
            _learn(frame, right)
        case typed.Binary(
            operator=sign,
            left=typed.Read(variable=variable),
            right=typed.Constant(value=int(value)),
        ) if sign in _BOUNDS:
            _bound(frame, variable, sign, int(value))
        case typed.Binary(
            operator=sign,
            left=typed.Constant(value=int(value)),
            right=typed.Read(variable=variable),
        ) if sign in _MIRRORED:
            _bound(frame, variable, _MIRRORED[sign], int(value))
        case _:
            pass


# `x sign value` bounds x from below or above, by as much beside the value.
_BOUNDS = {"<": (None, -1), "<=": (None, 0), ">": (1, None), ">=": (0, None), "==": (0, 0)}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


def _bound(frame: Frame, variable: typed.Variable, sign: str, value: int) -> None:
    held = frame.values.get(variable)
    if not isinstance(held, Value) or range_of_type(held.type) is None:
        return
    low, high = frame.ranges.of(held)
    below, above = _BOUNDS[sign]
    low = low if below is None else max(low, value + below)
    high = high if above is None else min(high, value + above)
    if low <= high:
        frame.ranges.set(held, Range(low, high))


def _printable(frame: Frame, value: Value) -> Value:
    """A value as C can print it: narrow floats as f32."""
    scalar = scalar_of(value)
    if scalar.is_float and scalar not in (F32, F64):
        return frame.builder.convert(value, ScalarType(scalar=F32))
    return value
