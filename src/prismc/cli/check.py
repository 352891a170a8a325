"""`prismc check`: the front end and the checker over files and folders."""

from __future__ import annotations

import sys

import click

from prismc.cli.options import (
    Presentation,
    cache_option,
    chosen_strictness,
    chosen_targets,
    compile_options,
    compiler_options,
    footprints_option,
    jobs_option,
    strictness_options,
    sync_option,
    target_option,
)
from prismc.cli.render import show_problems, write
from prismc.driver.cache import Cache
from prismc.driver.checking import check_files
from prismc.driver.inputs import root_files
from prismc.driver.session import Session
from prismc.source.record import replace


@click.command(short_help="Check programs without building them.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@target_option
@click.option(
    "--races",
    type=click.Choice(["deny", "warn", "off"]),
    default="warn",
    show_default=True,
    help="What it is that threads meet in one scope, where no barrier can stand: an error, a "
    "warning, or nothing.",
)
@sync_option
@footprints_option
@jobs_option
@cache_option
@strictness_options
@compile_options
def check(
    paths: tuple[str, ...],
    races: str,
    placement: str,
    footprints: str,
    jobs: int,
    cache: Cache | None,
    denied: tuple[str, ...],
    allowed: tuple[str, ...],
    targets: tuple[str, ...],
    defines: tuple[tuple[str, str], ...],
    include: tuple[str, ...],
    format_: str,
    color: str,
    max_errors: int,
) -> int:
    """Check Prism files: names, types, perspectives, memory, synchronisation.

    PATH is a file, a folder (all `.prism` files below it), or `-` for standard input.
    """
    wanted = [
        replace(
            compiler_options(target, defines, include, placement=placement, footprints=footprints),
            races=races,
        )
        for target in chosen_targets(targets)
    ]
    strictness = chosen_strictness(denied, allowed)
    session = Session(wanted[0], cache=cache, strictness=strictness)
    files = root_files(session, paths)
    check_files(session, files, wanted, jobs)
    show_problems(
        session, Presentation(format=format_, color=color, max_errors=max_errors), sys.stdout
    )
    if format_ == "text" and not session.problems and sys.stderr.isatty():
        noun = "file" if len(files) == 1 else "files"
        write(sys.stderr, f"{len(files)} {noun} checked, no problems\n")
    return session.exit_code
