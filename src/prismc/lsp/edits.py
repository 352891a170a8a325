"""Formatting as edits: only lines that differ, so that the cursor stays where it is."""

from __future__ import annotations

from difflib import SequenceMatcher

from lsprotocol import types

from prismc.driver.formatting import format_file
from prismc.driver.options import Options
from prismc.driver.session import Session
from prismc.lsp.documents import Document
from prismc.source.files import SourceFile


def formatting_edits(document: Document) -> list[types.TextEdit]:
    """What brings a text into canonical layout; nothing where it has a syntax error."""
    session = Session(Options())
    formatted = format_file(session, SourceFile(document.name, document.text))
    if formatted is None or not formatted.is_changed:
        return []
    old, new = (text.splitlines(keepends=True) for text in (document.text, formatted.text))
    if "".join(old) != document.text or len(old) != document.text.count("\n") + (
        not document.text.endswith("\n")
    ):
        # Other line ends than the compiler's: lines would not be those of the editor.
        return [types.TextEdit(document.places.whole(), formatted.text)]
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    return [
        types.TextEdit(document.places.range(starts[i1], starts[i2]), "".join(new[j1:j2]))
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new).get_opcodes()
        if tag != "equal"
    ]


def edits_within(edits: list[types.TextEdit], range_: types.Range) -> list[types.TextEdit]:
    """Those edits that touch the lines of a range."""
    first, last = range_.start.line, range_.end.line
    return [e for e in edits if e.range.start.line <= last and e.range.end.line >= first]
