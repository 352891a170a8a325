"""A module's page: what it offers, as its author declared and described it, in Markdown.

What the compiler derived is told beside that: the operations that a function inserts, which nobody
wrote and a caller can rely on. Of a generic function they are those of its instances in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from prismc.diagnostics.words import counted
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session
from prismc.frontend import ast
from prismc.frontend.declarations import comment_above, comment_of_module, declaration_text
from prismc.source.files import SourceFile

if TYPE_CHECKING:
    from prismc.checker.results import CheckedProgram
    from prismc.driver.sync.account import Function

_MARKUP = re.compile(r"[*<\\]")
_DOCUMENTED = (ast.Function, ast.Kernel, ast.Constant, ast.Export)


def document_file(session: Session, file: SourceFile, title: str) -> str | None:
    """The page of a module; None where the program has errors."""
    # Only here: the reasons of a plan are not what a check needs.
    from prismc.driver.sync.account import account_of

    checked: CheckedProgram | None = run_stages(session, file, CHECKS)
    if checked is None or session.has_errors() or session.graph is None:
        return None
    module = session.graph.roots[0]
    functions = [each for each in account_of(session, checked) if each.file == file.name]
    parts = [f"# {title}", *_prose(comment_of_module(file.text))]
    for node in module.declarations:
        if isinstance(node, _DOCUMENTED) and not node.name.text.startswith("_"):
            parts += _entry(node, file, functions)
    return "\n\n".join(parts) + "\n"


def _entry(
    node: ast.Function | ast.Kernel | ast.Constant | ast.Export,
    file: SourceFile,
    functions: Sequence[Function],
) -> Iterator[str]:
    yield f"## {node.name.text}"
    yield f"```prism\n{declaration_text(node, file.text)}\n```"
    yield from _prose(comment_above(file.text, node.span.start))
    if isinstance(node, ast.Function | ast.Kernel):
        line = file.position(node.name.span.start).line
        own = [each for each in functions if each.first_line <= line <= each.last_line]
        told = dict.fromkeys("\n".join(_synchronisation(each)) for each in own)
        yield from told


def _synchronisation(function: Function) -> Iterator[str]:
    """What the function does, and what the compiler does around its calls."""
    yield f"- Synchronises inside: {_inserted(function)}."
    for each in function.required:
        kind = "uses" if each.writes else "writes"
        place = "earlier" if each.is_before else "later"
        when = "before" if each.is_before else "after"
        words = f"{place} {kind} of `{each.root}` by other threads are put {when} it"
        yield f"- Around a call: {words}."


def _inserted(function: Function) -> str:
    """`2 operations: block barrier of block[1], ..`, each kind once."""
    titles = [operation.title for operation in function.operations]
    if not titles:
        return "none"
    kinds = {title: titles.count(title) for title in titles}
    listed = [f"{title}, {n} times" if n > 1 else title for title, n in kinds.items()]
    return f"{counted(len(titles), 'operation')}: {'; '.join(listed)}"


def _prose(comment: str) -> Iterator[str]:
    """The paragraphs of a comment; what is indented by two or more keeps its lines and spaces."""
    for is_blank, lines in groupby(comment.split("\n"), lambda line: not line.strip()):
        if is_blank:
            continue
        for is_layout, part in groupby(lines, lambda line: line.startswith("  ")):
            text = "\n".join(part)
            yield f"```text\n{text}\n```" if is_layout else _escaped(text)


def _escaped(text: str) -> str:
    """Prose without accidental markup: a comment is plain text, but for code between backticks."""
    pieces = text.split("`")
    for number in range(0, len(pieces), 2):
        pieces[number] = _MARKUP.sub(r"\\\g<0>", pieces[number])
    return "`".join(pieces)
