"""What a pass is, and the walk that most passes share."""

from __future__ import annotations

from typing import ClassVar

from prismc.ir.core import Function, Module, Op, Region, Value
from prismc.source.record import replace


class Pass:
    """A step from a legal module to a legal module that means the same.

    `after` names the passes that must stand earlier in the list; `order.py` checks it.
    """

    name: ClassVar[str]
    after: ClassVar[tuple[type[Pass], ...]] = ()

    def run(self, module: Module) -> Module:
        """The new module; functions that do not change stay the same objects."""
        return Module(functions=tuple(self.function(function) for function in module.functions))

    def function(self, function: Function) -> Function:
        """The new form of one function."""
        raise NotImplementedError


class Rewriter:
    """Rebuilds a region operation by operation, in the order of the text.

    `rewrite` sees each operation with its operands and regions already rebuilt, and gives what
    stands in its place. It may map a result to another value in `replaced`: later uses follow.
    """

    def __init__(self) -> None:
        self.replaced: dict[Value, Value] = {}

    def function(self, function: Function) -> Function:
        """`function` with its body rebuilt."""
        body = self.region(function.body)
        return function if body is function.body else replace(function, body=body)

    def region(self, region: Region) -> Region:
        """`region` rebuilt; the same object if nothing in it changes.

        What follows an operation that has been replaced by a terminator is left out.
        """
        ops: list[Op] = []
        for op in region.ops:
            ops += self._rebuilt(op)
            if ops and ops[-1].is_terminator:
                break
        if len(ops) == len(region.ops) and all(map(_same, ops, region.ops)):
            return region
        return replace(region, ops=tuple(ops))

    def _rebuilt(self, op: Op) -> tuple[Op, ...]:
        moved = op.with_operands(self.replaced)
        if op.region_fields:
            moved = moved.with_regions(tuple(map(self.region, moved.regions)))
        return self.rewrite(moved)

    def rewrite(self, op: Op) -> tuple[Op, ...]:
        """What stands in the place of `op`: itself, others that define its results, or nothing."""
        raise NotImplementedError


def _same(one: Op, other: Op) -> bool:
    return one is other
