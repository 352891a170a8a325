"""Open files: their texts as the editor has them, and what was found out about them.

An analysis is of a text that may be older than the editor's. What an edit left alone is found
again by `Shift`, so that answers hold while someone types.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator

from pygls import uris

from prismc.lsp.analysis import Analysis
from prismc.lsp.facts import forget_facts
from prismc.lsp.positions import Places
from prismc.source.record import Record


class Shift:
    """One text and a later one: what both begin with and end with is the same."""

    def __init__(self, old: str, new: str) -> None:
        self._head = _alike(old, new)
        most = min(len(old), len(new)) - self._head
        tail = _alike(old[len(old) - most :][::-1], new[len(new) - most :][::-1])
        self._old_tail = len(old) - tail
        self._new_tail = len(new) - tail

    def to_old(self, offset: int) -> int | None:
        """Where a character of the new text was in the old; None for what was typed since."""
        if offset <= self._head:
            return offset
        if offset >= self._new_tail:
            return offset - self._new_tail + self._old_tail
        return None

    def nearest_old(self, offset: int) -> int:
        """As `to_old`; for what was typed since, where it was typed."""
        place = self.to_old(offset)
        return self._head if place is None else place

    def to_new(self, offset: int) -> int | None:
        """Where a character of the old text is in the new; None for what was changed since."""
        if offset <= self._head:
            return offset
        if offset >= self._old_tail:
            return offset - self._old_tail + self._new_tail
        return None

    def span_to_new(self, start: int, end: int) -> tuple[int, int] | None:
        """A range of the old text in the new; None where any of it was changed since."""
        if end <= self._head:
            return start, end
        if start >= self._old_tail:
            moved = self._new_tail - self._old_tail
            return start + moved, end + moved
        return None


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return bisect_left(
        range(min(len(one), len(other))), True, key=lambda n: one[: n + 1] != other[: n + 1]
    )


class View(Record):
    """An analysis, and how to find a place of the file's text of now in it."""

    analysis: Analysis
    shift: Shift


class Document:
    """One open file. `name` is how the compiler calls it: its path, or the URI of one without.

    `latest` is the newest analysis, `good` the newest without a syntax error in this file.
    """

    def __init__(self, uri: str, text: str, version: int, encoding: str) -> None:
        self.uri = uri
        self.name = file_name(uri)
        self.encoding = encoding
        self.latest: Analysis | None = None
        self.good: Analysis | None = None
        self.change(text, version)

    def change(self, text: str, version: int) -> None:
        """The text is another now."""
        self.text, self.version = text, version
        self.places = Places(text, self.encoding)
        self._views: dict[Analysis, View] = {}

    def learn(self, analysis: Analysis) -> None:
        """Keep a result."""
        self.latest = analysis
        if analysis.is_whole:
            self.good = analysis
        self._views.clear()
        forget_facts()

    def views(self) -> Iterator[View]:
        """What is known, newest first; what a syntax error hides is in the second."""
        for analysis in dict.fromkeys((self.latest, self.good)):
            if analysis is not None:
                if analysis not in self._views:
                    shift = Shift(analysis.root.text, self.text)
                    self._views[analysis] = View(analysis=analysis, shift=shift)
                yield self._views[analysis]


def file_name(uri: str) -> str:
    """The path that a URI names, or the URI itself."""
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.normpath(path) if path else uri


def file_uri(name: str) -> str:
    """The URI of a file of the compiler."""
    if "://" in name or name.startswith("untitled:"):
        return name
    return uris.from_fs_path(os.path.abspath(name)) or name
