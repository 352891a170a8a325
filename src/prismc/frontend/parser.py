"""Text to tree: the front end's front page.

text -> `layout` (pieces of tokens) -> `lalr` (the tables' machine) -> `build_ast` (nodes). One
declaration is parsed at a time, so one that is broken hides no other; the lines of a broken one are
read for their errors too, but not kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from prismc.diagnostics.problem import Problem
from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.frontend.build_ast import Builder
from prismc.frontend.errors import TooDeep
from prismc.frontend.grammar import load_tables
from prismc.frontend.lalr import Machine, Stuck, bind_actions, no_actions
from prismc.frontend.layout import MAX_PARTS, Layout, Piece
from prismc.frontend.recovery import Reader, Reading, declared_names, worth_reporting
from prismc.frontend.tables import Tables
from prismc.frontend.walk import deepest
from prismc.source.files import SourceFile
from prismc.source.span import Span


def parse_module(file: SourceFile, name: str, sink: Sink) -> ast.Module:
    """The tree of one file; `name` is how imports call it.

    Reports syntax errors to `sink`. A declaration with an error is left out of the tree, and the
    names it would have declared stand in `broken`. Never raises on any text.
    """
    parser = Parser(file, load_tables())
    declarations: list[ast.Declaration] = []
    broken: dict[str, None] = {}
    was_broken = False
    for piece in parser.pieces():
        parsed, problems = parser.parse(piece)
        # What follows a broken declaration without beginning a new one belongs to it.
        if not (piece.is_stray and was_broken):
            for problem in problems:
                sink.report(problem)
        if problems:
            broken |= dict.fromkeys(parser.declared_names(piece))
        declarations += parsed
        was_broken = bool(problems)
    return ast.Module(
        name=name,
        file=file.name,
        declarations=tuple(declarations),
        broken=tuple(broken),
        id=parser.builder.next_id(),
        span=Span(file.name, 0, len(file.text)),
    )


class Parser:
    """What one file is parsed with."""

    def __init__(self, file: SourceFile, tables: Tables) -> None:
        self.builder = Builder(file)
        self._file = file
        self._tables = tables
        self._machine = Machine(tables, file.name, bind_actions(tables.rules, self.builder))
        self._recogniser = Machine(tables, file.name, no_actions(tables.rules))
        self._reader = Reader(tables, file, self._recogniser)

    def pieces(self) -> Iterator[Piece]:
        return Layout(self._file, self._tables).pieces()

    def part(self, start: int, end: int) -> tuple[list[ast.Declaration], list[Problem]]:
        """The declarations from offset `start`, where a line starts, to `end`, and the problems."""
        text = SourceFile(self._file.name, self._file.text[:end])
        results = [self.parse(piece) for piece in Layout(text, self._tables, start).pieces()]
        parsed = [declaration for declarations, _ in results for declaration in declarations]
        return parsed, [problem for _, problems in results for problem in problems]

    def declared_names(self, piece: Piece) -> list[str]:
        return declared_names(piece.tokens, self._tables, self._file.text)

    def parse(self, piece: Piece) -> tuple[list[ast.Declaration], list[Problem]]:
        """The declarations of a piece, or else what is wrong with it.

        A piece with malformed tokens is only recognised: the syntax error may come before them.
        """
        self.builder.problems.clear()
        machine = self._recogniser if piece.faults else self._machine
        result = machine.run(piece.tokens)
        if isinstance(result, Stuck):
            reading = self._reader.read(piece.tokens, result)
            found = worth_reporting(piece.faults, reading.errors)
            return [], found if piece.faults else found + self._meaning(reading)
        problems = piece.faults or list(self.builder.problems)
        if piece.is_large and not problems:
            problems = _too_deep(result)
        return ([], problems) if problems else (result, [])

    def _meaning(self, reading: Reading) -> list[Problem]:
        """What the builder has to say of the lines that parse."""
        if reading.tokens is None:
            return []
        self.builder.problems.clear()
        self._machine.run(reading.tokens)
        lines = [error.line for error in reading.errors]
        return [
            problem
            for problem in self.builder.problems
            if not any(start <= problem.at.start <= end for start, end in lines)
        ]


def _too_deep(declarations: list[ast.Declaration]) -> list[Problem]:
    """Expressions and chains of `elif` are not nested by layout; their trees are."""
    depth, node = deepest(declarations)
    if depth <= MAX_PARTS:
        return []
    what, advice = "operations within operations, or `elif` in a row", "split it"
    return [TooDeep(at=node.span, limit=MAX_PARTS, what=what, advice=advice)]
