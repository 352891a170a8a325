"""For whom two accesses may touch one element: their footprints, compared.

Uniform symbols cancel where both accesses read them at one time; what does not cancel is compared
by rows, strides and remainders. Unknown means that the accesses may meet (decision 0061).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from math import gcd, prod

from prismc.checker.sync.coverage import threads_in
from prismc.checker.sync.equations import Numbers
from prismc.checker.sync.footprints import Footprint, Point, Tile, footprint_of
from prismc.checker.sync.forms import (
    ONE,
    ROW,
    Atom,
    Coefficient,
    Form,
    Monomial,
    constant,
    lower_bound,
    plus,
    scaled,
)
from prismc.checker.sync.joins import MOST_WORK, Alignment, Line, join
from prismc.checker.sync.tables import Known, pairs_of_tables
from prismc.checker.sync.tiles import are_apart
from prismc.source.record import Record, replace


class Meeting(Record):
    """For whom two accesses may touch one element: pairs of sets of threads (earlier, later).

    `is_exact` holds if they do for certain; `example` is then an element, relative to the uniform
    part of the index.
    """

    classes: tuple[tuple[int, int], ...]
    is_exact: bool
    element: int = 0


NEVER = Meeting(classes=(), is_exact=True)


class Between(Record):
    """What lies between two accesses: the loop whose back edge the path takes, if any, with the
    least and the most iterations it goes on; and the loops that end on the way."""

    loop: int | None = None
    least: int = 1
    most: int = 1
    ended: frozenset[int] = frozenset()


FAR = 1 << 40


def meet(
    first: Footprint,
    second: Footprint,
    between: Between,
    known: Known,
    *,
    width: int,
    assume_rows: bool,
) -> Meeting:
    """For whom `first`, the earlier one, and `second` may meet, in different threads or the same.

    `known` keeps what one comparison works out for the next. `width` is how many threads are
    compared: a symbol that is uniform over fewer does not cancel. `assume_rows` takes a symbol that
    multiplies a varying part for the length of a row: rows do not overlap.
    """
    found = _compared(first, second, between, known, width, assume_rows)
    if found.classes and are_apart(first, second, _Numbers(between, width)):
        return NEVER
    return found


def _compared(
    first: Footprint,
    second: Footprint,
    between: Between,
    known: Known,
    width: int,
    assume_rows: bool,
) -> Meeting:
    """The same by the elements alone."""
    anyone = Meeting(classes=((first.threads, second.threads),), is_exact=False)
    if not first.points or not second.points:
        return anyone
    alignment = _align(first, second, between, width, assume_rows)
    are_spread = alignment is None
    while alignment is None:
        left = _left(first, second, between, width)
        step = min(chain(_spreads(first, left), _spreads(second, left)), default=0)
        if not step:
            break
        first, second = _spread(first, step, left), _spread(second, step, left)
        alignment = _align(first, second, between, width, assume_rows)
    if alignment is None or max(_work(first), _work(second)) > MOST_WORK:
        return anyone
    is_exact = first.is_certain and second.is_certain and not alignment.is_symbolic
    found: dict[tuple[int, int], int] = {}
    for mine, other in pairs_of_tables(first, second, alignment, known):
        if not join(mine, other, alignment, found):
            return anyone
    if not found:
        return NEVER
    element = next(iter(found.values())) * alignment.grain + first.rest % alignment.grain
    classes = _together(found) if are_spread else tuple(found)
    return Meeting(classes=classes, is_exact=is_exact, element=element)


def _together(classes: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The same pairs of threads in fewer sets: those stand together that meet the same others."""
    meets: dict[int, int] = {}
    for mine, other in classes:
        meets[other] = meets.get(other, 0) | mine
    found: dict[int, int] = {}
    for other, mine in meets.items():
        found[mine] = found.get(mine, 0) | other
    return tuple(found.items())


class _Numbers(Numbers):
    """What is known of symbols on the way from one access to the next."""

    def __init__(self, between: Between, width: int) -> None:
        self._between = between
        self._width = width
        self._crossed = _crossed(between)

    def is_same(self, atom: Atom) -> bool:
        return atom.width >= self._width and self._crossed.isdisjoint(atom.loops)

    def differs(self, atom: Atom) -> bool:
        is_counter = bool(atom.step and atom.loops and atom.loops[-1] == self._between.loop)
        is_of_all = atom.width >= self._width and self._between.ended.isdisjoint(atom.loops)
        return is_counter and is_of_all

    def later(self, counter: Atom) -> tuple[int, int] | None:
        if self.is_same(counter):
            return 0, 0
        return (self._between.least, self._between.most) if self.differs(counter) else None

    def are_both(self, mine: Mapping[int, int], other: Mapping[int, int]) -> bool:
        loop = self._between.loop
        return all(
            mine[each] != other[each] if each == loop else mine[each] == other[each]
            for each in mine.keys() & other.keys() - self._between.ended
        )


