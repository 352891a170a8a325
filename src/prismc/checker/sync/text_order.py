"""The statements of a function in the order of its text, and the places between them."""

from __future__ import annotations

from prismc.checker.sync.plan import Position, Where
from prismc.checker.types import typed
from prismc.checker.types.walk import bodies_of


class TextOrder:
    """Numbers the statements of a function, outer before inner."""

    def __init__(self, body: typed.Body) -> None:
        # Of each statement its number, and that of what is behind it.
        self.extent: dict[int, tuple[int, int]] = {}
        self._number(body.statements, 0)

    def _number(self, statements: tuple[typed.Statement, ...], first: int) -> int:
        for statement in statements:
            end = first + 1
            for body in bodies_of(statement):
                end = self._number(body, end)
            self.extent[statement.id] = first, end
            first = end
        return first

    def at(self, place: Position) -> int:
        """The number of the first statement behind a place."""
        first, end = self.extent[place.anchor]
        return first if place.where is Where.BEFORE else end
