"""What to say of a declaration that does not parse, and what to keep of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from prismc.diagnostics.problem import Problem
from prismc.frontend.errors import (
    Braces,
    MismatchedBracket,
    ReservedWord,
    TabIndentation,
    TooDeep,
    UnclosedBracket,
    UnmatchedUnindent,
    UnterminatedString,
)
from prismc.frontend.lalr import Machine, Stuck, acceptable
from prismc.frontend.repair import ARMS, Repaired, Repairs
from prismc.frontend.situation import Situation, line_of
from prismc.frontend.syntax_help import explain_error
from prismc.frontend.tables import DEDENT, END, Tables, Token
from prismc.source.files import SourceFile

_DECLARING = ("const", "def", "kernel", "export")
_IMPORTING = ("import", "from")

_MOST_REPAIRS = 50  # of one declaration; each costs a copy of its tokens

# Faults after which nobody knows where lines and blocks end: a syntax error after one is its echo.
_UNSETTLING = (
    TabIndentation,
    UnmatchedUnindent,
    UnclosedBracket,
    MismatchedBracket,
    UnterminatedString,
    TooDeep,
)


class SyntaxFault(NamedTuple):
    """A syntax error. `reached` is how far the text was read, `line` the half-open range of
    characters that are not judged because of it."""

    problem: Problem
    reached: int
    line: tuple[int, int]


class Reading(NamedTuple):
    """The syntax errors of a declaration, in order, and tokens that parse instead of its own; None
    where there are none."""

    errors: list[SyntaxFault]
    tokens: list[Token] | None


class Reader:
    """Reads broken declarations of one file. `recogniser` is a machine that makes nothing."""

    def __init__(self, tables: Tables, file: SourceFile, recogniser: Machine) -> None:
        self._tables, self._file, self._recogniser = tables, file, recogniser
        self._repairs = Repairs(tables)

    def read(self, tokens: list[Token], stuck: Stuck) -> Reading:
        """All syntax errors from the first on, one a line, each after repairs of those before."""
        errors: list[SyntaxFault] = []
        for _ in range(_MOST_REPAIRS):
            repaired = self._repairs.repair(tokens, stuck)
            if not errors or not self._is_echo(tokens, stuck.place, errors[-1]):
                error = self._error(tokens, stuck, repaired)
                if not _is_known(error.problem, errors):
                    errors.append(error)
            if repaired is None:
                break
            tokens = repaired.tokens
            again = self._recogniser.resume(tokens, repaired.place, repaired.states)
            if again is None:
                return Reading(errors, tokens)
            stuck = again
        return Reading(errors, None)

    def _error(
        self, tokens: Sequence[Token], stuck: Stuck, repaired: Repaired | None
    ) -> SyntaxFault:
        place, end = stuck.place, len(self._file.text)
        # Layout tokens stand before their place.
        reached = next((start for _, start, stop in tokens[place:] if stop > start), end)
        line = (tokens[place][1], end)
        if repaired is not None:
            # What follows the last word may be no word at all.
            stop = self._file.text.find("\n", repaired.at[1])
            line = (repaired.at[0], end if stop == -1 else stop)
        return SyntaxFault(self._explain(tokens, stuck), reached, line)

    def _explain(self, tokens: Sequence[Token], stuck: Stuck) -> Problem:
        terminals = self._tables.terminals
        accepted = [terminals[kind] for kind in acceptable(self._tables, stuck.states)]
        return explain_error(Situation(tokens, stuck.place, accepted, terminals, self._file))

    def _is_echo(self, tokens: Sequence[Token], place: int, last: SyntaxFault) -> bool:
        """Whether what does not fit here does so because of the last repair: the rest of its line,
        a part whose whole is gone, or the end of a block."""
        kind, start, _ = tokens[place]
        if kind in (DEDENT, END) or start < last.line[1]:
            return True
        return self._tables.terminals[kind] in ARMS and line_of(tokens, place)[0] == place


def _is_known(problem: Problem, errors: Sequence[SyntaxFault]) -> bool:
    """Whether it is another use of a name that has been refused."""
    return isinstance(problem, ReservedWord) and any(
        isinstance(error.problem, ReservedWord) and error.problem.word == problem.word
        for error in errors
    )


def worth_reporting(faults: list[Problem], errors: Sequence[SyntaxFault]) -> list[Problem]:
    """Of a declaration's faults and its syntax errors, those that stand alone.

    An error is an echo of a fault before it in its line, and of one that unsettles lines; a fault
    after an error in its line may be one of it, and is reported once the error is gone. Braces
    are another language's program: the first is enough.
    """
    if any(isinstance(fault, Braces) for fault in faults):
        is_echo = faults[0].at.start <= errors[0].reached
        first_of_kind = {type(fault): fault for fault in reversed(faults)}
        return [*first_of_kind.values()] if is_echo else [errors[0].problem]
    unsettling = [fault.at.start for fault in faults if isinstance(fault, _UNSETTLING)]
    alone = [
        error
        for error in errors
        if not (unsettling and unsettling[0] <= error.reached)
        and not any(error.line[0] <= fault.at.start <= error.reached for fault in faults)
    ]
    own = [
        fault
        for fault in faults
        if not any(error.line[0] <= fault.at.start < error.line[1] for error in alone)
    ]
    return own + [error.problem for error in alone]


def declared_names(tokens: Sequence[Token], tables: Tables, text: str) -> list[str]:
    """The names that a broken declaration would have declared, as far as its start tells."""
    name = tables.kind("NAME")
    for place, (kind, _, _) in enumerate(tokens):
        word = tables.terminals[kind]
        if word in _DECLARING or word in _IMPORTING:
            rest = tokens[place + 1 :] if word in _IMPORTING else tokens[place + 1 : place + 2]
            return [text[start:end] for kind, start, end in rest if kind == name]
    return []
