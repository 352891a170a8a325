"""Assertions and prints, where they are kept."""

from __future__ import annotations

from enum import Enum

from prismc.checker.types import typed
from prismc.hardware.asynchronous import Agent
from prismc.hardware.scalars import F32, F64
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


def asserts_of(program: typed.Program, *, keeps: bool) -> Asserts:
    """What becomes of a program's assertions."""
    if not keeps:
        return Asserts.OUT
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


def _printable(frame: Frame, value: Value) -> Value:
    """A value as C can print it: narrow floats as f32."""
    scalar = scalar_of(value)
    if scalar.is_float and scalar not in (F32, F64):
        return frame.builder.convert(value, ScalarType(scalar=F32))
    return value
