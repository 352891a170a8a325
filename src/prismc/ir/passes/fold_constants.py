"""Computes what is known: operations on constants, and those that change nothing.

Identities on floats are left alone (`x + 0.0` is not `x` for -0.0).
"""

from __future__ import annotations

from prismc.hardware.scalars import Kind, Scalar
from prismc.ir.core import Function, Op, Value
from prismc.ir.ops.arithmetic import (
    Binary,
    BinaryOperator,
    Bitcast,
    Compare,
    Constant,
    Convert,
    Select,
    Unary,
)
from prismc.ir.passes.base import Pass, Rewriter
from prismc.ir.passes.numbers import (
    Number,
    fold_binary,
    fold_bits,
    fold_comparison,
    fold_conversion,
    fold_unary,
)
from prismc.ir.types import ScalarType, Type


class FoldConstants(Pass):
    name = "fold-constants"

    def function(self, function: Function) -> Function:
        return _Folder().function(function)


class _Folder(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Value, Number] = {}

    def rewrite(self, op: Op) -> tuple[Op, ...]:
        if isinstance(op, Constant):
            self._known[op.result] = op.value
            return (op,)
        if len(op.results) != 1 or op.regions:
            return (op,)
        same = self._unchanged(op)
        if same is not None:
            self.replaced[op.result] = same
            if not same.hint:
                same.hint = op.result.hint
            return ()
        value = self._value(op)
        if value is None:
            return (op,)
        self._known[op.result] = value
        return (Constant(value=value, results=op.results, span=op.span),)

    # ------------------------------------------------------------------ constants

    def _value(self, op: Op) -> Number | None:
        """The value of `op`, if it is known."""
        values = [self._known.get(operand) for operand in op.operands]
        known = [value for value in values if value is not None]
        if not values or len(known) < len(values):
            return self._absorbed(op)
        scalar, target = _scalar(op.operands[0].type), _scalar(op.result.type)
        if scalar is None or target is None:
            return None
        match op:
            case Binary(operator=operator):
                return fold_binary(operator, known[0], known[1], scalar)
            case Unary(operator=operator):
                return fold_unary(operator, known[0], scalar)
            case Compare(comparison=comparison):
                return fold_comparison(comparison, known[0], known[1], scalar)
            case Convert():
                return fold_conversion(known[0], scalar, target)
            case Bitcast():
                return fold_bits(known[0], scalar, target)
            case _:
                return None

    def _absorbed(self, op: Op) -> Number | None:
        """The value where one operand decides it: `x * 0`, `x & 0`, `x % 1`, `c and false`."""
        if not isinstance(op, Binary):
            return None
        scalar = _scalar(op.left.type)
        if scalar is None or scalar.is_float:
            return None
        left, right = self._known.get(op.left), self._known.get(op.right)
        match op.operator:
            case BinaryOperator.MUL | BinaryOperator.AND if 0 in (left, right):
                return False if scalar.kind is Kind.BOOL else 0
            case BinaryOperator.REM if right == 1:
                return 0
            case BinaryOperator.OR if scalar.kind is Kind.BOOL and True in (left, right):
                return True
            case _:
                return None

    # ------------------------------------------------------------------ identities

    def _unchanged(self, op: Op) -> Value | None:
        """The operand that `op` gives back as it is."""
        match op:
            case Convert(operand=operand) | Bitcast(operand=operand):
                return operand if operand.type == op.result.type else None
            case Select(condition=condition, when_true=when_true, when_false=when_false):
                if when_true is when_false:
                    return when_true
                decided = self._known.get(condition)
                return None if decided is None else (when_true if decided else when_false)
            case Binary():
                return self._neutral(op)
            case _:
                return None

    def _neutral(self, op: Binary) -> Value | None:
        scalar = _scalar(op.left.type)
        if scalar is None or scalar.is_float:
            return None
        left, right = self._known.get(op.left), self._known.get(op.right)
        match op.operator:
            case BinaryOperator.ADD | BinaryOperator.OR | BinaryOperator.XOR:
                return op.left if _is(right, 0) else op.right if _is(left, 0) else None
            case BinaryOperator.SUB | BinaryOperator.SHL | BinaryOperator.SHR:
                return op.left if _is(right, 0) else None
            case BinaryOperator.MUL:
                return op.left if _is(right, 1) else op.right if _is(left, 1) else None
            case BinaryOperator.DIV:
                return op.left if _is(right, 1) else None
            case BinaryOperator.AND if scalar.kind is Kind.BOOL:
                return op.left if _is(right, 1) else op.right if _is(left, 1) else None
            case _:
                return None


def _is(value: Number | None, number: int) -> bool:
    return value is not None and value == number


def _scalar(of: Type) -> Scalar | None:
    return of.scalar if isinstance(of, ScalarType) else None
