"""Strict judgement of races (`--races deny`): pieces of a partition must be shown to be apart.

Otherwise pieces are taken to be apart unless they certainly meet. Here every two accesses of
different threads through one execution of a partition are compared as if they had no pieces; what
is left must be proved by the author: `assume(disjoint(y))`.
"""

from __future__ import annotations

from collections.abc import Iterable

from prismc.checker.sync.conflicts import is_hazard
from prismc.checker.sync.coverage import first_thread
from prismc.checker.sync.errors import UnprovenPieces
from prismc.checker.sync.graph import Access, ViewUse
from prismc.checker.sync.meetings import Between, Meeting, meet
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.report import pieces_note
from prismc.checker.sync.synchronise import Function
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink


def report_unproven(functions: Iterable[Function], sink: Sink) -> None:
    """Tell of every access whose piece may meet another thread's, as far as is known."""
    for function in functions:
        accesses = [
            access
            for access in function.planned.graph.accesses
            if access.views
            and not access.for_engines
            and not all(root.is_private for root in access.roots)
        ]
        width = function.conflicts.wide(function.planned.graph.everyone.bit_count())
        for index, first in enumerate(accesses):
            for second in accesses[index:]:
                view = _partition_of_both(first, second)
                if view is not None and _may_meet(first, second, view, width):
                    sink.report(_problem(first, second, view))


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


def _may_meet(first: Access, second: Access, view: ViewUse, width: int) -> bool:
    """Whether two threads with different pieces may touch one element; what is certain is told
    elsewhere."""
    inside = frozenset(loop for loop in first.loops if loop not in view.loops)
    is_row = first is second and all(root.is_global for root in first.roots)
    mine, other = first.footprint, second.footprint
    found = meet(mine, other, Between(ended=inside), {}, width=width, assume_rows=is_row)
    return not found.is_exact and _crosses_pieces(found, view.size)


def _crosses_pieces(meeting: Meeting, size: int) -> bool:
    """Whether a pair of threads of the meeting has different pieces."""
    for first, second in meeting.classes:
        threads = first | second
        lowest = first_thread(threads)
        if (threads.bit_length() - 1) // size != lowest // size:
            return True
    return False


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
