"""How races inside one scope are judged: pieces of one narrowing that meet in different threads.

No barrier can mend these, and the paper leaves them to the author ("the last writer wins"). So it
is the author who says how bad they are. An order that is needed and has no place (P0604) is no
matter of taste: without it the plan would be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import two_threads
from prismc.checker.sync.errors import (
    DeniedIterations,
    DeniedMeeting,
    DeniedPieces,
    MeetingPieces,
    OverlappingIterations,
    OverlappingPieces,
)
from prismc.checker.sync.refine import Barrier
from prismc.diagnostics.problem import Problem, Related
from prismc.diagnostics.sink import Sink


class Races(Enum):
    """What a race inside one scope is: an error, a warning, or the author's own business."""

    DENY = "deny"
    WARN = "warn"
    OFF = "off"


_DENIED: dict[type[Problem], type[Problem]] = {
    OverlappingIterations: DeniedIterations,
    OverlappingPieces: DeniedPieces,
    MeetingPieces: DeniedMeeting,
}
_VERBS = {"READ": "reads", "WRITE": "writes", "UPDATE": "updates"}


def judge_races(problems: Iterable[Problem], races: Races) -> Iterator[Problem]:
    """The problems of a program: its races as errors, as warnings, or not at all."""
    for problem in problems:
        denied = _DENIED.get(type(problem))
        if denied is None or races is Races.WARN:
            yield problem
        elif races is Races.DENY:
            yield denied(**{field: getattr(problem, field) for field in problem.__fields__})


def report_meetings(conflicts: Conflicts, barriers: Iterable[Barrier], sink: Sink) -> None:
    """Pieces of one execution of a narrowing that certainly meet, with a barrier between them."""
    for barrier in barriers:
        units = barrier.insertion.region.units
        for reason in barrier.reasons:
            size = _piece(reason)
            first, second = two_threads(reason.earlier_threads, reason.later_threads)
            if reason.is_exact and size and first // size != second // size:
                element = conflicts.meeting(
                    reason.earlier, reason.later, reason.crossed, units
                ).element
                sink.report(_meeting(reason, first, second, element))


def _piece(reason: Conflict) -> int:
    """Threads of the smallest piece of one execution of a partition that both accesses go through;
    0 if there is none below a block. What is claimed is one piece, which its owner may hand on."""
    loops = [loop for loop, _ in reason.crossed]
    sizes = [
        mine.size
        for mine in reason.earlier.views
        for other in reason.later.views
        if mine.view == other.view and mine.size and mine.keeps_pieces(loops) and not mine.is_claim
    ]
    return min(sizes, default=0)


def _meeting(reason: Conflict, first: int, second: int, element: int) -> MeetingPieces:
    earlier, later = reason.earlier, reason.later
    earlier_verb, verb = _VERBS[earlier.kind.name], _VERBS[later.kind.name]
    is_whole = not later.footprint.common
    return MeetingPieces(
        at=later.at,
        root=", ".join(root.name for root in later.roots),
        view=later.views[-1].name,
        first=first,
        second=second,
        element=str(element) if is_whole else f"{element} of a piece",
        earlier_verb=earlier_verb,
        verb=verb,
        related=(Related(at=earlier.at, message=f"thread {first} {earlier_verb} it here"),),
    )
