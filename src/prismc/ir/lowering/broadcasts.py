"""The value of the first of some lanes, for all of them."""

from __future__ import annotations

from prismc.checker.types import model
from prismc.hardware.scalars import U8, U16
from prismc.ir.core import Value
from prismc.ir.lowering.frame import Frame
from prismc.ir.lowering.types import lower_element
from prismc.ir.ops.groups import Broadcast
from prismc.ir.types import UINT, ScalarType

_UNSIGNED = {8: U8, 16: U16}


def broadcast(frame: Frame, value: Value, type: model.Type, lanes: int) -> Value:
    """A scalar, or a vector element by element, from the first of so many lanes."""
    of = lower_element(type)
    if isinstance(of, ScalarType):
        return _scalar(frame, value, of, lanes)
    element, extract = ScalarType(scalar=of.element), frame.builder.extract
    parts = (extract(value, lane) for lane in range(of.lanes))
    return frame.vector(tuple(_scalar(frame, part, element, lanes) for part in parts), of)


def _scalar(frame: Frame, value: Value, of: ScalarType, lanes: int) -> Value:
    """As a word of at least 32 bits on the way."""
    builder = frame.builder
    if of.scalar.bits >= 32:
        return _word(frame, value, lanes)
    bits = ScalarType(scalar=_UNSIGNED[of.scalar.bits])
    plain = builder.bitcast(value, bits) if of.scalar.is_float else value
    word = _word(frame, builder.convert(plain, UINT), lanes)
    narrowed = builder.convert(word, bits if of.scalar.is_float else of)
    return builder.bitcast(narrowed, of)


def _word(frame: Frame, value: Value, lanes: int) -> Value:
    builder, result = frame.builder, Value(value.type)
    op = Broadcast(value=value, lanes=lanes, results=(result,), span=builder.span)
    return builder.add(op).result
