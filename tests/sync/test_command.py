"""`prismc sync`: the plan as text, JSON, dot and HTML."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest

from support.command import Ran, Runner, runner

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "sync.schema.json").read_text())
EXAMPLES = sorted((ROOT / "examples").glob("*.prism"))

TURN = """\
@requires(block[1], thread[64])
def turn(n: int):
    shared S: f32[64]
    t: int @ thread[1] = id()
    for k in range(n):
        partition S as s @ thread[1] at t:
            s[0] = f32(k)
        v: f32 @ thread[1] = S[63 - t]
"""
TOTAL = """\
from std.block import sum

@requires(block[1], thread[64])
def total(X: ptr(const i32)) -> i32:
    t: int @ thread[1] = id()
    v: i32 @ thread[1] = 0
    group thread[1]:
        v = X[t]
    s: i32 @ block[1] = sum(v)
    return s
"""
TURN_TEXT = """\
turn.prism:1: def turn: 2 operations
1 | @requires(block[1], thread[64])
2 | def turn(n: int):
3 |     shared S: f32[64]
4 |     t: int @ thread[1] = id()
5 |     for k in range(n):
6 |         partition S as s @ thread[1] at t:
  +             #0 block barrier of block[1]
7 |             s[0] = f32(k)
  +         #1 block barrier of block[1]
8 |         v: f32 @ thread[1] = S[63 - t]

#0 block barrier of block[1], before line 7
   instruction: bar.sync 0
   cost: 3 of 5, several warps: waits for the slowest of them
   orders 2:
     WAR S: line 8 reads (all threads), line 7 writes (all threads), around the loop of line 5
     RAW S: line 7 writes (all threads), line 8 reads (all threads), around the loop of line 5
   cannot be left out:
     thread 0 reads `S` (line 8) and thread 63 writes it (line 7, in a later iteration), in no order

#1 block barrier of block[1], before line 8
   instruction: bar.sync 0
   cost: 3 of 5, several warps: waits for the slowest of them
   orders 3:
     RAW S: line 7 writes (all threads), line 8 reads (all threads), forward
     WAR S: line 8 reads (all threads), line 7 writes (all threads), around the loop of line 5
     RAW S: line 7 writes (all threads), line 8 reads (all threads), around the loop of line 5
   cannot be left out:
     thread 0 writes `S` (line 7) and thread 63 reads it (line 8), in no order
"""
NONE = """\
@requires(block[1], thread[64])
def alone(x: ptr(f32), y: ptr(const f32)):
    t: int @ thread[1] = id()
    partition x as mine @ thread[1] at t:
        mine[0] += y[t]

@requires(thread[1])
def plain(a: int) -> int:
    return a + 1
"""
NONE_TEXT = """\
none.prism:1: def alone: needs none
  nothing for `y`: only read
  nothing for `x`: each thread keeps to its own elements

none.prism:7: def plain: needs none
  it touches no memory that threads share
"""


REASONS = """\
from std.atomic import fetch_add

@requires(block[1], thread[64])
def tally(count: ptr(atomic int)):
    group thread[1]:
        old: int = fetch_add[relaxed, block[1]](count, 0, 1)

@requires(block[1], thread[64])
def f(n: int, race: ptr(f32), paths: ptr(f32)):
    t: int @ thread[1] = id()
    partition race as y @ thread[1] at t:
        y[0] = y[0] + y[1]
    if n > 3:
        partition paths as y @ thread[1] at t:
            y[0] = 1.0
    else:
        v: f32 @ thread[1] = paths[63 - t]

@requires(block[1], thread[64])
def turned(s: ptr(f32)) -> f32 @ thread[1]:
    t: int @ thread[1] = id()
    partition s as y @ thread[1] at t:
        y[0] = 1.0
    return s[63 - t]

@requires(block[1], thread[64])
def g(called: ptr(f32)):
    v: f32 @ thread[1] = turned(called)
"""


EITHER = """\
@requires(block[1], thread[64])
def f(a: ptr(f32), b: ptr(f32), n: int):
    t: int @ thread[1] = id()
    x: ptr(f32) = a
    if n > 1:
        x = b
    partition x as y @ thread[1] at t:
        y[0] = 1.0
    v: f32 @ thread[1] = a[63 - t]
