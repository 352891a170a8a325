"""Where the variables of one body get their values: once at their declaration, or again later."""

from __future__ import annotations

from collections.abc import Iterable

from prismc.checker.types import typed
from prismc.checker.types.walk import bodies_of, places_of
from prismc.source.record import Record


class Definition(Record):
    """A variable's one value, and the ids of the loops around its declaration.

    `value` is None for parameters, for results of calls, and for what is assigned later.
    """

    variable: typed.Variable
    value: typed.Expression | None
    loops: tuple[int, ...]


class Definitions:
    """The definitions of one body, flow-insensitive: what is assigned again has no one value."""

    def __init__(self, instance: typed.Instance, body: Iterable[typed.Statement]) -> None:
        self._known: dict[typed.Variable, Definition] = {}
        self._assigned: set[typed.Variable] = set()
        self.counters: dict[typed.Variable, typed.For] = {}
        for parameter in instance.parameters:
            self._define(parameter, None, ())
        self._gather(body, ())

    def of(self, variable: typed.Variable) -> Definition | None:
        """How a variable got its value; None if it changes."""
        return None if variable in self._assigned else self._known.get(variable)

    def _define(
        self, variable: typed.Variable, value: typed.Expression | None, loops: tuple[int, ...]
    ) -> None:
        self._known[variable] = Definition(variable=variable, value=value, loops=loops)

    def _gather(self, body: Iterable[typed.Statement], loops: tuple[int, ...]) -> None:
        for statement in body:
            inside = loops
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
