"""The parts of the language server that need no protocol."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol.types import Position, PositionEncodingKind

from prismc.checker.names.symbols import BUILTINS, HOST_BUILTINS
from prismc.checker.types import attributes, effect_attributes
from prismc.driver.options import Options
from prismc.frontend.declarations import comment_above
from prismc.lsp.analysis import analyse
from prismc.lsp.documents import Document, Shift, file_name, file_uri
from prismc.lsp.hover import hover_at
from prismc.lsp.lexis import open_call, reserved_words, visible_locals
from prismc.lsp.positions import Places
from prismc.lsp.settings import with_settings
from prismc.lsp.words import (
    ARGUMENT_WORDS,
    ATTRIBUTE_HELP,
    BUILTIN_HELP,
    HOST_HELP,
    LEVEL_HELP,
    STATEMENT_HELP,
)

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.prism"))
WIDE = "a🙂é\r\nb\rc\n\u2028d"


@pytest.mark.parametrize(
    ("encoding", "columns"),
    [
        (PositionEncodingKind.Utf8, [0, 1, 5, 7]),
        (PositionEncodingKind.Utf16, [0, 1, 3, 4]),
        (PositionEncodingKind.Utf32, [0, 1, 2, 3]),
    ],
)
def test_places_count_in_the_units_of_the_client(encoding: str, columns: list[int]) -> None:
    places = Places(WIDE, encoding)
    assert [places.position(offset) for offset in range(4)] == [Position(0, c) for c in columns]
    for offset in range(len(WIDE) + 1):
        if WIDE[offset - 1 : offset + 1] != "\r\n":
            assert places.offset(places.position(offset)) == offset


def test_lines_end_as_the_protocol_says() -> None:
    places = Places(WIDE)
    assert places.position(WIDE.index("b")) == Position(1, 0)
    assert places.position(WIDE.index("c")) == Position(2, 0)
    assert places.position(WIDE.index("d")) == Position(3, 1)
    assert places.offset(Position(0, 99)) == 3
    assert places.offset(Position(99, 0)) == len(WIDE)


def test_shift_finds_what_an_edit_left_alone() -> None:
    shift = Shift("one two three", "one 2 and a half three")
    assert shift.to_old(2) == 2
    assert shift.to_old(len("one 2 and")) is None
    assert shift.to_old(len("one 2 and a half thr")) == len("one two thr")
    assert shift.to_new(len("one two three")) == len("one 2 and a half three")
    assert shift.span_to_new(0, 3) == (0, 3)
    assert shift.span_to_new(4, 7) is None
    same = Shift("abc", "abc")
    assert [same.to_old(n) for n in range(4)] == [0, 1, 2, 3]


def test_names_of_files() -> None:
    assert file_name("file:///a/b%20c.prism") == "/a/b c.prism"
    assert file_uri("/a/b c.prism") == "file:///a/b%20c.prism"
    assert file_uri(file_name("untitled:Untitled-1")) == "untitled:Untitled-1"


SCOPES = """\
@requires(thread[32])
def f[N: int](p: ptr(f32),
        q: int @ thread[1]):
    a: int = 1
    for i in range(N):
        b := i
        partition p as y @ thread[1] at q:
            y[0] = 1.0
        |
    c, d := g(a)
