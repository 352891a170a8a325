"""Problems as SARIF 2.1.0, which code scanning services and editors read.

One run, whose rules are the codes that were found, each with its explanation. What points at no
place of a program (a missing file, no CUDA compiler) is told as a notification of the invocation,
not as a result. Section numbers are those of the OASIS standard.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from prismc.diagnostics.problem import Fix, Problem, Severity, Suppression
from prismc.source.digest import text_digest
from prismc.source.files import Files
from prismc.source.resources import explain_folder
from prismc.source.span import Span
from prismc.source.version import VERSION

Json = dict[str, object]
Found = tuple[Problem, Suppression | None]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LINK = re.compile(r"\[([^\[\]]*)\](?=\()")


def render_sarif(
    problems: Iterable[Problem],
    files: Files,
    exit_code: int,
    suppressed: Sequence[Suppression] = (),
    documentation: str = "",
) -> str:
    """One SARIF log with all problems and the suppressed ones; ends with a line end.

    `documentation` is the address of the built documentation, where rules then have their pages.
    """
    everything = tuple(problems)
    others = [problem for problem in everything if not _is_result(problem)]
    found: list[Found] = [(problem, None) for problem in everything if _is_result(problem)]
    found += [(each.problem, each) for each in suppressed if _is_result(each.problem)]
    found.sort(key=lambda each: each[0].at)
    classes = {problem.code: type(problem) for problem, _ in found}
    rules = sorted(classes)
    results = [_result(problem, files, rules, reason) for problem, reason in found]
    for result, fingerprint in zip(results, _fingerprints(found, files), strict=True):
        result["partialFingerprints"] = {"code+line/v1": fingerprint}
    run: Json = {
        "tool": {
            "driver": {
                "name": "prismc",
                "version": VERSION,
                "rules": [_rule(classes[code], documentation) for code in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(others, exit_code)],
        "results": results,
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


def _rule(kind: type[Problem], documentation: str) -> Json:
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
        if documentation:
            rule["helpUri"] = f"{documentation.rstrip('/')}/errors/{kind.code}.html"
    return rule


def _result(
    problem: Problem, files: Files, rules: Sequence[str], suppression: Suppression | None
) -> Json:
    """A result (3.27). The label and the second places are its related locations, as ordered.

    All results have suppressions or none (3.27.23): an empty list says that one counts.
    """
    result: Json = {
        "ruleId": problem.code,
        "ruleIndex": rules.index(problem.code),
        "level": problem.severity.value,
        "message": _message(_words(problem)),
        "locations": [{"physicalLocation": _place(problem.at, files)}],
        "suppressions": [_suppression(suppression, files)] if suppression else [],
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


def _suppression(suppression: Suppression, files: Files) -> Json:
    """A suppression (3.35): a comment with its reason, or the command line."""
    if suppression.at is None:
        return {"kind": "external", "justification": _escaped(suppression.reason)}
    told: Json = {
        "kind": "inSource",
        "location": {"physicalLocation": _place(suppression.at, files)},
    }
    # A comment without a reason is a warning of its own.
    return told | ({"justification": _escaped(suppression.reason)} if suppression.reason else {})


def _fingerprints(found: Sequence[Found], files: Files) -> Iterator[str]:
    """What stays the same when lines above come or go (3.27.17): of the file, the code and the
    words of the line, and the number of those that have all that in common."""
    counts: Counter[str] = Counter()
    for problem, _ in found:
        line = files.known(problem.at.file).line(files.position(problem.at).line)
        identity = "\n".join((_uri(problem.at.file), problem.code, " ".join(line.split())))
        counts[identity] += 1
        yield text_digest(f"{identity}\n{counts[identity]}")


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
