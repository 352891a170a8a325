"""Source lines with marks under them, as rustc draws them.

Marks of one line: the rightmost label stands beside its mark, the others hang below theirs. A mark
over several lines runs in the left gutter from its first line to its last.
"""

from __future__ import annotations

from typing import NamedTuple

from prismc.diagnostics.display import ShownLine, printable, show_line
from prismc.diagnostics.style import Role, Style
from prismc.source.files import SourceFile
from prismc.source.span import Span

Cells = list[tuple[str, Role]]


class Mark(NamedTuple):
    """A span to underline, what to say there, and whether it is the place where it broke."""

    at: Span
    label: str
    role: Role

    @property
    def is_primary(self) -> bool:
        return self.role is not Role.SECOND

    @property
    def words(self) -> str:
        """The label as it may be printed, on one line."""
        return printable(self.label)

    @property
    def line_character(self) -> str:
        return {Role.SECOND: "-", Role.HELP: "+"}.get(self.role, "^")


class _Piece(NamedTuple):
    """A mark by lines and columns: lines from 1, columns in characters of the line from 0."""

    mark: Mark
    first_line: int
    first: int
    last_line: int
    end: int  # first character after the mark, in the last line

    @property
    def is_long(self) -> bool:
        return self.last_line > self.first_line


def draw_excerpt(file: SourceFile, marks: list[Mark], number_width: int, style: Style) -> list[str]:
    """The lines that `marks` touch, the most important mark first, with the marks drawn."""
    pieces = [_piece(file, mark) for mark in marks]
    drawing = _Drawing(file, pieces, number_width, style)
    drawing.lines()
    return drawing.rows


def last_line_number(file: SourceFile, marks: list[Mark]) -> int:
    """The greatest line number that `draw_excerpt` would print."""
    return max((_piece(file, mark).last_line for mark in marks), default=0)


def _piece(file: SourceFile, mark: Mark) -> _Piece:
    start, end = mark.at.start, min(mark.at.end, len(file.text))
    while end > start and file.text[end - 1] in "\r\n":
        end -= 1
    first = file.position(start)
    last = file.position(max(end, start))
    return _Piece(mark, first.line, first.column - 1, last.line, last.column - 1)


