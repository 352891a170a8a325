"""Computes equal values once: common subexpressions, within what is visible.

Only pure operations are shared. Of two equal ones the earlier stays where it is seen by the later:
in the same region or around it.
"""

from __future__ import annotations

from collections.abc import Hashable

from prismc.ir.core import Function, Op, Region, Value
from prismc.ir.effects import is_pure
from prismc.ir.ops.arithmetic import Binary, BinaryOperator, Compare, Comparison
from prismc.ir.passes.base import Pass, Rewriter

_COMMUTES = (
    BinaryOperator.ADD,
    BinaryOperator.MUL,
    BinaryOperator.AND,
    BinaryOperator.OR,
    BinaryOperator.XOR,
)


class ShareValues(Pass):
    name = "share-values"

    def function(self, function: Function) -> Function:
        return _Sharer().function(function)


class _Sharer(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[Hashable, tuple[Value, ...]] = {}
        self._own: list[Hashable] = []  # what was first seen in the region
        self._numbers: dict[Value, int] = {}

    def region(self, region: Region) -> Region:
        around, self._own = self._own, []
        rebuilt = super().region(region)
        for key in self._own:
            del self._seen[key]
        self._own = around
        return rebuilt

    def rewrite(self, op: Op) -> tuple[Op, ...]:
        if not is_pure(op):
            return (op,)
        key = self._key(op)
        earlier = self._seen.get(key)
        if earlier is None:
            self._seen[key] = op.results
            self._own.append(key)
            return (op,)
        for result, same in zip(op.results, earlier, strict=True):
            self.replaced[result] = same
            same.hint = same.hint or result.hint
        return ()

    def _key(self, op: Op) -> Hashable:
        """What makes two pure operations equal."""
        operands = [self._number(value) for value in op.operands]
        if _commutes(op):
            operands.sort()
        # 0, 0.0, -0.0 and False are equal and not the same.
        attributes = tuple([repr(getattr(op, name)) for name in op.attribute_fields])
        types = tuple([result.type for result in op.results])
        shape = _shape(op) if op.has_lists else ()
        return (op.name, tuple(operands), shape, attributes, types)

    def _number(self, value: Value) -> int:
        return self._numbers.setdefault(value, len(self._numbers))


def _commutes(op: Op) -> bool:
    match op:
        case Binary(operator=operator):
            return operator in _COMMUTES
        case Compare(comparison=comparison):
            return comparison in (Comparison.EQ, Comparison.NE)
        case _:
            return False


def _shape(op: Op) -> tuple[int, ...]:
    """How many operands each field holds: lists may be of different lengths."""
    return tuple(
        len(held) if isinstance(held := getattr(op, name), tuple) else int(held is not None)
        for name, _ in op.operand_fields
    )
