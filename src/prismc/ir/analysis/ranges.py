"""Between which bounds an integer value lies: enough to know that an index fits 32 bits."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from prismc.hardware.scalars import Kind, Scalar
from prismc.ir.core import Op, Value
from prismc.ir.ops.arithmetic import Binary, BinaryOperator, Constant, Convert, Select
from prismc.ir.ops.groups import InGroup, Part
from prismc.ir.types import ScalarType, Type

_GROUP_OPERATORS = {Part.NUMBER: BinaryOperator.DIV, Part.PLACE: BinaryOperator.REM}


class Range(NamedTuple):
    """All integers from `low` to `high`, both included."""

    low: int
    high: int

    def holds(self, other: Range) -> bool:
        return self.low <= other.low and other.high <= self.high


INT_RANGE = Range(-(1 << 31), (1 << 31) - 1)


def range_of_type(type: Type) -> Range | None:
    """What an integer type can hold; None for other types."""
    return _range_of_scalar(type.scalar) if isinstance(type, ScalarType) else None


@cache
def _range_of_scalar(scalar: Scalar) -> Range | None:
    if not scalar.is_integer:
        return None
    bits = scalar.bits
    if scalar.kind is Kind.SIGNED:
        return Range(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return Range(0, (1 << bits) - 1)


def range_is_kept(type: Type) -> bool:
    """Whether arithmetic stays in the type's range: a signed int's overflow is undefined."""
    scalar = type.scalar if isinstance(type, ScalarType) else None
    return scalar is not None and scalar.kind is Kind.SIGNED and scalar.bits >= 32


class Ranges:
    """The ranges of values, learnt as the operations that define them are built."""

    def __init__(self) -> None:
        self._known: dict[Value, Range] = {}

    def of(self, value: Value) -> Range:
        """The range of an integer value.

        Raises KeyError for values that are not integers.
        """
        known = self._known.get(value) or range_of_type(value.type)
        if known is None:
            raise KeyError(value)
        return known

    def set(self, value: Value, range: Range) -> None:
        """State what is known about a value from elsewhere."""
        self._known[value] = range

    def learn(self, op: Op) -> None:
        """Note the range of what `op` defines, where it is better than its type's."""
        if len(op.results) != 1 or (limits := range_of_type(op.result.type)) is None:
            return
        found = self._result(op)
        if found is None:
            return
        if range_is_kept(op.result.type):
            found = Range(max(found.low, limits.low), min(found.high, limits.high))
        if found.low <= found.high and limits.holds(found):
            self._known[op.result] = found

    def _result(self, op: Op) -> Range | None:
        match op:
            case Constant(value=value):
                return Range(int(value), int(value))
            case Binary(operator=operator, left=left, right=right):
                return combine(operator, self.of(left), self.of(right))
            case InGroup(part=part, index=index, size=size):
                operator = _GROUP_OPERATORS[part]
                return combine(operator, self.of(index), Range(size, size))
            case Convert(operand=operand) if range_of_type(operand.type) is not None:
                return self.of(operand)
            case Select(when_true=one, when_false=other):
                return Range(
                    min(self.of(one).low, self.of(other).low),
                    max(self.of(one).high, self.of(other).high),
                )
            case _:
                return None


def combine(operator: BinaryOperator, left: Range, right: Range) -> Range | None:
    """The range of `left operator right` in unbounded integers; None where nothing is known."""
    match operator:
        case BinaryOperator.ADD:
            return Range(left.low + right.low, left.high + right.high)
        case BinaryOperator.SUB:
            return Range(left.low - right.high, left.high - right.low)
        case BinaryOperator.MUL:
            corners = [one * other for one in left for other in right]
            return Range(min(corners), max(corners))
        case BinaryOperator.MIN:
            return Range(min(left.low, right.low), min(left.high, right.high))
        case BinaryOperator.MAX:
            return Range(max(left.low, right.low), max(left.high, right.high))
        case BinaryOperator.DIV if right.low > 0 and left.low >= 0:
            return Range(left.low // right.high, left.high // right.low)
        case BinaryOperator.REM if right.low > 0:
            most = min(right.high - 1, max(left.high, -left.low))
            return Range(0 if left.low >= 0 else -most, most)
        case BinaryOperator.AND if right.low >= 0:
            return Range(0, right.high)
        case BinaryOperator.SHR if left.low >= 0 and right.low == right.high >= 0:
            return Range(left.low >> right.low, left.high >> right.low)
        case _:
            return None
