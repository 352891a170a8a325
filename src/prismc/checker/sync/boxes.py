"""Boxes of what a tensor map describes, as footprints.

An element's index is its place in its row and so many rows (`forms.ROW`); of more dimensions the
planes lie as many rows apart that no box reaches from one into the next. A map's boxes all have one
shape, its type's.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from prismc.checker.sync.footprints import Tile
from prismc.checker.sync.forms import ROW, Form, plus, scaled, symbol, times
from prismc.checker.types import typed
from prismc.source.record import Record

# More rows than coordinates of 32 bits tell apart.
_FAR = 1 << 33


class Corner(Record):
    """The box of `box` elements, innermost last, that starts at `places`, innermost first."""

    places: tuple[typed.Expression, ...]
    box: tuple[int, ...]

    @property
    def tile(self) -> Tile:
        """The rows of the box."""
        sizes = self.box[-2::-1]
        planes = (
            sum(place * stride for place, stride in zip(at, self._strides[1:], strict=True))
            for at in product(*map(range, sizes[1:]))
        )
        return Tile(height=sizes[0] if sizes else 1, planes=tuple(planes))

    @property
    def _strides(self) -> tuple[int, ...]:
        """How many rows the dimensions around rows lie apart."""
        strides = [1]
        for size in self.box[-2:0:-1]:
            strides.append(strides[-1] * _FAR * size)
        return tuple(strides[: len(self.box) - 1])

    def form(self, evaluate: Callable[[typed.Expression], Form | None]) -> Form | None:
        """The index of the box's first element."""
        total = evaluate(self.places[0])
        for place, stride in zip(self.places[1:], self._strides, strict=True):
            value = evaluate(place)
            rows = None if value is None else times(scaled(value, stride), symbol(ROW))
            total = None if rows is None or total is None else plus(total, rows)
        return total
