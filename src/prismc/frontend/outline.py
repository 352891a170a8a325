"""What of a module its importers can depend on: the names it has, and each declaration's text.

An importer sees the names of a module's top level, and the declarations that it reaches by them. A
change anywhere else in the module changes nothing for it, nor do comments and blank lines.
"""

from __future__ import annotations

import re

from prismc.frontend import ast
from prismc.frontend.modules import Parsed
from prismc.source.digest import text_digest
from prismc.source.record import Value

_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|[ \t]*#[^\n]*|[ \t]+$', re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{2,}")


class Outline(Value):
    """`names` is a digest of what the module imports and of which kind each declaration is, in
    order; `texts` are digests of the declarations' texts without comments and blank lines, in the
    same order."""

    names: str
    texts: tuple[str, ...]


def outline(parsed: Parsed) -> Outline:
    """The outline of a parsed file. Syntax errors are part of its names: importers tell them."""
    declarations, text = parsed.module.declarations, parsed.file.text
    names = [_named(declaration, text) for declaration in declarations]
    if parsed.problems:
        names.append(text)
    texts = tuple(text_digest(_bare(_text(declaration, text))) for declaration in declarations)
    return Outline(names=text_digest("\n".join(names)), texts=texts)


def _named(declaration: ast.Declaration, text: str) -> str:
    """How the declaration shows at the top level: an import in full, anything else by its name."""
    if isinstance(declaration, ast.Import | ast.FromImport):
        return _text(declaration, text)
    if isinstance(declaration, ast.Constant | ast.Function | ast.Kernel | ast.Export):
        return f"{type(declaration).__name__} {declaration.name.text}"
    return ""  # a test has no name that others could use


def _bare(text: str) -> str:
    """A text without what a check does not read: comments, blank lines, spaces at ends of lines."""
    bare = _COMMENT_OR_STRING.sub(lambda match: match[0] if match[0][0] == '"' else "", text)
    return _BLANK_LINES.sub("\n", bare)


def _text(declaration: ast.Declaration, text: str) -> str:
    return text[declaration.span.start : declaration.span.end]
