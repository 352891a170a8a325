"""Which threads touch the rings of a pipeline in one of its regions.

Where they are other warps than in the other region, either runs at its own pace and no iteration
needs to be produced ahead of time by the text (`docs/language.md`, "Pipelines").
"""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.types import typed
from prismc.checker.types.walk import bodies_of, expressions_in, statement_operands
from prismc.hardware.groups import Level
from prismc.hardware.primitives import WARP_THREADS

Body = tuple[typed.Statement, ...]


def run_apart(produce: Body, consume: Body) -> bool:
    """Whether the regions touch the rings in arms of different warps only."""
    makers, takers = _Threads(produce).warps, _Threads(consume).warps
    return bool(makers) and bool(takers) and makers.isdisjoint(takers)


class _Threads:
    """The warps of a region that touch rings; none where a use stands in no arm."""

    def __init__(self, region: Body) -> None:
        self._views: set[typed.Variable] = set()
        self.warps = set(self._in(region, None))
        if None in self.warps:
            self.warps.clear()

    def _in(self, body: Body, arm: typed.Arm | None) -> Iterator[int | None]:
        for statement in body:
            if isinstance(statement, typed.Narrow):
                self._views.update(
                    view.variable for view in statement.views if self._is_ring(view.source)
                )
            elif any(self._uses(operand) for operand in statement_operands(statement)):
                yield from _warps(arm)
            if isinstance(statement, typed.Split) and arm is None:
                for inner in statement.arms:
                    yield from self._in(inner.body, inner)
                continue
            for inside in bodies_of(statement):
                yield from self._in(inside, arm)

    def _uses(self, operand: typed.Expression) -> bool:
        return any(self._is_ring(inner) for inner in expressions_in(operand))

    def _is_ring(self, value: typed.Expression) -> bool:
        if not isinstance(value, typed.Read):
            return False
        return value.variable.kind is typed.VariableKind.RING or value.variable in self._views


def _warps(arm: typed.Arm | None) -> Iterator[int | None]:
    if arm is None or arm.to.level is not Level.THREAD:
        yield None
        return
    end = arm.offset + arm.to.size
    yield from range(arm.offset // WARP_THREADS, -(-end // WARP_THREADS))
