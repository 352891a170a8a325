"""Modules that a file may import, and what they declare, whether or not they are imported yet."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.frontend.declarations import comment_above, declaration_text
from prismc.frontend.modules import find_module, modules_in
from prismc.frontend.parser import parse_module
from prismc.frontend.standard import standard_modules
from prismc.source.files import Files, SourceFile, UnreadableFile
from prismc.source.record import Record


class Offered(Record):
    """A public declaration of a module: how it is written, and the comment above it."""

    name: str
    keyword: str
    usage: str
    comment: str
    node: ast.Declaration
    text: str


def importable(importer: str, folders: tuple[str, ...]) -> list[str]:
    """The modules that a file can name in an import, without those in deeper folders."""
    own = os.path.dirname(importer)
    names = [name for folder in (own, *folders) for name in modules_in(folder)]
    names = [name for name in names if name != _stem(importer)]
    return names + standard_modules()


def offers(
    path: tuple[str, ...], importer: str, folders: tuple[str, ...], texts: Mapping[str, str]
) -> Mapping[str, Offered]:
    """What the module `path` offers to a file; nothing where there is no such module."""
    files = Files()
    for name, text in texts.items():
        files.overlay(name, text)
    place = find_module(importer, path, folders, files)
    if place is None:
        return {}
    try:
        return declared_in(place, files.read(place).text)
    except UnreadableFile:
        return {}


@lru_cache(maxsize=64)
def declared_in(name: str, text: str) -> Mapping[str, Offered]:
    """The public declarations of a text; those with a syntax error are left out."""
    module = parse_module(SourceFile(name, text), "", Sink())
    return MappingProxyType({o.name: o for o in _offered(module, text) if o.name[0] != "_"})


def _offered(module: ast.Module, text: str) -> Iterator[Offered]:
    named = (ast.Function, ast.Kernel, ast.Constant, ast.Export)
    nodes = [node for node in module.declarations if isinstance(node, named)]
    for node in nodes:
        yield Offered(
            name=node.name.text,
            keyword=type(node).__name__.lower(),
            usage=declaration_text(node, text),
            comment=comment_above(text, node.span.start),
            node=node,
            text=text,
        )


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