"""


@pytest.fixture
def prismc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Runner:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turn.prism").write_text(TURN)
    (tmp_path / "none.prism").write_text(NONE)
    return runner(monkeypatch, capfd)


def test_the_source_holds_the_operations(prismc: Runner) -> None:
    assert prismc("sync", "turn.prism") == Ran(0, TURN_TEXT, "")


def test_a_file_that_needs_none_says_why(prismc: Runner) -> None:
    assert prismc("sync", "none.prism") == Ran(0, NONE_TEXT, "")


def test_colours_are_the_only_difference(prismc: Runner) -> None:
    colored = prismc("sync", "turn.prism", "--color", "always").out
    assert "\x1b[" in colored
    plain = "".join(part.partition("m")[2] if i else part for i, part in
                    enumerate(colored.split("\x1b[")))  # fmt: skip
    assert plain == TURN_TEXT


def test_memory_without_an_operation_has_its_reason(prismc: Runner) -> None:
    Path("reasons.prism").write_text(REASONS)
    text = prismc("sync", "reasons.prism", "--color", "never").out
    for line in (
        "nothing for `race`, `paths`: threads meet in it only on different paths, or where a "
        "warning tells",
        "nothing for `count`: only updated atomically",
        "nothing for `called`: functions that are called use it, and make the order",
    ):
        assert line in text


def test_arrays_of_called_functions_are_in_their_own_accounts(prismc: Runner) -> None:
    text = (
        TOTAL
        + """\

@requires(block[1], thread[64])
def own_part(X: ptr(const i32)) -> i32:
    t: int @ thread[1] = id()
    shared part: i32[64]
    partition part as mine @ thread[1] at t:
        mine[0] = X[t]
    v: i32 @ thread[1] = 0
    partition part as mine @ thread[1] at t:
        v = mine[0]
    s: i32 @ block[1] = sum(v)
    return s
"""
    )
    Path("parts.prism").write_text(text)
    found = prismc("sync", "parts.prism").out
    assert "nothing for `X`: only read\n  nothing for `part`: each thread keeps to its own" in found
    assert "functions that are called" not in found


def test_two_names_of_one_memory_are_both_told(prismc: Runner) -> None:
    Path("either.prism").write_text(EITHER)
    text = prismc("sync", "either.prism").out
    assert "RAW a, b then a: line 8 writes (all threads), line 9 reads (all threads)" in text
    assert "thread 63 reads `a`, which may have the same bytes, (line 9), in no order" in text
    assert "nothing for" not in text


@pytest.mark.parametrize("form", ["text", "json", "dot", "html"])
def test_outputs_do_not_tell_where_the_library_is(prismc: Runner, form: str) -> None:
    Path("total.prism").write_text(TOTAL)
    shown = prismc("sync", "total.prism", "--format", form).out
    assert str(ROOT) not in shown
    assert "_across_warps" in shown
    assert ("std/block.prism" in shown) is (form != "html")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_json_follows_its_schema(prismc: Runner, example: Path) -> None:
    target = "sm_90a" if example.stem.startswith("hopper") else "sm_80"
    ran = prismc("sync", str(example), "--target", target, "--format", "json")
    record = json.loads(ran.out)
    jsonschema.validate(record, SCHEMA)
    for function in record["functions"]:
        for operation in function["operations"]:
            for order in operation["needed_for"]:
                first, second = order["witness"]
                assert first != second
            assert len(operation["orders"]) >= len(operation["needed_for"])


def test_json_names_the_accesses(prismc: Runner) -> None:
    record = json.loads(prismc("sync", "turn.prism", "--format", "json").out)
    first = record["functions"][0]["operations"][0]
    assert first["position"] == {"where": "before", "line": 7}
    assert first["orders"][0]["earlier"] == {
        "root": "S", "does": "reads", "file": "turn.prism", "line": 8, "threads": None,
    }  # fmt: skip
    assert {order["loop_line"] for order in first["orders"]} == {5}


def test_dot_has_each_order_twice(prismc: Runner) -> None:
    text = prismc("sync", "turn.prism", "--format", "dot").out
    assert text.startswith("digraph sync {\n")
    assert text.endswith("}\n")
    assert text.count(" -> op0 ") == 2
    assert text.count("op1 -> ") == 3
    assert text.count('"') % 2 == 0


class Page(HTMLParser):
    """Tags that are open, and everything that a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.paths = 0
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.paths += tag == "path"
        self.fetched += [str(value) for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag, attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_stands_alone(prismc: Runner) -> None:
    ran = prismc("sync", "turn.prism", "--format", "html", "-o", "plan.html")
    assert ran == Ran(0, "", "")
    text = Path("plan.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.open == []
    assert page.fetched == []
    assert "http" not in text
    assert page.paths == 2 * 5
    assert "v: f32 @ thread[1] = S[63 - t]" in text


def test_the_source_is_not_written_over(prismc: Runner) -> None:
    ran = prismc("sync", "turn.prism", "-o", "turn.prism")
    assert ran.code == 2
    assert Path("turn.prism").read_text() == TURN


def test_a_program_with_errors_has_no_plan(prismc: Runner) -> None:
    Path("wrong.prism").write_text("def f():\n    x = 1\n")
    ran = prismc("sync", "wrong.prism")
    assert ran.code == 1
    assert ran.out == ""
    assert "error[" in ran.err


def test_the_manual_shows_what_the_command_says(prismc: Runner) -> None:
    page = (ROOT / "docs" / "sync.md").read_text(encoding="utf-8")
    program = page.partition("# file turn.prism\n")[2].partition("```")[0]
    assert program == TURN
    assert f"$ prismc sync turn.prism\n{TURN_TEXT}```" in page
