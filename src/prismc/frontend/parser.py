"""Text to tree: the front end's front page.

text -> `layout` (pieces of tokens) -> `lalr` (the tables' machine) -> `build_ast` (nodes). One
declaration is parsed at a time, so one that is broken hides no other.
"""

from __future__ import annotations

from prismc.diagnostics.problem import Problem
from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.frontend.build_ast import Builder
from prismc.frontend.errors import TooDeep
from prismc.frontend.grammar import load_tables
from prismc.frontend.lalr import Machine, Stuck, bind_actions
from prismc.frontend.layout import MAX_PARTS, Layout, Piece
from prismc.frontend.recovery import declared_names, explain, worth_reporting
from prismc.frontend.tables import Tables
from prismc.frontend.walk import deepest
from prismc.source.files import SourceFile
from prismc.source.span import Span


def parse_module(file: SourceFile, name: str, sink: Sink) -> ast.Module:
    """The tree of one file; `name` is how imports call it.

    Reports syntax errors to `sink`. A declaration with an error is left out of the tree, and the
    names it would have declared stand in `broken`. Never raises on any text.
    """
    tables = load_tables()
    builder = Builder(file)
    machine = Machine(tables, file.name, bind_actions(tables.rules, builder))
    declarations: list[ast.Declaration] = []
    broken: dict[str, None] = {}
    was_broken = False
    for piece in Layout(file, tables).pieces():
        parsed, problems = _parse(piece, machine, builder, tables, file)
        if problems:
            # What follows a broken declaration without beginning a new one belongs to it.
            if not (piece.is_stray and was_broken):
                for problem in problems:
                    sink.report(problem)
            broken |= dict.fromkeys(declared_names(piece.tokens, tables, file.text))
        else:
            declarations += parsed
        was_broken = bool(problems)
    return ast.Module(
        name=name,
        file=file.name,
        declarations=tuple(declarations),
        broken=tuple(broken),
        id=builder.next_id(),
        span=Span(file.name, 0, len(file.text)),
    )


def _parse(
    piece: Piece, machine: Machine, builder: Builder, tables: Tables, file: SourceFile
) -> tuple[list[ast.Declaration], list[Problem]]:
    """The declarations of a piece, and what is wrong with it."""
    builder.problems.clear()
    result = machine.run(piece.tokens)
    if isinstance(result, Stuck):
        error = explain(piece.tokens, result, tables, file)
        return [], worth_reporting(piece.faults, piece.tokens, result, error)
    problems = [*piece.faults, *builder.problems]
    if piece.is_large and not problems:
        problems += _too_deep(result)
    return result, problems


def _too_deep(declarations: list[ast.Declaration]) -> list[Problem]:
    """Expressions and chains of `elif` are not nested by layout; their trees are."""
    depth, node = deepest(declarations)
    if depth <= MAX_PARTS:
        return []
    what, advice = "operations within operations", "name a part of it"
    return [TooDeep(at=node.span, limit=MAX_PARTS, what=what, advice=advice)]
