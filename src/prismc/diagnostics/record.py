"""Problems for machines: the JSON of `--format json`. `docs/diagnostics-json.md` describes it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from prismc.diagnostics.problem import Problem
from prismc.source.files import Files
from prismc.source.span import Span

VERSION = 1

Json = dict[str, object]


def render_json(problems: Iterable[Problem], files: Files) -> str:
    """One JSON object with all problems; ends with a line end."""
    record = {"version": VERSION, "diagnostics": [problem_record(p, files) for p in problems]}
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


def problem_record(problem: Problem, files: Files) -> Json:
    """One problem. Labels and notes stand in `related`, so that nothing is lost."""
    return {
        "code": problem.code,
        "severity": problem.severity.value,
        "message": problem.shown_message(),
        **_place(problem.at, files),
        "related": _related(problem, files),
        "help": problem.shown_help() or None,
        "fixes": [
            {
                "title": fix.title,
                "certain": fix.is_certain,
                **_place(fix.at, files),
                "text": fix.text,
            }
            for fix in problem.fixes
        ],
    }


def _related(problem: Problem, files: Files) -> list[Json]:
    label = problem.shown_label()
    places = [(problem.at, label)] if label else []
    places += [(related.at, related.message) for related in problem.related]
    places += [(problem.at, note) for note in problem.notes]
    return [{"message": message, **_place(at, files)} for at, message in places]


def _place(span: Span, files: Files) -> Json:
    """File, start and end; lines and columns from 1, columns in characters, the end excluded."""
    start = files.position(span)
    end = files.position(Span(span.file, span.end, span.end))
    return {
        "file": span.file,
        "start": {"line": start.line, "column": start.column},
        "end": {"line": end.line, "column": end.column},
    }
