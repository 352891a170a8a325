"""Names and types alone: elaborate a text in this process and see what is reported where.

A line of a program that ends in `#! P0301` expects that code there; several codes are separated by
spaces. What is not marked must not be reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from prismc.checker.names.resolve import resolve_names
from prismc.checker.types import typed
from prismc.checker.types.dump import dump_program
from prismc.checker.types.elaborate import elaborate_program
from prismc.diagnostics.problem import Problem
from prismc.diagnostics.sink import Sink
from prismc.frontend.modules import load_program
from prismc.source.files import Files

_MARK = re.compile(r"#! ((?:P\d{4} ?)+)$")


class Elaborated(NamedTuple):
    """What elaboration made of a program."""

    program: typed.Program
    problems: tuple[Problem, ...]
    files: Files

    def places(self) -> list[tuple[int, str]]:
        """Line and code of each problem of the root file."""
        return [(self.files.position(p.at).line, p.code) for p in self.problems]

    def dump(self) -> str:
        return dump_program(self.program, self.files)

    def instance(self, symbol: str) -> typed.Instance:
        return self.program.bodies[symbol].instance


def elaborate(
    text: str, defines: Mapping[str, str] | None = None, modules: Mapping[str, str] | None = None
) -> Elaborated:
    """Elaborate `text` as `main.prism`, beside `modules` (file name: text)."""
    files, sink = Files(), Sink()
    for name, content in (modules or {}).items():
        files.overlay(name, content)
    files.overlay("main.prism", text)
    graph = load_program([files.read("main.prism")], [], files, sink)
    names = resolve_names(graph, sink)
    program = elaborate_program(graph, names, defines or {}, sink)
    return Elaborated(program, sink.problems(), files)


def marked(text: str) -> list[tuple[int, str]]:
    """Line and code of each mark of a text."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _MARK.search(line)
        if match:
            found += [(number, code) for code in match[1].split()]
    return found


def assert_marked(text: str, modules: Mapping[str, str] | None = None) -> Elaborated:
    """The problems of a program are those that its marks say, no others."""
    done = elaborate(text, modules=modules)
    said = [f"{done.files.position(p.at)} {p.code}: {p.shown_message()}" for p in done.problems]
    assert done.places() == marked(text), "\n".join(said)
    return done
