"""Strict judgement of races (`--races deny`): pieces of a partition must be shown to be apart.

Otherwise pieces are taken to be apart unless they certainly meet. Here every two accesses of
different threads through one execution of a partition are compared as if they had no pieces; what
is left must be proved by the author: `assume(disjoint(y))`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import gcd

from prismc.checker.sync.conflicts import is_hazard
from prismc.checker.sync.coverage import threads_in
from prismc.checker.sync.errors import UnprovenPieces
from prismc.checker.sync.footprints import Between, Footprint, Meeting, meet
from prismc.checker.sync.forms import ONE
from prismc.checker.sync.graph import Access, ViewUse
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.report import pieces_note
from prismc.checker.sync.synchronise import Function
from prismc.checker.types import typed
from prismc.checker.types.walk import statements_in
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink


def report_unproven(program: typed.Program, functions: Iterable[Function], sink: Sink) -> None:
    """Tell of every access whose piece may meet another thread's, as far as is known."""
    for function in functions:
        counted = _counted_from_constants(program.bodies[function.instance.symbol])
        accesses = [access for access in function.planned.graph.accesses if access.views]
        width = function.conflicts.wide(function.planned.graph.everyone.bit_count())
        for index, first in enumerate(accesses):
            for second in accesses[index:]:
                view = _partition_of_both(first, second)
                if view is not None and _may_meet(first, second, view, width, counted):
                    sink.report(_problem(first, second, view))


def _counted_from_constants(body: typed.Body) -> frozenset[int]:
    """The loops whose counters are the same in all threads, up to multiples of the step."""
    return frozenset(
        statement.id
        for statement in statements_in(body.statements)
        if isinstance(statement, typed.For) and isinstance(statement.start, typed.Constant)
    )


def _partition_of_both(first: Access, second: Access) -> ViewUse | None:
    """The partition with the smallest pieces that both go through, if an order would be needed."""
    if not is_hazard(first.kind, second.kind):
        return None
    shared = [
        mine
        for mine in first.views
        for other in second.views
        if mine.view == other.view and mine.size and not mine.is_claim
    ]
    if any(use.is_disjoint for use in shared):
        return None
    return min(shared, key=lambda use: use.size, default=None)


def _may_meet(
    first: Access, second: Access, view: ViewUse, width: int, counted: frozenset[int]
) -> bool:
    """Whether two threads with different pieces may touch one element; what is certain is told
    elsewhere."""
    inside = frozenset(loop for loop in first.loops if loop not in view.loops)
    is_row = first is second and all(root.is_global for root in first.roots)
    mine, other = first.footprint, second.footprint
    found = meet(mine, other, Between(ended=inside), {}, width=width, assume_rows=is_row)
    if found.is_exact or not _crosses_pieces(found, view.size):
        return False
    steps = _steps(mine, width, inside, counted)
    return steps is None or not _differ_modulo(mine, other, view.size, steps)


def _crosses_pieces(meeting: Meeting, size: int) -> bool:
    """Whether a pair of threads of the meeting has different pieces."""
    for first, second in meeting.classes:
        threads = first | second
        lowest = (threads & -threads).bit_length() - 1
        if (threads.bit_length() - 1) // size != lowest // size:
            return True
    return False


def _steps(
    footprint: Footprint, width: int, inside: frozenset[int], counted: frozenset[int]
) -> int | None:
    """What the symbols of an index differ by from thread to thread: multiples of this number, 0 if
    they are the same for all; None if nothing is known.

    `inside` are the loops of the partition's body; `counted` those that count from a constant.
    """
    divisor = 0
    for monomial, coefficient in footprint.common.items():
        if all(atom.width >= width and inside.isdisjoint(atom.loops) for atom in monomial):
            continue
        atom = monomial[0]
        if len(monomial) > 1 or not (atom.step and atom.is_regular and atom.loops):
            return None
        if atom.loops[-1] not in counted:
            return None
        divisor = gcd(divisor, coefficient * atom.step)
    return divisor


def _differ_modulo(first: Footprint, second: Footprint, size: int, steps: int) -> bool:
    """Whether threads with different pieces touch elements that differ by no multiple of `steps`:
    `i` of `range(0, n, 256)` keeps `i + t` of 256 threads apart."""
    if first.common != second.common or first.varying or second.varying:
        return False
    owners: dict[int, int] = {}
    for footprint in (first, second):
        for element, piece in _elements(footprint, size):
            residue = element % steps if steps else element
            if owners.setdefault(residue, piece) != piece:
                return False
    return True


def _elements(footprint: Footprint, size: int) -> Iterator[tuple[int, int]]:
    """The known part of each element, with the piece of the thread that touches it."""
    for point in footprint.points:
        offset = point.form.get(ONE, 0)
        for thread in threads_in(point.threads):
            start = offset if isinstance(offset, int) else offset[thread]
            for lane in range(footprint.lanes):
                yield start + lane, thread // size


def _problem(first: Access, second: Access, view: ViewUse) -> UnprovenPieces:
    write, other = (first, second) if first.kind is not AccessKind.READ else (second, first)
    note = Related(at=other.at, message="another thread may touch the same element here")
    pieces = pieces_note(view)
    return UnprovenPieces(
        at=write.at,
        root=", ".join(root.name for root in write.roots),
        view=view.name,
        related=(pieces,) if first is second else (note, pieces),
    )
