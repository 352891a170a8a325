"""What runs over single root files found and made, remembered, and worked out in parallel.

A task is one root file with all that decides its result; its finding is plain data, so that it can
come from another process or from the cache as well.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Protocol

from prismc.diagnostics.problem import Problem
from prismc.driver.dependencies import Json, Texts
from prismc.driver.errors import TooLarge
from prismc.driver.options import Options
from prismc.driver.session import Session
from prismc.driver.told import read, tell
from prismc.driver.workers import shared_work
from prismc.hardware.targets import Target
from prismc.source.digest import text_digest
from prismc.source.files import SourceFile, UnreadableFile
from prismc.source.identity import compiler_identity
from prismc.source.resources import stdlib_folder


class Finding(NamedTuple):
    """`record` holds the problems, told, what they depend on, and what the task adds.

    `contents` are those of outputs, in the task's order; None for one that needs no writing.
    """

    record: Json
    contents: list[bytes | None]

    @property
    def problems(self) -> tuple[Problem, ...]:
        found: tuple[Problem, ...] = read(self.record["problems"])
        return found

    @property
    def files(self) -> list[str]:
        """The names of the files that this was found in, the root first."""
        return [name for name, _, _ in (self.record["depends"] or {"files": ()})["files"]]


class Task(Protocol):
    """One root file and what is to be found about it; `key` is that of the cache, if not empty."""

    @property
    def key(self) -> str: ...

    @property
    def file(self) -> SourceFile: ...

    def prepare(self) -> None:
        """Have in this process what work on several files needs, so that forked ones share it."""

    def work(self, session: Session) -> tuple[Json, list[bytes], Json | None]:
        """What the task adds to the record, contents of outputs, and what both depend on.

        Problems go to the session, which is the task's own. Without dependencies, as after a
        failure of the machine, the finding is not kept.
        """

    def contents(self, record: Json) -> list[bytes | None] | None:
        """The contents that belong to a record of an earlier run; None if some are lost."""


def find(session: Session, tasks: Sequence[Task], jobs: int) -> Iterator[tuple[int, Finding]]:
    """Each task's number and finding, as they are done: from the cache, or by `jobs` processes.

    At the end all problems are in the session's sink, reported in the order of the tasks.
    """
    texts = Texts(session)
    found = [_recalled(session, texts, task) for task in tasks]
    for number, finding in enumerate(found):
        if finding is not None:
            yield number, finding
    missing = _by_file(tasks, [n for n, finding in enumerate(found) if finding is None])
    if jobs > 1:  # the longest first, so that no process ends with one while the others are idle
        missing.sort(key=lambda numbers: -len(tasks[numbers[0]].file.text))
    if len(missing) > 1:
        tasks[missing[0][0]].prepare()

    def work(index: int) -> list[tuple[Json, list[bytes | None]]]:
        # Plain tuples: what comes from a worker must be of no class of ours.
        return [(*each,) for each in _worked_out(session, [tasks[n] for n in missing[index]])]

    with _without_collection():
        for index, answer in shared_work(work, len(missing), jobs):
            answers = work(index) if answer is None else answer
            for number, each in zip(missing[index], answers, strict=True):
                found[number] = finding = Finding(*each)
                yield number, finding
    for finding in found:
        if finding is not None:
            _report(session, finding)


def _by_file(tasks: Sequence[Task], numbers: Iterable[int]) -> list[list[int]]:
    """The tasks of each file together: they share what is the same for all of them."""
    groups: dict[str, list[int]] = {}
    for number in numbers:
        groups.setdefault(tasks[number].file.name, []).append(number)
    return [*groups.values()]


@contextmanager
def _without_collection() -> Iterator[None]:
    """Trees and facts hardly ever refer to one another in circles: looking for such garbage costs a
    tenth of the time and finds nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def task_key(kind: str, options: Options, file: SourceFile, *more: object) -> str:
    """The key of what is found about a file with these options, by this compiler."""
    chosen = [_chosen(getattr(options, field)) for field in options.__fields__]
    parts = [kind, compiler_identity(), stdlib_folder(), chosen, file.name, text_digest(file.text)]
    return text_digest(repr([*map(str, parts), *map(str, more)]))


def _chosen(value: Any) -> str:
    return value.name if isinstance(value, Target) else repr(value)


def _recalled(session: Session, texts: Texts, task: Task) -> Finding | None:
    """The finding of an earlier run, if nothing that it depends on has changed since."""
    record = session.cache.recall(task.key) if session.cache and task.key else None
    if record is None or not texts.hold(record["depends"]):
        return None
    contents = task.contents(record)
    return None if contents is None else Finding(record, contents)


def _worked_out(session: Session, tasks: Sequence[Task]) -> Iterator[Finding]:
    """The findings of tasks of one file."""
    own = session.branch(session.options)
    for task in tasks:
        yield _finding(own, task)
        own = own.again(session.options)


def _finding(session: Session, task: Task) -> Finding:
    """What a task finds, in a session of its own."""
    more, contents, depends = task.work(session)
    problems = session.sink.problems()
    record = {**more, "problems": tell(problems), "depends": depends}
    if session.cache and task.key and depends and all(map(_is_lasting, problems)):
        for content in contents:
            session.cache.keep(content)
        session.cache.remember(task.key, record)
    return Finding(record, [*contents])


def _is_lasting(problem: Problem) -> bool:
    """Whether the same files would give the problem again: not one of the machine."""
    return not problem.is_environment and not isinstance(problem, TooLarge)


def _report(session: Session, finding: Finding) -> None:
    """Hand the problems on, with the texts that they point into, which another process read."""
    for problem in finding.problems:
        for name in (problem.at.file, *(related.at.file for related in problem.related)):
            with suppress(UnreadableFile):
                if name:
                    session.files.read(name)
        session.sink.report(problem)