"""


def test_visible_names_need_no_tree() -> None:
    at = SCOPES.index("|")
    text = SCOPES.replace("|", "(((")
    found = visible_locals(text, at)
    assert found == {
        "N": "parameter", "p": "parameter", "q": "parameter", "a": "variable", "i": "variable",
        "b": "variable",
    }  # fmt: skip
    assert "y" in visible_locals(text, text.index("y[0]"))
    whole = SCOPES.replace("|", "pass") + "    "
    assert {"c", "d"} <= set(visible_locals(whole, len(whole)))
    assert visible_locals(text, 0) == {}


@pytest.mark.parametrize(
    ("text", "callee", "argument"),
    [
        ("    f(a, |", ("f",), 1),
        ("    f(g(a), b[1, 2], |", ("f",), 2),
        ("    f[A, B](x, h(|", ("h",), 0),
        ("    std.warp.sum[T](|", ("std", "warp", "sum"), 0),
        ("    x = f((a, b|", ("f",), 0),
    ],
)
def test_open_calls(text: str, callee: tuple[str, ...], argument: int) -> None:
    text = f"def k():\n{text}"
    call = open_call(text, text.index("|"))
    assert call is not None
    assert (call.callee, call.argument) == (callee, argument)


@pytest.mark.parametrize("text", ["    f(a)|", "    (a|", "    a|", "    f[a, |", ""])
def test_no_open_call(text: str) -> None:
    text = f"def k():\n{text}"
    assert open_call(text.replace("|", ""), len(text) - text.count("|")) is None


def test_a_declaration_is_no_call() -> None:
    assert open_call("def k(a", 7) is None


def test_comment_above() -> None:
    text = "# not this\n\n# one\n#  two\ndef f():\n    pass\n"
    assert comment_above(text, text.index("def")) == "one\n two"
    assert comment_above(text, 0) == ""


def test_every_built_in_name_has_help() -> None:
    assert set(BUILTIN_HELP) == set(BUILTINS)
    assert set(HOST_HELP) == set(HOST_BUILTINS)
    assert set(ATTRIBUTE_HELP) == set(ARGUMENT_WORDS) == set(attributes._ATTRIBUTES)
    assert ARGUMENT_WORDS["launch"] == attributes._LAUNCH
    assert ARGUMENT_WORDS["effects"] == effect_attributes._EFFECTS
    assert set(LEVEL_HELP) | set(STATEMENT_HELP) <= set(reserved_words())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_hover_everywhere(path: Path) -> None:
    """Every place of the examples outside comments has an answer, and most names a type."""
    text = path.read_text(encoding="utf-8")
    document = Document(path.as_uri(), text, 1, "utf-16")
    document.learn(analyse(document.name, 1, {document.name: text}, Options()))
    assert document.good is document.latest
    inside = text.index("kernel ")
    answers = [hover_at(document, offset) for offset in range(inside, len(text) - 1, 29)]
    found = [answer for answer in answers if answer is not None]
    assert len(found) > len(answers) // 2
    assert any(" @ thread[1]" in answer.text for answer in found)


def test_hover_where_one_text_stands_several_times() -> None:
    """A pipeline is expanded into copies, with the places of the original."""
    path = ROOT / "examples" / "bf16_matmul.prism"
    text = path.read_text(encoding="utf-8")
    document = Document(path.as_uri(), text, 1, "utf-16")
    document.learn(analyse(document.name, 1, {document.name: text}, Options()))

    def at(needle: str) -> str:
        found = hover_at(document, text.index(needle))
        assert found is not None
        return found.text

    consumed = at("fa[i], a,")
    assert "code: `thread[32]`, bound `thread[32]`" in consumed
    assert "hidden: `A_s`, `B_s`, by the pipeline that makes `a`, `b`" in consumed
    produced = at("row + r + i")
    assert "code: `block[1]`" in produced
    assert "hidden: `a`, `b`, by the partition that makes `d`, `e`" in produced
    assert "k: i32 @ block[1]" in at("k in range")
    assert at("partition a as").count("**wait group of block[1]**") == 1


# --------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"tagret": "sm_80"}, ["no option `tagret`: did you mean `target`?"]),
        ({"x": 1}, ["no option `x`: there are `target`, `races`, `include`, `defines`"]),
        ({"races": "maybe"}, ["`races` is one of deny, warn, off, not 'maybe'"]),
        ({"include": "parts"}, ["`include` is a list of folders, not 'parts'"]),
        ({"defines": ["N"]}, ["`defines` is an object of constants and their values, not ['N']"]),
        ([1], ["the options are an object of `target`, `races`, `include`, `defines`, not [1]"]),
        ({"target": None, "include": []}, []),
        (None, []),
    ],
)
def test_settings_that_are_not_understood(settings: object, told: list[str]) -> None:
    complaints: list[str] = []
    assert with_settings(Options(), settings, complaints.append) == Options()
    assert complaints == told


def test_settings_become_options() -> None:
    settings = {"target": "sm_80", "races": "off", "include": ["/a/../b"], "defines": {"N": 3}}
    options = with_settings(Options(), settings, pytest.fail)
    assert (options.target.name, options.races) == ("sm_80", "off")
    assert (options.include, options.defines) == (("/b",), (("N", "3"),))
