"""Formatting files: texts in, texts in canonical layout out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prismc.diagnostics.sink import Sink
from prismc.driver.errors import TooLarge
from prismc.driver.outputs import Output, holds, save_outputs
from prismc.driver.session import Session
from prismc.frontend.ast import Module
from prismc.frontend.format import format_text
from prismc.frontend.parser import parse_module
from prismc.frontend.walk import is_same
from prismc.source.files import SourceFile
from prismc.source.record import Record
from prismc.source.span import Span


class Formatted(Record):
    """A file and its text in canonical layout."""

    file: SourceFile
    text: str

    @property
    def is_changed(self) -> bool:
        return self.text != self.file.text


def format_file(session: Session, file: SourceFile) -> Formatted | None:
    """The file in canonical layout; None with the problems reported where it has syntax errors.

    Raises AssertionError rather than return a text that means something else.
    """
    try:
        before = _parsed(file, session.sink)
        if before is None:
            return None
        text = format_text(file)
        after = before if text == file.text else _parsed(SourceFile(file.name, text), Sink())
        if after is None or not is_same(before, after):
            raise AssertionError(f"formatting would change what {file.name} means")
    except RecursionError:
        session.sink.report(TooLarge(at=Span(file.name, 0, 0), what="too many levels of nesting"))
        return None
    return Formatted(file=file, text=text)


def _parsed(file: SourceFile, sink: Sink) -> Module | None:
    """The tree of a file without syntax errors. What a file imports does not matter."""
    errors = sink.errors_reported
    module = parse_module(file, "", sink)
    return module if sink.errors_reported == errors else None


def write_formatted(session: Session, results: Sequence[Formatted]) -> None:
    """Put the texts in place of the files; what cannot be written is reported.

    A file that is laid out already is not touched.
    """
    outputs = [Output(path=Path(each.file.name), content=each.text.encode()) for each in results]
    save_outputs(session.sink, [each for each in outputs if not holds(each.path, each.content)])
