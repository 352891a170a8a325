"""Boxes of what a tensor map describes, as footprints.

An element's index is its place in its row and so many rows (`forms.ROW`); of more dimensions the
planes lie as many rows apart that no box reaches from one into the next. A map's boxes all have one
shape, its type's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from prismc.checker.sync.footprints import Tile
from prismc.checker.sync.forms import ROW, Form, plus, scaled, symbol, times
from prismc.checker.sync.graph import ViewUse
from prismc.checker.types import typed
from prismc.checker.types.model import TensorMapType
from prismc.source.record import Record


class Corner(Record):
    """The box of `box` elements, innermost last, that starts at `places`, innermost first."""

    places: tuple[typed.Expression, ...]
    box: tuple[int, ...]

    @property
    def tile(self) -> Tile:
        """The box's rows."""
        return Tile(sizes=self.box[-2::-1])

    def form(self, evaluate: Callable[[typed.Expression], Form | None]) -> Form | None:
        """The index of the box's first element."""
        total = evaluate(self.places[0])
        for place, stride in zip(self.places[1:], self.tile.strides, strict=True):
            value = evaluate(place)
            rows = None if value is None else times(scaled(value, stride), symbol(ROW))
            total = None if rows is None or total is None else plus(total, rows)
        return total


def stated_apart(
    pointer: typed.Expression, disjoint: Collection[typed.Variable], loops: tuple[int, ...]
) -> tuple[ViewUse, ...]:
    """A tensor map as a narrowing, if its author says that what different blocks and iterations
    touch of it never meets: each tile is a piece."""
    if not isinstance(pointer, typed.Read) or not isinstance(pointer.type, TensorMapType):
        return ()
    variable = pointer.variable
    use = ViewUse(
        view=(variable.id,),
        name=variable.name,
        at=variable.span,
        size=0,
        loops=loops,
        is_disjoint=True,
    )
    return (use,) if variable in disjoint else ()
