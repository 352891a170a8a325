"""`prismc cpu-driver`: a CUDA driver for machines without a GPU."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.cli.options import Presentation, message_options
from prismc.cli.render import show_problems
from prismc.driver.cpu.library import NAME, compile_driver
from prismc.driver.errors import ToolUnusable
from prismc.driver.options import Options
from prismc.driver.outputs import Output, save_outputs
from prismc.driver.session import Session
from prismc.hardware.targets import DEFAULT_TARGET, TARGETS
from prismc.source.span import NOWHERE


@click.command(short_help="Build a CUDA driver library that runs kernels on the CPU.")
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="FOLDER",
    required=True,
    help="Where the library `libcuda.so.1` is put.",
)
@click.option(
    "--device",
    type=click.Choice(list(TARGETS)),
    default=DEFAULT_TARGET.name,
    show_default=True,
    help="The device that programs find; PRISM_CPU_DEVICE names another when they run.",
)
@message_options
def cpu_driver(folder: str, device: str, color: str, max_errors: int) -> int:
    """Build a CUDA driver library for programs that launch kernels, where no GPU is.

    With LD_LIBRARY_PATH=FOLDER a program finds one device. Its launches are executed as by
    `prismc run`: a race, a bad access or a deadlock fails the launch and is told on standard error.
    Kernels must be there as PTX.
    """
    session = Session(Options())
    try:
        content = compile_driver(device)
    except ToolchainFailure as failure:
        problem = ToolUnusable(at=NOWHERE, reason=failure.reason, remedy=failure.remedy)
        session.sink.report(problem)
    else:
        save_outputs(session.sink, [Output(path=Path(folder, NAME), content=content)])
    shown = Presentation(format="text", color=color, max_errors=max_errors)
    show_problems(session, shown, sys.stderr)
    return session.exit_code
