"""The stages in order, from the text of a file to machine code: the page to read first.

Each stage takes what the one before it made and returns its own result, or None when there is
nothing to go on with; problems go to the session's sink. A stage's modules are imported when it
first runs (here only, so that checking a program loads neither the IR nor a compiler).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from prismc.driver.errors import TooLarge
from prismc.driver.session import Session
from prismc.driver.show import show_tree
from prismc.source.files import SourceFile
from prismc.source.span import Span

if TYPE_CHECKING:
    from prismc.frontend.modules import ModuleGraph


class View(NamedTuple):
    """One way to print a stage's result: `prismc dump --after NAME`."""

    name: str
    show: Callable[[Session, Any], str]


class Stage(NamedTuple):
    """A step of the pipeline and what can be printed after it."""

    name: str
    run: Callable[[Session, Any], Any]
    views: tuple[View, ...]


def _parse(session: Session, file: SourceFile) -> ModuleGraph:
    """The text of a root file, and of all that it imports, to trees."""
    from prismc.frontend.modules import load_program

    return load_program((file,), session.options.include, session.files, session.sink)


def _show_trees(session: Session, graph: ModuleGraph) -> str:
    return "\n".join(show_tree(module, session.files) for module in graph.roots)


STAGES: tuple[Stage, ...] = (Stage("parse", _parse, (View("ast", _show_trees),)),)
CHECKS = "check"  # the last stage of `prismc check`
EMITS = "emit"  # the last stage before a CUDA compiler runs


def run_stages(session: Session, file: SourceFile, last: str) -> Any:
    """What stage `last` makes of `file`; None where problems kept a stage from running.

    A program that is too deep or too large for the interpreter is an ordinary problem.
    """
    fact: Any = file
    try:
        for stage in STAGES:
            fact = stage.run(session, fact)
            if fact is None or stage.name == last:
                return fact
    except RecursionError:
        session.sink.report(TooLarge(at=Span(file.name, 0, 0), what="too many levels of nesting"))
    except MemoryError:
        session.sink.report(TooLarge(at=Span(file.name, 0, 0), what="the memory does not suffice"))
    return None


def view_names() -> list[str]:
    """The names that `dump_file` knows, in order of the stages."""
    return [view.name for stage in STAGES for view in stage.views]


def dump_file(session: Session, file: SourceFile, name: str) -> str | None:
    """What view `name` shows of `file`; None where problems kept its stage from running."""
    for stage in STAGES:
        for view in stage.views:
            if view.name == name:
                fact = run_stages(session, file, stage.name)
                return None if fact is None else view.show(session, fact)
    raise KeyError(name)


def check_file(session: Session, file: SourceFile) -> None:
    """Everything up to the sync plan; all that is found goes to the session's sink."""
    run_stages(session, file, CHECKS)
