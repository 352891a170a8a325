"""What a run makes of warnings: some count as errors, some are allowed and not told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from prismc.diagnostics.problem import Problem, Severity
from prismc.diagnostics.sink import Sink
from prismc.driver.allowances import Allowances, has_allowances
from prismc.source.files import Files
from prismc.source.record import RecordType, Value

ALL_WARNINGS = "warnings"


class Strictness(Value):
    """`denied` are the codes of warnings that count as errors, or ALL_WARNINGS; those of `allowed`
    are not told, and stay allowed where all others are denied."""

    denied: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()

    def of(self, problem: Problem) -> Problem | None:
        """The problem as it counts; None for a warning that is not told."""
        if problem.severity is not Severity.WARNING:
            return problem
        if problem.code in self.allowed:
            return None
        for denial in (problem.code, ALL_WARNINGS):
            if denial in self.denied:
                return _as_error(problem, f"`--deny {denial}` makes this warning an error")
        return problem


def settle(
    problems: Sequence[Problem],
    files: Files,
    roots: Iterable[str],
    strictness: Strictness,
    *,
    tells_unused: bool = True,
) -> tuple[Problem, ...]:
    """The problems as they count, without warnings that comments allow.

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
        return tuple(problems)
    sink = Sink()
    for problem in problems:
        known = comments.get(problem.at.file)
        is_warning = problem.severity is Severity.WARNING
        if not (is_warning and known is not None and known.allow(problem)):
            _report(sink, strictness, problem)
    for name in roots:
        if known := comments.get(name):
            own = [*known.problems, *known.of_errors()]
            is_clean = not sink.has_errors()
            for problem in own + (list(known.unused()) if tells_unused and is_clean else []):
                _report(sink, strictness, problem)
    return sink.problems()


def _report(sink: Sink, strictness: Strictness, problem: Problem) -> None:
    counted = strictness.of(problem)
    if counted is not None:
        sink.report(counted)


def _as_error(problem: Problem, why: str) -> Problem:
    fields = {field: getattr(problem, field) for field in problem.__fields__}
    return _error_class(type(problem))(**(fields | {"notes": (*problem.notes, why)}))


@cache
def _error_class(kind: type[Problem]) -> type[Problem]:
    """The same kind of problem as an error, as `DeniedPieces` is of `OverlappingPieces`."""
    body = {"__module__": kind.__module__, "severity": Severity.ERROR}
    made = RecordType(kind.__name__, (kind,), body)
    assert issubclass(made, Problem)
    return made
