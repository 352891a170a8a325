"""Perspectives as people read them: who speaks on each line, and how often its values vary."""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.perspectives.facts import PerspectiveFacts
from prismc.checker.types import typed
from prismc.checker.types.walk import bodies_of, statement_operands
from prismc.source.files import Files


def show_perspectives(program: typed.Program, facts: PerspectiveFacts, files: Files) -> str:
    """One line for each statement: its line, its code perspective, what it declares, and the
    perspectives of the expressions it evaluates, in order."""
    lines: list[str] = []
    for symbol, body in program.bodies.items():
        lines.append(f"{symbol}: {body.instance.bound.code}")
        lines += _statements(body.statements, facts, files, "  ")
    return "\n".join(lines) + "\n"


def _statements(
    body: tuple[typed.Statement, ...], facts: PerspectiveFacts, files: Files, indent: str
) -> Iterator[str]:
    for statement in body:
        position = files.position(statement.span)
        bound = facts.bounds.get(statement.id)
        word = type(statement).__name__.lower()
        varies = [
            str(facts.varies[e.id]) for e in statement_operands(statement) if e.id in facts.varies
        ]
        parts = [f"{position.line}: {word} in {bound.code if bound else '?'}"]
        parts += [f"{v.name} @ {v.perspective}" for v in _declared(statement)]
        if varies:
            parts.append("from " + ", ".join(varies))
        yield indent + "; ".join(parts)
        for inner in bodies_of(statement):
            yield from _statements(inner, facts, files, indent + "  ")


def _declared(statement: typed.Statement) -> tuple[typed.Variable, ...]:
    match statement:
        case (
            typed.Declare(variable=variable)
            | typed.DeclareShared(variable=variable)
            | typed.For(variable=variable)
        ):
            return (variable,)
        case typed.DeclareSeveral(variables=variables):
            return variables
        case typed.Narrow(views=views):
            return tuple(view.variable for view in views)
        case _:
            return ()
