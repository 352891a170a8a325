"""Modules of the standard library, whose functions are parsed when something of them is read.

A program uses few of the functions of a module that it imports, and needs only the names of the
others. All declarations are found by the lines that they begin with; imports and constants are
parsed at once, of a function only its name and where it ends are found out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from threading import Lock

from prismc.frontend import ast
from prismc.frontend.grammar import load_tables
from prismc.frontend.layout import OPENER_LINE
from prismc.frontend.parser import Parser
from prismc.source.files import SourceFile
from prismc.source.record import deferred, fill
from prismc.source.span import Span

# More than the nodes that any character can have: ids are made of offsets.
_IDS = 4

# The fields of a function that are not deferred.
_KNOWN = ("id", "span", "name")

_FUNCTION = re.compile(r"^(?:unsafe[ ]+)?def[ ]+([A-Za-z_]\w*)", re.M)


def parse_deferred(file: SourceFile, name: str) -> ast.Module:
    """The tree of a module without errors in its syntax, as `parse_module` makes it but for ids.

    A function with an error raises ValueError when it is read.
    """
    source = _Source(file)
    declarations: list[ast.Declaration] = []
    for start, end in _declarations(file.text):
        function = _FUNCTION.search(file.text, start, end)
        if function is None:
            declarations.append(source.declaration(start, end))
        else:
            declarations.append(_deferred(source, start, end, function))
    return ast.Module(
        name=name,
        file=file.name,
        declarations=tuple(declarations),
        id=len(file.text) * _IDS,
        span=Span(file.name, 0, len(file.text)),
    )


def _declarations(text: str) -> Iterator[tuple[int, int]]:
    """Where each declaration with its attributes begins, and where the next one does."""
    starts, is_next = [], True
    for line in OPENER_LINE.finditer(text):
        if is_next:
            starts.append(line.start())
        is_next = line[0] != "@"
    return pairwise((*starts, len(text)))


class _Source:
    """Parses declarations of one file; several threads may ask."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.lock = Lock()
        self._parser = Parser(file, load_tables())

    def declaration(self, start: int, end: int) -> ast.Declaration:
        """The one from offset `start` to `end`; raises ValueError where it is wrong."""
        self._parser.builder.number_from(start * _IDS + 1)
        parsed, problems = self._parser.part(start, end)
        if problems:
            line = self.file.position(problems[0].at.start).line
            raise ValueError(f"{self.file.name}:{line}: an error in the standard library's syntax")
        return parsed[0]


def _deferred(source: _Source, start: int, end: int, head: re.Match[str]) -> ast.Function:
    """A function with its name and span, whose other fields are filled in when one is read."""
    file = source.file
    return deferred(
        ast.Function,
        _Rest(source, start, end),
        id=end * _IDS - 1,
        span=Span(file.name, start, _end(file.text, start, end)),
        name=ast.Name(id=start * _IDS, text=head[1], span=Span(file.name, *head.span(1))),
    )


def _end(text: str, start: int, end: int) -> int:
    """Where the last token of a declaration ends: comments and blank lines may follow it.

    No last line of the library has a `#` in a string.
    """
    code = ""
    while not code:
        line = max(text.rfind("\n", start, end - 1) + 1, start)
        code = text[line:end].partition("#")[0].rstrip()
        end = line
    return line + len(code)


class _Rest:
    """Fills in what was deferred of the function from offset `start` to `end`, once."""

    def __init__(self, source: _Source, start: int, end: int) -> None:
        self._source = source
        self._place = start, end
        self._is_filled = False

    def __call__(self, function: ast.Function) -> None:
        with self._source.lock:
            if self._is_filled:
                return
            parsed = self._source.declaration(*self._place)
            fields = (field for field in parsed.__fields__ if field not in _KNOWN)
            fill(function, **{field: getattr(parsed, field) for field in fields})
            self._is_filled = True
