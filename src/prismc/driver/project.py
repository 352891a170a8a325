"""Building many files: each root by itself, remembered, several at a time, written when it is done.

An output that is what it should be is left alone, or only given a new time where one of its inputs
is newer: make compares times.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.backend.toolchain.find import find_c_compiler, find_fatbinary, programs_in
from prismc.backend.toolchain.report import KernelReport
from prismc.driver.build import Emit, Place, Step, build_file
from prismc.driver.compilers import tool_files, tool_identity
from prismc.driver.dependencies import Json, Texts
from prismc.driver.depfile import DepfileStyle, dependency_rule
from prismc.driver.errors import CannotWrite, OutputsClash
from prismc.driver.findings import Finding, find, task_key
from prismc.driver.inputs import STANDARD_INPUT
from prismc.driver.outputs import (
    Output,
    holds,
    holds_digest,
    refresh_times,
    save_outputs,
)
from prismc.driver.pipeline import EMITS, import_stages
from prismc.driver.pipeline_report import PipelineReport
from prismc.driver.session import Session
from prismc.driver.told import read, tell
from prismc.hardware.targets import Target
from prismc.source.digest import digest
from prismc.source.files import SourceFile
from prismc.source.identity import compiler_file
from prismc.source.record import Record, Value, replace
from prismc.source.span import NOWHERE
from prismc.source.version import MADE_BY


class Order(Record):
    """What is to be built of one root file; `depfile` names the rule's file, if one is wanted."""

    file: SourceFile
    targets: tuple[Target, ...]
    kinds: tuple[Emit, ...]
    place: Place
    depfile: str | None = None
    rule: DepfileStyle = DepfileStyle()

    @property
    def paths(self) -> list[str]:
        """Where all its outputs go."""
        return [
            os.fspath(self.place(target, kind))
            for kind in self.kinds
            for target in ((None,) if kind.is_joint else self.targets)
        ]


class Writing(Value):
    """How outputs that hold what they should are treated: written `always`, or left alone, with
    their times kept (`keeps_times`) or brought up to those of their inputs."""

    always: bool = False
    keeps_times: bool = False


class Result(Record):
    """What came of an order: it failed, or all its outputs are there, some of them just written.

    `content` is that of a single output that goes to standard output.
    """

    is_built: bool
    is_changed: bool = False
    reports: tuple[KernelReport, ...] = ()
    pipelines: tuple[PipelineReport, ...] = ()
    content: bytes | None = None


TO_STANDARD_OUTPUT = "-"


def build_files(
    session: Session, orders: Sequence[Order], jobs: int, step: Step, writing: Writing
) -> Iterator[tuple[int, Result]]:
    """Build what is ordered; each order's number and result, in the order in which they are done.

    `step` hears of each target of a single order. What is found at fault goes to the session's sink
    by the end, in the order of `orders`.
    """
    if _refuse_clashes(session, orders):
        return
    session.roots.update((order.file.name, None) for order in orders)
    tools = _tools(session, orders)
    tasks = [_Build(session, order, tools, step, writing) for order in orders]
    for number, finding in find(session, tasks, jobs):
        yield number, _settled(session, orders[number], finding, tools, writing)


def _refuse_clashes(session: Session, orders: Sequence[Order]) -> bool:
    """Whether two outputs would go to the same place, or one to where a source is."""
    sources = {os.path.realpath(order.file.name) for order in orders}
    owners: dict[str, str] = {}
    problems: list[OutputsClash | CannotWrite] = []
    for order in orders:
        for path in (*order.paths, *([order.depfile] if order.depfile else ())):
            place = os.path.realpath(path)
            if place in sources:
                problems.append(_cannot_write(path, "it is a source of this build"))
            elif not _is_ours(place):
                problems.append(_cannot_write(path, "prismc did not make the file that is there"))
            elif place in owners and not _is_device(place):
                problems.append(_clash(path, owners[place], order.file.name))
            owners.setdefault(place, order.file.name)
    for problem in problems:
        session.sink.report(problem)
    return bool(problems)


def _is_ours(path: str) -> bool:
    """Whether a file may be replaced. A module of Python by its author stands beside a program of
    the same name as a matter of course, and has the name of what would be made of it."""
    if not path.endswith((Emit.PYTHON.suffix, Emit.STUBS.suffix)) or not os.path.isfile(path):
        return True
    with open(path, encoding="utf-8", errors="replace") as file:
        return MADE_BY in file.readline()


def _clash(path: str, first: str, second: str) -> OutputsClash | CannotWrite:
    if first == second:
        return _cannot_write(path, "two outputs go there")
    return OutputsClash(at=NOWHERE, path=path, first=first, second=second)


def _cannot_write(path: str, reason: str) -> CannotWrite:
    return CannotWrite(at=NOWHERE, path=path, reason=reason)


def _is_device(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path)


