"""Collects problems of one run: orders them, removes duplicates, counts. It prints nothing."""

from __future__ import annotations

from collections.abc import Iterable

from prismc.diagnostics.problem import Problem, Severity
from prismc.source.span import NOWHERE


class Sink:
    """The problems of one run. Reporting the same code at the same place twice keeps the first.

    Problems without a place (`NOWHERE`) are the same when they say the same.
    """

    def __init__(self) -> None:
        self._problems: dict[tuple[str, str, int, int, str], Problem] = {}
        # Errors reported so far, duplicates included: a pass asks whether a part of it had any.
        self.errors_reported = 0

    def report(self, problem: Problem) -> None:
        self.errors_reported += problem.severity is Severity.ERROR
        words = problem.shown_message() if problem.at == NOWHERE else ""
        key = (problem.code, *problem.at, words)
        self._problems.setdefault(key, problem)

    def report_all(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self.report(problem)

    def problems(self) -> tuple[Problem, ...]:
        """All problems, by file, place and code."""
        order = sorted(self._problems, key=lambda key: (*key[1:4], key[0], key[4]))
        return tuple(self._problems[key] for key in order)

    def since(self, count: int) -> tuple[Problem, ...]:
        """What was reported after the first `count` problems, in order of reporting."""
        return tuple(self._problems.values())[count:]

    def has_errors(self) -> bool:
        return any(p.severity is Severity.ERROR for p in self._problems.values())

    def count(self, severity: Severity) -> int:
        return sum(problem.severity is severity for problem in self._problems.values())
