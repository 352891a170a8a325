"""Checking many files: each root by itself, remembered, several at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from prismc.driver.dependencies import Json, Texts
from prismc.driver.findings import find, task_key
from prismc.driver.options import Options
from prismc.driver.pipeline import CHECKS, import_stages, run_stages
from prismc.driver.session import Session
from prismc.source.files import SourceFile

if TYPE_CHECKING:
    from prismc.checker.results import CheckedProgram


def check_files(
    session: Session, files: Sequence[SourceFile], options: Sequence[Options], jobs: int = 1
) -> None:
    """Check every file with every one of the options; all problems go to the session's sink.

    What they say does not depend on `jobs`, nor on what the session's cache holds.
    """
    session.roots.update((file.name, None) for file in files)
    tasks = [_Check(session, file, each) for each in options for file in files]
    for _ in find(session, tasks, jobs):
        pass


class _Check:
    """The check of one root file."""

    def __init__(self, session: Session, file: SourceFile, options: Options) -> None:
        self.file = file
        self._options = options
        self.key = task_key("check", options, file) if session.cache else ""

    def prepare(self) -> None:
        import_stages(CHECKS)

    def work(self, session: Session) -> tuple[Json, list[bytes], Json | None]:
        session.options = self._options
        checked: CheckedProgram | None = run_stages(session, self.file, CHECKS)
        names = None if checked is None else checked.names
        return {}, [], Texts(session).written_down(session.graph, session.sink.problems(), names)

    def contents(self, record: Json) -> list[bytes | None]:
        return []