def _spreads(footprint: Footprint, left: Collection[Monomial]) -> Iterator[int]:
    """The coefficients of symbols below a bound, each a term of its own, of those in `left`."""
    for monomial in left:
        coefficient = footprint.common.get(monomial, 0)
        if len(monomial) == 1 and monomial[0].below and coefficient > 0:
            yield coefficient


def _spread(footprint: Footprint, step: int, left: Collection[Monomial]) -> Footprint:
    """With all elements that such symbols with coefficient `step` may lead to, in their place."""
    bounds = {
        monomial: monomial[0].below
        for monomial in left
        if len(monomial) == 1 and monomial[0].below and footprint.common.get(monomial) == step
    }
    forms = (
        {each: value for each, value in point.form.items() if each not in bounds}
        for point in footprint.points
    )
    pairs = zip(footprint.points, forms, strict=True)
    return footprint_of(
        tuple(replace(point, form=form) for point, form in pairs),
        footprint.loops,
        footprint.lanes + sum(step * (bound - 1) for bound in bounds.values()),
        is_certain=footprint.is_certain and not bounds,
        cycles=footprint.cycles,
        tile=footprint.tile,
    )


def _work(footprint: Footprint) -> int:
    rows = 1 if footprint.tile is None else prod(footprint.tile.sizes)
    return sum(point.threads.bit_count() for point in footprint.points) * footprint.lanes * rows


