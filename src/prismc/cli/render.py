"""What people see. Only this module imports rich, and only for a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import TextIO

from prismc.cli.options import Presentation
from prismc.diagnostics.github import render_github
from prismc.diagnostics.record import render_json
from prismc.diagnostics.style import Role, Style, plain
from prismc.diagnostics.text import render_problems
from prismc.driver.session import Session
from prismc.source.files import SourceFile

_BOLD = "\x1b[1m"
_RESET = "\x1b[0m"
_COLORS = {
    Role.ERROR: "\x1b[1;31m",
    Role.WARNING: "\x1b[1;33m",
    Role.NOTE: "\x1b[1;36m",
    Role.HELP: "\x1b[1;32m",
    Role.MESSAGE: _BOLD,
    Role.FRAME: "\x1b[34m",
    Role.SECOND: "\x1b[36m",
}


def colored(role: Role, text: str) -> str:
    """`text` in the colour of its role, by ANSI escape sequences."""
    color = _COLORS.get(role)
    return f"{color}{text}{_RESET}" if color and text else text


def style_for(stream: TextIO, color: str) -> Style:
    """Colours where they are asked for, or where `stream` is a terminal that takes them."""
    if color == "auto":
        wanted = stream.isatty() and not os.environ.get("NO_COLOR")
        wanted = wanted and os.environ.get("TERM") != "dumb"
        return colored if wanted else plain
    return colored if color == "always" else plain


def show_problems(
    session: Session, presentation: Presentation, stream: TextIO, *, output_is_taken: bool = False
) -> None:
    """Write the problems of a run: text to `stream`; what is for machines to standard output, or to
    standard error where the run's own result goes to standard output."""
    (problems, suppressed), files = session.settled, session.files
    if presentation.format == "text":
        style = style_for(stream, presentation.color)
        write(stream, render_problems(problems, files, style, presentation.max_errors))
        return
    match presentation.format:
        case "sarif":
            # Only those who ask for it pay for its imports.
            from prismc.diagnostics.sarif import render_sarif

            pages = os.environ.get("PRISMC_DOCS", "")
            text = render_sarif(problems, files, session.exit_code, suppressed, pages)
        case "github":
            text = render_github(problems, files)
        case _:
            text = render_json(problems, files)
    write(sys.stderr if output_is_taken else sys.stdout, text)


def write(stream: TextIO, text: str) -> None:
    """Write text whatever the encoding of the stream: what it cannot show becomes an escape."""
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def show_differences(changed: Sequence[tuple[SourceFile, str]]) -> None:
    """A unified diff of each file and its new text, to be read or applied with `patch -p0`."""
    # Checking must not pay for it.
    from difflib import unified_diff

    for file, text in changed:
        old, new = (list(StringIO(each, newline="\n")) for each in (file.text, text))
        for line in unified_diff(old, new, file.name, file.name):
            end = "" if line.endswith("\n") else "\n\\ No newline at end of file\n"
            write(sys.stdout, line + end)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under their heads; what is all digits stands on the right."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    is_number = [all(row[c].isdigit() for row in rows) for c in range(len(head))]
    shown = []
    for line in lines:
        cells = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, is_number, strict=True)
        )
        shown.append("  ".join(cells).rstrip())
    return "\n".join(shown) + "\n"


def show_page(text: str, color: str) -> None:
    """A Markdown page: laid out on a terminal, as it is elsewhere."""
    if style_for(sys.stdout, color) is plain:
        write(sys.stdout, text if text.endswith("\n") else text + "\n")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(force_terminal=True).print(Markdown(text, code_theme="ansi_dark"))


class Progress:
    """Tells how many of several steps are done, on a terminal; elsewhere it says nothing."""

    def step(self, what: str, count: int = 1) -> None:
        """One more step is done, or several."""


@contextmanager
def progress(steps: int, what: str, done: str = "compiled", least: int = 2) -> Iterator[Progress]:
    """A progress bar on standard error, if that is a terminal, for `least` steps or more."""
    if steps < least or not sys.stderr.isatty():
        yield Progress()
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=steps)

        class Shown(Progress):
            def step(self, what: str, count: int = 1) -> None:
                bar.update(task, advance=count, description=f"{done} {what}")

        yield Shown()
