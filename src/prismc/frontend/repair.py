"""Repairs of a line that does not parse, so that the lines after it are read too.

The machine's states are unwound to where the line began, and words that fit there stand for it: a
header like its own where a block follows, `pass` where none does. What is repaired is never built,
only read on, for the syntax errors of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from prismc.frontend.lalr import Stuck, accepts
from prismc.frontend.situation import line_of
from prismc.frontend.tables import DEDENT, END, INDENT, NEWLINE, Tables, Token

# Parts of a statement, which stand in its block or behind it.
ARMS = ("case", "elif", "else", "produce", "consume")
# Words that begin a line where no statement may.
_OUTSIDE = ("@", "def", "unsafe def", "kernel", "test", "case", "produce", "consume")

# What stands for a line that begins so and has a block.
_HEADERS = {
    "def": ("def", "NAME", "(", ")", ":"),
    "unsafe": ("unsafe", ":"),
    "unsafe def": ("unsafe", "def", "NAME", "(", ")", ":"),
    "kernel": ("kernel", "NAME", "(", ")", ":"),
    "test": ("test", "STRING", ":"),
    "if": ("if", "NAME", ":"),
    "split": ("split", "warp", ":"),
    "pipeline": ("pipeline", "NAME", "in", "NAME", "through", "NAME", "as", "NAME", ":"),
    "case": ("case", "NAME", ":"),
    "elif": ("elif", "NAME", ":"),
    "else": ("else", ":"),
    "produce": ("produce", ":"),
    "consume": ("consume", ":"),
}
# Two words that begin a line as one.
_PAIRS = {("unsafe", "def"): "unsafe def", ("else", "if"): "elif"}
# The statement whose block begins with a part.
_OWNERS = {"case": "split", "produce": "pipeline"}
_NOTHING = ("pass", "NEWLINE")


class Repaired(NamedTuple):
    """Tokens that go on, and where: the machine runs `tokens` from `place` with `states`.

    `at` is the half-open range of characters that are not judged any more.
    """

    tokens: list[Token]
    place: int
    states: list[int]
    at: tuple[int, int]


class Repairs:
    """Repairs for one grammar."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._in_blocks = frozenset(row[INDENT] for row in tables.actions if INDENT in row)

    def repair(self, tokens: Sequence[Token], stuck: Stuck) -> Repaired | None:
        """The tokens without what the machine is stuck at; None where nothing fits in its place."""
        return _Repair(tokens, stuck, self._tables, self._in_blocks).repaired()


class _Repair:
    """One repair. `in_blocks` are the states after an INDENT."""

    def __init__(
        self, tokens: Sequence[Token], stuck: Stuck, tables: Tables, in_blocks: frozenset[int]
    ) -> None:
        self._tokens, self._tables, self._in_blocks = tokens, tables, in_blocks
        self._place, self._states = stuck

    def repaired(self) -> Repaired | None:
        kind = self._tokens[self._place][0]
        if kind == END:
            return None
        if kind == INDENT:
            return self._without_indentation()
        if kind == DEDENT:
            states = self._unwound("pass", blocks=1)
            return self._put(states, _NOTHING, self._place, self._place + 1)
        first, last = line_of(self._tokens, self._place)
        word = self._word(first)
        word = _PAIRS.get((word, self._word(first + 1)), word)
        has_block = self._tokens[last + 1][0] == INDENT
        if word == "@":
            return None if has_block else self._put(self._unwound("@"), (), first, last + 1)
        return self._header(word, first, last) if has_block else self._line(word, first, last)

    def _without_indentation(self) -> Repaired:
        """An indented line that no block begins is one of the block around it."""
        end = self._end_of_block(self._place)
        inside = self._tokens[self._place + 1 : end - 1]
        tokens = [*self._tokens[: self._place], *inside, *self._tokens[end:]]
        # The line may have no word of Prism at all.
        _, last = line_of(tokens, self._place)
        at = (tokens[self._place][1], tokens[last][2])
        return Repaired(tokens, self._place, self._states, at)

    def _line(self, word: str, first: int, last: int) -> Repaired | None:
        """A line without a block."""
        if word in ARMS and (states := self._unwound(word)):
            return self._put(states, (*_HEADERS[word], *_NOTHING), first, last + 1)
        return self._statement(_NOTHING, first, last + 1)

    def _header(self, word: str, first: int, last: int) -> Repaired | None:
        """A line that a block follows, whose place a header takes."""
        is_own = word not in _OWNERS.values() or word == _OWNERS.get(self._word(last + 2))
        if is_own and word in _HEADERS and (states := self._unwound(word)):
            return self._put(states, _HEADERS[word], first, last)
        owner = _OWNERS.get(self._word(last + 2), "if")
        return self._statement(_HEADERS[owner], first, last)

    def _statement(self, words: tuple[str, ...], first: int, stop: int) -> Repaired | None:
        """`words` in place of a line; where only parts may stand, nothing, block included."""
        states = self._unwound(words[0], "case", "produce", "consume")
        if not states or self._begins(states, words[0]):
            return self._put(states, words, first, stop)
        end = self._end_of_block(stop + 1) if self._tokens[stop][0] == NEWLINE else stop
        return self._put(states, (), first, end)

    def _put(
        self, states: list[int], words: tuple[str, ...], first: int, stop: int
    ) -> Repaired | None:
        """The tokens with `words`, which cover no characters, in place of some."""
        if not states:
            return None
        start, end = self._tokens[first][1], self._tokens[stop - 1][2]
        new = [(self._tables.kind(word), start, start) for word in words]
        tokens = [*self._tokens[:first], *new, *self._tokens[stop:]]
        return Repaired(tokens, first, states, (start, end))

    def _unwound(self, *words: str, blocks: int = 0) -> list[int]:
        """The states of the innermost place where a line may begin with one of `words`, not outside
        of the block of the line, or of `blocks` more; none if there is no such place."""
        states = list(self._states)
        while states and not any(self._begins(states, word) for word in words):
            blocks -= states.pop() in self._in_blocks
            if blocks < 0:
                return []
        return states

    def _begins(self, states: Sequence[int], word: str) -> bool:
        """Whether a line may begin so. (`a if b else c` has such words, too.)"""
        is_statement = self._fits(states, "pass")
        return is_statement != (word in _OUTSIDE) and self._fits(states, word.split()[0])

    def _fits(self, states: Sequence[int], word: str) -> bool:
        return accepts(self._tables, states, self._tables.kind(word))

    def _word(self, place: int) -> str:
        return self._tables.terminals[self._tokens[place][0]]

    def _end_of_block(self, place: int) -> int:
        """The token after the DEDENT that closes the INDENT at `place`."""
        depth = 0
        for index in range(place, len(self._tokens)):
            kind = self._tokens[index][0]
            depth += (kind == INDENT) - (kind == DEDENT)
            if depth == 0:
                return index + 1
        raise AssertionError("layout closes every block")
