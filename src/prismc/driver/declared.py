"""What authors say of what they declare."""

from __future__ import annotations

from prismc.driver.session import Session
from prismc.frontend.declarations import comment_above
from prismc.source.span import Span


def comment_of(session: Session, at: Span) -> str:
    """The comment above the declaration that a place in the last checked program is part of; empty
    where there is none."""
    modules = () if session.graph is None else session.graph.modules
    for module in modules:
        for node in module.declarations if module.file == at.file else ():
            if node.span.start <= at.start < node.span.end:
                return comment_above(session.files.known(at.file).text, node.span.start)
    return ""