def _tools(session: Session, orders: Sequence[Order]) -> list[str] | None:
    """The files of the programs that outputs depend on; None where one is missing: the build will
    say so."""
    kinds = {kind for order in orders for kind in order.kinds}
    try:
        tools: list[Any] = []
        if any(kind.needs_machine_code for kind in kinds):
            tools += tool_files(session.options.compiler)
        if Emit.OBJECT in kinds:
            tools += programs_in(find_c_compiler())
        if Emit.FATBIN in kinds:
            tools.append(find_fatbinary())
    except ToolchainFailure:
        return None
    return [os.fspath(tool) for tool in tools]


class _Build:
    """The build of one root file."""

    def __init__(
        self,
        session: Session,
        order: Order,
        tools: list[str] | None,
        step: Step,
        writing: Writing,
    ) -> None:
        self.file = order.file
        self._order = order
        self._step = step
        self._writing = writing
        self._cache = session.cache
        self._options = session.options
        self._strictness = session.strictness
        self.key = self._key(tools) if session.cache and tools is not None else ""

    def _key(self, tools: list[str]) -> str:
        order = self._order
        try:
            identity = tool_identity(tools)
        except OSError:
            return ""
        targets = [target.name for target in order.targets]
        kinds = [kind.value for kind in order.kinds]
        made_by = find_c_compiler() if Emit.OBJECT in order.kinds else ()
        more = (identity, targets, kinds, order.paths, self._strictness, made_by)
        return task_key("build", self._options, order.file, *more)

    def prepare(self) -> None:
        import_stages(EMITS)
        if any(kind.needs_machine_code for kind in self._order.kinds):
            # Builds without work need no compiler.
            from prismc.backend.toolchain.nvrtc import keep_freed_memory

            keep_freed_memory()

    def work(self, session: Session) -> tuple[Json, list[bytes], Json | None]:
        order = self._order
        session.options = self._options
        built = build_file(session, order.file, order.targets, order.kinds, order.place, self._step)
        outputs = () if built is None else built.outputs
        more = {
            "is_built": built is not None,
            "outputs": [[os.fspath(each.path), digest(each.content)] for each in outputs],
            "reports": tell(() if built is None else built.reports),
            "pipelines": tell(() if built is None else built.pipelines),
        }
        depends = Texts(session).written_down(session.graph, session.sink.problems())
        return more, [each.content for each in outputs], depends

    def contents(self, record: Json) -> list[bytes | None] | None:
        """Those that are not on the disk already, from the cache; None if it lacks one."""
        found: list[bytes | None] = []
        for path, name in record["outputs"]:
            is_there = path != TO_STANDARD_OUTPUT and holds_digest(Path(path), name)
            if is_there and not self._writing.always:
                found.append(None)
            elif self._cache and (content := self._cache.content(name)) is not None:
                found.append(content)
            else:
                return None
        return found


def _settled(
    session: Session, order: Order, finding: Finding, tools: list[str] | None, writing: Writing
) -> Result:
    """Bring the disk to what was found."""
    if not finding.record["is_built"]:
        return Result(is_built=False)
    reports: tuple[KernelReport, ...] = read(finding.record["reports"])
    pipelines: tuple[PipelineReport, ...] = read(finding.record["pipelines"])
    found = Result(is_built=True, reports=reports, pipelines=pipelines)
    paths = [path for path, _ in finding.record["outputs"]]
    if paths == [TO_STANDARD_OUTPUT]:
        return replace(found, content=finding.contents[0])
    sources = [name for name in finding.files if name != STANDARD_INPUT]
    used = [os.fspath(compiler_file()), *(tools or ())]
    if _overwrites(session, paths, sources):
        return Result(is_built=False)
    outputs = [
        Output(path=Path(path), content=content)
        for path, content in zip(paths, finding.contents, strict=True)
        if content is not None
    ]
    wanted = [out for out in outputs if writing.always or not holds(out.path, out.content)]
    is_changed = bool(wanted)
    if order.depfile is not None:
        rule = dependency_rule(paths, sources, used, order.rule)
        depfile = Output(path=Path(order.depfile), content=rule.encode())
        # First, so that no output is ever newer than what is known of its inputs.
        wanted = [*([] if holds(depfile.path, depfile.content) else [depfile]), *wanted]
    is_there = save_outputs(session.sink, wanted)
    if is_there and not writing.keeps_times:
        is_there = refresh_times(session.sink, list(map(Path, paths)), [*sources, *used])
    return replace(found, is_built=is_there, is_changed=is_changed)


def _overwrites(session: Session, paths: Sequence[str], sources: Sequence[str]) -> bool:
    """Whether an output would replace a file that it was made from."""
    places = set(map(os.path.realpath, sources))
    taken = next((path for path in paths if os.path.realpath(path) in places), None)
    if taken is None:
        return False
    session.sink.report(_cannot_write(taken, "it is a source of this build"))
    return True
