"""`prismc sync`: the synchronisation that is derived, in its places, with its reasons."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from prismc.checker.results import CheckedProgram
from prismc.cli.options import (
    Presentation,
    chosen_targets,
    compiler_options,
    extents,
    footprints_option,
    keep_source,
    named_values,
    program_options,
    sync_option,
    target_option,
)
from prismc.cli.render import progress, show_problems, style_for, write
from prismc.diagnostics.style import Style, plain
from prismc.driver.inputs import open_root
from prismc.driver.outputs import Output, save_outputs
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import PROGRAM_WRONG, Session
from prismc.driver.sync.account import Function, Proof, Request, account_of, with_witnesses
from prismc.driver.sync.dot import show_dot
from prismc.driver.sync.html import show_html
from prismc.driver.sync.record import render_record
from prismc.driver.sync.text import show_account, show_proof
from prismc.source.files import SourceFile


@click.command(short_help="Show where barriers come from.")
@click.argument("file", metavar="FILE")
@click.option(
    "-o",
    "--output",
    "out",
    metavar="OUT",
    help="The file to write; without it, standard output.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "dot", "html"]),
    default="text",
    show_default=True,
    help="Text; one JSON object; a Graphviz graph; one page with the graph beside the source.",
)
@click.option(
    "--prove",
    is_flag=True,
    help="Run a kernel on the emulator: nothing must be found with all operations, and something "
    "without each of them.",
)
@click.option("--kernel", metavar="K", help="The kernel to prove, if there are several.")
@click.option(
    "--grid",
    metavar="N[,N[,N]]",
    callback=extents,
    help="The blocks of the launch to prove.",
)
@click.option(
    "--arg",
    "arguments",
    metavar="NAME=VALUE",
    multiple=True,
    callback=named_values,
    help="An argument of the launch, as for `prismc run`: `n=64`, `A=randn(n, n)`, `x=@file.npy`.",
)
@click.option(
    "--schedules",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="How many schedules to try.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="For what is random.")
@click.option(
    "--time-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=300,
    show_default=True,
    help="Give up on a program of more processor time; without one operation, on that alone.",
)
@sync_option
@footprints_option
@target_option
@program_options
def sync(
    file: str,
    out: str | None,
    format_: str,
    prove: bool,
    kernel: str | None,
    grid: tuple[int, ...],
    arguments: tuple[tuple[str, str], ...],
    schedules: int,
    seed: int,
    time_limit: float,
    placement: str,
    footprints: str,
    targets: tuple[str, ...],
    defines: tuple[tuple[str, str], ...],
    include: tuple[str, ...],
    color: str,
    max_errors: int,
) -> int:
    """Show the synchronisation of FILE: which operations the compiler inserts, and why.

    For each: the accesses that it puts in order, the threads on both sides, the path between them,
    what would have no order without it, its instruction and what that costs.
    """
    target = chosen_targets(targets)[0]
    options = compiler_options(target, defines, include, placement=placement, footprints=footprints)
    session = Session(options)
    root = open_root(session, file)
    proof: Proof | None = None
    checked = run_stages(session, root, CHECKS) if root is not None else None
    if root is not None and checked is not None and not session.sink.has_errors():
        functions = account_of(session, checked)
        if prove:
            request = Request(
                kernel=kernel,
                grid=grid,
                arguments=arguments,
                schedules=schedules,
                seed=seed,
                time_limit=time_limit,
            )
            proof = prove_plan(session, root, checked, functions, request)
            functions = functions if proof is None else with_witnesses(functions, proof)
        if not session.sink.has_errors():
            style = plain if out is not None else style_for(sys.stdout, color)
            put(session, file, out, shown(session, functions, proof, format_, style))
    problems_format = "json" if format_ == "json" and session.sink.has_errors() else "text"
    show_problems(
        session,
        Presentation(format=problems_format, color=color, max_errors=max_errors),
        sys.stderr,
    )
    return session.exit_code or (PROGRAM_WRONG if proof is not None and not proof.holds else 0)


def prove_plan(
    session: Session,
    root: SourceFile,
    checked: CheckedProgram,
    functions: Sequence[Function],
    request: Request,
) -> Proof | None:
    """What the emulator finds; None with the problems in the session."""
    # Only a proof needs NumPy, the emulator and a CUDA compiler.
    from prismc.driver.kernels import RunError
    from prismc.driver.sync.prove import prove

    if not request.grid:
        raise click.UsageError("`--prove` needs `--grid`: the blocks of the launch")
    steps = 1 + sum(len(function.operations) for function in functions)
    try:
        with progress(steps, "proving") as bar:
            return prove(session, root, checked.program, functions, request, bar.step)
    except RunError as error:
        raise click.ClickException(str(error)) from error


def shown(
    session: Session,
    functions: Sequence[Function],
    proof: Proof | None,
    format_: str,
    style: Style,
) -> str:
    """The account in one of the formats."""
    match format_:
        case "json":
            return render_record(functions, session.options.target.name, proof)
        case "dot":
            return show_dot(functions, session.files)
        case "html":
            return show_html(functions, session.files, session.root, proof)
        case _:
            text = show_account(functions, session.files, style)
            return text if proof is None else f"{text}\n{show_proof(proof)}"


def put(session: Session, file: str, out: str | None, text: str) -> None:
    """The text into a file, which a reader sees whole or not at all, or to standard output."""
    if out is None or out == "-":
        write(sys.stdout, text)
        return
    keep_source(Path(file), Path(out))
    save_outputs(session.sink, [Output(path=Path(out), content=text.encode())])
