"""Tests run, several at a time, each under a number of schedules."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from prismc.diagnostics.excerpt import Mark, draw_excerpt, last_line_number
from prismc.diagnostics.style import Role, plain
from prismc.driver.compiling import Compiled, compiled_images
from prismc.driver.gpu.device import Gpu
from prismc.driver.kernels import Kernel
from prismc.driver.session import Session
from prismc.driver.testing.collect import Case, compiled_case
from prismc.driver.testing.device import EmulatedDevice, GpuDevice
from prismc.driver.testing.interpreter import Device, Interpreter, Stopped
from prismc.driver.workers import shared_work
from prismc.emulator.schedule import adversaries
from prismc.hardware.targets import Target
from prismc.source.files import Files
from prismc.source.record import Value, replace
from prismc.source.span import Span


class Verdict(NamedTuple):
    """How a test went: what is at fault, each with its place, and what kernels printed.

    An empty `failures` is success. `seconds` is the time of all schedules, compilation included
    where this test was the first of its file.
    """

    seconds: float
    failures: tuple[str, ...]
    printed: str

    @property
    def is_passed(self) -> bool:
        return not self.failures


class Running(Value):
    """How tests are run: `schedules` orders of execution, random numbers by `seed`, and at most
    `time_limit` seconds of processor time for each order. With a `device` of `gpu` there is
    one order, a GPU's."""

    device: str = "cpu"
    schedules: int = 1
    seed: int = 0
    time_limit: float | None = None


def run_tests(
    session: Session, cases: Sequence[Case], running: Running, jobs: int
) -> Iterator[tuple[int, Verdict]]:
    """Each test's number and verdict, in the order in which they are done."""
    compiled: dict[str, tuple[Kernel, ...]] = {}
    if running.device == "gpu":
        # A driver does not survive a fork, and the GPU is one.
        yield from (
            (number, run_on_gpu(session, case, running)) for number, case in enumerate(cases)
        )
        return

    def work(number: int) -> tuple[Any, ...]:
        return tuple(run_case(session, cases[number], running, compiled))

    for number, answer in shared_work(work, len(cases), jobs):
        yield number, Verdict(*(work(number) if answer is None else answer))


def run_case(
    session: Session,
    case: Case,
    running: Running,
    compiled: dict[str, tuple[Kernel, ...]],
) -> Verdict:
    """One test on the PTX machine. `compiled` holds the kernels of files that came before."""

    def kernels() -> tuple[Kernel, ...]:
        if case.file.name not in compiled:
            compiled[case.file.name] = compiled_case(session, case).kernels
        return compiled[case.file.name]

    start = time.monotonic()
    failures: dict[str, None] = {}
    printed = ""
    for plan in adversaries(running.schedules, running.seed):
        device = EmulatedDevice(kernels, plan, session.files, running.time_limit)
        failure = run_once(case, device, running.seed, session.files)
        printed = printed or device.printed
        if failure:
            failures[device.faults or failure] = None
    return Verdict(round(time.monotonic() - start, 3), tuple(failures), printed)


def run_on_gpu(session: Session, case: Case, running: Running) -> Verdict:
    """One test on the machine's GPU. Raises RunError where there is none."""

    def compiled_for(target: Target) -> Compiled:
        options = replace(case.options, target=target)
        return compiled_case(session, replace(case, options=options))

    start = time.monotonic()
    gpu = Gpu(compiled_images(compiled_for, None))
    failure = run_once(case, GpuDevice(gpu), running.seed, session.files)
    return Verdict(round(time.monotonic() - start, 3), (failure,) if failure else (), "")


def run_once(case: Case, device: Device, seed: int, files: Files) -> str:
    """One run of a test; what stopped it, with its place, or nothing."""
    try:
        Interpreter(case.test, device, seed).run()
    except Stopped as stopped:
        return told(stopped, files)
    return ""


def told(stopped: Stopped, files: Files) -> str:
    """A failure as it is shown: what, where, the lines, and what the assertion says."""
    at = stopped.at
    file = files.known(at.file)
    line, column = file.position(at.start)
    mark = Mark(_one_line(at, files), "", Role.ERROR)
    width = len(str(last_line_number(file, [mark])))
    lines = [f"{stopped.message}", f"  --> {at.file}:{line}:{column}"]
    lines += [f"  {row}" for row in draw_excerpt(file, [mark], width, plain)]
    lines += [f"  note: {stopped.note}"] if stopped.note else []
    return "\n".join(lines) + "\n"


def _one_line(at: Span, files: Files) -> Span:
    text = files.known(at.file).text[at.start : at.end]
    return Span(at.file, at.start, at.start + len(text.partition("\n")[0]))
