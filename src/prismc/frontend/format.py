"""The canonical layout of a program.

It depends on the words of the program, its comments and its single blank lines, and changes
nothing else. `spacing.py` says where spaces stand, `wrapping.py` where long lines are broken; here
lines are indented, blank lines placed and comments kept beside what they speak of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from prismc.frontend.comments import Comment, read_gap
from prismc.frontend.grammar import load_tables
from prismc.frontend.layout import MAX_BLOCKS, Layout
from prismc.frontend.spacing import space_words
from prismc.frontend.tables import DEDENT, END, INDENT, NEWLINE, Tables, Token
from prismc.frontend.wrapping import STEP, WIDTH, TextLine, wrap
from prismc.source.files import SourceFile

_BEFORE_COMMENT = 2  # spaces between code and a comment, at least
_BLANK = TextLine(0, "")
_BLOCKS = ("@", "def", "kernel", "unsafe", "test")  # begin the declarations that hold a block

# Words that begin a header, if there is a `:` outside brackets; `x: T` begins with none of them.
_HEADERS = (
    "async", "case", "claim", "consume", "def", "elif", "else", "finish", "first", "for", "group",
    "if", "kernel", "partition", "pipeline", "produce", "split", "static", "test", "unroll",
    "unsafe", "while",
)  # fmt: skip


class Line(NamedTuple):
    """A line of the program: a simple statement, a header up to its `:`, or an attribute.

    `level` is how many blocks it stands in, `width` how far it is indented in the text; what
    follows a header on its line counts as indented by one more.
    """

    level: int
    width: int
    tokens: Sequence[Token]
    is_header: bool

    @property
    def kind(self) -> int:
        return self.tokens[0][0]

    @property
    def start(self) -> int:
        return self.tokens[0][1]

    @property
    def end(self) -> int:
        return self.tokens[-1][2]


def format_text(file: SourceFile) -> str:
    """The text of `file`, which has no syntax errors, in canonical layout.

    The same words and comments in the same order; formatting twice changes nothing more.
    """
    tables = load_tables()
    formatter = _Formatter(file.text, tables)
    for piece in Layout(file, tables).pieces():
        for line in _program_lines(piece.tokens, file, tables):
            formatter.line(line)
    formatter.end()
    return "".join(f"{line}\n" for line in _shown(formatter.lines))


# ------------------------------------------------------------------------- the program's lines


def _program_lines(tokens: Iterable[Token], file: SourceFile, tables: Tables) -> Iterator[Line]:
    """The lines of one declaration."""
    level = 0
    words: list[Token] = []
    for token in tokens:
        kind = token[0]
        if kind == NEWLINE:
            yield from _without_body(words, level, file, tables)
            words = []
        elif kind in (INDENT, DEDENT):
            level += 1 if kind == INDENT else -1
        elif kind != END:
            words.append(token)


def _without_body(
    words: list[Token], level: int, file: SourceFile, tables: Tables
) -> Iterator[Line]:
    """A line; two where a simple statement follows a header."""
    width = file.position(words[0][1]).column - 1
    length = _header_length(words, tables)
    # A body on a line of its own is a block, of which there may be so many within one another.
    if 0 < length < len(words) and level < MAX_BLOCKS:
        yield Line(level, width, words[:length], is_header=True)
        yield Line(level + 1, width + 1, words[length:], is_header=False)
    else:
        yield Line(level, width, words, is_header=length > 0)


def _header_length(words: Sequence[Token], tables: Tables) -> int:
    """How many words a header has, its `:` included; 0 for a line that begins with none."""
    if tables.terminals[words[0][0]] not in _HEADERS:
        return 0
    depth = 0
    for place, (kind, _, _) in enumerate(words):
        text = tables.terminals[kind]
        depth += (text in ("(", "[")) - (text in (")", "]"))
        if text == ":" and depth == 0:
            return place + 1
    return 0


# ------------------------------------------------------------------------- lines of text


class _Formatter:
    """Collects lines of text; is given the program line by line."""

    def __init__(self, text: str, tables: Tables) -> None:
        self.lines: list[TextLine] = []
        self._text = text
        self._terminals = tables.terminals
        self._blocks = frozenset(map(tables.kind, _BLOCKS))
        self._at_sign = tables.kind("@")
        self._previous: Line | None = None
        self._is_in_block = False  # the declaration of the previous line holds a block
        self._widths: dict[int, int] = {0: 0}  # of the open blocks, by level

    def line(self, line: Line) -> None:
        """Adds the next line, and before it what stands above it."""
        self._above(line)
        words = space_words(line.tokens, self._terminals, self._text)
        self.lines += wrap(words, line.level * STEP, line.is_header)
        self._widths[line.level] = line.width
        if line.level == 0:
            self._is_in_block = line.kind in self._blocks
        self._previous = line

    def end(self) -> None:
        """Adds what stands below the last line."""
        self._above(None)

    def _above(self, line: Line | None) -> None:
        """The rest of the previous line, comments and blank lines before `line` or the end."""
        start = self._previous.end if self._previous else 0
        gap = read_gap(self._text, start, line.start if line else len(self._text))
        comments = gap.comments
        if comments and comments[0].trails:
            self.lines[-1] = self.lines[-1]._replace(comment=comments[0].text)
            comments = comments[1:]
        levels = self._levels(comments, line)
        blanks = [*(comment.after_blank for comment in comments), gap.ends_blank]
        self._settle(blanks, levels, line)
        for comment, level, is_blank in zip(comments, levels, blanks, strict=False):
            self.lines += [_BLANK] * is_blank
            self.lines.append(TextLine(level * STEP, "", comment.text))
        if line and blanks[-1]:
            self.lines.append(_BLANK)

    def _levels(self, comments: Sequence[Comment], line: Line | None) -> list[int]:
        """On which level each comment stands, and last the line: 0 where there is none.

        A comment before the end of blocks belongs to the one that it is indented like.
        """
        below = line.level if line else 0
        deepest = max(below, self._previous.level if self._previous else 0)
        levels = []
        for comment in comments:
            while deepest > below and self._widths.get(deepest, 0) > comment.column:
                deepest -= 1
            levels.append(deepest)
        return [*levels, below]

    def _settle(self, blanks: list[bool], levels: Sequence[int], line: Line | None) -> None:
        """Decides which of the comments, and last of all the line, come after a blank line."""
        previous = self._previous
        if previous and previous.kind == self._at_sign:
            blanks[:] = [False] * len(blanks)
        elif not previous or (line and line.level > previous.level):
            blanks[0] = False
        elif levels[-1] == 0:
            # One blank line sets off what holds a block, with the comments right above it.
            begins_block = line is not None and line.kind in self._blocks
            if self._is_in_block or (begins_block and not any(blanks)):
                blanks[levels.index(0)] = True


def _shown(lines: Sequence[TextLine]) -> Iterator[str]:
    """The lines as text; comments beside neighbouring lines stand in one column, if they fit."""
    for indent, group in groupby(lines, _beside):
        run = list(group)
        longest = max(len(line.code) for line in run) + _BEFORE_COMMENT
        fits = all(line.indent + longest + len(line.comment) <= WIDTH for line in run)
        for line in run:
            margin = " " * line.indent if line.code or line.comment else ""
            place = longest if fits else len(line.code) + _BEFORE_COMMENT
            code = line.code if indent is None else line.code.ljust(place)
            yield margin + code + line.comment


def _beside(line: TextLine) -> int | None:
    """For code with a comment beside it its indentation: lines alike make a run."""
    return line.indent if line.code and line.comment else None
