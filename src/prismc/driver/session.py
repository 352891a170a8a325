"""What every stage of one run shares: the files it read, the problems it found, its options."""

from __future__ import annotations

from prismc.diagnostics.problem import Problem, Severity
from prismc.diagnostics.sink import Sink
from prismc.driver.options import Options
from prismc.source.files import Files

FINE, PROGRAM_WRONG, ENVIRONMENT_WRONG, OUR_BUG = 0, 1, 2, 3


class Session:
    """One run over any number of root files; `root` names the one that is being compiled."""

    def __init__(self, options: Options, files: Files | None = None) -> None:
        self.options = options
        self.files = files or Files()
        self.sink = Sink()
        self.root = ""

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.sink.problems()

    @property
    def exit_code(self) -> int:
        """2 when the machine or the command line is at fault, else 1 when a program is, else 0."""
        errors = [p for p in self.problems if p.severity is Severity.ERROR]
        if any(problem.is_environment for problem in errors):
            return ENVIRONMENT_WRONG
        return PROGRAM_WRONG if errors else FINE
