"""Drops what nobody needs: values without uses, and what control flow carries in vain.

Needed are the operations with effects, and all they use. A result of an `if`, or a value that a
loop carries, is needed only if its uses are: `acc` that is summed up and never read goes, with the
sum.
"""

from __future__ import annotations

from prismc.ir.core import Function, Op, Region, Value
from prismc.ir.effects import is_droppable
from prismc.ir.ops.control import Break, Continue, For, If, Return, While, Yield
from prismc.ir.passes.base import Pass
from prismc.ir.passes.share_values import ShareValues
from prismc.ir.passes.simplify_control import SimplifyControl
from prismc.source.record import replace

# Which of several values are needed.
Keeps = tuple[bool, ...]


class DropDead(Pass):
    name = "drop-dead"
    after = (SimplifyControl, ShareValues)

    def function(self, function: Function) -> Function:
        body = _Sweep(_Needs(function).values).region(function.body, (), ())
        return function if body is function.body else replace(function, body=body)


class _Needs:
    """The values that are needed, as the least fixed point over loops."""

    def __init__(self, function: Function) -> None:
        self.values: set[Value] = set()
        self._has_loops = False
        before = -1
        while len(self.values) != before:
            before = len(self.values)
            self._region(function.body, (), ())
            if not self._has_loops:  # what follows has told all that is needed
                break

    def _region(self, region: Region, yielded: Keeps, carried: Keeps) -> None:
        """`yielded` and `carried` say which operands a `yield`, and an exit of the loop, needs."""
        for op in reversed(region.ops):
            self._op(op, yielded, carried)

    def _op(self, op: Op, yielded: Keeps, carried: Keeps) -> None:
        needed = self.values
        match op:
            case Yield(values=values):
                needed.update(_kept(values, yielded))
            case Break(values=values) | Continue(values=values):
                needed.update(_kept(values, carried))
            case Return(values=values):
                needed.update(values)
            case _ if needed.isdisjoint(op.results) and is_droppable(op):
                return
            case If(condition=condition):
                needed.add(condition)
                results = tuple(result in needed for result in op.results)
                for region in op.regions:
                    self._region(region, results, carried)
            case For() | While():
                self._loop(op)
            case _:
                needed.update(op.operands)

    def _loop(self, op: For | While) -> None:
        self._has_loops = True
        keeps = _kept_by_loop(op, self.values)
        if isinstance(op, For):
            self.values.update((op.start, op.stop, op.step))
        else:
            self._region(op.condition, (True,), ())
        self.values.update(_kept(op.initial, keeps))
        self._region(op.body, keeps, keeps)


class _Sweep:
    """Rebuilds regions without what is not needed."""

    def __init__(self, needed: set[Value]) -> None:
        self._needed = needed

    def region(self, region: Region, yielded: Keeps, carried: Keeps) -> Region:
        """The region with what is needed; `yielded` and `carried` as in `_Needs`."""
        swept = [self._op(op, yielded, carried) for op in region.ops]
        ops = tuple(op for op in swept if op is not None)
        is_same = len(ops) == len(region.ops) and all(map(_same, ops, region.ops))
        return region if is_same else replace(region, ops=ops)

    def _op(self, op: Op, yielded: Keeps, carried: Keeps) -> Op | None:
        match op:
            case Yield(values=values):
                return op if all(yielded) else replace(op, values=_kept(values, yielded))
            case Break(values=values) | Continue(values=values):
                return op if all(carried) else replace(op, values=_kept(values, carried))
            case _ if self._needed.isdisjoint(op.results) and is_droppable(op):
                return None
            case If():
                return self._if(op, carried)
            case For() | While():
                return self._loop(op)
            case _:
                return op

    def _if(self, op: If, carried: Keeps) -> If:
        keeps = tuple(result in self._needed for result in op.results)
        swept = op.with_regions(tuple(self.region(each, keeps, carried) for each in op.regions))
        return swept if all(keeps) else replace(swept, results=_kept(op.results, keeps))

    def _loop(self, op: For | While) -> For | While:
        keeps = _kept_by_loop(op, self._needed)
        regions = [self.region(op.body, keeps, keeps)]
        if isinstance(op, While):
            regions.insert(0, self.region(op.condition, (True,), ()))
        if all(keeps):
            return op.with_regions(tuple(regions))
        fewer = op.with_regions(tuple(_fewer_arguments(region, keeps) for region in regions))
        return replace(fewer, initial=_kept(op.initial, keeps), results=_kept(op.results, keeps))


def _same(one: Op, other: Op) -> bool:
    return one is other


def _fewer_arguments(region: Region, keeps: Keeps) -> Region:
    counter, carried = _carried_arguments(region, len(keeps))
    return replace(region, arguments=(*counter, *_kept(carried, keeps)))


def _carried_arguments(region: Region, count: int) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The counter, if there is one, and the `count` carried values."""
    at = len(region.arguments) - count
    return region.arguments[:at], region.arguments[at:]


def _kept_by_loop(op: For | While, needed: set[Value]) -> Keeps:
    """Which carried values of a loop are needed, after it or in it."""
    carried = [_carried_arguments(region, len(op.initial))[1] for region in op.regions]
    places = zip(op.results, *carried, strict=True)
    return tuple(any(value in needed for value in same) for same in places)


def _kept(items: tuple[Value, ...], keeps: Keeps) -> tuple[Value, ...]:
    return tuple(item for item, is_kept in zip(items, keeps, strict=True) if is_kept)
