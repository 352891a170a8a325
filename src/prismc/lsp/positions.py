"""Places of an editor and of the compiler: lines and units there, characters from 0 here.

The protocol counts lines and, within a line, units of the encoding that client and server agreed
on, UTF-16 unless both know another (LSP 3.17, "Position"). Lines end as in `_LINE_END`.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from lsprotocol.types import Position, PositionEncodingKind, Range

_LINE_END = re.compile(r"\r\n|\n|\r")


class Places:
    """The lines of one text, in the units of one encoding."""

    def __init__(self, text: str, encoding: str = PositionEncodingKind.Utf16) -> None:
        self.text = text
        self._encoding = encoding
        self._is_plain = text.isascii() or encoding == PositionEncodingKind.Utf32
        ends = list(_LINE_END.finditer(text))
        self._starts = [0, *(end.end() for end in ends)]
        self._stops = [*(end.start() for end in ends), len(text)]

    def position(self, offset: int) -> Position:
        """Where a character stands; an offset past the end is the end."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset) - 1
        before = self.text[self._starts[line] : min(offset, self._stops[line])]
        return Position(line, self._units(before))

    def range(self, start: int, end: int) -> Range:
        return Range(self.position(start), self.position(max(start, end)))

    def whole(self) -> Range:
        return self.range(0, len(self.text))

    def offset(self, position: Position) -> int:
        """The character at a place; a place past the end of its line is that end."""
        if position.line >= len(self._starts):
            return len(self.text)
        start, stop = self._starts[position.line], self._stops[position.line]
        if self._is_plain:
            return min(start + position.character, stop)
        units = 0
        for offset in range(start, stop):
            if units >= position.character:
                return offset
            units += self._units(self.text[offset])
        return stop

    def line(self, offset: int) -> int:
        """The number, from 0, of the line that holds a character."""
        return self.position(offset).line

    def _units(self, text: str) -> int:
        if self._is_plain:
            return len(text)
        if self._encoding == PositionEncodingKind.Utf8:
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(character > "\uffff" for character in text)
