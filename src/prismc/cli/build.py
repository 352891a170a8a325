"""`prismc build`: one program to CUDA C++, PTX and cubins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prismc.cli.options import (
    Presentation,
    asserts_option,
    chosen_targets,
    compile_options,
    compiler_options,
    keep_source,
    sync_option,
    target_option,
)
from prismc.cli.render import progress, show_problems, table, write
from prismc.driver.build import Built, Emit, Place, build_file, write_built
from prismc.driver.inputs import STANDARD_INPUT, open_root
from prismc.driver.session import Session
from prismc.hardware.targets import Target

if TYPE_CHECKING:
    from prismc.backend.toolchain.report import BarrierCounts, KernelReport


@click.command(short_help="Build CUDA C++, PTX, machine code, and headers to launch it.")
@click.argument("file", metavar="FILE")
@click.option(
    "-o",
    "--output",
    "out",
    metavar="OUT",
    help="The file to write, or a folder where there are several outputs; `-` writes a single one "
    "to standard output. Without it, outputs stand beside FILE.",
)
@click.option(
    "--emit",
    "kinds",
    type=click.Choice([kind.value for kind in Emit]),
    multiple=True,
    help="What to write (repeatable). Without it, what OUT's ending says: .cu .ptx .cubin .fatbin "
    ".o .h .json; else a cubin.",
)
@target_option
@click.option(
    "--with",
    "compiler",
    type=click.Choice(["nvrtc", "nvcc"]),
    default="nvrtc",
    show_default=True,
    help="The CUDA compiler to use.",
)
@click.option(
    "--report/--no-report",
    default=None,
    help="Show what each kernel costs: registers, shared bytes, spills, barriers. "
    "Shown on a terminal anyway.",
)
@click.option(
    "--depfile",
    metavar="FILE",
    help="Write a rule for make or Ninja that names all files the outputs depend on.",
)
@asserts_option
@sync_option
@click.option(
    "--drop-sync",
    "dropped_sync",
    metavar="N",
    type=click.IntRange(min=0),
    multiple=True,
    help="For tests: leave out operation N of `prismc dump --after plan` (repeatable).",
)
@compile_options
def build(
    file: str,
    out: str | None,
    kinds: tuple[str, ...],
    targets: tuple[str, ...],
    compiler: str,
    report: bool | None,
    depfile: str | None,
    asserts: bool,
    placement: str,
    dropped_sync: tuple[int, ...],
    defines: tuple[tuple[str, str], ...],
    include: tuple[str, ...],
    format_: str,
    color: str,
    max_errors: int,
) -> int:
    """Build FILE for each target into each kind of output.

    With several targets, their names stand in the outputs' names: `saxpy.sm_90a.cubin`. One fatbin,
    obj, header or record serves all targets. A build that fails writes nothing and leaves older
    outputs as they are.
    """
    chosen = chosen_targets(targets)
    emits = [Emit(kind) for kind in dict.fromkeys(kinds)] or [_kind_of(out)]
    place = _places(file, out, chosen, emits)
    if out == "-" and depfile is not None:
        raise click.UsageError("`--depfile` names the outputs, and `-o -` writes no file")
    if out == "-" and format_ == "json":
        raise click.UsageError("the output and the JSON would both go to standard output")
    session = Session(
        compiler_options(chosen[0], defines, include, compiler, dropped_sync, asserts, placement)
    )
    root = open_root(session, file)
    built: Built | None = None
    if root is not None:
        with progress(len(chosen), "compiling") as bar:
            built = build_file(session, root, chosen, emits, place, bar.step)
    if built is not None and out == "-":
        sys.stdout.buffer.write(built.outputs[0].content)
    elif built is not None:
        write_built(session, built, depfile)
    shown = Presentation(format=format_, color=color, max_errors=max_errors)
    show_problems(session, shown, sys.stderr)
    wants_report = sys.stdout.isatty() if report is None else report
    if built is not None and not session.exit_code and wants_report and format_ == "text":
        show_reports(built.reports)
    return session.exit_code


def _kind_of(out: str | None) -> Emit:
    """What a file of this name holds; a cubin where the name does not tell."""
    suffix = Path(out or "").suffix
    return next((kind for kind in Emit if kind.suffix == suffix), Emit.CUBIN)


def _places(
    file: str, out: str | None, targets: list[Target], kinds: list[Emit]
) -> Place:
    """Where each output goes."""
    count = sum(1 if kind.is_joint else len(targets) for kind in kinds)
    if out == "-":
        if count > 1:
            raise click.UsageError("`-o -` takes a single output; name one --emit and one --target")
        return lambda target, kind: Path("-")
    if out is None and file == "-":
        raise click.UsageError("name the output of standard input with `-o`")
    source = Path(STANDARD_INPUT.strip("<>") if file == "-" else file)
    if out is not None and count == 1 and not out.endswith("/") and not Path(out).is_dir():
        keep_source(source, Path(out))
        return lambda target, kind: Path(out)
    folder = source.parent if out is None else Path(out)
    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"{count} outputs go to a folder, and `{out}` is a file")

    def place(target: Target | None, kind: Emit) -> Path:
        middle = f".{target.name}" if target is not None and len(targets) > 1 else ""
        return folder / f"{source.stem}{middle}{kind.suffix}"

    for kind in kinds:
        for target in [None] if kind.is_joint else targets:
            keep_source(source, place(target, kind))
    return place


def show_reports(reports: tuple[KernelReport, ...]) -> None:
    """A table on standard output: what each kernel costs on each target."""
    if not reports:
        return
    head = ("kernel", "target", "registers", "shared bytes", "spill bytes", "barriers")
    rows = [
        (
            report.kernel,
            report.target,
            str(report.registers),
            str(report.shared_bytes),
            str(report.spill_stores + report.spill_loads),
            describe_barriers(report.barriers),
        )
        for report in reports
    ]
    write(sys.stdout, table(head, rows))


def describe_barriers(counts: BarrierCounts) -> str:
    """How many places of the PTX wait, by kind: `2 warp + 1 block`."""
    kinds = {
        "block": counts.full,
        "named": counts.named,
        "warp": counts.warp,
        "cluster": counts.cluster,
        "mbarrier": counts.mbarrier_waits,
    }
    used = [f"{number} {kind}" for kind, number in kinds.items() if number]
    return " + ".join(used) or "0"
