"""Problems as workflow commands of GitHub Actions: they become annotations of the changed lines.

One line a problem: `::error file=k.prism,line=5,col=9,endColumn=10,title=P0405: ..::message`.
GitHub's page "Workflow commands for GitHub Actions" describes them.
"""

from __future__ import annotations

from collections.abc import Iterable

from prismc.diagnostics.problem import Problem, Severity
from prismc.source.files import Files
from prismc.source.span import Span

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render_github(problems: Iterable[Problem], files: Files) -> str:
    """A line for each problem; empty for none."""
    return "".join(_command(problem, files) + "\n" for problem in problems)


def _command(problem: Problem, files: Files) -> str:
    properties = {**_place(problem.at, files), "title": f"{problem.code}: {problem.title}"}
    shown = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_COMMANDS[problem.severity]} {shown}::{_data(_words(problem, files))}"


def _place(span: Span, files: Files) -> dict[str, object]:
    """Columns are those of one line only: GitHub takes none for a span of several."""
    if not span.file:
        return {}
    start = files.position(span)
    end = files.position(Span(span.file, span.end, span.end))
    place: dict[str, object] = {"file": span.file, "line": start.line}
    if end.line > start.line:
        return {**place, "endLine": end.line}
    return {**place, "col": start.column, "endColumn": end.column}


def _words(problem: Problem, files: Files) -> str:
    """All that the text form says, the second places with their lines."""
    parts = [problem.shown_message(), problem.shown_label(), *problem.notes]
    for related in problem.related:
        line = f"{related.at.file}:{files.position(related.at).line}: " if related.at.file else ""
        parts.append(f"{line}{related.message}")
    if advice := problem.shown_help():
        parts.append(f"help: {advice}")
    return "\n".join(part for part in parts if part)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
