"""What a run makes of warnings: some count as errors, some are allowed and not told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from prismc.diagnostics.problem import Problem, Severity, Suppression
from prismc.diagnostics.sink import Sink
from prismc.driver.allowances import Allowances, has_allowances
from prismc.source.files import Files
from prismc.source.record import Value

ALL_WARNINGS = "warnings"


class Strictness(Value):
    """`denied` are the codes of warnings that count as errors, or ALL_WARNINGS; those of `allowed`
    are not told, and stay allowed where all others are denied."""

    denied: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()

    def allows(self, problem: Problem) -> bool:
        """Whether it is a warning that is not told."""
        return problem.severity is Severity.WARNING and problem.code in self.allowed

    def of(self, problem: Problem) -> Problem:
        """The problem as it counts."""
        if problem.severity is not Severity.WARNING:
            return problem
        for denial in (problem.code, ALL_WARNINGS):
            if denial in self.denied:
                return _as_error(problem, f"`--deny {denial}` makes this warning an error")
        return problem


class Settled(NamedTuple):
    """The problems as they count, and the warnings that are not told."""

    told: tuple[Problem, ...]
    suppressed: tuple[Suppression, ...]


def settle(
    problems: Sequence[Problem],
    files: Files,
    roots: Iterable[str],
    strictness: Strictness,
    *,
    tells_unused: bool = True,
) -> Settled:
    """What a run tells of its problems: not the warnings that comments or `strictness` allow.

    Of the files that were checked, `roots`, also what is wrong with these comments. Whether one is
    used is known only where no error has hidden later warnings, and if `tells_unused`.
    """
    warned = [p.at.file for p in problems if p.severity is Severity.WARNING and p.at.file]
    comments = {
        name: Allowances(files.known(name))
        for name in dict.fromkeys([*roots, *warned])
        if has_allowances(files.known(name))
    }
    if not comments and strictness == Strictness():
        return Settled(tuple(problems), ())
    sink = Sink()
    suppressed: list[Suppression] = []
    for problem in problems:
        suppression = _suppression(problem, comments, strictness)
        if suppression is None:
            sink.report(strictness.of(problem))
        else:
            suppressed.append(suppression)
    for name in roots:
        if known := comments.get(name):
            own = [*known.problems, *known.of_errors()]
            is_clean = not sink.has_errors()
            for problem in own + (list(known.unused()) if tells_unused and is_clean else []):
                if not strictness.allows(problem):
                    sink.report(strictness.of(problem))
    return Settled(sink.problems(), tuple(suppressed))


def _suppression(
    problem: Problem, comments: Mapping[str, Allowances], strictness: Strictness
) -> Suppression | None:
    """Why a problem is not told; None for one that is."""
    known = comments.get(problem.at.file) if problem.severity is Severity.WARNING else None
    comment = known.allow(problem) if known is not None else None
    if comment is not None:
        return Suppression(problem=problem, reason=comment.reason, at=comment.at)
    if strictness.allows(problem):
        return Suppression(problem=problem, reason=f"--allow {problem.code}", at=None)
    return None


def _as_error(problem: Problem, why: str) -> Problem:
    fields = {field: getattr(problem, field) for field in problem.__fields__}
    return _error_class(type(problem))(**(fields | {"notes": (*problem.notes, why)}))


# Made once, for kinds that are denied.
_ERROR_CLASSES: dict[type[Problem], type[Problem]] = {}


def _error_class(kind: type[Problem]) -> type[Problem]:
    """The same kind of problem as an error, as `DeniedPieces` is of `OverlappingPieces`."""
    known = _ERROR_CLASSES.get(kind)
    if known is None:
        body = {"__module__": kind.__module__, "severity": Severity.ERROR}
        made = type(kind.__name__, (kind,), body)
        assert issubclass(made, Problem)
        known = _ERROR_CLASSES[kind] = made
    return known
