"""From one root file to files on disk: every target and every kind of output, or none of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prismc.driver.errors import NothingToLaunch
from prismc.driver.options import Options
from prismc.driver.outputs import Output
from prismc.driver.pipeline import EMITS, run_stages
from prismc.driver.pipeline_report import PipelineReport
from prismc.driver.session import Session
from prismc.hardware.targets import Target
from prismc.source.files import SourceFile
from prismc.source.identifiers import identifier, python_names
from prismc.source.record import Record, replace
from prismc.source.span import Span

if TYPE_CHECKING:
    from prismc.backend.cuda_module import CudaModule
    from prismc.backend.toolchain.build import Binary
    from prismc.backend.toolchain.compilation import Compilation, Compiler
    from prismc.backend.toolchain.report import KernelReport


class Emit(Enum):
    """A kind of output; the value is its word on the command line."""

    CUDA = "cuda"
    PTX = "ptx"
    CUBIN = "cubin"
    FATBIN = "fatbin"
    OBJECT = "obj"
    HEADER = "header"
    RECORD = "record"
    PYTHON = "python"
    STUBS = "stubs"

    @property
    def suffix(self) -> str:
        return _SUFFIXES.get(self, f".{self.value}")

    @property
    def is_joint(self) -> bool:
        """Whether one output serves all targets."""
        return self in _JOINT

    @property
    def needs_machine_code(self) -> bool:
        return self not in (Emit.CUDA, Emit.HEADER, Emit.STUBS)

    @property
    def tells_ptx(self) -> bool:
        """Whether it holds the PTX, or tells about it."""
        return self.needs_machine_code and self is not Emit.CUBIN

    def file_name(self, stem: str, target: str = "") -> str:
        """The name of an output of `stem.prism`; what Python imports is called by an identifier."""
        if self in (Emit.PYTHON, Emit.STUBS):
            (stem,) = python_names([identifier(stem)])
        return f"{stem}{f'.{target}' if target else ''}{self.suffix}"


_SUFFIXES = {
    Emit.CUDA: ".cu", Emit.OBJECT: ".o", Emit.HEADER: ".h", Emit.RECORD: ".json",
    Emit.PYTHON: ".py", Emit.STUBS: ".pyi",
}  # fmt: skip
_JOINT = (Emit.FATBIN, Emit.OBJECT, Emit.HEADER, Emit.RECORD, Emit.PYTHON, Emit.STUBS)

# Where an output goes; those that serve all targets have none.
Place = Callable[["Target | None", Emit], Path]


class Built(Record):
    """What a successful build made, target by target: outputs to write, kernels' costs, and how
    pipelines are written."""

    outputs: tuple[Output, ...]
    reports: tuple[KernelReport, ...]
    pipelines: tuple[PipelineReport, ...]


Step = Callable[[str], None]


def no_step(what: str) -> None:
    """Tells nobody that a step of a build is done."""
    del what


def build_file(
    session: Session,
    file: SourceFile,
    targets: Sequence[Target],
    kinds: Sequence[Emit],
    place: Place,
    step: Step = no_step,
) -> Built | None:
    """Everything that is asked for, in memory; None where a problem was reported.

    `place` names the file of each output. `step` is told of each target when its code is ready.
    """
    pipelines: list[PipelineReport] = []
    modules = [_emitted(session, file, target, pipelines) for target in targets]
    work = [(m, t) for m, t in zip(modules, targets, strict=True) if m is not None]
    if len(work) < len(targets) or session.has_errors():
        return None
    if not all(module.kernels for module, _ in work):
        session.sink.report(NothingToLaunch(at=Span(file.name, 0, 0)))
    needs_machine_code = any(kind.needs_machine_code for kind in kinds)
    binaries: tuple[Binary | None, ...] = ()
    if needs_machine_code:
        tells_ptx = any(kind.tells_ptx for kind in kinds)
        binaries = _compiled(session, work, _stated_version(session.options, tells_ptx), step)
        if session.sink.has_errors() or None in binaries:
            return None
    ready = tuple(binary for binary in binaries if binary is not None)
    outputs = [
        Output(path=place(target, kind), content=_own_content(kind, module, ready, number))
        for number, (module, target) in enumerate(work)
        for kind in kinds
        if not kind.is_joint
    ]
    joint = [kind for kind in kinds if kind.is_joint]
    if joint:
        outputs += _joint_outputs(session, file, work, ready, joint, place)
    reports = tuple(report for binary in ready for report in binary.reports)
    if session.has_errors():
        return None
    return Built(outputs=tuple(outputs), reports=reports, pipelines=tuple(pipelines))


def _own_content(
    kind: Emit, module: CudaModule, binaries: tuple[Binary, ...], number: int
) -> bytes:
    """An output of target `number`."""
    if kind is Emit.CUDA:
        return module.text.encode()
    return binaries[number].ptx.encode() if kind is Emit.PTX else binaries[number].cubin


def _joint_outputs(
    session: Session,
    file: SourceFile,
    work: Sequence[tuple[CudaModule, Target]],
    binaries: tuple[Binary, ...],
    kinds: Sequence[Emit],
    place: Place,
) -> list[Output]:
    """The outputs that serve all targets; fewer where problems were reported."""
    # Most builds make none of them.
    from prismc.driver.host import HostOutputs

    host = HostOutputs(session, file, work, binaries)
    makers = {
        Emit.FATBIN: host.fatbin,
        Emit.OBJECT: host.object,
        Emit.HEADER: host.header,
        Emit.RECORD: host.record,
        Emit.PYTHON: host.python,
        Emit.STUBS: host.stubs,
    }
    made = [(kind, makers[kind]()) for kind in kinds]
    return [
        Output(path=place(None, kind), content=content)
        for kind, content in made
        if content is not None
    ]


def compiled_module(session: Session, module: CudaModule) -> Binary | None:
    """One emitted module as machine code for the session's target; None after a problem."""
    options = session.options
    binaries = _compiled(session, [(module, options.target)], options.ptx_version, no_step)
    return binaries[0] if binaries else None


