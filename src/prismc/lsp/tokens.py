"""Semantic tokens: what each name is, where a grammar of regular expressions cannot know."""

from __future__ import annotations

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
    """The names of the text of now that the newest analysis knows, as the protocol packs them:
    five numbers each, places relative to the token before."""
    found: list[tuple[int, int, int, int, int]] = []
    for view in document.views():
        facts = facts_of(view.analysis, document.name)
        for named in facts.named() if facts is not None else ():
            moved = view.shift.span_to_new(named.span.start, named.span.end)
            if moved is not None and named.symbol.kind in _TYPES:
                place = document.places.range(*moved)
                length = place.end.character - place.start.character
                kind, modifiers = _kind(named.symbol)
                found.append((place.start.line, place.start.character, length, kind, modifiers))
        if found:
            break
    return types.SemanticTokens(data=_packed(sorted(set(found))))


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


def _packed(tokens: list[tuple[int, int, int, int, int]]) -> list[int]:
    data: list[int] = []
    line = start = 0
    for at, column, length, kind, modifiers in tokens:
        data += [at - line, column - start if at == line else column, length, kind, modifiers]
        line, start = at, column
    return data
