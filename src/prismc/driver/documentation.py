"""A module's page: what it offers, as its author declared and described it, in Markdown.

What the compiler derived is told beside that: the operations that it inserts into a function, and
what it puts in order around a call, which nobody wrote and a caller can rely on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby, islice
from typing import TYPE_CHECKING

from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session
from prismc.frontend import ast
from prismc.frontend.declarations import comment_above, comment_of_module, declaration_text
from prismc.source.files import SourceFile
from prismc.source.record import Record

if TYPE_CHECKING:
    from prismc.checker.results import CheckedProgram
    from prismc.driver.sync.account import Function
    from prismc.frontend.modules import ModuleGraph

_INSTANCES = 2  # typical ones of a generic function: a warp's and a block's
_MARKUP = re.compile(r"[*<\\]")
_DOCUMENTED = (ast.Function, ast.Kernel, ast.Constant, ast.Export)


def document_file(session: Session, file: SourceFile, title: str) -> str | None:
    """The page of a module; None where the program has errors."""
    checked: CheckedProgram | None = run_stages(session, file, CHECKS)
    if checked is None or session.has_errors() or session.graph is None:
        return None
    accounts = _Accounts(session, session.graph, checked)
    parts = [f"# {title}", *_prose(comment_of_module(file.text))]
    for node in session.graph.roots[0].declarations:
        if not isinstance(node, _DOCUMENTED) or node.name.text.startswith("_"):
            continue
        parts += (f"## {node.name.text}", f"```prism\n{declaration_text(node, file.text)}\n```")
        parts += _prose(comment_above(file.text, node.span.start))
        if isinstance(node, ast.Function | ast.Kernel):
            parts += accounts.told(node)
    return "\n\n".join(parts) + "\n"


class _Accounts:
    """What was derived for the functions of the root file."""

    def __init__(self, session: Session, graph: ModuleGraph, checked: CheckedProgram) -> None:
        self._session = session
        self._graph = graph
        self._checked = checked
        self._own = self._descriptions(checked)

    def told(self, node: ast.Function | ast.Kernel) -> Iterator[str]:
        """A list for each kind of instance; of a generic function, for typical arguments."""
        line = self._session.files.position(node.name.span).line
        own = [each for each in self._own if each.first_line <= line <= each.last_line]
        described = own or (self._typical(node) if node.generics else [])
        lists: dict[str, str] = {}
        for each in described:
            lists.setdefault(each.text, each.arguments)
        for text, arguments in lists.items():
            yield f"With {arguments}:\n\n{text}" if arguments else text

    def _typical(self, node: ast.Function | ast.Kernel) -> list[_Description]:
        # Only here: typical instances are not what a check plans.
        from prismc.checker.check import typical_facts

        target = self._session.options.target
        typical = typical_facts(self._graph, self._checked, node, target)
        return [
            each
            for instance, facts in islice(typical, _INSTANCES)
            for each in self._descriptions(facts)
            if each.symbol == instance.symbol
        ]

    def _descriptions(self, checked: CheckedProgram) -> list[_Description]:
        """What is derived for each function of the root file."""
        # Only here: the reasons of a plan are not what a check needs.
        from prismc.driver.sync.account import account_of

        functions = {each.symbol: each for each in account_of(self._session, checked)}
        return [
            _Description(
                symbol=symbol,
                arguments=function.title.partition(" with ")[2],
                first_line=function.first_line,
                last_line=function.last_line,
                text="\n".join(_synchronisation(function, _inside(checked, functions, symbol))),
            )
            for symbol, function in functions.items()
            if function.file == self._session.root
        ]


class _Description(Record):
    """What is derived for an instance, as a list of points, and where its function stands."""

    symbol: str
    arguments: str
    first_line: int
    last_line: int
    text: str


def _inside(
    checked: CheckedProgram, functions: Mapping[str, Function], symbol: str
) -> dict[str, int]:
    """The operations of a function and of those that it calls: how many of each kind."""

    reached, waiting = {symbol: None}, [symbol]
    titles: dict[str, int] = {}
    while waiting:
        current = waiting.pop()
        for operation in functions[current].operations if current in functions else ():
            titles[operation.title] = titles.get(operation.title, 0) + 1
        body = checked.program.bodies.get(current)
        for call in body.calls if body is not None else ():
            if call.callee.symbol not in reached:
                reached[call.callee.symbol] = None
                waiting.append(call.callee.symbol)
    return titles


def _synchronisation(function: Function, inside: Mapping[str, int]) -> Iterator[str]:
    """What the function does, and what the compiler does around its calls."""
    listed = [f"{title}, in {n} places" if n > 1 else title for title, n in inside.items()]
    yield f"- Synchronises inside, calls included: {'; '.join(listed) or 'nothing'}."
    for each in function.required:
        kind = "uses" if each.writes else "writes"
        place = "earlier" if each.is_before else "later"
        when = "before" if each.is_before else "after"
        words = f"{place} {kind} of `{each.root}` by other threads are put {when} it"
        yield f"- Around a call: {words}."


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