def _stated_version(options: Options, tells_ptx: bool) -> str:
    """The version of PTX to ask for. Finding the least takes time, which is for those who see it; a
    number may be more than the program allows, which is told in any case."""
    return options.ptx_version if tells_ptx or options.ptx_version != "least" else "newest"


def _emitted(
    session: Session, file: SourceFile, target: Target, pipelines: list[PipelineReport]
) -> CudaModule | None:
    """The CUDA text for one target; its pipelines are added to those found before."""
    # Outputs that are up to date need no checker.
    from prismc.driver.sync.shapes import pipeline_reports

    session.options = replace(session.options, target=target)
    facts: dict[str, Any] = {}
    module: CudaModule | None = run_stages(session, file, EMITS, facts)
    if module is not None:
        pipelines += pipeline_reports(facts["check"], target.name, session.files)
    return module


def _compiled(
    session: Session, work: Sequence[tuple[CudaModule, Target]], ptx_version: str, step: Step
) -> tuple[Binary | None, ...]:
    """The modules as machine code, all at the same time."""
    # Only a build needs a compiler: checking must not pay for ctypes and subprocess.
    from prismc.backend.toolchain.build import compile_targets, unusable
    from prismc.backend.toolchain.compilation import ToolchainFailure
    from prismc.driver.compilers import open_compiler

    try:
        compiler = _Telling(open_compiler(session), step)
    except ToolchainFailure as failure:
        session.sink.report(unusable(failure))
        return ()
    named = [(module, target.name) for module, target in work]
    return compile_targets(
        named,
        compiler,
        session.files,
        session.sink,
        accepts_lost=bool(session.options.dropped_sync),
        ptx_version=ptx_version,
    )


class _Telling:
    """A compiler that tells of each compilation it has done."""

    def __init__(self, compiler: Compiler, step: Step) -> None:
        self._compiler = compiler
        self._step = step

    @property
    def description(self) -> str:
        return self._compiler.description

    def compile(self, module: CudaModule, target: str) -> Compilation:
        compilation = self._compiler.compile(module, target)
        self._step(target)
        return compilation