def _align(
    first: Footprint, second: Footprint, between: Between, width: int, assume_rows: bool
) -> Alignment | None:
    """How to compare two footprints; None if their symbols may make any difference."""
    is_settled = partial(_is_settled, crossed=_crossed(between), width=width)
    left = _left(first, second, between, width)
    pair = (first, second)
    is_tiled = any(each.tile is not None for each in pair)
    row = _row_of_tiles(left) if is_tiled else _row_of(left, is_settled)
    down = [monomial for monomial in left if row and _divided(monomial, row) is not None]
    across = [monomial for monomial in left if monomial not in down]
    fits = assume_rows or is_tiled
    if not row or not (fits or all(_fits_rows(each, row, across) for each in pair)):
        row, down, across = (), [], left
    by_element = _line(across, (), pair, between, width)
    by_row = _line([monomial for monomial in down if monomial != row], row, pair, between, width)
    if by_element.modulus == 1 and (not row or by_row.modulus == 1):
        return None
    both = [loop for loop in first.loops if loop in second.loops]
    grain = gcd(first.grain, second.grain, first.rest - second.rest, *by_element)
    rows = _run_of_rows(first.tile, second.tile, by_row)
    is_regular = all(atom.is_regular for monomial in left for atom in monomial)
    return Alignment(
        row=row,
        by_row=Line(by_row.stride // rows, by_row.modulus // rows),
        by_element=Line(by_element.stride // grain, by_element.modulus // grain),
        grain=grain,
        rows=rows,
        same=tuple(loop for loop in both if loop not in _crossed(between)),
        ordered=between.loop if between.loop in both else None,
        apart=(between.least, between.most if is_regular else FAR),
    )


def _left(first: Footprint, second: Footprint, between: Between, width: int) -> list[Monomial]:
    """The products of symbols that do not cancel."""
    monomials = (*first.common, *second.common, *first.varying, *second.varying)
    crossed = _crossed(between)
    return [
        monomial
        for monomial in dict.fromkeys(monomials)
        if not (_is_equal(monomial, first, second) and _is_settled(monomial, crossed, width))
    ]


def _crossed(between: Between) -> frozenset[int]:
    return between.ended if between.loop is None else between.ended | {between.loop}


def _is_settled(monomial: Monomial, crossed: frozenset[int], width: int) -> bool:
    return all(atom.width >= width and crossed.isdisjoint(atom.loops) for atom in monomial)


def _is_equal(monomial: Monomial, first: Footprint, second: Footprint) -> bool:
    """Whether a product of symbols has one coefficient throughout."""
    is_varying = monomial in first.varying or monomial in second.varying
    return not is_varying and first.common.get(monomial, 0) == second.common.get(monomial, 0)


def _row_of(left: list[Monomial], is_settled: Callable[[Monomial], bool]) -> Monomial:
    """What may be the length of a row: of what does not cancel, a product that is one value for
    both, or the symbol of that kind which is a factor most often. () if there is none."""
    settled = [monomial for monomial in left if is_settled(monomial)]
    if settled:
        return settled[0]
    factors = Counter(
        (atom,)
        for monomial in left
        if len(monomial) > 1
        for atom in dict.fromkeys(monomial)
        if is_settled((atom,))
    )
    return max(factors, key=lambda factor: factors[factor], default=())


def _row_of_tiles(left: list[Monomial]) -> Monomial:
    """The length of a row of a tensor, if rows differ by anything that does not cancel."""
    return (ROW,) if any(ROW in monomial for monomial in left) else ()


def _run_of_rows(first: Tile | None, second: Tile | None, by_row: Line) -> int:
    """How many rows of boxes may count as one."""
    if first is None or second is None:
        return 1
    return gcd(first.grain, second.grain, first.rest - second.rest, *by_row)


def _divided(monomial: Monomial, by: Monomial) -> Monomial | None:
    """A product without some of its factors; None if it lacks them."""
    rest = list(monomial)
    for atom in by:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _line(
    monomials: list[Monomial],
    row: Monomial,
    pair: tuple[Footprint, Footprint],
    between: Between,
    width: int,
) -> Line:
    """What products of symbols, divided by `row`, add to the later of two indices."""
    stride, modulus = 0, 0
    for monomial in monomials:
        quotient = _divided(monomial, row) or ()
        step = _step_between(quotient, between, width) if _is_equal(monomial, *pair) else 0
        if step and not stride:
            stride = pair[0].common[monomial] * step
        else:
            coefficients = (_multiples(each, monomial) for each in pair)
            modulus = gcd(modulus, *chain.from_iterable(coefficients))
    return Line(stride=stride, modulus=modulus)


def _multiples(footprint: Footprint, monomial: Monomial) -> Iterator[int]:
    """All coefficients that a product of symbols has."""
    for point in footprint.points:
        value = point.form.get(monomial, 0)
        yield from (value,) if isinstance(value, int) else value


def _step_between(monomial: Monomial, between: Between, width: int) -> int:
    """What a lone loop counter gains from one iteration of its loop to the next; 0 if it is none,
    or if more than its own loop lies between."""
    if len(monomial) != 1:
        return 0
    atom: Atom = monomial[0]
    if atom.width < width or not atom.loops or not between.ended.isdisjoint(atom.loops):
        return 0
    return atom.step if between.loop == atom.loops[-1] else 0


def _fits_rows(footprint: Footprint, row: Monomial, across: list[Monomial]) -> bool:
    """Whether the element, its place in its row, stays inside a row of length `row` for every
    thread, by what the conditions around the access say. The place is the known part and the
    products of `across`."""
    return all(
        _stays_in_row(point, row, across, footprint.lanes)
        if any(point.form.get(monomial) for monomial in across)
        else _is_below(point, point.rows.get(row, 0), footprint.lanes)
        for point in footprint.points
    )


def _is_below(point: Point, length: Coefficient, lanes: int) -> bool:
    """The same for a place that is known."""
    offset = point.form.get(ONE, 0)
    for thread in threads_in(point.threads):
        start = offset if isinstance(offset, int) else offset[thread]
        end = length if isinstance(length, int) else length[thread]
        if start < 0 or start + lanes > end:
            return False
    return True


def _stays_in_row(point: Point, row: Monomial, across: list[Monomial], lanes: int) -> bool:
    """The same for a place with symbols: one condition must say it."""
    place = {each: point.form[each] for each in (*across, ONE) if each in point.form}
    room = plus({row: 1}, scaled(place, -1))
    room = None if room is None else plus(room, constant(-lanes))
    if room is None or not _is_natural(place, point.threads):
        return False
    return any(
        rest is not None and _is_natural(rest, point.threads)
        for rest in (plus(room, scaled(said, -1)) for said in point.said)
    )


def _is_natural(form: Form, threads: int) -> bool:
    """Whether a form is not negative for any of the threads."""
    bound = lower_bound(form)
    if bound is None or isinstance(bound, int):
        return bound is not None and bound >= 0
    return all(bound[thread] >= 0 for thread in threads_in(threads))
