"""Text to tokens, one top-level declaration at a time.

Layout tokens cover no characters: NEWLINE, INDENT and DEDENT stand at the end of the last real
token, so that a statement's span ends with its last word. Inside brackets lines do not count. What
is wrong with characters, brackets or indentation is found here and kept
beside the declaration's tokens: `recovery.py` decides what of it to report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from prismc.diagnostics.problem import Fix, Problem, Related
from prismc.frontend.errors import (
    BadNumber,
    ForeignSpelling,
    MismatchedBracket,
    NonAsciiName,
    Semicolon,
    TabIndentation,
    TooDeep,
    UnclosedBracket,
    UnknownCharacter,
    UnmatchedUnindent,
    UnopenedBracket,
    UnterminatedString,
)
from prismc.frontend.malformed import character_fault, name_fault, number_fault
from prismc.frontend.tables import DEDENT, END, INDENT, NEWLINE, Tables, Token
from prismc.source.files import SourceFile
from prismc.source.span import Span

MAX_BLOCKS = 100  # blocks within blocks
MAX_BRACKETS = 200  # brackets within brackets
MAX_PARTS = 500  # operators within operators, or `elif`s of one `if`: checked by the parser
MAX_TOKENS = 200_000  # tokens of one declaration

_TAB_WIDTH = 4
_MAX_STRAYS = 1_000  # characters that mean nothing, before the rest of the declaration is skipped

# The lexer's groups, in order; the first four are the grammar's terminals of these names.
GROUPS = (
    "NAME", "FLOAT", "INTEGER", "STRING",
    "bad number", "operator", "newline", "space", "bad name", "bad string", "bad character",
)  # fmt: skip
_NAME, _STRING, _OPERATOR, _NEWLINE, _SPACE = 1, 4, 6, 7, 8  # counted from 1, as `re` does

# Words that begin a declaration. At the start of a line they end whatever is still open.
OPENERS = ("import", "from", "const", "def", "kernel", "export", "unsafe", "test", "@")
OPENER_LINE = re.compile(r"^(?:@|(?:import|from|const|def|kernel|export|unsafe|test)\b)", re.M)

_INDENTATION = re.compile(r"^[ \t]+", re.M)
_NEXT_DECLARATION = re.compile(r"^[^\s#]", re.M)

_CLOSING = {"(": ")", "[": "]"}

_FOREIGN_ENDS = "{};"  # belong to what comes before them, even at the start of a line

# Faults of one word each, which may be told several times; the others unsettle what follows them.
_REPEATED = (BadNumber, NonAsciiName)
_REPEATED_BY_LINE = (ForeignSpelling, Semicolon, UnknownCharacter)
_MOST_OF_A_KIND = 10


def lexer_pattern(terminals: dict[str, str], operators: list[str]) -> str:
    """The lexer's regular expression: one group for each of GROUPS.

    `terminals` are the grammar's patterns of NAME, FLOAT, INTEGER and STRING.
    """
    longest_first = sorted(operators, key=lambda operator: (-len(operator), operator))
    return "|".join(
        (
            rf"({terminals['NAME']}(?!\w))",
            rf"((?:{terminals['FLOAT']})(?![\w.]))",
            rf"((?:{terminals['INTEGER']})(?![\w.]))",
            rf"({terminals['STRING']})",
            r"(\.?[0-9](?:[\w.]|(?<=[0-9.][eE])[+-](?=[0-9]))*)",
            rf"({'|'.join(re.escape(operator) for operator in longest_first)})",
            r"(\n)",
            r"([ \t\r]++|#[^\n]*+)",
            r"([^\W\d]\w*+)",
            r'("[^\n]*+)',
            r"([\s\S])",
        )
    )


class Piece(NamedTuple):
    """One declaration's tokens, or what stands between declarations (`is_stray`).

    `tokens` ends with END. `faults` are the problems of characters and layout in it, in order.
    `is_large` when an expression or an `if` may pass MAX_PARTS.
    """

    tokens: list[Token]
    faults: list[Problem]
    is_stray: bool
    is_large: bool


class Layout:
    """Cuts one file into pieces, from a line that begins a declaration. Use `pieces`, once."""

    def __init__(self, file: SourceFile, tables: Tables, start: int = 0) -> None:
        self._file = file
        self._text = file.text
        self._tables = tables
        self._openers = frozenset(map(tables.kind, OPENERS))
        self._bracket_kinds = frozenset(map(tables.kind, "()[]"))
        self._at_sign, self._elif = tables.kind("@"), tables.kind("elif")
        self._pattern = re.compile(lexer_pattern(tables.patterns, list(tables.operators)))
        self._resume = start
        self._begin_piece(is_stray=False)

    # ---------------------------------------------------------------------------- pieces

    def pieces(self) -> Iterator[Piece]:
        """The file's pieces, in order; the text between them is blank or comment."""
        while self._resume < len(self._text):
            start, self._resume = self._resume, len(self._text)
            yield from self._scan(start)
        if self._brackets:
            self._unclosed()
        if self._tokens or self._faults:
            yield self._end_piece()

    def _begin_piece(self, is_stray: bool) -> None:
        self._tokens: list[Token] = []
        self._faults: dict[type[Problem], list[Problem]] = {}
        self._indents = [0]
        self._brackets: list[tuple[str, int, int]] = []
        self._line_token = 0  # where the logical line begins in `_tokens`
        self._arms = 0
        self._strays = 0
        self._is_stray = is_stray
        self._is_large = False
        self._after_attribute = False

    def _end_piece(self) -> Piece:
        end = self._tokens[-1][2] if self._tokens else 0
        self._end_line()
        self._tokens += [(DEDENT, end, end)] * (len(self._indents) - 1)
        self._tokens.append((END, end, end))
        found = (problem for problems in self._faults.values() for problem in problems)
        faults = sorted(found, key=lambda problem: problem.at.start)
        return Piece(self._tokens, faults, self._is_stray, self._is_large)

    def _fault(self, problem: Problem) -> None:
        known = self._faults.setdefault(type(problem), [])
        if not known or (len(known) < _MOST_OF_A_KIND and self._is_another(problem, known[-1])):
            known.append(problem)

    def _is_another(self, problem: Problem, last: Problem) -> bool:
        """Whether a second fault of a kind is worth telling beside the first."""
        if isinstance(problem, _REPEATED_BY_LINE):
            return self._text.find("\n", last.at.start, problem.at.start) != -1
        return isinstance(problem, _REPEATED)

    def _span(self, start: int, end: int) -> Span:
        return Span(self._file.name, start, end)

    # ---------------------------------------------------------------------------- scanning

    def _scan(self, start: int) -> Iterator[Piece]:
        """Lexes from `start`, the start of a line. Sets `_resume` when it gives up midway."""
        words, operators = self._tables.words, self._tables.operators
        name_kind = self._tables.kind("NAME")
        literal_kinds = [0, 0, *map(self._tables.kind, GROUPS[1:4])]
        tokens, line, is_fresh = self._tokens, start, True
        for match in self._pattern.finditer(self._text, start):
            group = match.lastindex or 0
            if group == _SPACE:
                continue
            begin, end = match.span()
            if group == _NAME:
                kind: int | None = words.get(match[0], name_kind)
            elif group == _OPERATOR:
                kind = operators[match[0]]
            elif group == _NEWLINE:
                line, is_fresh = end, True
                continue
            elif group <= _STRING:
                kind = literal_kinds[group]
            else:
                kind = None
            if is_fresh and (kind is not None or self._text[begin] not in _FOREIGN_ENDS):
                is_fresh = False
                piece = self._begin_line(name_kind if kind is None else kind, line, begin)
                if piece is not None:
                    yield piece
                    tokens = self._tokens
            if kind is None:
                kind = self._irregular(group, begin, end)
            if self._strays > _MAX_STRAYS:
                self._skip(end)
                break
            if kind is None:
                continue
            tokens.append((kind, begin, end))
            if kind in self._bracket_kinds:
                self._bracket(match[0], begin, end)
            if len(tokens) > MAX_TOKENS or len(self._brackets) > MAX_BRACKETS:
                self._give_up(begin, end)
                break

    def _skip(self, end: int) -> None:
        """Goes on at the next line that begins a declaration: the rest of this one is not read."""
        self._brackets.clear()
        opener = OPENER_LINE.search(self._text, end)
        self._resume = opener.start() if opener else len(self._text)

    def _give_up(self, begin: int, end: int) -> None:
        """Reports that the declaration is too deep or too long, and skips the rest of it."""
        if len(self._brackets) > MAX_BRACKETS:
            limit, what, advice = MAX_BRACKETS, "brackets within brackets", "name a part of it"
        else:
            limit, what, advice = MAX_TOKENS, "words in one declaration", "split it"
        self._fault(TooDeep(at=self._span(begin, end), limit=limit, what=what, advice=advice))
        self._skip(end)

    # ---------------------------------------------------------------------------- lines

    def _begin_line(self, kind: int, line: int, begin: int) -> Piece | None:
        """Layout before the first token of a line; the finished piece when this one begins anew."""
        is_opener = kind in self._openers
        if self._brackets:
            if begin > line or not is_opener:
                return None
            self._unclosed()
        self._end_line()
        width = self._width(line, begin)
        piece = None
        if width == 0:
            is_empty = not self._tokens and not self._faults
            if is_empty:
                self._is_stray = not is_opener
            elif not self._after_attribute and (is_opener or not self._is_stray):
                piece = self._end_piece()
                self._begin_piece(is_stray=not is_opener)
            self._after_attribute = kind == self._at_sign
        elif kind == self._elif:
            self._arms += 1
            self._is_large = self._is_large or self._arms > MAX_PARTS
        self._indent(width, line, begin)
        return piece

    def _end_line(self) -> None:
        length = len(self._tokens) - self._line_token
        if length:
            end = self._tokens[-1][2]
            self._tokens.append((NEWLINE, end, end))
            self._line_token = len(self._tokens)
            self._is_large = self._is_large or length > MAX_PARTS

    def _width(self, line: int, begin: int) -> int:
        """How far the line is indented; a tab counts as four spaces, and is a fault."""
        indentation = self._text[line:begin]
        tab = indentation.find("\t")
        if tab == -1:
            return begin - line
        at = self._span(line + tab, line + tab + 1)
        if TabIndentation not in self._faults:
            self._fault(TabIndentation(at=at, fixes=(self._spaces_for_tabs(line),)))
        return begin - line + (_TAB_WIDTH - 1) * indentation.count("\t")

    def _spaces_for_tabs(self, line: int) -> Fix:
        """Spaces instead of tabs from here to the declaration's end; certain where no line is
        indented by spaces, for then nobody can have meant tabs of another width."""
        end = _NEXT_DECLARATION.search(self._text, line)
        at = self._span(line, end.start() if end else len(self._text))
        text = self._text[at.start : at.end]
        is_certain = not any(" " in match[0] for match in _INDENTATION.finditer(text))
        spaces = _INDENTATION.sub(lambda match: match[0].replace("\t", " " * _TAB_WIDTH), text)
        return Fix(at=at, text=spaces, title="indent with spaces", is_certain=is_certain)

    def _indent(self, width: int, line: int, begin: int) -> None:
        """INDENT or DEDENTs, as the line's indentation differs from the block's."""
        indents, tokens = self._indents, self._tokens
        end = tokens[-1][2] if tokens else begin
        if width > indents[-1]:
            indents.append(width)
            tokens.append((INDENT, end, end))
            if len(indents) > MAX_BLOCKS + 1:
                what, advice = "blocks within blocks", "move the inner blocks into a function"
                at = self._span(begin, begin + 1)
                self._fault(TooDeep(at=at, limit=MAX_BLOCKS, what=what, advice=advice))
        else:
            levels = ", ".join(map(str, indents)) if width not in indents else ""
            while width < indents[-1]:
                indents.pop()
                tokens.append((DEDENT, end, end))
            # A bracket of the wrong kind ends a line too early.
            if levels and not self._faults.keys() & {TabIndentation, MismatchedBracket}:
                at = self._span(line, begin)
                self._fault(UnmatchedUnindent(at=at, width=width, levels=levels))
        self._line_token = len(tokens)

    # ---------------------------------------------------------------------------- brackets

    def _bracket(self, bracket: str, begin: int, end: int) -> None:
        if bracket in _CLOSING:
            self._brackets.append((bracket, begin, end))
        elif not self._brackets:
            if MismatchedBracket not in self._faults:  # which has closed one too many
                self._fault(UnopenedBracket(at=self._span(begin, end), bracket=bracket))
        else:
            opening, *opened = self._brackets.pop()
            if _CLOSING[opening] != bracket:
                message = f"`{opening}` is opened here"
                self._fault(
                    MismatchedBracket(
                        at=self._span(begin, end),
                        related=(Related(at=self._span(*opened), message=message),),
                        bracket=bracket,
                        opening=opening,
                        closing=_CLOSING[opening],
                    )
                )

    def _unclosed(self) -> None:
        opening, *opened = self._brackets[-1]
        # A string without its end may have swallowed the closing bracket, one of the wrong kind
        # has closed another's.
        if UnterminatedString not in self._faults and MismatchedBracket not in self._faults:
            at = self._span(*opened)
            self._fault(UnclosedBracket(at=at, bracket=opening, closing=_CLOSING[opening]))
        self._brackets.clear()

    # ---------------------------------------------------------------------------- odd characters

    def _irregular(self, group: int, begin: int, end: int) -> int | None:
        """Notes what is wrong with a malformed token; the kind it stands for, None for none."""
        text, at = self._text[begin:end], self._span(begin, end)
        match GROUPS[group - 1]:
            case "bad number":
                self._fault(number_fault(text, at))
                return self._tables.kind("INTEGER")
            case "bad name":
                self._fault(name_fault(text, at))
                return self._tables.kind("NAME")
            case "bad string":
                self._fault(UnterminatedString(at=self._span(begin, begin + 1)))
                return self._tables.kind("STRING")
            case _:
                self._strays += 1
                self._fault(character_fault(text, at, ends_line=self._ends_line(end)))
                return None

    def _ends_line(self, end: int) -> bool:
        """Whether nothing but space and a comment follows on the line."""
        stop = self._text.find("\n", end)
        rest = self._text[end:stop] if stop != -1 else self._text[end:]
        return not rest.partition("#")[0].strip()
