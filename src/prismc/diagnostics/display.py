"""How a source line looks on a terminal: columns of wide characters and tabs, long lines cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import category, combining, east_asian_width

TAB = 4
LONGEST = 140  # characters of a line that are shown
BEFORE = 30  # characters kept before the place of interest when a line is cut
CUT = "..."


class ShownLine(NamedTuple):
    """A line as it is printed: `columns[i]` is where character `first + i` starts.

    There is one more entry than characters, the column where the text ends.
    """

    text: str
    first: int
    columns: list[int]

    def column(self, character: int) -> int:
        """The column of a character of the line; what was cut off is at the nearest edge."""
        return self.columns[min(max(character - self.first, 0), len(self.columns) - 1)]

    def holds(self, character: int) -> bool:
        return self.first <= character < self.first + len(self.columns)


def printable(text: str) -> str:
    """`text` on one line, without characters that a terminal would act on."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(piece for piece, _ in _printable(text, 0))


def show_line(line: str, interest: list[tuple[int, int]]) -> ShownLine:
    """`line` with tabs and unprintable characters replaced, cut around `interest` when long.

    `interest` holds ranges of characters, the most important first.
    """
    start, end = _window(len(line), interest)
    pieces = [CUT] if start else []
    column = len(CUT) if start else 0
    columns = []
    for piece, width in _printable(line[start:end], column):
        columns.append(column)
        pieces.append(piece)
        column += width
    columns.append(column)
    if end < len(line):
        pieces.append(CUT)
    return ShownLine("".join(pieces), start, columns)


def _window(length: int, interest: list[tuple[int, int]]) -> tuple[int, int]:
    if length <= LONGEST:
        return 0, length
    first = min((start for start, _ in interest), default=0)
    last = max((end for _, end in interest), default=0)
    if last - first > LONGEST - 2 * BEFORE:
        first = interest[0][0]
    start = max(0, min(first - BEFORE, length - LONGEST))
    return start, start + LONGEST


def _printable(text: str, column: int) -> Iterator[tuple[str, int]]:
    """Each character as it is printed, with the columns it takes from `column` on."""
    for character in text:
        if character == "\t":
            piece, width = " " * (TAB - column % TAB), TAB - column % TAB
        elif " " <= character <= "~":
            piece, width = character, 1
        else:
            piece, width = _unusual(character)
        yield piece, width
        column += width


def _unusual(character: str) -> tuple[str, int]:
    if combining(character) or category(character) == "Mn":
        return character, 0
    # Controls, bidirectional overrides and surrogates must not reach a terminal.
    if category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return "\ufffd", 1
    return character, 2 if east_asian_width(character) in "WF" else 1
