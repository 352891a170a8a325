"""Spans: half-open character ranges of one file. Lines and columns exist only when shown."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Characters `start` (included) to `end` (excluded) of the file named `file`.

    Offsets count characters of the decoded text, from 0. A tuple, because every token has one.
    """

    file: str
    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The smallest span that covers this one and a later one of the same file."""
        return Span(self.file, self.start, max(self.end, other.end))


NOWHERE = Span("", 0, 0)
