"""The outline of a file and what folds: from its words, so that broken code keeps both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from lsprotocol import types

from prismc.frontend.tables import LAYOUT_KINDS
from prismc.lsp.documents import Document
from prismc.lsp.lexis import Declared, Word, declarations_of, pieces_of

_NEWLINE, _INDENT, _DEDENT, _ = LAYOUT_KINDS
_KINDS = {
    "def": types.SymbolKind.Function,
    "kernel": types.SymbolKind.Class,
    "const": types.SymbolKind.Constant,
    "export": types.SymbolKind.Class,
    "test": types.SymbolKind.Method,
}


def outline(document: Document) -> list[types.DocumentSymbol]:
    """The top-level declarations, each with the shared arrays that it declares."""
    return [_symbol(document, each) for each in declarations_of(document.text)]


def _symbol(document: Document, declared: Declared) -> types.DocumentSymbol:
    places, name = document.places, declared.name
    words = declared.words
    arrays = [
        types.DocumentSymbol(
            name=array.text,
            kind=types.SymbolKind.Array,
            range=places.range(word.start, array.end),
            selection_range=places.range(array.start, array.end),
            detail="shared",
        )
        for word, array in pairwise(words)
        if word.kind == "shared" and array.kind == "NAME"
    ]
    return types.DocumentSymbol(
        name=name.text.strip('"') or "test",
        kind=_KINDS[declared.keyword],
        range=places.range(declared.start, declared.end),
        selection_range=places.range(name.start, name.end),
        detail=declared.keyword,
        children=arrays,
    )


def folds(document: Document) -> list[types.FoldingRange]:
    """Blocks under their headers, runs of comment lines, runs of imports."""
    found = [fold for piece in pieces_of(document.text) for fold in _blocks(document, piece)]
    found += _runs(document, "#", types.FoldingRangeKind.Comment)
    found += _runs(document, ("import ", "from "), types.FoldingRangeKind.Imports)
    return sorted(found, key=lambda fold: (fold.start_line, fold.end_line))


def _blocks(document: Document, words: Sequence[Word]) -> Iterator[types.FoldingRange]:
    open_lines: list[int] = []
    last = 0
    for word in words:
        if word.kind == _INDENT:
            open_lines.append(document.places.line(last))
        elif word.kind == _DEDENT and open_lines:
            start, end = open_lines.pop(), document.places.line(max(0, last - 1))
            if end > start:
                yield types.FoldingRange(start_line=start, end_line=end)
        elif word.kind != _NEWLINE:
            last = word.end


def _runs(
    document: Document, begins: str | tuple[str, ...], kind: types.FoldingRangeKind
) -> Iterator[types.FoldingRange]:
    """Two or more lines in a row that begin with some text."""
    start: int | None = None
    lines = [*document.text.split("\n"), ""]
    for number, line in enumerate(lines):
        if line.lstrip().startswith(begins):
            start = number if start is None else start
        elif start is not None:
            if number - start > 1:
                yield types.FoldingRange(start_line=start, end_line=number - 1, kind=kind)
            start = None
