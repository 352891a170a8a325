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


class Writer:
    """Collects lines. Before one that comes from another Prism line than a compiler would count
    for it, a `#line` directive stands."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._lines: list[str] = []
        self._depth = 0
        self._counted: _Place | None = None
        self._named: dict[str, None] = {}

    @property
    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    @property
    def named_files(self) -> tuple[str, ...]:
        """The Prism files that directives name, in the order of their first directive."""
        return tuple(self._named)

    def line(self, text: str, at: Span | None = None) -> None:
        """One line of text, or several; `at` is where in Prism it comes from, if anywhere."""
        if at is not None and at.file:
            self._place(at)
        for part in text.split("\n"):
            self._add(f"{'    ' * self._depth}{part}".rstrip())

    @contextmanager
    def indented(self) -> Iterator[None]:
        self._depth += 1
        yield
        self._depth -= 1

    def _place(self, at: Span) -> None:
        place = _Place(at.file, self._files.position(at).line)
        if place != self._counted:
            self._add(f'#line {place.line} "{spell_file(place.file)}"')
            self._named[place.file] = None
            self._counted = place

    def _add(self, line: str) -> None:
        self._lines.append(line)
        if self._counted is not None:
            self._counted = self._counted._replace(line=self._counted.line + 1)
