"""What the words of a text tell without a tree: it holds while someone types, in broken code too.

The words are those of the compiler's own lexer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from prismc.frontend.grammar import load_tables
from prismc.frontend.layout import Layout
from prismc.frontend.tables import END, LAYOUT_KINDS
from prismc.source.files import SourceFile

# A line that begins a declaration with a scope.
_SCOPE_START = re.compile(r"^(?:unsafe +)?(def|kernel|test)\b", re.MULTILINE)
_DECLARING = ("def", "kernel", "const", "export", "test")
_IMPORTING = ("import", "from")


class Word(NamedTuple):
    """One word of a text. `kind` is its text for reserved words and operators, else `NAME`,
    `INTEGER`, `FLOAT` or `STRING`; NEWLINE, INDENT and DEDENT cover no character."""

    kind: str
    text: str
    start: int
    end: int


class Declared(NamedTuple):
    """A top-level declaration: its word (`def`), its name, and where both it and the name are.

    `words` are all its words, without layout at its end.
    """

    keyword: str
    name: Word
    words: Sequence[Word]

    @property
    def start(self) -> int:
        return self.words[0].start

    @property
    def end(self) -> int:
        return self.words[-1].end


def reserved_words() -> list[str]:
    """The reserved words of the language, sorted."""
    return sorted(load_tables().words)


def pieces_of(text: str) -> Iterator[list[Word]]:
    """The words of each top-level declaration, layout included."""
    tables = load_tables()
    terminals = tables.terminals
    for piece in Layout(SourceFile("", text), tables).pieces():
        words = [
            Word(terminals[kind], text[start:end], start, end)
            for kind, start, end in piece.tokens
            if kind != END
        ]
        if words:
            yield words


def declarations_of(text: str) -> Iterator[Declared]:
    """The top-level declarations that have a name, broken ones too."""
    for piece in pieces_of(text):
        words = [word for word in piece if word.start < word.end]
        for keyword, name in pairwise(words):
            if keyword.kind in _IMPORTING:
                break
            if keyword.kind in _DECLARING and name.kind in ("NAME", "STRING"):
                yield Declared(keyword.kind, name, words)
                break


def is_in_test(text: str, offset: int) -> bool:
    """Whether a place is in a `test` block: what is declared there last before it is one."""
    begun = [match[1] for match in _SCOPE_START.finditer(text, 0, offset)]
    return begun[-1:] == ["test"]


# --------------------------------------------------------------------------- scopes

_NEWLINE, _INDENT, _DEDENT, _ = LAYOUT_KINDS


def visible_locals(text: str, offset: int) -> dict[str, str]:
    """The names that a function has declared before a place and that are seen there, each with
    what declares it: `parameter`, `variable`, `shared`, `const`."""
    starts = [m.start() for m in _SCOPE_START.finditer(text, 0, offset)]
    if not starts:
        return {}
    # A word at the place, so that its line is one: the layout tells in which blocks it stands.
    words = [word for piece in pieces_of(text[starts[-1] : offset] + "x") for word in piece]
    while words and words[-1].kind in LAYOUT_KINDS:
        words.pop()
    scopes: list[dict[str, str]] = [{}]
    line: list[Word] = []
    for word in words:
        if word.kind == _INDENT:
            scopes.append(_header_names(line))
        elif word.kind == _DEDENT:
            if len(scopes) > 1:
                scopes.pop()
        else:
            if line and line[-1].kind == _NEWLINE:
                scopes[-1].update(_declared_names(line))
                line = []
            line.append(word)
    found = {name: what for scope in scopes for name, what in scope.items()}
    return found | _lambda_names(line)


def _declared_names(line: Sequence[Word]) -> dict[str, str]:
    """What a simple statement declares."""
    kinds = [word.kind for word in line]
    if kinds[0] in ("shared", "const") and kinds[1:2] == ["NAME"]:
        return {line[1].text: kinds[0]}
    if kinds[:2] == ["NAME", ":"]:
        return {line[0].text: "variable"}
    if kinds[0] == "NAME" and ":=" in kinds:
        return {w.text: "variable" for w in line[: kinds.index(":=")] if w.kind == "NAME"}
    return {}


def _header_names(line: Sequence[Word]) -> dict[str, str]:
    """What the header of a block declares for it."""
    found: dict[str, str] = {}
    is_function = line[0].kind in ("def", "kernel", "unsafe") if line else False
    depth = 0
    for place, word in enumerate(line):
        depth += (word.kind in ("(", "[")) - (word.kind in (")", "]"))
        before = line[place - 1].kind if place else ""
        if word.kind != "NAME":
            continue
        after = line[place + 1].kind if place + 1 < len(line) else ""
        if is_function:
            if depth == 1 and before in ("(", "[", ",") and after == ":":
                found[word.text] = "parameter"
        elif before in ("for", "pipeline", "as") or (
            before == "async" and line[place - 2].kind == "as"
        ):
            found[word.text] = "variable"
    return found


def _lambda_names(line: Sequence[Word]) -> dict[str, str]:
    """The parameter of an index function on an unfinished line."""
    pairs = pairwise(line)
    return {name.text: "variable" for name, arrow in pairs if arrow.kind == "=>"}


# --------------------------------------------------------------------------- calls


class OpenCall(NamedTuple):
    """A call that a place stands inside of: the words of its callee, `std.warp.sum` say, and the
    number of the argument, from 0."""

    callee: tuple[str, ...]
    end: int
    argument: int


def open_call(text: str, offset: int) -> OpenCall | None:
    """The innermost call whose parentheses are open at a place."""
    starts = [m.start() for m in _SCOPE_START.finditer(text, 0, offset)]
    start = starts[-1] if starts else text.rfind("\n", 0, offset) + 1
    words = [word for piece in pieces_of(text[start:offset]) for word in piece]
    words = [word for word in words if word.start < word.end]
    depth, argument = 0, 0
    for place in range(len(words) - 1, -1, -1):
        kind = words[place].kind
        if kind in (")", "]"):
            depth += 1
        elif kind in ("(", "[") and depth:
            depth -= 1
        elif kind == "(":
            callee = _callee(words[:place])
            if callee:
                return OpenCall(callee, start + words[place].end, argument)
            argument = 0
        elif kind == "[":
            argument = 0
        elif kind == "," and not depth:
            argument += 1
    return None


def _callee(words: Sequence[Word]) -> tuple[str, ...]:
    """The dotted name at the end of some words, generic arguments left out."""
    rest = list(words)
    if rest and rest[-1].kind == "]":
        depth = 0
        while rest:
            kind = rest.pop().kind
            depth += (kind == "]") - (kind == "[")
            if depth == 0:
                break
    path: list[str] = []
    while rest and (rest[-1].kind == "NAME" or (path and rest[-1].text.isidentifier())):
        path.insert(0, rest.pop().text)
        if not rest or rest[-1].kind != ".":
            break
        rest.pop()
    declares = rest and rest[-1].kind in ("def", "kernel")
    return () if declares else tuple(path)


# --------------------------------------------------------------------------- comments


def is_in_comment_or_string(text: str, offset: int) -> bool:
    """Whether a place stands in a comment or in a string."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    in_string = False
    skip = False
    for character in line:
        if skip:
            skip = False
        elif character == "\\" and in_string:
            skip = True
        elif character == '"':
            in_string = not in_string
        elif character == "#" and not in_string:
            return True
    return in_string
