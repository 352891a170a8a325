"""Parse texts in tests and look at what came out."""

from __future__ import annotations

from typing import NamedTuple

from prismc.diagnostics.problem import Problem
from prismc.diagnostics.sink import Sink
from prismc.frontend import ast
from prismc.frontend.parser import parse_module
from prismc.source.files import SourceFile
from prismc.source.span import Span

NAME = "test.prism"


class Parsed(NamedTuple):
    """A tree, what was reported, and the text both came from."""

    tree: ast.Module
    problems: tuple[Problem, ...]
    file: SourceFile

    def source(self, node: ast.Node | Span) -> str:
        """The characters that a node or a span covers."""
        span = node if isinstance(node, Span) else node.span
        return self.file.text[span.start : span.end]

    def found(self) -> list[tuple[str, int, int]]:
        """Code, line and column of every problem."""
        return [(p.code, *self.file.position(p.at.start)) for p in self.problems]

    def codes(self) -> list[str]:
        return [problem.code for problem in self.problems]


def parse(text: str) -> Parsed:
    """Parse a whole file."""
    file, sink = SourceFile(NAME, text), Sink()
    tree = parse_module(file, "test", sink)
    return Parsed(tree, sink.problems(), file)


def parse_clean(text: str) -> Parsed:
    """Parse a file that has no errors."""
    parsed = parse(text)
    assert [(p.shown_message(), p.at) for p in parsed.problems] == []
    return parsed


def in_function(*lines: str) -> str:
    """A function whose body the lines are; the first stands on line 2, column 5."""
    return "def f(a: int):\n" + "".join(f"    {line}\n" for line in lines)


def body(parsed: Parsed) -> tuple[ast.Statement, ...]:
    """The body of the only declaration, a function."""
    (declaration,) = parsed.tree.declarations
    assert isinstance(declaration, ast.Function | ast.Kernel | ast.Test)
    return declaration.body


def statement(*lines: str) -> tuple[ast.Statement, Parsed]:
    """The only statement of a function with these lines."""
    parsed = parse_clean(in_function(*lines))
    (only,) = body(parsed)
    return only, parsed


def expression(text: str) -> tuple[ast.Expression, Parsed]:
    """An expression, as the value of a declaration."""
    found, parsed = statement(f"x := {text}")
    assert isinstance(found, ast.Declare)
    assert found.value is not None
    return found.value, parsed
