"""Builds regions operation by operation. Each method appends one operation and gives its result."""

from __future__ import annotations

from collections.abc import Sequence

from prismc.ir.core import Op, Region, Value
from prismc.ir.ops.arithmetic import (
    Binary,
    BinaryOperator,
    Bitcast,
    Compare,
    Comparison,
    Constant,
    Convert,
    Extract,
    Select,
    Unary,
    UnaryOperator,
)
from prismc.ir.ops.groups import InGroup, Part, Position, Query
from prismc.ir.ops.memory import Load, Store
from prismc.ir.types import BOOLEAN, INT, ScalarType, Type, VectorType
from prismc.source.span import NOWHERE, Span


class Builder:
    """Appends to the innermost region that is open. `span` is given to what is built next."""

    def __init__(self, span: Span = NOWHERE) -> None:
        self.span = span
        self._open: list[list[Op]] = []

    # ------------------------------------------------------------------ regions

    def open(self) -> None:
        """Begin a region."""
        self._open.append([])

    def close(self, arguments: Sequence[Value] = ()) -> Region:
        """End the region that was begun last, which must have its terminator."""
        return Region(ops=tuple(self._open.pop()), arguments=tuple(arguments))

    @property
    def depth(self) -> int:
        """How many regions are open."""
        return len(self._open)

    @property
    def has_ended(self) -> bool:
        """Whether the open region has its terminator: what follows cannot be reached."""
        ops = self._open[-1]
        return bool(ops) and ops[-1].is_terminator

    def add(self, op: Op) -> Op:
        """Append an operation that was made by hand."""
        self._open[-1].append(op)
        return op

    # ------------------------------------------------------------------ values

    def constant(self, value: int | float | bool, type: Type = INT, hint: str = "") -> Value:
        return self.add(Constant(value=value, results=(Value(type, hint),), span=self.span)).result

    def binary(self, operator: BinaryOperator, left: Value, right: Value, hint: str = "") -> Value:
        """The result has the type of `left`."""
        result = Value(left.type, hint)
        return self.add(
            Binary(operator=operator, left=left, right=right, results=(result,), span=self.span)
        ).result

    def unary(
        self, operator: UnaryOperator, operand: Value, type: Type | None = None, hint: str = ""
    ) -> Value:
        """The result has the type of `operand` unless one is given."""
        result = Value(type or operand.type, hint)
        return self.add(
            Unary(operator=operator, operand=operand, results=(result,), span=self.span)
        ).result

    def compare(self, comparison: Comparison, left: Value, right: Value, hint: str = "") -> Value:
        result = Value(BOOLEAN, hint)
        return self.add(
            Compare(
                comparison=comparison, left=left, right=right, results=(result,), span=self.span
            )
        ).result

    def select(self, condition: Value, when_true: Value, when_false: Value) -> Value:
        return self.add(
            Select(
                condition=condition, when_true=when_true, when_false=when_false,
                results=(Value(when_true.type),), span=self.span,
            )
        ).result  # fmt: skip

    def convert(self, operand: Value, to: Type, hint: str = "") -> Value:
        """`operand` itself when it has the type already."""
        if operand.type == to:
            return operand
        return self.add(Convert(operand=operand, results=(Value(to, hint),), span=self.span)).result

    def bitcast(self, operand: Value, to: Type) -> Value:
        """`operand` itself when it has the type already."""
        if operand.type == to:
            return operand
        return self.add(Bitcast(operand=operand, results=(Value(to),), span=self.span)).result

    def extract(self, vector: Value, lane: int) -> Value:
        """One lane of a vector."""
        if not isinstance(vector.type, VectorType):
            raise TypeError(f"no vector: {vector.type}")
        result = Value(ScalarType(scalar=vector.type.element))
        return self.add(Extract(vector=vector, lane=lane, results=(result,), span=self.span)).result

    def position(self, query: Query, hint: str) -> Value:
        return self.add(Position(query=query, results=(Value(INT, hint),), span=self.span)).result

    def in_group(self, part: Part, index: Value, size: int) -> Value:
        return self.add(
            InGroup(part=part, index=index, size=size, results=(Value(INT),), span=self.span)
        ).result

    # ------------------------------------------------------------------ memory

    def load(self, pointer: Value, index: Value, type: Type) -> Value:
        return self.add(
            Load(pointer=pointer, index=index, results=(Value(type),), span=self.span)
        ).result

    def store(self, pointer: Value, index: Value, value: Value) -> None:
        self.add(Store(pointer=pointer, index=index, value=value, span=self.span))
