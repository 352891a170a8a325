"""Under which conditions a pipeline's rings are filled.

A ring that is left out in an iteration holds what an earlier one has put into the slot, and the
threads that use it would wait for an arrival that never comes. So all rings are filled on the same
paths through the region. Only conditions of the code around all arms and groups make a path: what
single threads decide inside is their business.
"""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.types import typed
from prismc.checker.types.model import PointerType
from prismc.checker.types.pipeline_errors import UnevenRings
from prismc.checker.types.walk import bodies_of, expressions_in, statement_operands
from prismc.diagnostics.problem import Problem, Related
from prismc.source.span import Span

# The conditions of a path, each with the side that it takes.
Path = tuple[tuple[int, int], ...]


def check_paths(produce: typed.Narrow) -> Iterator[Problem]:
    """Problems of a region that fills rings; its views are the rings' names."""
    walk = _Walk(produce)
    first, *others = walk.filled
    for ring in others:
        here, there = walk.filled[ring], walk.filled[first]
        if _reduced(here) != _reduced(there):
            name, other = (ring, first) if len(here) <= len(there) else (first, ring)
            paths = walk.filled[name]
            at = next(iter(paths.values()), name.span)
            where = "only under a condition" if paths else "nowhere"
            note = Related(
                at=next(iter(walk.filled[other].values()), other.span),
                message=f"`{other.name}` is filled here",
            )
            yield UnevenRings(at=at, name=name.name, other=other.name, where=where, related=(note,))


def _reduced(paths: dict[Path, Span]) -> frozenset[Path]:
    """The paths without those that others hold; both sides of a condition are none."""
    found = set(paths)
    changed = True
    while changed:
        changed = False
        for path in sorted(found, key=len, reverse=True):
            if any(path[:length] in found for length in range(len(path))):
                found.discard(path)
                changed = True
            elif path and (*path[:-1], (path[-1][0], 1 - path[-1][1])) in found:
                found.add(path[:-1])
                changed = True
    return frozenset(found)


class _Walk:
    """`filled` tells for each ring on which paths it is written, and where."""

    def __init__(self, produce: typed.Narrow) -> None:
        rings = (view.variable for view in produce.views)
        self.filled: dict[typed.Variable, dict[Path, Span]] = {ring: {} for ring in rings}
        self._ring_of = {ring: ring for ring in self.filled}
        self._statements(produce.body, (), at_top=True)

    def _statements(self, body: tuple[typed.Statement, ...], path: Path, *, at_top: bool) -> None:
        for statement in body:
            self._note(statement, path)
            inside = at_top and not isinstance(statement, typed.Group | typed.Split)
            for side, inner in enumerate(bodies_of(statement)):
                decides = at_top and isinstance(statement, typed.If)
                longer = (*path, (statement.id, side)) if decides else path
                self._statements(inner, longer, at_top=inside)

    def _note(self, statement: typed.Statement, path: Path) -> None:
        """What a statement names of the rings, it fills: none is read in this region."""
        if isinstance(statement, typed.Narrow):
            for view in statement.views:
                ring = self._ring(view.source)
                if ring is not None:
                    self._ring_of[view.variable] = ring
            return
        for operand in statement_operands(statement):
            for expression in expressions_in(operand):
                ring = self._ring(expression)
                if ring is not None:
                    self.filled[ring].setdefault(path, expression.span)

    def _ring(self, value: typed.Expression) -> typed.Variable | None:
        if not isinstance(value, typed.Read) or not isinstance(value.type, PointerType):
            return None
        return self._ring_of.get(value.variable)
