"""The top level of each module: what it declares and what it imports."""

from __future__ import annotations

from prismc.checker.names.errors import DuplicateName, NotInModule, PrivateName
from prismc.checker.names.symbols import Symbol, SymbolKind
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.diagnostics.suggest import did_you_mean, spelling_fix
from prismc.frontend import ast
from prismc.frontend.modules import ModuleGraph
from prismc.frontend.standard import standard_names
from prismc.source.span import Span

MOST_NAMES = 8  # of a module, told where a name is not among them

_DECLARED = {
    ast.Constant: SymbolKind.CONSTANT,
    ast.Function: SymbolKind.FUNCTION,
    ast.Kernel: SymbolKind.KERNEL,
    ast.Export: SymbolKind.EXPORT,
}


class TopLevel:
    """The top-level names of one module.

    `paths` maps what a dotted use starts with, `("std", "mma")`, to the module it names (None for
    a module that could not be read). `declared` holds the symbol that each declaring name made.
    """

    def __init__(self, module: ast.Module) -> None:
        self.module = module
        self.names: dict[str, Symbol] = {}
        self.paths: dict[tuple[str, ...], str | None] = {}
        self.declared: dict[int, Symbol] = {}
        self._places: dict[str, Span] = {}

    def public_names(self) -> list[str]:
        """What other modules may import."""
        return [name for name in self.names if not name.startswith("_")]

    def define(self, name: str, at: Span, symbol: Symbol, sink: Sink) -> None:
        """Enter a name; the first declaration wins, a second one is reported."""
        first = self._places.get(name)
        if first is None:
            self.names[name] = symbol
            self._places[name] = at
            return
        note = Related(at=first, message=f"`{name}` is declared here first")
        sink.report(DuplicateName(at=at, name=name, related=(note,)))


def collect_top_levels(graph: ModuleGraph, sink: Sink) -> dict[str, TopLevel]:
    """The top level of every module of the graph, imported modules first."""
    levels: dict[str, TopLevel] = {}
    for module in graph.modules:
        level = levels[module.name] = TopLevel(module)
        for declaration in module.declarations:
            match declaration:
                case ast.Import():
                    _import_module(level, declaration, graph, sink)
                case ast.FromImport():
                    _import_names(level, declaration, graph, levels, sink)
                case ast.Constant() | ast.Function() | ast.Kernel() | ast.Export():
                    symbol = _symbol(module, declaration)
                    level.declared[declaration.name.id] = symbol
                    level.define(symbol.name, symbol.span, symbol, sink)
                case _:
                    pass
        for name in module.broken:
            level.names.setdefault(name, _unknown(name, module))
    return levels


def _symbol(
    module: ast.Module, node: ast.Constant | ast.Function | ast.Kernel | ast.Export
) -> Symbol:
    return Symbol(
        name=node.name.text,
        kind=_DECLARED[type(node)],
        module=module.name,
        span=node.name.span,
        node=node,
    )


def _unknown(name: str, module: ast.Module) -> Symbol:
    return Symbol(name=name, kind=SymbolKind.UNKNOWN, module=module.name, span=module.span)


def _import_module(level: TopLevel, node: ast.Import, graph: ModuleGraph, sink: Sink) -> None:
    """`import a.b` is used as `a.b.name`; with an alias as `alias.name`."""
    path = (node.alias.text,) if node.alias else node.path
    at = node.alias.span if node.alias else node.path_span
    target = graph.imported(level.module, node)
    level.paths[path] = target.name if target else None
    known = level.names.get(path[0])
    if known is not None and known.kind is SymbolKind.MODULE and node.alias is None:
        return
    symbol = Symbol(
        name=path[0], kind=SymbolKind.MODULE, module=level.module.name, span=at, node=node
    )
    level.define(path[0], at, symbol, sink)


def _import_names(
    level: TopLevel,
    node: ast.FromImport,
    graph: ModuleGraph,
    levels: dict[str, TopLevel],
    sink: Sink,
) -> None:
    target = graph.imported(level.module, node)
    source = levels.get(target.name) if target else None
    for imported in node.names:
        name = imported.alias or imported.name
        symbol = _imported_symbol(imported, source, sink) if source else None
        level.define(name.text, name.span, symbol or _unknown(name.text, level.module), sink)


def _imported_symbol(node: ast.ImportedName, source: TopLevel, sink: Sink) -> Symbol | None:
    return require_member(source, node.name.text, node.name.span, sink)


def _where_else(source: TopLevel, name: str) -> str:
    """The standard module that has the name, or the names of this one, as many as fit a line."""
    home = standard_names().get(name)
    if home is not None and home != source.module.name:
        return f"`{home}` has it: `from {home} import {name}`"
    names = sorted(source.public_names())
    if not names:
        return f"`{source.module.name}` declares nothing that others may use"
    shown = ", ".join(f"`{name}`" for name in names[:MOST_NAMES])
    more = ", .." if len(names) > MOST_NAMES else ""
    return f"`{source.module.name}` has {shown}{more}"


def require_member(source: TopLevel, name: str, at: Span, sink: Sink) -> Symbol | None:
    """The public name of another module; None after reporting why there is none."""
    symbol = source.names.get(name)
    if symbol is None:
        advice = did_you_mean(name, source.public_names(), _where_else(source, name))
        fixes = spelling_fix(at, name, source.public_names())
        sink.report(
            NotInModule(at=at, name=name, module=source.module.name, advice=advice, fixes=fixes)
        )
        return None
    if name.startswith("_"):
        note = Related(at=symbol.span, message=f"`{name}` is declared here")
        sink.report(PrivateName(at=at, name=name, module=source.module.name, related=(note,)))
        return None
    return symbol
