"""Where the parser is stuck, for those who explain it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from prismc.frontend.tables import DEDENT, END, INDENT, NEWLINE, Token
from prismc.source.files import SourceFile
from prismc.source.span import Span


def line_of(tokens: Sequence[Token], place: int) -> tuple[int, int]:
    """The first token of the logical line that holds `place`, and the NEWLINE that ends it."""
    first = last = place
    while first > 0 and tokens[first - 1][0] not in (NEWLINE, INDENT, DEDENT):
        first -= 1
    while last < len(tokens) - 1 and tokens[last][0] != NEWLINE:
        last += 1
    return first, last


class Situation:
    """Where the parser is stuck: the token, those around it, and what would have been accepted."""

    def __init__(
        self,
        tokens: Sequence[Token],
        index: int,
        accepted: Sequence[str],
        terminals: Sequence[str],
        file: SourceFile,
    ) -> None:
        self.index = index
        self.accepted = accepted
        self.token = terminals[tokens[index][0]]
        self._tokens = tokens
        self._terminals = terminals
        self._file = file

    def word(self, offset: int) -> str:
        """The token `offset` places from the wrong one, as the grammar writes it; "" for none."""
        place = self.index + offset
        return self._terminals[self._tokens[place][0]] if 0 <= place < len(self._tokens) else ""

    def text(self, offset: int = 0) -> str:
        """The characters of a token."""
        _, start, end = self._tokens[self.index + offset]
        return self._file.text[start:end]

    def span(self, first: int = 0, last: int = 0) -> Span:
        """From one token to another, both included, counted from the wrong one."""
        start, end = self._tokens[self.index + first][1], self._tokens[self.index + last][2]
        return Span(self._file.name, start, end)

    def touches(self, offset: int) -> bool:
        """Whether no space is between a token and the next."""
        place = self.index + offset
        return self._tokens[place][2] == self._tokens[place + 1][1]

    def line_start(self) -> int:
        """The offset of the first token of the logical line (0 or negative)."""
        return line_of(self._tokens, self.index)[0] - self.index

    def line_word(self) -> str:
        """The first word of the logical line."""
        return self.word(self.line_start())

    def previous(self, words: Collection[str]) -> int | None:
        """The offset of the nearest token before that is one of `words`, outside inner brackets."""
        depth = 0
        for offset in range(-1, -self.index - 1, -1):
            word = self.word(offset)
            if depth == 0 and word in words:
                return offset
            depth += (word in (")", "]")) - (word in ("(", "["))
        return None

    def header(self, *, outermost: bool = False) -> Span | None:
        """The line whose block the token stands in, or the first one around it; None outside all
        blocks."""
        depth, found = 0, None
        for place in range(self.index - 1, -1, -1):
            kind = self._tokens[place][0]
            depth += (kind == DEDENT) - (kind == INDENT)
            if depth < 0:
                found, depth = self._line(place - 1), 0
                if not outermost:
                    break
        return found

    def line_above(self) -> Span | None:
        """The line before the token's own."""
        first, _ = line_of(self._tokens, self.index)
        place = first - 1
        while place >= 0 and self._tokens[place][0] <= END:
            place -= 1
        return None if place < 0 else self._line(place)

    def _line(self, place: int) -> Span:
        first, last = line_of(self._tokens, place)
        return self.span(first - self.index, last - self.index)

    def is_in_brackets(self) -> bool:
        line = [self.word(offset) for offset in range(self.line_start(), 0)]
        opened = line.count("(") + line.count("[")
        return opened > line.count(")") + line.count("]")

    def indentation(self) -> Span:
        """The space before the first token after the wrong one, which is an INDENT."""
        start = self._tokens[self.index + 1][1]
        line = self._file.text.rfind("\n", 0, start) + 1
        return Span(self._file.name, line, start)
