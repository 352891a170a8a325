"""The signature of the call that is being written."""

from __future__ import annotations

from collections.abc import Mapping

from lsprotocol import types

from prismc.driver.options import Options
from prismc.frontend import ast
from prismc.frontend.declarations import comment_above
from prismc.lsp.documents import Document
from prismc.lsp.facts import facts_of
from prismc.lsp.lexis import is_in_test, open_call
from prismc.lsp.library import declared_in, offers
from prismc.lsp.words import BUILTIN_HELP, HOST_HELP, Help


def signature_at(
    document: Document, offset: int, options: Options, texts: Mapping[str, str]
) -> types.SignatureHelp | None:
    """The signature of the innermost open call; None where there is none or it is unknown."""
    call = open_call(document.text, offset)
    if call is None:
        return None
    signature = _declared(document, call.callee, options, texts)
    if signature is None and len(call.callee) == 1:
        in_test = is_in_test(document.text, offset)
        signature = _built_in(call.callee[0], HOST_HELP if in_test else BUILTIN_HELP)
    if signature is None:
        return None
    last = max(0, len(signature.parameters or ()) - 1)
    return types.SignatureHelp(
        signatures=[signature], active_signature=0, active_parameter=min(call.argument, last)
    )


def _declared(
    document: Document, callee: tuple[str, ...], options: Options, texts: Mapping[str, str]
) -> types.SignatureInformation | None:
    """A function of the file, of what it imports, or of a module that is named in full."""
    own = declared_in(document.name, document.text).get(callee[-1]) if len(callee) == 1 else None
    if own is not None:
        return _signature(own.node, own.text)
    for view in document.views():
        facts = facts_of(view.analysis, document.name)
        symbol = facts.names.top.get(callee[0]) if facts is not None else None
        if symbol is None or symbol.node is None:
            continue
        if len(callee) == 1:
            return _signature(symbol.node, view.analysis.files.known(symbol.span.file).text)
        if isinstance(symbol.node, ast.Import):
            path = symbol.node.path + callee[1:-1] if symbol.node.alias else callee[:-1]
            offered = offers(path, document.name, options.include, texts).get(callee[-1])
            return _signature(offered.node, offered.text) if offered is not None else None
    return None


def _signature(node: ast.Node, text: str) -> types.SignatureInformation | None:
    if not isinstance(node, ast.Function | ast.Kernel):
        return None
    parameters = [" ".join(text[p.span.start : p.span.end].split()) for p in node.parameters]
    results = node.results if isinstance(node, ast.Function) else ()
    shown = [" ".join(text[r.span.start : r.span.end].split()) for r in results]
    arrow = f" -> {shown[0]}" if len(shown) == 1 else f" -> ({', '.join(shown)})" if shown else ""
    comment = comment_above(text, node.span.start)
    return types.SignatureInformation(
        label=f"{node.name.text}({', '.join(parameters)}){arrow}",
        documentation=types.MarkupContent(types.MarkupKind.Markdown, comment) if comment else None,
        parameters=[types.ParameterInformation(label=parameter) for parameter in parameters],
    )


def _built_in(name: str, helps: Mapping[str, Help]) -> types.SignatureInformation | None:
    known = helps.get(name)
    if known is None or "(" not in known.usage:
        return None
    inside = known.usage[known.usage.index("(") + 1 : known.usage.rindex(")")]
    parameters = [types.ParameterInformation(label=part) for part in inside.split(", ") if part]
    return types.SignatureInformation(
        label=known.usage, documentation=known.text, parameters=parameters
    )