class _Drawing:
    """The rows of one excerpt, from top to bottom."""

    def __init__(
        self, file: SourceFile, pieces: list[_Piece], number_width: int, style: Style
    ) -> None:
        self.file = file
        self.pieces = pieces
        self.long = [piece for piece in pieces if piece.is_long]
        self.number_width = number_width
        self.style = style
        self.rows: list[str] = []

    def lines(self) -> None:
        self.row("", [])
        previous = 0
        for number in self.shown_numbers():
            if previous and number == previous + 2:
                self.line(previous + 1)
            elif previous and number > previous + 2:
                self.rows.append(self.style(Role.FRAME, "..."))
            self.line(number)
            previous = number

    def shown_numbers(self) -> list[int]:
        return sorted({n for piece in self.pieces for n in (piece.first_line, piece.last_line)})

    def line(self, number: int) -> None:
        """A source line, then what is marked in it."""
        short = [p for p in self.pieces if not p.is_long and p.first_line == number]
        ends = [p for p in self.long if p.last_line == number]
        interest = [(p.first, p.end) for p in short] + [(p.end - 1, p.end) for p in ends]
        shown = show_line(self.file.line(number), interest)
        self.row(str(number), [*self.gutter(number, after=False), (shown.text, Role.SOURCE)])
        self.short_marks(number, shown, [p for p in short if shown.holds(p.first)])
        for piece in ends:
            self.long_end(piece, shown)
        for piece in short:
            if not shown.holds(piece.first) and piece.mark.label:
                where = f"column {piece.first + 1}: {piece.mark.words}"
                self.row("", [*self.gutter(number, after=True), (where, piece.mark.role)])

    def gutter(self, number: int, *, after: bool) -> Cells:
        """The left bars of long marks beside line `number`, or `after` it, below its source."""
        cells: Cells = []
        for piece in self.long:
            if piece.first_line < number <= piece.last_line and not (
                after and number == piece.last_line
            ):
                bar = "| "
            elif piece.first_line == number:
                bar = "| " if after else "/ "
            else:
                bar = "  "
            cells.append((bar, piece.mark.role))
        return cells

    def long_end(self, piece: _Piece, shown: ShownLine) -> None:
        """The row below the last line of a long mark: its bar bends to the end of the span."""
        cells = self.gutter(piece.last_line, after=True)
        at = self.long.index(piece)
        reach = max(shown.column(max(piece.end - 1, 0)), 0) + 2 * (len(self.long) - at) - 1
        bend = "|" + "_" * reach + piece.mark.line_character
        self.row("", [*cells[:at], (f"{bend} {piece.mark.words}".rstrip(), piece.mark.role)])

    def short_marks(self, number: int, shown: ShownLine, pieces: list[_Piece]) -> None:
        if not pieces:
            return
        gutter = self.gutter(number, after=True)
        spots = sorted(
            (_Spot.of(piece, shown) for piece in pieces), key=lambda spot: (spot.start, spot.end)
        )
        # The place where it broke is painted last, over the others.
        painted = [*(s for s in spots if not s.mark.is_primary)]
        painted += [s for s in spots if s.mark.is_primary]
        canvas = _Canvas()
        for spot in painted:
            canvas.put(spot.start, spot.mark.line_character * spot.width, spot.mark.role)
        hanging = [spot for spot in spots if spot.mark.label]
        if hanging and hanging[-1].end == max(spot.end for spot in spots):
            beside = hanging.pop()
            canvas.put(beside.end + 1, beside.mark.words, beside.mark.role)
        self.row("", [*gutter, *canvas.cells()])
        self.hanging_labels(gutter, hanging)

    def hanging_labels(self, gutter: Cells, hanging: list[_Spot]) -> None:
        """Labels that have no room beside their mark, the rightmost first."""
        if hanging:
            self.row("", [*gutter, *_bars(hanging).cells()])
        while hanging:
            spot = hanging.pop()
            canvas = _bars([other for other in hanging if other.start < spot.start])
            canvas.put(spot.start, spot.mark.words, spot.mark.role)
            self.row("", [*gutter, *canvas.cells()])

    def row(self, number: str, cells: Cells) -> None:
        frame = self.style(Role.FRAME, f"{number:>{self.number_width}} |")
        body = "".join(self.style(role, text) for text, role in cells if text)
        self.rows.append(f"{frame} {body}".rstrip() if body else frame)


class _Spot(NamedTuple):
    """A mark within one line, in display columns."""

    mark: Mark
    start: int
    end: int

    @classmethod
    def of(cls, piece: _Piece, shown: ShownLine) -> _Spot:
        start = shown.column(piece.first)
        return cls(piece.mark, start, max(shown.column(piece.end), start + 1))

    @property
    def width(self) -> int:
        return self.end - self.start


class _Canvas:
    """One row of characters with roles, written in any order."""

    def __init__(self) -> None:
        self.characters: dict[int, tuple[str, Role]] = {}

    def put(self, column: int, text: str, role: Role) -> None:
        for index, character in enumerate(text):
            self.characters[column + index] = (character, role)

    def cells(self) -> Cells:
        """The row as runs of one role each, the gaps filled with blanks."""
        runs: Cells = []
        for column in range(max(self.characters, default=-1) + 1):
            character, role = self.characters.get(column, (" ", Role.PLAIN))
            if runs and runs[-1][1] is role:
                runs[-1] = (runs[-1][0] + character, role)
            else:
                runs.append((character, role))
        return runs


def _bars(spots: list[_Spot]) -> _Canvas:
    canvas = _Canvas()
    for spot in spots:
        canvas.put(spot.start, "|", spot.mark.role)
    return canvas
