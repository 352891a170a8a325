"""CUDA text to binaries for several targets: the toolchain's front page."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from prismc.backend.cuda_module import CudaModule
from prismc.backend.errors import CompilerUnusable, InstructionIgnored, RegistersSpill
from prismc.backend.toolchain.backmap import told_problems
from prismc.backend.toolchain.compilation import Compilation, Compiler, ToolchainFailure
from prismc.backend.toolchain.ptx_version import restated
from prismc.backend.toolchain.report import KernelReport, kernel_reports
from prismc.diagnostics.problem import Severity
from prismc.diagnostics.sink import Sink
from prismc.source.files import Files
from prismc.source.record import Record
from prismc.source.span import NOWHERE


class Binary(Record):
    """A module compiled for one target, and what its kernels cost there. `compiler` is the name
    and version of what compiled it."""

    target: str
    compiler: str
    ptx: str
    cubin: bytes
    reports: tuple[KernelReport, ...]


def unusable(failure: ToolchainFailure) -> CompilerUnusable:
    """The problem that tells why no compiler can be used."""
    return CompilerUnusable(at=NOWHERE, reason=failure.reason, remedy=failure.remedy)


def compile_module(
    module: CudaModule, target: str, compiler: Compiler, files: Files, sink: Sink
) -> Binary | None:
    """`module` for one target ("sm_90a"); None where an error was reported."""
    return compile_targets([(module, target)], compiler, files, sink)[0]


def compile_targets(
    work: Sequence[tuple[CudaModule, str]],
    compiler: Compiler,
    files: Files,
    sink: Sink,
    *,
    accepts_lost: bool = False,
    ptx_version: str = "newest",
) -> tuple[Binary | None, ...]:
    """Each module for its target, all at the same time; problems come in the order of `work`.

    `ptx_version` is what PTX is to state: `least`, `newest` or a number. With `accepts_lost` it is
    no error that ptxas gives up an instruction, as for a program that is broken on purpose.
    """
    answers: list[Compilation | ToolchainFailure | None] = [None] * len(work)

    def compile_one(index: int) -> None:
        module, target = work[index]
        try:
            answers[index] = compiler.compile(module, target)
        except ToolchainFailure as failure:
            answers[index] = failure

    threads = [threading.Thread(target=compile_one, args=(i,)) for i in range(1, len(work))]
    for thread in threads:
        thread.start()
    if work:
        compile_one(0)
    for thread in threads:
        thread.join()
    return tuple(
        _judged(answer, module, files, sink, accepts_lost, ptx_version)
        for answer, (module, _) in zip(answers, work, strict=True)
    )


def _judged(
    answer: Compilation | ToolchainFailure | None,
    module: CudaModule,
    files: Files,
    sink: Sink,
    accepts_lost: bool,
    ptx_version: str,
) -> Binary | None:
    if answer is None:
        raise RuntimeError("a compilation thread ended without an answer")
    if isinstance(answer, ToolchainFailure):
        sink.report(unusable(answer))
        return None
    problems = told_problems(answer, module, files)
    if accepts_lost:
        problems = tuple(one for one in problems if not isinstance(one, InstructionIgnored))
    for problem in problems:
        sink.report(problem)
    failed = any(problem.severity is Severity.ERROR for problem in problems)
    if failed or answer.ptx is None or answer.cubin is None:
        return None
    reports = kernel_reports(answer, module)
    _report_spills(reports, module, sink)
    ptx = restated(answer, module, ptx_version, files, sink)
    if ptx is None:
        return None
    return Binary(
        target=answer.target,
        compiler=answer.compiler,
        ptx=ptx,
        cubin=answer.cubin,
        reports=reports,
    )


def _report_spills(reports: tuple[KernelReport, ...], module: CudaModule, sink: Sink) -> None:
    for report, kernel in zip(reports, module.kernels, strict=True):
        if report.spill_stores or report.spill_loads:
            sink.report(
                RegistersSpill(
                    at=kernel.at,
                    kernel=report.kernel,
                    target=report.target,
                    registers=report.registers,
                    stores=report.spill_stores,
                    loads=report.spill_loads,
                )
            )
