"""What to say of a declaration that does not parse, and what to keep of it."""

from __future__ import annotations

from collections.abc import Sequence

from prismc.diagnostics.problem import Problem
from prismc.frontend.lalr import Stuck, acceptable
from prismc.frontend.situation import Situation
from prismc.frontend.syntax_help import explain_error
from prismc.frontend.tables import Tables, Token
from prismc.source.files import SourceFile

_DECLARING = ("const", "def", "kernel", "export")
_IMPORTING = ("import", "from")


def explain(tokens: Sequence[Token], stuck: Stuck, tables: Tables, file: SourceFile) -> Problem:
    """The problem of the token at which the machine is stuck."""
    accepted = [tables.terminals[kind] for kind in acceptable(tables, stuck.states)]
    return explain_error(Situation(tokens, stuck.place, accepted, tables.terminals, file))


def worth_reporting(
    faults: list[Problem], tokens: Sequence[Token], stuck: Stuck, error: Problem
) -> list[Problem]:
    """Of a declaration's faults and its syntax error, those that stand alone.

    The error is an echo of a fault before it. A fault after the error may be one of it, and is
    reported once the error is gone.
    """
    rest = (start for _, start, end in tokens[stuck.place :] if end > start)
    reached = next(rest, None)  # how far the text was read: layout tokens stand before their place
    if faults and (reached is None or faults[0].at.start <= reached):
        return faults
    return [error]


def declared_names(tokens: Sequence[Token], tables: Tables, text: str) -> list[str]:
    """The names that a broken declaration would have declared, as far as its start tells."""
    name = tables.kind("NAME")
    for place, (kind, _, _) in enumerate(tokens):
        word = tables.terminals[kind]
        if word in _DECLARING or word in _IMPORTING:
            rest = tokens[place + 1 :] if word in _IMPORTING else tokens[place + 1 : place + 2]
            return [text[start:end] for kind, start, end in rest if kind == name]
    return []
