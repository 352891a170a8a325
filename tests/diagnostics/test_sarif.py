"""SARIF: the standard's form, nothing lost, nothing taken for a placeholder or a link."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from prismc.diagnostics.github import render_github
from prismc.diagnostics.problem import Fix, Problem, Related, Severity
from prismc.diagnostics.record import render_json
from prismc.diagnostics.sarif import render_sarif
from prismc.driver.catalog import page, problem_classes
from prismc.driver.strictness import Settled, Strictness
from prismc.frontend.errors import Semicolon
from prismc.source.files import Files
from prismc.source.span import NOWHERE, Span
from support.checking import check_texts
from support.fences import parse_fences

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((Path(__file__).parent / "sarif.schema.json").read_text())


class Odd(Problem):
    code, title = "P0399", "it is odd"
    severity = Severity.WARNING
    message = "`{name}` is odd"
    label = "this one"
    help_text = "make it even"

    name: str


class Missing(Problem):
    code, title = "P0398", "it is missing"
    is_environment = True


def run_of(problems: list[Problem], files: Files, exit_code: int = 1) -> dict[str, Any]:
    log = json.loads(render_sarif(problems, files, exit_code))
    jsonschema.validate(log, SCHEMA)
    run: dict[str, Any] = log["runs"][0]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    return run


def test_everything_is_told() -> None:
    files = Files()
    files.overlay("a b/k.prism", "one\ntwo é three\n")
    at = Span("a b/k.prism", 10, 15)
    problem = Odd(
        at=at,
        name="three",
        related=(Related(at=Span("/lib/m.prism", 0, 3), message="as here"),),
        notes=("a note",),
        fixes=(Fix(at=Span(at.file, 8, 8), text="x", title="add x", is_certain=False),),
    )
    run = run_of([problem], files)
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["shortDescription"] == {"text": "it is odd"}
    assert rule["defaultConfiguration"] == {"level": "warning"}
    (result,) = run["results"]
    assert result["level"] == "warning"
    assert result["message"]["text"] == "`three` is odd\na note\nhelp: make it even"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b/k.prism"}
    assert place["region"] == {"startLine": 2, "startColumn": 7, "endLine": 2, "endColumn": 12}
    label, second = result["relatedLocations"]
    assert (label["message"]["text"], label["physicalLocation"]) == ("this one", place)
    assert second["physicalLocation"]["artifactLocation"] == {"uri": "file:///lib/m.prism"}
    (fix,) = result["fixes"]
    assert fix["properties"] == {"certain": False}
    (replacement,) = fix["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"] == {"text": "x"}
    assert replacement["deletedRegion"]["startColumn"] == 5


def test_the_machine_is_no_result() -> None:
    run = run_of([Missing(at=NOWHERE)], Files(), exit_code=2)
    assert run["results"] == []
    (invocation,) = run["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    (told,) = invocation["toolExecutionNotifications"]
    assert told["descriptor"] == {"id": "P0398"}


def test_a_clean_run() -> None:
    run = run_of([], Files(), exit_code=0)
    assert (run["results"], run["invocations"][0]["executionSuccessful"]) == ([], True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{0} and }", "{{0}} and }}"),
        ("f[T=f16](x)", r"f\[T=f16\](x)"),
        ("thread[1] (one)", "thread[1] (one)"),
    ],
)
def test_what_looks_like_markup_is_text(text: str, shown: str) -> None:
    problem = Odd(at=Span("k.prism", 0, 0), name=text)
    (result,) = run_of([problem], Files())["results"]
    assert result["message"]["text"].startswith(f"`{shown}` is odd")


def test_rules_carry_their_pages() -> None:
    session = check_texts({"k.prism": "def f():\n    pass;\n"}, "k.prism")
    run = run_of(list(session.problems), session.files)
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["help"]["markdown"].startswith("# P0108: a semicolon\n")


CLEAR = """\
@requires(block[1], thread[64])
def {0}(flags: ptr(i32)):
    t: int @ thread[1] = id()
    partition flags as f @ thread[1] at t / 2:
        f[0] = 0{1}
"""
ALLOWED = CLEAR.format("a", "    # prism: allow(P0603) both write {0}") + CLEAR.format("b", "")


def settled(text: str, *allowed: str) -> tuple[Settled, Files]:
    session = check_texts({"k.prism": text}, "k.prism")
    session.strictness = Strictness(allowed=allowed)
    return session.settled, session.files


def test_what_is_allowed_is_suppressed() -> None:
    found, files = settled(ALLOWED)
    assert len(found.told) == 1
    log = json.loads(render_sarif(found.told, files, 0, found.suppressed))
    jsonschema.validate(log, SCHEMA)
    comment, counts = log["runs"][0]["results"]
    assert counts["suppressions"] == []
    (suppression,) = comment["suppressions"]
    assert suppression["kind"] == "inSource"
    assert suppression["justification"] == "both write {{0}}"
    assert suppression["location"]["physicalLocation"]["region"]["startColumn"] == 21

    found, files = settled(ALLOWED, "P0603")
    log = json.loads(render_sarif(found.told, files, 0, found.suppressed))
    jsonschema.validate(log, SCHEMA)
    kinds = [result["suppressions"][0] for result in log["runs"][0]["results"]]
    assert [kind["kind"] for kind in kinds] == ["inSource", "external"]
    assert kinds[1]["justification"] == "--allow P0603"


def fingerprints(text: str) -> list[str]:
    found, files = settled(text)
    run = run_of(list(found.told), files)
    return [result["partialFingerprints"]["code+line/v1"] for result in run["results"]]


def test_fingerprints_are_of_lines_wherever_they_stand() -> None:
    text = "def f():\n    a b\n    a b\n    c d\n"
    first = fingerprints(text)
    assert len(set(first)) == 3
    assert fingerprints("# more\n\n" + text.replace("    ", "  ")) == first
    assert fingerprints(text.replace("c d", "c e"))[:2] == first[:2]


def test_rules_have_pages_where_the_documentation_is() -> None:
    problem = Odd(at=Span("k.prism", 0, 0), name="x")
    semicolon = Semicolon(at=Span("k.prism", 0, 0))
    text = render_sarif([problem, semicolon], Files(), 1, (), "https://example.org/prismc/")
    log = json.loads(text)
    jsonschema.validate(log, SCHEMA)
    uris = [rule.get("helpUri") for rule in log["runs"][0]["tool"]["driver"]["rules"]]
    assert uris == ["https://example.org/prismc/errors/P0108.html", None]


def test_every_code_in_every_format() -> None:
    """Of each page's failing program: valid logs and records, one line for an annotation."""
    schema = json.loads((ROOT / "docs" / "diagnostics.schema.json").read_text())
    for kind in problem_classes():
        fences = parse_fences(page(kind.code) or "")
        fails = [f for f in fences if f.heading == "Fails" and f.language == "prism"]
        for fence in fails:
            session = check_texts({"main.prism": fence.text}, "main.prism", fence.flags)
            problems, files = list(session.problems), session.files
            run = run_of(problems, files)
            assert [result["ruleId"] for result in run["results"]] == [kind.code]
            assert "help" in run["tool"]["driver"]["rules"][0]
            jsonschema.validate(json.loads(render_json(problems, files)), schema)
            line = render_github(problems, files)
            assert line.count("\n") == 1
            assert line.startswith("::")
