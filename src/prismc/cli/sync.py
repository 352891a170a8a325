"""`prismc sync`: the synchronisation that is derived, in its places, with its reasons."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from prismc.cli.options import (
    Presentation,
    chosen_targets,
    compiler_options,
    keep_source,
    program_options,
    target_option,
)
from prismc.cli.render import show_problems, style_for, write
from prismc.diagnostics.style import Style, plain
from prismc.driver.inputs import open_root
from prismc.driver.outputs import Output, save_outputs
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session
from prismc.driver.sync.account import Function, account_of
from prismc.driver.sync.dot import show_dot
from prismc.driver.sync.html import show_html
from prismc.driver.sync.record import render_record
from prismc.driver.sync.text import show_account


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
@target_option
@program_options
def sync(
    file: str,
    out: str | None,
    format_: str,
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
    session = Session(compiler_options(chosen_targets(targets)[0], defines, include))
    root = open_root(session, file)
    checked = run_stages(session, root, CHECKS) if root is not None else None
    if checked is not None and not session.sink.has_errors():
        functions = account_of(session, checked)
        style = plain if out is not None else style_for(sys.stdout, color)
        put(session, file, out, shown(session, functions, format_, style))
    problems_format = "json" if format_ == "json" and session.sink.has_errors() else "text"
    show_problems(
        session,
        Presentation(format=problems_format, color=color, max_errors=max_errors),
        sys.stderr,
    )
    return session.exit_code


def shown(session: Session, functions: Sequence[Function], format_: str, style: Style) -> str:
    """The account in one of the formats."""
    match format_:
        case "json":
            return render_record(functions, session.options.target.name)
        case "dot":
            return show_dot(functions, session.files)
        case "html":
            return show_html(functions, session.files, session.root)
        case _:
            return show_account(functions, session.files, style)


def put(session: Session, file: str, out: str | None, text: str) -> None:
    """The text into a file, which a reader sees whole or not at all, or to standard output."""
    if out is None or out == "-":
        write(sys.stdout, text)
        return
    keep_source(Path(file), Path(out))
    save_outputs(session.sink, [Output(path=Path(out), content=text.encode())])
