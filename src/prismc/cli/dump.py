"""`prismc dump`: what the compiler knows after a stage, as text."""

from __future__ import annotations

import sys

import click

from prismc.cli.options import (
    Presentation,
    asserts_option,
    chosen_targets,
    compile_options,
    compiler_options,
    target_option,
)
from prismc.cli.render import show_problems, write
from prismc.driver.inputs import open_root
from prismc.driver.pipeline import dump_file, view_names
from prismc.driver.session import Session


def _known_view(context: click.Context, parameter: click.Parameter, name: str) -> str:
    """Names of passes are known only when the IR is loaded, so not while options are declared."""
    if name == "help":
        write(sys.stdout, "\n".join(view_names()) + "\n")
        context.exit(0)
    if name not in view_names():
        raise click.BadParameter(f"{name!r} is none of {', '.join(view_names())}")
    return name


@click.command(short_help="Show what is known after a stage.")
@click.argument("file", metavar="FILE")
@click.option(
    "--after",
    "view",
    metavar="STAGE",
    required=True,
    callback=_known_view,
    help="What to show: `--after help` lists the names.",
)
@target_option
@asserts_option
@compile_options
def dump(
    file: str,
    view: str,
    targets: tuple[str, ...],
    asserts: bool,
    defines: tuple[tuple[str, str], ...],
    include: tuple[str, ...],
    format_: str,
    color: str,
    max_errors: int,
) -> int:
    """Show what the compiler knows about FILE after a stage.

    The text goes to standard output, diagnostics to standard error.
    """
    target = chosen_targets(targets)[0]
    session = Session(compiler_options(target, defines, include, asserts=asserts))
    root = open_root(session, file)
    text = dump_file(session, root, view) if root is not None else None
    if text is not None:
        write(sys.stdout, text if text.endswith("\n") else text + "\n")
    shown = Presentation(format=format_, color=color, max_errors=max_errors)
    show_problems(session, shown, sys.stderr, output_is_taken=True)
    return session.exit_code
