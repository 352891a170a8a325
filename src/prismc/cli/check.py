"""`prismc check`: the front end and the checker over files and folders."""

from __future__ import annotations

import sys
from collections.abc import Sequence

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
from prismc.cli.render import show_differences, show_problems, write
from prismc.driver.cache import Cache
from prismc.driver.checking import check_files
from prismc.driver.inputs import STANDARD_INPUT, root_files
from prismc.driver.mending import mend_files, write_mended
from prismc.driver.options import Options
from prismc.driver.session import Session
from prismc.source.files import SourceFile
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
@click.option(
    "--fix", is_flag=True, help="Apply the fixes that are certain, check again, tell what remains."
)
@click.option("--diff", is_flag=True, help="With `--fix`: write nothing, show what would change.")
@sync_option
@footprints_option
@jobs_option
@cache_option
@strictness_options
@compile_options
def check(
    paths: tuple[str, ...],
    races: str,
    fix: bool,
    diff: bool,
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
    shown = Presentation(format=format_, color=color, max_errors=max_errors)
    if fix or diff:
        if not fix:
            raise click.UsageError("`--diff` shows what `--fix` would change: name both")
        return _mend(session, files, wanted, jobs, shown, diff=diff)
    check_files(session, files, wanted, jobs)
    show_problems(session, shown, sys.stdout)
    if format_ == "text" and not session.problems and sys.stderr.isatty():
        noun = "file" if len(files) == 1 else "files"
        write(sys.stderr, f"{len(files)} {noun} checked, no problems\n")
    return session.exit_code


def _mend(
    session: Session,
    files: Sequence[SourceFile],
    options: Sequence[Options],
    jobs: int,
    shown: Presentation,
    *,
    diff: bool,
) -> int:
    """Apply what is certain to the files, or show it as a difference on standard output."""
    if not diff and any(file.name == STANDARD_INPUT for file in files):
        raise click.UsageError("`--fix` changes files: add `--diff` for standard input")
    last, mended = mend_files(session, files, options, jobs)
    if diff:
        show_differences([(each.file, each.text) for each in mended])
    else:
        write_mended(last, mended)
    show_problems(last, shown, sys.stderr if diff else sys.stdout, output_is_taken=diff)
    if shown.format == "text" and sys.stderr.isatty():
        count = sum(each.count for each in mended)
        nouns = "fix" if count == 1 else "fixes", "file" if len(mended) == 1 else "files"
        write(sys.stderr, f"{count} {nouns[0]} in {len(mended)} {nouns[1]}\n")
    return last.exit_code
