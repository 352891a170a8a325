"""The JSON of diagnostics: the documented shape, nothing lost."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from prismc.diagnostics.problem import Fix, Problem, Related
from prismc.diagnostics.record import render_json
from prismc.source.files import Files
from prismc.source.span import NOWHERE, Span

SCHEMA = json.loads(
    (Path(__file__).resolve().parents[2] / "docs" / "diagnostics.schema.json").read_text()
)


class Odd(Problem):
    code, title = "P0399", "it is odd"
    message = "`{name}` is odd"
    label = "this one"
    help_text = "make it even"

    name: str


class Bare(Problem):
    code, title = "P0398", "bare"


def test_everything_is_told_once() -> None:
    files = Files()
    files.overlay("k.prism", "one\ntwo é three\n")
    problem = Odd(
        at=Span("k.prism", 10, 15),
        name="three",
        related=(Related(at=Span("k.prism", 0, 3), message="as here"),),
        notes=("a note",),
        fixes=(Fix(at=Span("k.prism", 8, 8), text="x", title="add x"),),
    )
    record = json.loads(render_json([problem], files))
    jsonschema.validate(record, SCHEMA)
    (told,) = record["diagnostics"]
    place = {"start": {"line": 2, "column": 7}, "end": {"line": 2, "column": 12}}
    assert told == {
        "code": "P0399",
        "severity": "error",
        "message": "`three` is odd",
        "file": "k.prism",
        **place,
        "related": [
            {"message": "this one", "file": "k.prism", **place},
            {
                "message": "as here",
                "file": "k.prism",
                "start": {"line": 1, "column": 1},
                "end": {"line": 1, "column": 4},
            },
            {"message": "a note", "file": "k.prism", **place},
        ],
        "help": "make it even",
        "fixes": [
            {
                "title": "add x",
                "certain": True,
                "file": "k.prism",
                "start": {"line": 2, "column": 5},
                "end": {"line": 2, "column": 5},
                "text": "x",
            }
        ],
    }


def test_bare_problem_without_a_place() -> None:
    record = json.loads(render_json([Bare(at=NOWHERE)], Files()))
    jsonschema.validate(record, SCHEMA)
    assert record["diagnostics"][0]["help"] is None


def test_no_problem() -> None:
    assert json.loads(render_json([], Files())) == {"version": 1, "diagnostics": []}
