"""Problems as SARIF 2.1.0, which code scanning services and editors read.

One run, whose rules are the codes that were found, each with its explanation. What points at no
place of a program (a missing file, no CUDA compiler) is told as a notification of the invocation,
not as a result. Section numbers are those of the OASIS standard.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from prismc.diagnostics.problem import Fix, Problem, Severity
from prismc.source.files import Files
from prismc.source.resources import explain_folder
from prismc.source.span import Span
from prismc.source.version import VERSION

Json = dict[str, object]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LINK = re.compile(r"\[([^\[\]]*)\](?=\()")


def render_sarif(problems: Iterable[Problem], files: Files, exit_code: int) -> str:
    """One SARIF log with all problems; ends with a line end."""
    everything = tuple(problems)
    results = [problem for problem in everything if _is_result(problem)]
    others = [problem for problem in everything if not _is_result(problem)]
    classes = {problem.code: type(problem) for problem in results}
    rules = sorted(classes)
    run: Json = {
        "tool": {
            "driver": {
                "name": "prismc",
                "version": VERSION,
                "rules": [_rule(classes[code]) for code in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(others, exit_code)],
        "results": [_result(problem, files, rules) for problem in results],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _is_result(problem: Problem) -> bool:
    return bool(problem.at.file) and not problem.is_environment


def _invocation(problems: Sequence[Problem], exit_code: int) -> Json:
    """How the run itself went (3.20): a program that is wrong is no failure of the tool."""
    return {
        "executionSuccessful": not any(problem.severity is Severity.ERROR for problem in problems),
        "exitCode": exit_code,
        "toolExecutionNotifications": [
            {
                "descriptor": {"id": problem.code},
                "level": problem.severity.value,
                "message": _message(_words(problem)),
            }
            for problem in problems
        ],
    }


def _rule(kind: type[Problem]) -> Json:
    """A reporting descriptor (3.49) from the class and its page of explanations."""
    rule: Json = {
        "id": kind.code,
        "shortDescription": _message(kind.title),
        "defaultConfiguration": {"level": kind.severity.value},
    }
    page = explain_folder() / f"{kind.code}.md"
    if page.is_file():
        text = page.read_text(encoding="utf-8")
        rule["help"] = {"text": _escaped(text), "markdown": text}
    return rule


def _result(problem: Problem, files: Files, rules: Sequence[str]) -> Json:
    """A result (3.27). The label and the second places are its related locations, as ordered."""
    result: Json = {
        "ruleId": problem.code,
        "ruleIndex": rules.index(problem.code),
        "level": problem.severity.value,
        "message": _message(_words(problem)),
        "locations": [{"physicalLocation": _place(problem.at, files)}],
    }
    label = problem.shown_label()
    places = [(problem.at, label)] if label else []
    places += [(each.at, each.message) for each in problem.related if each.at.file]
    if places:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": _place(at, files), "message": _message(words)}
            for number, (at, words) in enumerate(places)
        ]
    if problem.fixes:
        result["fixes"] = [_fix(fix, files) for fix in problem.fixes]
    return result


def _words(problem: Problem) -> str:
    """The message, the notes, and the advice: one paragraph each."""
    notes = [each.message for each in problem.related if not each.at.file]
    parts = [problem.shown_message(), *problem.notes, *notes]
    if advice := problem.shown_help():
        parts.append(f"help: {advice}")
    return "\n".join(parts)


def _fix(fix: Fix, files: Files) -> Json:
    """A proposed fix (3.55); whether it may be applied unseen is a property of our own."""
    place = _place(fix.at, files)
    change = {
        "artifactLocation": place["artifactLocation"],
        "replacements": [
            {"deletedRegion": place["region"], "insertedContent": {"text": fix.text}},
        ],
    }
    return {
        "description": _message(fix.title),
        "artifactChanges": [change],
        "properties": {"certain": fix.is_certain},
    }


def _place(span: Span, files: Files) -> Json:
    """A physical location (3.29): lines and columns from 1, the end column is the first after."""
    start = files.position(span)
    end = files.position(Span(span.file, span.end, span.end))
    return {
        "artifactLocation": {"uri": _uri(span.file)},
        "region": {
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        },
    }


def _uri(name: str) -> str:
    """A file's name as a URI: relative to the working directory, or absolute (3.4.3)."""
    if os.path.isabs(name):
        return Path(name).as_uri()
    return quote(Path(name).as_posix())


def _message(text: str) -> Json:
    return {"text": _escaped(text)}


def _escaped(text: str) -> str:
    """Without what readers would take for placeholders (3.11.5) or links (3.11.6)."""
    return _LINK.sub(r"\\[\1\\]", text.replace("{", "{{").replace("}", "}}"))
