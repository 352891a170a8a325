"""Inlay hints: the barriers that no one wrote, where they stand, and types that are inferred."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from prismc.checker.types import typed
from prismc.lsp.barriers import planned
from prismc.lsp.documents import Document, View
from prismc.lsp.facts import FileFacts, facts_of
from prismc.lsp.hover import variable_text


def inlay_hints(document: Document, start: int, end: int) -> list[types.InlayHint]:
    """The hints between two places of the text, from the newest analysis that is whole."""
    for view in document.views():
        facts = facts_of(view.analysis, document.name)
        if facts is None or not view.analysis.is_whole:
            continue
        hints = [*_barriers(document, view, facts), *_inferred(document, view, facts)]
        first, last = document.places.position(start), document.places.position(end)
        return [hint for hint in hints if first <= hint.position <= last]
    return []


def _barriers(document: Document, view: View, facts: FileFacts) -> Iterator[types.InlayHint]:
    seen: set[tuple[int, str]] = set()
    for operation in planned(view.analysis, facts, facts.bodies):
        is_before = operation.where == "before"
        place = operation.span.start if is_before else operation.span.end
        moved = view.shift.to_new(place)
        if moved is None or (place, operation.title) in seen:
            continue
        seen.add((place, operation.title))
        yield types.InlayHint(
            position=document.places.position(moved),
            label=operation.title,
            tooltip=f"{operation.instruction}: {operation.reason}",
            padding_left=not is_before,
            padding_right=is_before,
        )


def _inferred(document: Document, view: View, facts: FileFacts) -> Iterator[types.InlayHint]:
    """Types and perspectives of names declared by `:=`."""
    seen: set[int] = set()
    for body in facts.bodies:
        for statement in body.all_statements:
            for variable in _declared(statement, view.analysis.root.text):
                moved = view.shift.to_new(variable.span.end)
                if variable.span.end not in seen and moved is not None:
                    seen.add(variable.span.end)
                    yield types.InlayHint(
                        position=document.places.position(moved),
                        label=variable_text(variable).removeprefix(variable.name),
                        kind=types.InlayHintKind.Type,
                    )


def _declared(statement: typed.Statement, text: str) -> tuple[typed.Variable, ...]:
    match statement:
        case typed.Declare(variable=variable, span=span):
            is_inferred = text[variable.span.end : span.end].lstrip().startswith(":=")
            return (variable,) if is_inferred else ()
        case typed.DeclareSeveral(variables=variables):
            return variables
        case _:
            return ()
