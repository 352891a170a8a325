"""One line of the program as lines of text: broken inside brackets where it is too long.

Lines are filled: a break comes before the first item that would not fit, in the outermost bracket
that helps, else before an operator, the loosest first. A bracket that ends in a comma or holds a
comment has one item a line instead, and adjacent strings have a line each.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from prismc.frontend.comments import Comment
from prismc.frontend.spacing import Word

WIDTH = 100  # characters of a line
STEP = 4  # characters of an indentation
_SHORT = 12  # characters within brackets that are not worth a break
_HEADER_STEP = 2 * STEP  # of what follows a header's first line: its body has STEP

Range = tuple[int, int]  # places of words, half open


class TextLine(NamedTuple):
    """A line of text: how far it is indented, its code, its comment; all may be nothing."""

    indent: int
    code: str
    comment: str = ""


def wrap(words: Sequence[Word], indent: int, is_header: bool) -> list[TextLine]:
    """The lines of text for the words, the first at `indent`; a header ends in `:`."""
    return _Wrapper(words, indent, is_header).lines()


class _Wrapper:
    """Writes words; knows the line it is on."""

    def __init__(self, words: Sequence[Word], indent: int, is_header: bool) -> None:
        self._words = words
        self._base = indent
        self._is_header = is_header
        self._closing, depths = _brackets(words)
        self._ends = [0, *accumulate(len(word.text) + word.is_spaced for word in words)]
        self._breaks = [0, *accumulate(_must_break(words, depths, n) for n in range(len(words)))]
        self._lines: list[TextLine] = []
        self._code = ""
        self._indent = indent
        self._item_indent = indent  # in the innermost bracket with one item a line
        self._is_closed = False  # by a comment: the next word begins a line

    def lines(self) -> list[TextLine]:
        self._sequence(0, len(self._words), 0)
        self._push()
        return self._lines

    # ---------------------------------------------------------------------------- measuring

    def _is_broken(self, start: int, end: int) -> bool:
        """Whether a line must end within these words."""
        return self._breaks[end - 1] > self._breaks[start]

    def _width(self, start: int, end: int) -> int:
        return self._ends[end] - self._ends[start]

    def _fits(self, start: int, end: int, tail: int) -> bool:
        """Whether the words go on the current line, with `tail` characters after them."""
        if self._is_broken(start, end):
            return False
        return self._column(start) + self._width(start, end) + tail <= WIDTH

    def _has_room(self, start: int, end: int, indent: int, tail: int) -> bool:
        """Whether the words would go on a line of their own."""
        width = self._width(start, end) - self._words[start].is_spaced
        return not self._is_broken(start, end) and indent + width + tail <= WIDTH

    def _column(self, place: int) -> int:
        """Where a word goes with the space before it, which it loses when it begins the line."""
        return self._indent + (len(self._code) or -self._words[place].is_spaced)

    def _is_breakable(self, opening: int) -> bool:
        closing = self._closing[opening]
        is_results = opening > 0 and self._is(opening - 1, "->")  # rather break the parameters
        is_long = self._width(opening + 1, closing) > (WIDTH // 2 if is_results else _SHORT)
        return is_long or self._is_broken(opening, closing + 1)

    def _lead(self, start: int, end: int, tail: int) -> int:
        """How many characters of the words, and of `tail`, come before the first possible break."""
        place = start
        while place < end:
            if place in self._closing:
                if self._is_breakable(place):
                    return self._width(start, place + 1)
                place = self._closing[place]
            place += 1
            if place < end and self._is_broken(place - 1, place + 1):
                return self._width(start, place)
        return self._width(start, end) + tail

    # ---------------------------------------------------------------------------- writing

    def _write(self, start: int, end: int) -> None:
        """Words side by side; each with the comments that follow it."""
        for word in self._words[start:end]:
            if self._is_closed:
                self._new_line(self._item_indent + STEP)
            self._code += f" {word.text}" if word.is_spaced and self._code else word.text
            for comment in word.comments:
                self._comment(comment)

    def _comment(self, comment: Comment) -> None:
        if comment.trails and self._code:
            self._lines.append(TextLine(self._indent, self._code, comment.text))
            self._code = ""
        else:
            self._push()
            self._lines.append(TextLine(self._item_indent, "", comment.text))
        self._is_closed = True

    def _push(self) -> None:
        if self._code:
            self._lines.append(TextLine(self._indent, self._code))
            self._code = ""

    def _new_line(self, indent: int) -> None:
        self._push()
        self._indent = indent
        self._is_closed = False

    # ---------------------------------------------------------------------------- brackets

    def _sequence(self, start: int, end: int, tail: int) -> None:
        """Words between which no line ends, other than within brackets among them."""
        place = start
        while place < end:
            closing = self._closing.get(place, place)
            if closing == place or not self._is_breakable(place):
                self._write(place, closing + 1)
            else:
                rest = self._lead(closing + 1, end, tail)
                if self._fits(place, closing + 1, rest):
                    self._write(place, closing + 1)
                else:
                    self._bracket(place, closing, rest)
            place = closing + 1

    def _bracket(self, opening: int, closing: int, tail: int) -> None:
        """A bracket that does not go on the line."""
        if self._wants_lines(opening, closing):
            self._item_a_line(opening, closing)
            return
        is_first = self._is_header and self._indent == self._base
        indent = self._indent + (_HEADER_STEP if is_first else STEP)
        tail += len(self._words[closing].text)
        self._write(opening, opening + 1)
        parts = self._parts(opening + 1, closing)
        if self._begin_line(parts, indent, tail):
            self._new_line(indent)
        self._fill(parts, indent, tail)
        self._write(closing, closing + 1)

    def _begin_line(self, parts: Sequence[Range], indent: int, tail: int) -> bool:
        """Whether a line ends after the opening bracket."""
        if self._indent + len(self._code) <= indent:
            return False
        (start, end), after = parts[0], 0 if len(parts) > 1 else tail
        if self._has_room(start, parts[-1][1], indent, tail):
            return True  # all of it has one line
        if self._fits(start, end, after):
            return False
        is_too_long = self._column(start) + self._lead(start, end, after) > WIDTH
        return is_too_long or self._has_room(start, end, indent, after)

    def _wants_lines(self, opening: int, closing: int) -> bool:
        """Whether the bracket has a comment among its own words, or ends in a comma."""
        if self._is(closing - 1, ","):
            return True
        place = opening
        while place < closing:
            if self._words[place].comments:
                return True
            # A bracket within has its own comments, apart from those after its end.
            place = self._closing.get(place, place + 1) if place > opening else place + 1
        return False

    def _item_a_line(self, opening: int, closing: int) -> None:
        outer, base = self._item_indent, self._indent
        self._item_indent = base + STEP
        self._write(opening, opening + 1)
        for start, end in self._parts(opening + 1, closing):
            self._new_line(base + STEP)
            self._part(start, end, base + STEP, 0)
        self._new_line(base)
        self._item_indent = outer
        self._write(closing, closing + 1)

    def _fill(self, parts: Sequence[Range], indent: int, tail: int) -> None:
        """Parts side by side as far as they go; the first where it is, others on lines at `indent`.

        What went over several lines, or is a text, has nothing beside it.
        """
        ends_line = False
        for start, end in parts:
            after = tail if end == parts[-1][1] else 0
            if start > parts[0][0]:
                ends_line = ends_line or self._is_broken(start - 1, start + 1)
                breaks = ends_line or not self._fits(start, end, after)
                if breaks and (self._is_closed or self._indent + len(self._code) > indent):
                    self._new_line(indent)
            lines = len(self._lines)
            self._part(start, end, indent, after)
            ends_line = len(self._lines) > lines or self._is(start, "STRING")

    def _part(self, start: int, end: int, indent: int, tail: int) -> None:
        """One item of a bracket, or one operand with its operator."""
        if self._fits(start, end, tail):
            self._write(start, end)
            return
        operands = self._operands(start, end)
        if len(operands) > 1:
            are_strings = not self._words[operands[1][0]].strength
            self._fill(operands, indent if are_strings else indent + STEP, tail)
        else:
            self._sequence(start, end, tail)

    # ---------------------------------------------------------------------------- parts

    def _parts(self, start: int, end: int) -> list[Range]:
        """What lines may end between in a bracket: its items, or the operands of a single one."""
        cuts = [place + 1 for place in self._own(start, end) if self._is(place, ",")]
        return _split(start, end, cuts) if cuts else self._operands(start, end)

    def _operands(self, start: int, end: int) -> list[Range]:
        """The operands of the loosest operators of an item, each with the operator before it.

        Without operators, its adjacent strings.
        """
        own = self._own(start, end)
        strengths = [self._words[place].strength for place in own if self._words[place].strength]
        if strengths:
            loosest = min(strengths)
            cuts = [place for place in own if self._words[place].strength == loosest]
        else:
            cuts = [b for a, b in pairwise(own) if self._is(a, "STRING") and self._is(b, "STRING")]
        return _split(start, end, cuts)

    def _own(self, start: int, end: int) -> list[int]:
        """The words of an item, without those within its brackets."""
        places = []
        place = start
        while place < end:
            places.append(place)
            place = self._closing.get(place, place + 1)
        return places

    def _is(self, place: int, kind: str) -> bool:
        return self._words[place].kind == kind


def _split(start: int, end: int, cuts: Sequence[int]) -> list[Range]:
    edges = [start, *(cut for cut in cuts if start < cut < end), end]
    return [edge for edge in pairwise(edges) if edge[0] < edge[1]]


def _brackets(words: Sequence[Word]) -> tuple[dict[int, int], list[int]]:
    """The closing bracket of each opening one, and how many brackets are open after each word."""
    closing: dict[int, int] = {}
    depths: list[int] = []
    open_: list[int] = []
    for place, word in enumerate(words):
        if word.kind in ("(", "["):
            open_.append(place)
        elif word.kind in (")", "]"):
            closing[open_.pop()] = place
        depths.append(len(open_))
    return closing, depths


def _must_break(words: Sequence[Word], depths: Sequence[int], place: int) -> bool:
    """Whether a line ends after a word, however much room there is."""
    word = words[place]
    if not depths[place]:
        return False
    following = words[place + 1].kind
    is_last_comma = word.kind == "," and following in (")", "]")
    return bool(word.comments) or is_last_comma or word.kind == following == "STRING"
