"""Pointers that a function returns: they name memory that is still there afterwards.

A pointer result is a parameter or an alias of one (`docs/language.md`, "Declarations"); shared
arrays of the function end with it. Aliases are followed without regard to order.
"""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.call_errors import (
    PointerEscapes,
)
from prismc.checker.types.conversions import root_variable
from prismc.checker.types.model import PointerType
from prismc.diagnostics.problem import Problem, Related

Sources = dict[typed.Variable, list[typed.Variable]]


def check_escapes(body: typed.Body) -> list[Problem]:
    """Returned pointers that may name a shared array of this body."""
    if not any(isinstance(result.type, PointerType) for result in body.instance.results):
        return []
    sources: Sources = {}
    returned: list[typed.Expression] = []
    for statement in body.all_statements:
        _enter(statement, sources)
        if isinstance(statement, typed.Return):
            returned += statement.values
    problems: list[Problem] = []
    for value in returned:
        for origin in _variables(value):
            local = _local_memory(origin, sources, set())
            if local is not None:
                problems.append(_problem(value, local))
    return problems


def _enter(statement: typed.Statement, sources: Sources) -> None:
    match statement:
        case typed.Declare(variable=variable, value=value) if value is not None:
            _alias(variable, value, sources)
        case typed.Assign(place=typed.VariablePlace(variable=variable), value=value):
            _alias(variable, value, sources)
        case typed.AssignSeveral(places=places, values=values):
            for place, value in zip(places, values, strict=True):
                if isinstance(place, typed.VariablePlace):
                    _alias(place.variable, value, sources)
        case typed.DeclareSeveral(variables=variables, call=call):
            for variable in variables:
                _alias(variable, call, sources)
        case _:
            pass


def _alias(variable: typed.Variable, value: typed.Expression, sources: Sources) -> None:
    if isinstance(variable.type, PointerType):
        sources.setdefault(variable, []).extend(_variables(value))


def _variables(value: typed.Expression) -> list[typed.Variable]:
    """What a pointer expression may name: a variable, or any pointer that a call was given."""
    if isinstance(value, typed.Call):
        return [variable for argument in value.arguments for variable in _variables(argument)]
    variable = root_variable(value) if isinstance(value.type, PointerType) else None
    return [] if variable is None else [variable]


def _local_memory(
    variable: typed.Variable, sources: Sources, seen: set[typed.Variable]
) -> typed.Variable | None:
    """A shared array of this body that the variable may stand for."""
    if variable.kind is typed.VariableKind.SHARED:
        return variable
    if variable in seen:
        return None
    seen.add(variable)
    found = (_local_memory(source, sources, seen) for source in sources.get(variable, ()))
    return next((local for local in found if local is not None), None)


def _problem(value: typed.Expression, local: typed.Variable) -> Problem:
    note = Related(at=local.span, message=f"`{local.name}` ends with the function")
    return PointerEscapes(at=value.span, name=local.name, related=(note,))
