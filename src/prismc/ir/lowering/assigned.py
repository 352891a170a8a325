"""Which variables a piece of the typed tree assigns: what control flow has to carry."""

from __future__ import annotations

from collections.abc import Sequence

from prismc.checker.types import model, typed
from prismc.checker.types.walk import places_of, statements_in


def assigned_variables(body: Sequence[typed.Statement]) -> tuple[typed.Variable, ...]:
    """The variables that hold values (not arrays) and are assigned in `body`, by first place."""
    found: dict[typed.Variable, None] = {}
    for statement in statements_in(tuple(body)):
        for place in places_of(statement):
            variable = _variable(place)
            if variable is not None and not isinstance(variable.type, model.ArrayType):
                found[variable] = None
    return tuple(found)


def reassigned_pointers(body: Sequence[typed.Statement]) -> frozenset[typed.Variable]:
    """The pointer variables that `body` assigns after their declaration."""
    return frozenset(
        variable
        for variable in assigned_variables(body)
        if isinstance(variable.type, model.PointerType)
    )


def _variable(place: typed.Place) -> typed.Variable | None:
    """The variable whose value changes when `place` is written; None for arrays and memory."""
    match place:
        case typed.VariablePlace(variable=variable):
            return variable
        case typed.ComponentPlace(vector=vector):
            return _variable(vector)
        case _:
            return None
