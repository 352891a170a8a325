"""`prismc build`: programs to CUDA C++, PTX, machine code, and what launches it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from prismc.cli.dependencies import Dependencies, dependency_options
from prismc.cli.options import (
    Presentation,
    asserts_option,
    cache_option,
    chosen_strictness,
    chosen_targets,
    compile_options,
    compiler_options,
    footprints_option,
    jobs_option,
    keep_source,
    ptx_version_option,
    strictness_options,
    sync_option,
    target_option,
)
from prismc.cli.render import progress, show_problems, table, write
from prismc.driver.build import Emit, Place, no_step
from prismc.driver.cache import Cache
from prismc.driver.inputs import STANDARD_INPUT, open_root
from prismc.driver.project import TO_STANDARD_OUTPUT, Order, Result, Writing, build_files
from prismc.driver.session import Session
from prismc.hardware.targets import Target

if TYPE_CHECKING:
    from prismc.backend.toolchain.report import BarrierCounts, KernelReport
    from prismc.driver.pipeline_report import PipelineReport


@click.command(short_help="Build CUDA C++, PTX, machine code, and headers to launch it.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    "out",
    metavar="OUT",
    help="The file to write, or a folder where there are several outputs; `-` writes a single one "
    "to standard output. Without it, outputs stand beside each FILE.",
)
@click.option(
    "--emit",
    "kinds",
    type=click.Choice([kind.value for kind in Emit]),
    multiple=True,
    help="What to write (repeatable). Without it, what OUT's ending says: .cu .ptx .cubin .fatbin "
    ".o .h .json .py .pyi; else a cubin. A Python module comes with its stubs.",
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
    help="Show what each kernel costs: registers, shared bytes, spills, how many blocks a "
    "multiprocessor (SM) holds at once, barriers; and how each pipeline is written. "
    "Shown on a terminal anyway.",
)
@click.option(
    "--if-changed/--always",
    "if_changed",
    default=True,
    show_default=True,
    help="Leave outputs that hold what they should; they only get a new time where an input is "
    "newer, as make needs it.",
)
@click.option(
    "--keep-times",
    is_flag=True,
    help="Leave the time of such outputs too, for rules of Ninja with `restat = 1`.",
)
@dependency_options
@asserts_option
@sync_option
@footprints_option
@ptx_version_option
@click.option(
    "--drop-sync",
    "dropped_sync",
    metavar="N",
    type=click.IntRange(min=0),
    multiple=True,
    help="For tests: leave out operation N of `prismc dump --after plan` (repeatable).",
)
@jobs_option
@cache_option
@strictness_options
@compile_options
def build(
    files: tuple[str, ...],
    out: str | None,
    kinds: tuple[str, ...],
    targets: tuple[str, ...],
    compiler: str,
    report: bool | None,
    if_changed: bool,
    keep_times: bool,
    dependencies: Dependencies,
    asserts: bool,
    placement: str,
    footprints: str,
    ptx_version: str,
    dropped_sync: tuple[int, ...],
    jobs: int,
    cache: Cache | None,
    denied: tuple[str, ...],
    allowed: tuple[str, ...],
    defines: tuple[tuple[str, str], ...],
    include: tuple[str, ...],
    format_: str,
    color: str,
    max_errors: int,
) -> int:
    """Build each FILE for each target into each kind of output.

    With several targets, their names stand in the outputs' names: `saxpy.sm_90a.cubin`. One fatbin,
    obj, header, record or Python module serves all targets. Where a FILE fails, nothing of it is
    written and its older outputs stay as they are.
    """
    started = time.monotonic()
    chosen = chosen_targets(targets)
    emits = _kinds(kinds, out)
    names = tuple(dict.fromkeys(files))
    places = [_places(name, out, chosen, emits, is_alone=len(names) == 1) for name in names]
    dependencies.require_use(len(names), out)
    if out == TO_STANDARD_OUTPUT and format_ == "json":
        raise click.UsageError("the output and the JSON would both go to standard output")
    options = compiler_options(
        chosen[0],
        defines,
        include,
        compiler,
        dropped_sync,
        asserts,
        placement,
        footprints,
        ptx_version,
    )
    strictness = chosen_strictness(denied, allowed)
    session = Session(options, cache=cache, strictness=strictness)
    roots = [(open_root(session, name), place) for name, place in zip(names, places, strict=True)]
    orders = [
        Order(
            file=root,
            targets=tuple(chosen),
            kinds=tuple(emits),
            place=place,
            depfile=dependencies.file(place(None, emits[0])),
            rule=dependencies.style,
        )
        for root, place in roots
        if root is not None
    ]
    writing = Writing(always=not if_changed, keeps_times=keep_times)
    results = _built(session, orders, jobs, writing)
    if out == TO_STANDARD_OUTPUT and results and results[0].content is not None:
        sys.stdout.buffer.write(results[0].content)
    shown = Presentation(format=format_, color=color, max_errors=max_errors)
    show_problems(session, shown, sys.stderr)
    wants_report = sys.stdout.isatty() if report is None else report
    if format_ == "text":
        if not session.exit_code and wants_report:
            show_reports([each for result in results for each in result.reports])
            show_pipelines([each for result in results for each in result.pipelines])
        if len(names) > 1:
            summary = _summary(results, len(names), time.monotonic() - started)
            write(sys.stderr, summary)
    return session.exit_code


def _built(session: Session, orders: list[Order], jobs: int, writing: Writing) -> list[Result]:
    """The results in the order of `orders`, with progress on a terminal: by file where there are
    several, else by target."""
    is_alone = len(orders) == 1
    results: list[Result | None] = [None] * len(orders)
    steps = len(orders[0].targets) if is_alone else len(orders)
    with progress(steps, "building", "built") as bar:
        step = bar.step if is_alone else no_step
        for number, result in build_files(session, orders, jobs, step, writing):
            results[number] = result
            if not is_alone:
                bar.step(orders[number].file.name)
    return [result for result in results if result is not None]


def _summary(results: Sequence[Result], files: int, seconds: float) -> str:
    """`20 files: 3 built, 17 up to date in 0.8 s`."""
    built = sum(result.is_built and result.is_changed for result in results)
    same = sum(result.is_built and not result.is_changed for result in results)
    words = [f"{built} built", f"{same} up to date"]
    if failed := files - built - same:
        words.append(f"{failed} failed")
    return f"{files} files: {', '.join(words)} in {seconds:.1f} s\n"


def _kinds(named: Sequence[str], out: str | None) -> list[Emit]:
    """What is written: what is named, or else what a file of this name holds; a cubin where the
    name does not tell."""
    suffix = Path(out or "").suffix
    told = next((kind for kind in Emit if kind.suffix == suffix), Emit.CUBIN)
    kinds = [Emit(kind) for kind in dict.fromkeys(named)] or [told]
    has_stubs = Emit.PYTHON in kinds and out != TO_STANDARD_OUTPUT
    return [*kinds, Emit.STUBS] if has_stubs and Emit.STUBS not in kinds else kinds


def _places(
    file: str, out: str | None, targets: list[Target], kinds: list[Emit], *, is_alone: bool
) -> Place:
    """Where each output of a file goes; `is_alone` says that there is no other file."""
    if out == "":
        raise click.UsageError("`-o` names no output")
    count = sum(1 if kind.is_joint else len(targets) for kind in kinds)
    if out == TO_STANDARD_OUTPUT:
        if count > 1 or not is_alone:
            raise click.UsageError("`-o -` takes a single output; name one --emit and one --target")
        return lambda target, kind: Path("-")
    if out is None and file == "-":
        raise click.UsageError("name the output of standard input with `-o`")
    source = Path(STANDARD_INPUT.strip("<>") if file == "-" else file)
    is_single = is_alone and (count == 1 or kinds == [Emit.PYTHON, Emit.STUBS])
    if out is not None and is_single and not out.endswith("/") and not Path(out).is_dir():
        keep_source(source, Path(out))
        stubs = Path(out).with_suffix(Emit.STUBS.suffix)
        return lambda target, kind: stubs if kind is Emit.STUBS and count > 1 else Path(out)
    folder = source.parent if out is None else Path(out)
    _require_folder(folder, out)

    def place(target: Target | None, kind: Emit) -> Path:
        middle = target.name if target is not None and len(targets) > 1 else ""
        return folder / kind.file_name(source.stem, middle)

    for kind in kinds:
        for target in [None] if kind.is_joint else targets:
            keep_source(source, place(target, kind))
    return place


def _require_folder(folder: Path, out: str | None) -> None:
    """Several outputs go to a folder, which may still be made: but not by the name of a file."""
    if folder.is_dir():
        return
    if folder.exists():
        raise click.UsageError(f"several outputs go to a folder, and `{out}` is a file")
    if folder.suffix in {kind.suffix for kind in Emit} and not str(out).endswith("/"):
        raise click.UsageError(
            f"`{out}` names one output, and there are several: name a folder, `-o {folder.stem}/`"
        )


def show_reports(reports: Sequence[KernelReport]) -> None:
    """A table on standard output: what each kernel costs on each target."""
    if not reports:
        return
    head = (
        "kernel", "target", "registers", "shared bytes", "spill bytes", "blocks an SM", "barriers"
    )  # fmt: skip
    rows = [
        (
            report.kernel,
            report.target,
            str(report.registers),
            str(report.shared_bytes),
            str(report.spill_stores + report.spill_loads),
            str(report.resident),
            describe_barriers(report.barriers),
        )
        for report in reports
    ]
    write(sys.stdout, table(head, rows))


def show_pipelines(pipelines: Sequence[PipelineReport]) -> None:
    """How each pipeline is written, with the targets where there are several."""
    targets: dict[tuple[str, str], list[str]] = {}
    for one in pipelines:
        targets.setdefault((one.function, one.words), []).append(one.target)
    is_one = len({one.target for one in pipelines}) == 1
    for (function, words), named in targets.items():
        place = "" if is_one else f" ({', '.join(named)})"
        write(sys.stdout, f"{function}{place}: {words}\n")


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
