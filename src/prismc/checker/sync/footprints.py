"""Which elements an access touches, thread by thread.

A footprint is evaluated for every thread and for every value of the counters of loops with
constant bounds; what is left over are uniform symbols (decision 0061).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import gcd
from operator import mul
from types import MappingProxyType

from prismc.checker.sync.forms import ONE, ROW, Coefficient, Form, Monomial
from prismc.source.record import Record, Value, replace


class Point(Record):
    """A footprint for one choice of the counters: element `form` for each of `threads`.

    `rows` bounds products of symbols from below, thread by thread, where a condition around the
    access does; `said` are forms that are at least 0 there.
    """

    counters: tuple[int, ...]
    form: Form
    threads: int
    rows: Mapping[Monomial, Coefficient]
    said: tuple[Form, ...] = ()


# More rows than coordinates of 32 bits tell apart.
_FAR = 1 << 33


class Tile(Value):
    """A box of the dimensions around rows: their `sizes`, innermost first. Their places count rows:
    those of outer dimensions lie so far apart that no box reaches from one into the next. The known
    rows come in whole runs of `grain`, the first of which are `rest` behind multiples of it."""

    sizes: tuple[int, ...]
    grain: int = 1
    rest: int = 0

    @property
    def height(self) -> int:
        """Rows that follow one another."""
        return self.sizes[0] if self.sizes else 1

    @property
    def strides(self) -> tuple[int, ...]:
        """How many rows the places of a dimension lie apart."""
        strides = [1]
        for size in self.sizes:
            strides.append(strides[-1] * _FAR * size)
        return tuple(strides[: len(self.sizes)])

    @property
    def planes(self) -> Iterator[int]:
        """Where runs of rows begin, counted from the box's first row."""
        for at in product(*map(range, self.sizes[1:])):
            yield sum(map(mul, at, self.strides[1:]))


class Footprint(Record):
    """`lanes` elements from each point's on, in each row of a `tile` if there is one. No points:
    any element.

    `loops` are the loops whose counters the points go through; the counters are iteration numbers.
    Of a loop in `cycles` they go through so many iterations only, which come again and again.
    `threads` holds all that may access; with `is_certain` they all do. `common` is what all points
    share, `varying` the products of symbols whose coefficients differ. The known parts come in
    whole runs of `grain` elements, the first of which are `rest` behind multiples of it. Where
    there are no symbols, `plain` may be the same without what conditions say, which is about them.
    """

    threads: int
    lanes: int = 1
    loops: tuple[int, ...] = ()
    points: tuple[Point, ...] = ()
    cycles: Mapping[int, int] = MappingProxyType({})
    is_certain: bool = True
    common: Mapping[Monomial, int] = MappingProxyType({})
    varying: tuple[Monomial, ...] = ()
    grain: int = 1
    rest: int = 0
    plain: Footprint | None = None
    tile: Tile | None = None

    def is_in(self, loop: int, iteration: int) -> bool:
        """Whether there are points of one iteration of a loop in `loops`."""
        at = self.loops.index(loop)
        return any(point.counters[at] == iteration for point in self.points)

    def part(self, loop: int, iteration: int) -> Footprint:
        """The same in one iteration of a loop in `loops`, in which there are points."""
        at = self.loops.index(loop)
        return footprint_of(
            tuple(point for point in self.points if point.counters[at] == iteration),
            self.loops,
            self.lanes,
            is_certain=self.is_certain,
            cycles=self.cycles,
            tile=self.tile,
        )


def unknown_footprint(threads: int) -> Footprint:
    """Any element, for any of `threads`."""
    return Footprint(threads=threads, is_certain=False)


def footprint_of(
    points: tuple[Point, ...],
    loops: tuple[int, ...],
    lanes: int,
    *,
    is_certain: bool,
    cycles: Mapping[int, int] | None = None,
    tile: Tile | None = None,
) -> Footprint:
    """A footprint of points that are all known."""
    common: dict[Monomial, int] = {}
    varying: dict[Monomial, None] = {}
    monomials = {monomial: None for point in points for monomial in point.form if monomial}
    for monomial in monomials:
        values = {point.form.get(monomial, 0) for point in points}
        value = values.pop()
        if values or not isinstance(value, int):
            varying[monomial] = None
        else:
            common[monomial] = value
    threads = 0
    for point in points:
        threads |= point.threads
    grain, rest = _runs(points, lanes)
    if tile is not None:
        height, first = _runs(points, tile.height, (ROW,))
        tile = replace(tile, grain=height, rest=first)
    return Footprint(
        threads=threads,
        lanes=lanes,
        loops=loops,
        points=points,
        cycles={loop: cycle for loop, cycle in (cycles or {}).items() if loop in loops},
        is_certain=is_certain,
        common=common,
        varying=tuple(varying),
        grain=grain,
        rest=rest,
        tile=tile,
    )


def _runs(points: tuple[Point, ...], lanes: int, of: Monomial = ONE) -> tuple[int, int]:
    """The length of the runs that known parts (those `of` a product) come in, and where they
    begin."""
    grain, origin = lanes, 0
    for number, point in enumerate(points if lanes > 1 else ()):
        offset = point.form.get(of, 0)
        starts = (offset,) if isinstance(offset, int) else offset
        origin = origin if number else starts[0]
        grain = gcd(grain, *(start - origin for start in starts))
    return grain, origin % grain


def without_conditions(footprint: Footprint) -> Footprint:
    """The same without what conditions say of its points."""
    points = (
        Point(counters=point.counters, form=point.form, threads=point.threads, rows={})
        for point in footprint.points
    )
    return replace(footprint, points=tuple(points))


def shape_of(footprint: Footprint) -> object:
    """What is equal for footprints that are the same wherever they are compared."""
    points = tuple(
        (
            point.counters,
            tuple(point.form.items()),
            point.threads,
            tuple(point.rows.items()),
            tuple(tuple(form.items()) for form in point.said),
        )
        for point in footprint.points
    )
    cycles = tuple(footprint.cycles.items())
    return (
        points, footprint.loops, footprint.lanes, footprint.threads, footprint.is_certain, cycles,
        footprint.tile,
    )  # fmt: skip
