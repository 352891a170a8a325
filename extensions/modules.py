"""The modules of the package as text and trees, and what their names stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

PACKAGE = "prismc"
BASES = "prismc.source.record"


class Origin(NamedTuple):
    """What a name of a module stands for: something in a module, or the module itself."""

    module: str
    name: str | None


class Written(NamedTuple):
    """An expression and the module whose names it uses."""

    source: Source
    expression: ast.expr

    def seen_from(self, source: Source) -> str:
        """The same expression with the names of another module, which imports what it lacks."""
        if source is self.source:
            return ast.unparse(self.expression)
        copy = ast.parse(ast.unparse(self.expression), mode="eval").body
        return ast.unparse(cast(ast.expr, _Renamed(self.source, source).visit(copy)))


class Source:
    """One module: its text, tree and names, and the imports that rewriting adds."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.classes = {n.name: n for n in self.tree.body if isinstance(n, ast.ClassDef)}
        self.names = dict(_imported(self.tree)) | {
            name: Origin(self.name, name) for name in _defined(self.tree)
        }
        self.imports: dict[Origin, str] = {}

    def name_of(self, origin: Origin) -> str:
        """What this module calls something; imported under a name of its own if need be."""
        for name, known in self.names.items():
            if known == origin:
                return name
        last = origin.name or origin.module.rpartition(".")[2]
        return self.imports.setdefault(origin, f"_{last}_{len(self.imports)}")

    def origin_of(self, expression: ast.expr) -> Origin | None:
        """Where a base class comes from; None for one of Python's."""
        first, *rest = ast.unparse(expression).partition("[")[0].split(".")
        known = self.names.get(first)
        if known is None or not rest:
            return known
        return Origin(".".join((known.module, *filter(None, (known.name,)), *rest[:-1])), rest[-1])


Sources: TypeAlias = dict[str, Source]


class _Renamed(ast.NodeTransformer):
    def __init__(self, old: Source, new: Source) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        origin = self.old.names.get(node.id)
        return node if origin is None else ast.Name(self.new.name_of(origin), node.ctx)


def _imported(tree: ast.Module) -> Iterator[tuple[str, Origin]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for one in node.names:
                yield one.asname or one.name, Origin(node.module or "", one.name)
        elif isinstance(node, ast.Import):
            for one in node.names:
                yield one.asname or one.name, Origin(one.name, None)


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in _targets(node):
                yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def read_sources(folder: Path) -> Sources:
    """All modules of the package below `folder`, by name."""
    found = {}
    for path in sorted((folder / PACKAGE).rglob("*.py")):
        name = ".".join(path.relative_to(folder).with_suffix("").parts)
        found[name] = Source(name, path)
    return found


def lineage(
    source: Source, cls: ast.ClassDef, sources: Sources
) -> list[tuple[Source, ast.ClassDef]]:
    """A record class and the records it derives from, the last `Record` or `Value`; else none."""
    found = [(source, cls)]
    while (source.name, cls.name) not in ((BASES, "Record"), (BASES, "Value")):
        origin = source.origin_of(cls.bases[0]) if len(cls.bases) == 1 else None
        if origin is None or origin.name not in getattr(sources.get(origin.module), "classes", ()):
            return []
        source = sources[origin.module]
        cls = source.classes[origin.name or ""]
        found.append((source, cls))
    return found
