"""Removes control flow that decides nothing: known conditions, idle loops, empty arms."""

from __future__ import annotations

from prismc.ir.core import Function, Op, Region, Value
from prismc.ir.ops.arithmetic import Compare, Comparison, Constant, Unary, UnaryOperator
from prismc.ir.ops.control import For, If, Yield
from prismc.ir.passes.base import Pass, Rewriter
from prismc.ir.passes.fold_constants import FoldConstants
from prismc.ir.types import BOOLEAN, ScalarType
from prismc.source.record import replace

_OPPOSITE = {
    Comparison.EQ: Comparison.NE,
    Comparison.NE: Comparison.EQ,
    Comparison.LT: Comparison.GE,
    Comparison.GE: Comparison.LT,
    Comparison.LE: Comparison.GT,
    Comparison.GT: Comparison.LE,
}


class SimplifyControl(Pass):
    name = "simplify-control"
    after = (FoldConstants,)

    def function(self, function: Function) -> Function:
        return _Simplifier().function(function)


class _Simplifier(Rewriter):
    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Value, int | float | bool] = {}
        self._comparisons: dict[Value, Compare] = {}

    def rewrite(self, op: Op) -> tuple[Op, ...]:
        match op:
            case Constant(value=value):
                self._known[op.result] = value
            case Compare():
                self._comparisons[op.result] = op
            case If():
                return self._if(op)
            case For() if self._never_runs(op):
                self._replace(op.results, op.initial)
                return ()
        return (op,)

    def _if(self, op: If) -> tuple[Op, ...]:
        decided = self._known.get(op.condition)
        if decided is not None:
            return self._spliced(op, op.then if decided else op.otherwise)
        if _only_yields(op.then) and _only_yields(op.otherwise):
            if op.then.terminator.operands == op.otherwise.terminator.operands:
                return self._spliced(op, op.then)
            return (op,)
        if not op.results and _only_yields(op.then):
            return self._flipped(op)
        return (op,)

    def _spliced(self, op: If, region: Region) -> tuple[Op, ...]:
        """The operations of the region that runs, in the place of `op`."""
        if not isinstance(region.terminator, Yield):
            return region.ops
        self._replace(op.results, region.terminator.values)
        return region.ops[:-1]

    def _replace(self, results: tuple[Value, ...], values: tuple[Value, ...]) -> None:
        for result, value in zip(results, values, strict=True):
            self.replaced[result] = value
            value.hint = value.hint or result.hint

    def _flipped(self, op: If) -> tuple[Op, ...]:
        """The same with the opposite condition, so that the empty region comes last."""
        result = (Value(BOOLEAN),)
        compare = self._comparisons.get(op.condition)
        opposite: Op
        # Without order (NaN) the opposite of `<` is not `>=`.
        if compare is not None and _is_integer(compare.left):
            comparison = _OPPOSITE[compare.comparison]
            opposite = replace(compare, comparison=comparison, results=result, span=op.span)
        else:
            opposite = Unary(
                operator=UnaryOperator.NOT, operand=op.condition, results=result, span=op.span
            )
        turned = replace(op, condition=result[0], then=op.otherwise, otherwise=op.then)
        return (opposite, turned)

    def _never_runs(self, loop: For) -> bool:
        start, stop = self._known.get(loop.start), self._known.get(loop.stop)
        if start is None or stop is None:
            return False
        return start <= stop if loop.downward else start >= stop


def _only_yields(region: Region) -> bool:
    return len(region.ops) == 1 and isinstance(region.terminator, Yield)


def _is_integer(value: Value) -> bool:
    return isinstance(value.type, ScalarType) and not value.type.scalar.is_float
