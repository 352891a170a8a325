"""`prismc fmt`: the canonical layout."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from prismc.cli.options import Presentation, message_options
from prismc.cli.render import show_differences, show_problems, write
from prismc.driver.formatting import Formatted, format_file, write_formatted
from prismc.driver.inputs import STANDARD_INPUT, root_files
from prismc.driver.options import Options
from prismc.driver.session import PROGRAM_WRONG, Session


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; list the files that would change, and exit with 1 if there are any.",
)
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@message_options
def fmt(paths: tuple[str, ...], check: bool, diff: bool, color: str, max_errors: int) -> int:
    """Lay out Prism files: indentation, spaces, blank lines, lines that are too long.

    PATH is a file, a folder (all `.prism` files below it), or `-` for standard input, which comes
    back on standard output. Comments stay, and what a program means. Files with syntax errors
    stay as they are.
    """
    session = Session(Options())
    files = root_files(session, paths)
    results = [each for file in files if (each := format_file(session, file))]
    changed = [each for each in results if each.is_changed]
    if diff:
        show_differences([(each.file, each.text) for each in changed])
    elif check:
        write(sys.stdout, "".join(f"{each.file.name}\n" for each in changed))
    else:
        put(session, results)
    show_problems(
        session, Presentation(format="text", color=color, max_errors=max_errors), sys.stderr
    )
    if not diff and not check and sys.stderr.isatty():
        write(sys.stderr, f"{len(changed)} of {len(files)} formatted\n")
    return session.exit_code or (PROGRAM_WRONG if check and changed else 0)


def put(session: Session, results: Sequence[Formatted]) -> None:
    """Files into their places, standard input to standard output."""
    for each in results:
        if each.file.name == STANDARD_INPUT:
            sys.stdout.buffer.write(each.text.encode())
    in_files = [each for each in results if each.file.name != STANDARD_INPUT]
    write_formatted(session, [each for each in in_files if each.is_changed])
