"""How races inside one scope are judged: pieces of one narrowing that meet in different threads.

No barrier can mend these, and the paper leaves them to the author ("the last writer wins"). So it
is the author who says how bad they are. An order that is needed and has no place (P0604) is no
matter of taste: without it the plan would be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from prismc.checker.sync.errors import (
    DeniedIterations,
    DeniedPieces,
    OverlappingIterations,
    OverlappingPieces,
)
from prismc.diagnostics.problem import Problem


class Races(Enum):
    """What a race inside one scope is: an error, a warning, or the author's own business."""

    DENY = "deny"
    WARN = "warn"
    OFF = "off"


_DENIED: dict[type[Problem], type[Problem]] = {
    OverlappingIterations: DeniedIterations,
    OverlappingPieces: DeniedPieces,
}


def judge_races(problems: Iterable[Problem], races: Races) -> Iterator[Problem]:
    """The problems of a program: its races as errors, as warnings, or not at all."""
    for problem in problems:
        denied = _DENIED.get(type(problem))
        if denied is None or races is Races.WARN:
            yield problem
        elif races is Races.DENY:
            yield denied(**{field: getattr(problem, field) for field in problem.__fields__})
