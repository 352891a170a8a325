"""Name resolution: what every name of the checked code refers to.

Bodies of root modules are walked in order; bodies of imported modules only where something refers
to them. Scopes are blocks, as in C: a loop variable or a narrowed name is fresh in its body. Module
scope is unordered; a local is visible from its declaration on.
"""

from __future__ import annotations

from types import MappingProxyType

from prismc.checker.names.bodies import BodyResolver
from prismc.checker.names.scopes import TopLevel, collect_top_levels
from prismc.checker.names.symbols import ModuleNames, Names, Symbol
from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.frontend.modules import ModuleGraph


def resolve_names(graph: ModuleGraph, sink: Sink) -> Names:
    """Resolve the names of a program; unknown, duplicate and private ones go to the sink."""
    return _Resolution(graph, sink).run()


class _Resolution:
    """The work list: declarations whose bodies are still to be walked, each once."""

    def __init__(self, graph: ModuleGraph, sink: Sink) -> None:
        self._graph = graph
        self._sink = sink
        self._levels = collect_top_levels(graph, sink)
        self._uses: dict[str, dict[int, Symbol]] = {name: {} for name in self._levels}
        self._waiting: list[tuple[str, ast.Declaration]] = []
        self._seen: set[tuple[str, int]] = set()

    def run(self) -> Names:
        """Walk all that the roots need."""
        for module in self._graph.modules:
            if module in self._graph.roots:
                for declaration in module.declarations:
                    self._want(module.name, declaration)
        for module_name, declaration in self._waiting:
            self._walk(module_name, declaration)
        facts = {name: self._facts(level) for name, level in self._levels.items()}
        return Names(modules=MappingProxyType(facts))

    def _want(self, module_name: str, declaration: ast.Declaration) -> None:
        key = (module_name, declaration.id)
        if key not in self._seen:
            self._seen.add(key)
            self._waiting.append((module_name, declaration))

    def _walk(self, module_name: str, declaration: ast.Declaration) -> None:
        BodyResolver(
            self._levels[module_name],
            self._levels,
            self._uses[module_name],
            self._sink,
            self._used,
        ).declaration(declaration)

    def _used(self, symbol: Symbol) -> None:
        if isinstance(symbol.node, ast.Declaration) and symbol.module in self._levels:
            self._want(symbol.module, symbol.node)

    def _facts(self, level: TopLevel) -> ModuleNames:
        return ModuleNames(
            top=MappingProxyType(level.names),
            uses=MappingProxyType(self._uses[level.module.name]),
            declared=MappingProxyType(level.declared),
        )
