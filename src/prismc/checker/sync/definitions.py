"""Where the variables of one body get their values: once at their declaration, or again later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from prismc.checker.sync.turning import Turning, turning_from
from prismc.checker.types import typed
from prismc.checker.types.model import ScalarType
from prismc.checker.types.walk import (
    bodies_of,
    expressions_in,
    places_of,
    statement_operands,
    statements_in,
)
from prismc.source.record import Record

_Body = tuple[typed.Statement, ...]


class Definition(Record):
    """A variable's one value, and the ids of the loops around its declaration.

    `value` is None for parameters, for results of calls, and for what is assigned later.
    """

    variable: typed.Variable
    value: typed.Expression | None
    loops: tuple[int, ...]


class Definitions:
    """The definitions of one body, flow-insensitive: what is assigned again has no one value,
    unless that happens once, before anybody has read the first one."""

    def __init__(self, instance: typed.Instance, body: _Body) -> None:
        self._known: dict[typed.Variable, Definition] = {}
        self._assigned: set[typed.Variable] = set()
        # How often variables are assigned, and where numbers are declared: in which statements,
        # what comes next among them, and the loops around.
        self._times: Counter[typed.Variable] = Counter()
        self._places: dict[typed.Variable, tuple[_Body, int, tuple[int, ...]]] = {}
        self.counters: dict[typed.Variable, typed.For] = {}
        self.turning: dict[typed.Variable, Turning] = {}
        for parameter in instance.parameters:
            self._define(parameter, None, ())
        self._gather(body, ())
        for variable, (statements, following, loops) in self._places.items():
            if self._times[variable] == 1:
                value = _first_value(statements, following, variable)
                if value is not None:
                    self._assigned.discard(variable)
                    self._define(variable, value, loops)
                elif turning := turning_from(statements, following, variable):
                    self.turning[variable] = turning

    def of(self, variable: typed.Variable) -> Definition | None:
        """How a variable got its value; None if it changes."""
        return None if variable in self._assigned else self._known.get(variable)

    def _define(
        self, variable: typed.Variable, value: typed.Expression | None, loops: tuple[int, ...]
    ) -> None:
        self._known[variable] = Definition(variable=variable, value=value, loops=loops)

    def _gather(self, body: _Body, loops: tuple[int, ...]) -> None:
        for number, statement in enumerate(body, 1):
            inside = loops
            if isinstance(statement, typed.Declare) and _is_number(statement.variable):
                self._places[statement.variable] = body, number, loops
            match statement:
                case typed.Declare(variable=variable, value=None):
                    self._assigned.add(variable)
                case typed.Declare(variable=variable, value=value):
                    self._define(variable, value, loops)
                case typed.DeclareSeveral(variables=variables):
                    for variable in variables:
                        self._define(variable, None, loops)
                case typed.Assign() | typed.AssignSeveral() | typed.Asm():
                    self._assign(places_of(statement))
                case typed.For(variable=variable):
                    inside = (*loops, statement.id)
                    self.counters[variable] = statement
                    self._define(variable, None, inside)
                case typed.While():
                    inside = (*loops, statement.id)
                case _:
                    pass
            for inner in bodies_of(statement):
                self._gather(inner, inside)

    def _assign(self, places: Iterable[typed.Place]) -> None:
        for place in places:
            while isinstance(place, typed.ComponentPlace):
                place = place.vector
            if isinstance(place, typed.VariablePlace):
                self._assigned.add(place.variable)
                self._times[place.variable] += 1


def _is_number(variable: typed.Variable) -> bool:
    return isinstance(variable.type, ScalarType)


def _first_value(body: _Body, start: int, variable: typed.Variable) -> typed.Expression | None:
    """What a variable is set to by all threads, in whichever groups, before anything reads it; from
    statement `start` on."""
    for number in range(start, len(body)):
        statement = body[number]
        match statement:
            case typed.Assign(place=typed.VariablePlace(variable=place), operator="", value=value):
                if place is variable:
                    return None if _reads((statement,), variable) else value
            case typed.Group(body=inner) | typed.Block(body=inner):
                found = _first_value(inner, 0, variable)
                if found is not None:
                    return found
        if _reads((statement,), variable) or _sets((statement,), variable):
            return None
    return None


def _reads(body: _Body, variable: typed.Variable) -> bool:
    return any(
        isinstance(expression, typed.Read) and expression.variable is variable
        for statement in statements_in(body)
        for operand in statement_operands(statement)
        for expression in expressions_in(operand)
    )


def _sets(body: _Body, variable: typed.Variable) -> bool:
    return any(
        isinstance(place, typed.VariablePlace) and place.variable is variable
        for statement in statements_in(body)
        for place in places_of(statement)
    )


def only_statement(body: tuple[typed.Statement, ...]) -> typed.Statement | None:
    """The one statement of a body, be it what a `static if` has taken."""
    while len(body) == 1 and isinstance(body[0], typed.Block):
        body = body[0].body
    return body[0] if len(body) == 1 else None
