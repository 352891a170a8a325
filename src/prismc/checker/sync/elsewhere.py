"""Whether two accesses have no element in common, not even for one thread.

Comparisons of footprints leave out what a thread does to its own elements, which is in order by
itself; what an engine does for it is not. So the later access is looked at as if others made it.
"""

from __future__ import annotations

from prismc.checker.sync.footprints import Footprint, footprint_of
from prismc.checker.sync.forms import Coefficient, Form
from prismc.checker.sync.meetings import Between, meet
from prismc.checker.sync.tables import Known
from prismc.source.record import replace


def are_elsewhere(
    earlier: Footprint,
    later: Footprint,
    between: Between,
    known: Known,
    *,
    width: int,
    assume_rows: bool,
) -> bool:
    """Whether the footprints have nothing in common; the arguments are those of `meet`."""
    others = _of_others(later, max(earlier.threads.bit_length(), later.threads.bit_length()))
    found = meet(earlier, others, between, known, width=width, assume_rows=assume_rows)
    return not found.classes


def _of_others(footprint: Footprint, by: int) -> Footprint:
    """The footprint with every thread's elements given to the one that comes `by` behind it."""
    points = tuple(
        replace(
            point,
            form=_moved(point.form, by),
            threads=point.threads << by,
            rows={row: _behind(length, by) for row, length in point.rows.items()},
            said=tuple(_moved(each, by) for each in point.said),
        )
        for point in footprint.points
    )
    if not points:
        return replace(footprint, threads=footprint.threads << by)
    return footprint_of(
        points,
        footprint.loops,
        footprint.lanes,
        is_certain=footprint.is_certain,
        cycles=footprint.cycles,
        tile=footprint.tile,
    )


def _moved(form: Form, by: int) -> Form:
    return {monomial: _behind(value, by) for monomial, value in form.items()}


def _behind(value: Coefficient, by: int) -> Coefficient:
    return value if isinstance(value, int) else (*((0,) * by), *value)
