"""What every stage of one run shares: the files it read, the problems it found, its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from prismc.diagnostics.problem import Problem, Severity
from prismc.diagnostics.sink import Sink
from prismc.driver.cache import Cache
from prismc.driver.options import Options
from prismc.driver.strictness import Settled, Strictness, settle
from prismc.source.files import Files

if TYPE_CHECKING:
    from prismc.backend.toolchain.compilation import Compiler
    from prismc.frontend.modules import ModuleGraph, ParsedFiles

FINE, PROGRAM_WRONG, ENVIRONMENT_WRONG, OUR_BUG = 0, 1, 2, 3


class Made(NamedTuple):
    """What a stage made, of what, under which of the options that it reads, and what it reported
    that would be so with any other options too."""

    source: Any
    options: object
    fact: Any
    problems: tuple[Problem, ...]


class Session:
    """One run over any number of root files; `root` names the one that is being compiled.

    With a `cache`, what earlier runs found out is not worked out again. `parsed` holds the trees of
    files that were parsed so far, `graph` the modules of the root that was parsed last, and `made`
    what each stage made last: for a further target, most stages have nothing new to do. `compilers`
    are those of CUDA that were opened, by their names. `roots` are the files that were checked for
    their own sake, `strictness` what becomes of warnings.
    """

    def __init__(
        self,
        options: Options,
        files: Files | None = None,
        cache: Cache | None = None,
        strictness: Strictness | None = None,
    ) -> None:
        self.options = options
        self.strictness = strictness or Strictness()
        self.files = files or Files()
        self.cache = cache
        self.parsed: ParsedFiles = {}
        self.graph: ModuleGraph | None = None
        self.made: dict[str, Made] = {}
        self.compilers: dict[str, Compiler] = {}
        self.sink = Sink()
        self.root = ""
        self.roots: dict[str, None] = {}

    def branch(self, options: Options) -> Session:
        """A session with this one's files, trees, compilers and cache, and problems of its own."""
        branch = Session(options, self.files, self.cache, self.strictness)
        branch.parsed, branch.compilers = self.parsed, self.compilers
        return branch

    def again(self, options: Options) -> Session:
        """A branch for the same root with other options, which starts from what was made of it."""
        again = self.branch(options)
        again.made, again.graph = self.made, self.graph
        return again

    @property
    def sources(self) -> tuple[str, ...]:
        """The files of the root's program, the root first."""
        names = () if self.graph is None else (module.file for module in self.graph.modules)
        return tuple(dict.fromkeys((self.root, *names)))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems as they count: warnings denied or left out as the run and comments say."""
        return self.settled.told

    @property
    def settled(self) -> Settled:
        """The problems as they count, and the warnings that are left out."""
        return settle(
            self.sink.problems(),
            self.files,
            self.roots,
            self.strictness,
            tells_unused=self.options.races != "off",
        )

    def has_errors(self) -> bool:
        """Whether anything counts as an error, denied warnings included."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)

    @property
    def exit_code(self) -> int:
        """2 when the machine or the command line is at fault, else 1 when a program is, else 0."""
        errors = [p for p in self.problems if p.severity is Severity.ERROR]
        if any(problem.is_environment for problem in errors):
            return ENVIRONMENT_WRONG
        return PROGRAM_WRONG if errors else FINE
