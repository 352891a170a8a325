"""The TextMate grammar, read by an engine as editors read it, agrees with the lexer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babi.highlight import Grammars, State, highlight_line

from prismc.checker.names.symbols import BUILTINS
from prismc.frontend.format import _HEADERS
from prismc.lsp.lexis import pieces_of, reserved_words
from prismc.source.resources import stdlib_folder

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "editors" / "textmate"
GRAMMAR = json.loads((FOLDER / "prism.tmLanguage.json").read_text(encoding="utf-8"))
PROGRAMS = sorted((ROOT / "examples").glob("*.prism")) + sorted(stdlib_folder().glob("*.prism"))


def words_of(rule: str) -> list[str]:
    """The words that the alternations of a rule list."""
    patterns = GRAMMAR["repository"][rule]["patterns"]
    return [w for p in patterns for w in re.match(r"\\b\(\?:(.*?)\)", p["match"])[1].split("|")]


def scopes(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and innermost scope of each region that the engine finds."""
    compiler = Grammars(str(FOLDER)).compiler_for_file("x.prism", "")
    state, offset = State.root(compiler.root_state.cur), 0
    for number, line in enumerate(text.splitlines(keepends=True)):
        state, regions = highlight_line(compiler, state, line, number == 0)
        yield from ((offset + r.start, offset + r.end, r.scope[-1]) for r in regions)
        offset += len(line)


def test_keywords_are_those_of_the_lexer() -> None:
    words = words_of("keyword")
    assert sorted(words) == reserved_words()


def test_built_in_names_are_those_of_the_checker() -> None:
    words = words_of("builtin")
    assert len(words) == len(set(words))
    assert set(words) == set(BUILTINS)


def test_headers_indent() -> None:
    path = ROOT / "editors" / "vscode" / "language-configuration.json"
    rules = json.loads(path.read_text(encoding="utf-8"))["indentationRules"]
    increase = re.compile(rules["increaseIndentPattern"])
    assert all(increase.match(f"    {word} x:  # why") for word in _HEADERS)
    assert not increase.match("    x: int")


def test_the_extension_uses_what_is_there() -> None:
    folder = ROOT / "editors" / "vscode"
    package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    (grammar,) = package["contributes"]["grammars"]
    assert grammar["scopeName"] == GRAMMAR["scopeName"]
    (language,) = package["contributes"]["languages"]
    assert (folder / language["configuration"]).is_file()
    assert (folder / package["main"]).is_file()
    assert FOLDER.name in package["scripts"]["prepare"]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_word_has_the_scope_of_its_kind(path: Path) -> None:
    """Each word that the compiler's lexer finds, and where the engine puts it."""
    text = path.read_text(encoding="utf-8")
    found: dict[int, str] = {}
    for start, end, scope in scopes(text):
        found |= dict.fromkeys(range(start, end), scope)
    previous = ""
    for piece in pieces_of(text):
        for word in piece:
            if word.start < word.end:
                scope = found[word.start]
                wanted = kinds(word.kind, word.text, previous)
                assert scope.startswith(wanted), (word, scope)
                previous = word.kind


def kinds(kind: str, text: str, previous: str) -> tuple[str, ...]:
    """What the scope of a word may begin with."""
    if kind == "STRING":
        return ("string.",)
    if kind in ("INTEGER", "FLOAT"):
        return (
            ("constant.numeric.integer", "constant.numeric.hex", "constant.numeric.binary")
            if (kind == "INTEGER")
            else ("constant.numeric.float",)
        )
    if previous == ".":
        return ("variable.other.member",)
    if text in reserved_words():
        return ("keyword.", "storage.", "constant.language")
    if kind == "NAME":
        return ("source.", "support.", "entity.", "variable.")
    return ("source.", "keyword.operator", "punctuation.")


@pytest.mark.parametrize(
    ("line", "word", "scope"),
    [
        ("kernel sum(x: ptr(f32)):", "sum", "entity.name.function.prism"),
        ("@requires(grid[1])", "requires", "entity.name.function.annotation.prism"),
        ("    t: int @ thread[1] = id()", "@", "keyword.operator.perspective.prism"),
        ("    t: int @ thread[1] = id()", "thread", "storage.type.perspective.prism"),
        ("    t: int @ thread[1] = id()", "id", "support.function.prism"),
        ("    group block[1]:  # x", "# x", "comment.line.number-sign.prism"),
        ("    group block[1]:  # x", "group", "keyword.control.group.prism"),
        ('    asm("a $0 \\n", ins(b))', "$0", "variable.other.operand.prism"),
        ('    asm("a $0 \\n", ins(b))', "\\n", "constant.character.escape.prism"),
        ("from std.block import f", "block", "variable.other.member.prism"),
        ("    x = 0x1F_0 + 1.5e3 + .5", "0x1F_0", "constant.numeric.hex.prism"),
        ("    x = 0x1F_0 + 1.5e3 + .5", "1.5e3", "constant.numeric.float.prism"),
        ("    x = 0x1F_0 + 1.5e3 + .5", ".5", "constant.numeric.float.prism"),
        ("    y: f8e4m3 = f(1)", "f8e4m3", "support.type.prism"),
        ("    y: f8e4m3 = f(1)", "f(", "entity.name.function.call.prism"),
    ],
)
def test_scopes(line: str, word: str, scope: str) -> None:
    at = line.rindex(word) if word == ".5" else line.index(word)
    assert next(s for start, end, s in scopes(line + "\n") if start <= at < end) == scope
