"""`prismc doc`: the page of a module."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from prismc.cli.options import (
    Presentation,
    chosen_targets,
    compiler_options,
    program_options,
    target_option,
)
from prismc.cli.render import show_page, show_problems
from prismc.diagnostics.suggest import did_you_mean
from prismc.driver.documentation import document_file
from prismc.driver.inputs import open_root
from prismc.driver.session import Session
from prismc.frontend.standard import standard_modules
from prismc.source.resources import stdlib_folder

_STANDARD = "std."


@click.command(short_help="Show what a module offers, from its comments.")
@click.argument("file", metavar="FILE|std.MODULE")
@target_option
@program_options
def doc(
    file: str,
    targets: tuple[str, ...],
    defines: tuple[tuple[str, str], ...],
    include: tuple[str, ...],
    color: str,
    max_errors: int,
) -> int:
    """Show what a module offers, in Markdown on standard output.

    Each public declaration with the comment above it, and the synchronisation that the compiler
    inserts into it.
    """
    place, title = file, Path(file).stem
    if file.startswith(_STANDARD) and not Path(file).exists():
        if file not in standard_modules():
            listed = f"there are {', '.join(standard_modules())}"
            advice = did_you_mean(file, standard_modules(), listed)
            raise click.UsageError(f"the standard library has no module `{file}`; {advice}")
        place, title = str(stdlib_folder() / f"{file.removeprefix(_STANDARD)}.prism"), file
    session = Session(compiler_options(chosen_targets(targets)[0], defines, include))
    root = open_root(session, place)
    page = document_file(session, root, title) if root is not None else None
    if page is not None:
        show_page(page, color)
    shown = Presentation(format="text", color=color, max_errors=max_errors)
    show_problems(session, shown, sys.stderr)
    return session.exit_code
