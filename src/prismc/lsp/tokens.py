"""Semantic tokens: what each name is, where a grammar of regular expressions cannot know."""

from __future__ import annotations

from collections.abc import Mapping

from lsprotocol import types

from prismc.checker.names.symbols import Symbol, SymbolKind
from prismc.hardware.scalars import ALIASES, SCALARS
from prismc.lsp.documents import Document
from prismc.lsp.facts import facts_of

_TYPES = {
    SymbolKind.CONSTANT: "variable",
    SymbolKind.FUNCTION: "function",
    SymbolKind.KERNEL: "function",
    SymbolKind.EXPORT: "function",
    SymbolKind.MODULE: "namespace",
    SymbolKind.GENERIC: "typeParameter",
    SymbolKind.PARAMETER: "parameter",
    SymbolKind.LOCAL: "variable",
    SymbolKind.LOOP: "variable",
    SymbolKind.BUILTIN: "function",
}
_READONLY, _LIBRARY = 1, 2
_NAMES = ["variable", "function", "namespace", "typeParameter", "parameter", "type"]

LEGEND = types.SemanticTokensLegend(
    token_types=_NAMES, token_modifiers=["readonly", "defaultLibrary"]
)


def semantic_tokens(document: Document) -> types.SemanticTokens:
    """The names of the text of now that are known, as the protocol packs them: five numbers each,
    places relative to the token before."""
    found: dict[tuple[int, int], tuple[int, int, int]] = {}
    for view in document.views():
        facts = facts_of(view.analysis, document.name)
        for named in facts.named() if facts is not None else ():
            moved = view.shift.span_to_new(named.span.start, named.span.end)
            if moved is not None and named.symbol.kind in _TYPES:
                place = document.places.range(*moved)
                length = place.end.character - place.start.character
                kind, modifiers = _kind(named.symbol)
                start = (place.start.line, place.start.character)
                found.setdefault(start, (length, kind, modifiers))
    return types.SemanticTokens(data=_packed(found))


def _kind(symbol: Symbol) -> tuple[int, int]:
    name = _TYPES[symbol.kind]
    modifiers = 0
    if symbol.kind in (SymbolKind.CONSTANT, SymbolKind.LOOP):
        modifiers |= _READONLY
    if symbol.kind is SymbolKind.BUILTIN:
        modifiers |= _LIBRARY
        if symbol.name in SCALARS or symbol.name in ALIASES:
            name = "type"
    return _NAMES.index(name), modifiers


def _packed(tokens: Mapping[tuple[int, int], tuple[int, int, int]]) -> list[int]:
    data: list[int] = []
    line = start = 0
    for (at, column), token in sorted(tokens.items()):
        data += [at - line, column - start if at == line else column, *token]
        line, start = at, column
    return data
