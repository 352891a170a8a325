"""Lines of generated text: indentation and `#line` directives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from prismc.backend.cuda_module import spell_file
from prismc.source.files import Files
from prismc.source.span import Span


class _Place(NamedTuple):
    file: str
    line: int


# Longer lines are cut where a list of things stands.
WIDTH = 100


def _is_simple(text: str) -> bool:
    """Whether the text is a statement without parts."""
    return text.endswith(";") and "\n" not in text and not text.startswith("for ")


class Writer:
    """Collects lines. Before one that comes from another Prism line than a compiler would count
    for it, a `#line` directive stands; short statements of one Prism line share a line."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._lines: list[str] = []
        self._depth = 0
        # What a compiler counts for the next line, once a directive stands.
        self._file, self._line = "", 0
        self._named: dict[str, None] = {}
        # The place of the last line, if more statements may follow on it.
        self._open: _Place | None = None

    @property
    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    @property
    def named_files(self) -> tuple[str, ...]:
        """The Prism files that directives name, in the order of their first directive."""
        return tuple(self._named)

    def line(self, text: str, at: Span | None = None, *, alone: bool = False) -> None:
        """One line of text, or several; `at` is where in Prism it comes from, if anywhere. `alone`
        keeps other statements off the line."""
        place = None
        if at is not None and at.file:
            place = _Place(at.file, self._files.position(at).line)
            if not alone and self._joins(text, place):
                self._lines[-1] += f" {text}"
                return
            self._place(place)
        for part in text.split("\n"):
            self._add(f"{'    ' * self._depth}{part}".rstrip())
        self._open = place if _is_simple(text) and not alone else None

    def _joins(self, text: str, place: _Place) -> bool:
        fits = bool(self._lines) and len(self._lines[-1]) + 1 + len(text) <= WIDTH
        return fits and _is_simple(text) and place == self._open

    def source(self, at: Span) -> str:
        """What the program says at a place, on one line."""
        text = self._files.known(at.file).text[at.start : at.end] if at.file else ""
        return " ".join(text.split())

    @contextmanager
    def indented(self) -> Iterator[None]:
        self._depth += 1
        yield
        self._depth -= 1

    def _place(self, place: _Place) -> None:
        if place.line != self._line or place.file != self._file:
            self._lines.append(f'#line {place.line} "{spell_file(place.file)}"')
            self._named[place.file] = None
            self._file, self._line = place

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._line += 1
