"""Facts by position: what the checker found out about one file, ready to be asked for a place.

Nothing is worked out again here. The tree says what stands where, the names what it refers to, the
typed tree beside it its type, the perspective facts how often it varies and who speaks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from prismc.checker.names.symbols import ModuleNames, Symbol, SymbolKind
from prismc.checker.results import CheckedProgram
from prismc.checker.types import typed
from prismc.checker.types.walk import (
    expressions_in,
    places_of,
    statement_operands,
)
from prismc.frontend import ast
from prismc.frontend.walk import children, walk
from prismc.lsp.analysis import Analysis
from prismc.lsp.code import Code, aliases_of, code_in, declared_by
from prismc.source.record import Record
from prismc.source.span import Span

Valued = typed.Expression | typed.Place | typed.Variable


class Fact(Record):
    """Something with a type at a place of one instance."""

    span: Span
    body: typed.Body
    value: Valued


class Named(Record):
    """A name at a place and what it refers to."""

    span: Span
    symbol: Symbol


class FileNames:
    """The tree of one file and what its names refer to."""

    def __init__(self, module: ast.Module, names: ModuleNames) -> None:
        self.module = module
        self.names = names
        self._named: list[Named] | None = None

    def nodes_at(self, offset: int) -> list[ast.Node]:
        """The nodes around a place, the module first, the smallest last."""
        chain: list[ast.Node] = [self.module]
        while True:
            inner = _holding(children(chain[-1]), offset)
            if inner is None:
                return chain
            chain.append(inner)

    def declaration_at(self, offset: int) -> ast.Declaration | None:
        """The top-level declaration around a place."""
        inside = self.nodes_at(offset)[1:2]
        return inside[0] if inside and isinstance(inside[0], ast.Declaration) else None

    def named(self) -> Sequence[Named]:
        """Every name of the file that refers to something, in the order of the tree."""
        if self._named is None:
            self._named = [found for node in walk(self.module) for found in self._names_in(node)]
        return self._named

    def named_at(self, offset: int) -> Named | None:
        """The name at a place, or one that ends there."""
        found = [n for n in self.named() if n.span.start <= offset <= n.span.end]
        return min(found, key=lambda n: (n.span.end == offset, _length(n.span)), default=None)

    def _names_in(self, node: ast.Node) -> Iterator[Named]:
        """The names that one node itself holds, not those of its parts."""
        match node:
            case ast.Reference(id=id, span=span):
                yield from _if_known(span, self.names.uses.get(id))
            case ast.Member(id=id, name=name):
                yield from _if_known(name.span, self.names.uses.get(id))
            case ast.Name(id=id, span=span):
                symbol = self.names.declared.get(id) or self.names.uses.get(id)
                yield from _if_known(span, symbol)
            case ast.ImportedName(name=name, alias=alias):
                symbol = self.names.top.get((alias or name).text)
                yield from _if_known(name.span, symbol)
                if alias is not None:
                    yield from _if_known(alias.span, symbol)


class FileFacts(FileNames):
    """The facts of one file of a checked program."""

    def __init__(self, checked: CheckedProgram, module: ast.Module) -> None:
        super().__init__(module, checked.names.modules[module.name])
        self.checked = checked
        bodies = checked.program.bodies.values()
        self.bodies = tuple(b for b in bodies if b.instance.span.file == module.file)
        self._facts: list[Fact] | None = None

    def facts_at(self, offset: int) -> list[Fact]:
        """What has a type at a place: the smallest, one for each instance and expansion."""
        if self._facts is None:
            self._facts = [fact for body in self.bodies for fact in _facts_in(body)]
        at = [f for f in self._facts if f.span.start <= offset <= f.span.end]
        at = [f for f in at if offset < f.span.end] or at
        smallest = min((_length(fact.span) for fact in at), default=0)
        return [fact for fact in at if _length(fact.span) == smallest]

    def code_at(self, offset: int) -> list[Code]:
        """Who speaks at a place: one for each instance of the function around it."""
        declaration = self.declaration_at(offset)
        if declaration is None:
            return []
        return [code_in(body, offset) for body in self.instances_of(declaration)]

    def instances_of(self, declaration: ast.Declaration) -> list[typed.Body]:
        """The instances of a function or kernel of this file."""
        start, end = declaration.span.start, declaration.span.end
        return [body for body in self.bodies if start <= body.instance.span.start < end]

    def variables_in(self, declaration: ast.Declaration) -> dict[str, typed.Variable]:
        """The variables of a function by name, as its first instance has them; of equal names the
        last."""
        for body in self.instances_of(declaration):
            return {variable.name: variable for variable in variables_of(body)}
        return {}


@lru_cache(maxsize=64)
def facts_of(analysis: Analysis, name: str) -> FileFacts | None:
    """The facts of one file; None where the program was too large to check."""
    module = analysis.module_of(name)
    if analysis.checked is None or module is None:
        return None
    return FileFacts(analysis.checked, module)


def forget_facts() -> None:
    """Let go of programs that may be out of date: each holds a whole typed tree."""
    facts_of.cache_clear()
    aliases_of.cache_clear()


def variables_of(body: typed.Body) -> Iterator[typed.Variable]:
    """The parameters and all that the body declares, in the order of the text."""
    yield from body.instance.parameters
    for statement in body.all_statements:
        yield from declared_by(statement)


def _if_known(span: Span, symbol: Symbol | None) -> Iterator[Named]:
    if symbol is not None and symbol.kind is not SymbolKind.UNKNOWN:
        yield Named(span=span, symbol=symbol)


def _holding(nodes: Sequence[ast.Node], offset: int) -> ast.Node | None:
    """The node that holds a place, or else one that ends there."""
    ending = None
    for node in nodes:
        if node.span.start <= offset < node.span.end:
            return node
        if node.span.end == offset:
            ending = node
    return ending


def _length(span: Span) -> int:
    return span.end - span.start


def _facts_in(body: typed.Body) -> Iterator[Fact]:
    file = body.instance.span.file
    for value in _values_in(body):
        if value.span.file == file:
            yield Fact(span=value.span, body=body, value=value)


def _values_in(body: typed.Body) -> Iterator[Valued]:
    yield from variables_of(body)
    for statement in body.all_statements:
        yield from places_of(statement)
        for operand in statement_operands(statement):
            yield from expressions_in(operand)
