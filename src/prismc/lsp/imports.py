"""The files that the imports of a program name."""

from __future__ import annotations

from prismc.frontend import ast
from prismc.lsp.analysis import Analysis
from prismc.lsp.facts import FileFacts

AnyImport = ast.Import | ast.FromImport


def imported_file(analysis: Analysis, facts: FileFacts, offset: int) -> str | None:
    """The file of the module path that an import names at a place."""
    node = facts.declaration_at(offset)
    if not isinstance(node, AnyImport):
        return None
    is_inside = node.path_span.start <= offset <= node.path_span.end
    return file_of(analysis, facts, node) if is_inside else None


def file_of(analysis: Analysis, facts: FileFacts, node: AnyImport) -> str | None:
    """The file that an import names; None where it was not found."""
    module = analysis.graph.imported(facts.module, node) if analysis.graph is not None else None
    return module.file if module is not None else None
