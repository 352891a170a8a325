"""What the compiler knows of one open file: a run of `prismc check` over the open texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prismc.checker.results import CheckedProgram
from prismc.diagnostics.problem import Problem
from prismc.driver.options import Options
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session
from prismc.frontend import ast
from prismc.frontend.errors import ImportCycle, MissingModule, UnreadableModule
from prismc.frontend.modules import ModuleGraph
from prismc.hardware.targets import Target
from prismc.lsp.lexis import declarations_of
from prismc.source.files import Files, SourceFile
from prismc.source.record import Record, replace


class Analysis(Record):
    """The results of one run. `graph` or `checked` is None where the program was too large for it.

    `version` is the editor's number of the root's text.
    """

    root: SourceFile
    version: int
    target: Target
    files: Files
    problems: tuple[Problem, ...]
    graph: ModuleGraph | None
    checked: CheckedProgram | None

    def module_of(self, name: str) -> ast.Module | None:
        """The tree of a file of the program."""
        modules = self.graph.modules if self.graph is not None else ()
        return next((module for module in modules if module.file == name), None)

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the root is left out for a syntax error."""
        module = self.module_of(self.root.name)
        return self.checked is not None and module is not None and not self._has_gaps(module)

    def _has_gaps(self, module: ast.Module) -> bool:
        """Whether the parser had to leave out a declaration of the root."""
        return bool(module.broken) or any(
            problem.code.startswith("P01")
            and problem.at.file == module.file
            and not isinstance(problem, MissingModule | ImportCycle | UnreadableModule)
            for problem in self.problems
        )


def analyse(name: str, version: int, texts: Mapping[str, str], options: Options) -> Analysis:
    """Check the file called `name`; `texts` are the open files, which stand for those on disk."""
    session = Session(_options_for(options, texts.get(name, "")))
    for other, text in texts.items():
        session.files.overlay(other, text)
    root = session.files.known(name)
    facts: dict[str, Any] = {}
    run_stages(session, root, CHECKS, facts)
    return Analysis(
        root=root,
        version=version,
        target=session.options.target,
        files=session.files,
        problems=session.problems,
        graph=facts.get("parse"),
        checked=facts.get(CHECKS),
    )


def _options_for(options: Options, text: str) -> Options:
    """The options without definitions for constants that this file does not have."""
    if not options.defines:
        return options
    constants = {each.name.text for each in declarations_of(text) if each.keyword == "const"}
    return replace(options, defines=tuple(d for d in options.defines if d[0] in constants))
