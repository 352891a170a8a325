"""Views with an index function stay where they are made.

Everything else that is passed or kept is a base and an offset; a function of the index would have
to go with it (decision 0042).
"""

from __future__ import annotations

from collections.abc import Iterable

from prismc.checker.perspectives.narrow_errors import (
    MappedElsewhere,
)
from prismc.checker.types import typed
from prismc.checker.types.model import PointerType
from prismc.checker.types.walk import expressions_in, statement_operands
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink


def check_mapped(body: typed.Body, sink: Sink) -> None:
    """Refuse to pass a view with an index function, or to keep it in a variable that is assigned
    again."""
    mapped: dict[typed.Variable, typed.IndexFunction] = {}
    assigned = _assigned(body)
    for statement in body.all_statements:
        if isinstance(statement, typed.Narrow):
            for view in statement.views:
                function = view.function or _function_of(view.source, mapped)
                if function is not None:
                    mapped[view.variable] = function
        if not mapped:
            continue
        kept: Iterable[typed.Expression] = ()
        match statement:
            case typed.Declare(variable=variable, value=value) if value is not None:
                function = _function_of(value, mapped)
                if function is not None and variable not in assigned:
                    mapped[variable] = function
                kept = (value,) if variable in assigned else ()
            case typed.Assign(value=value):
                kept = (value,)
            case typed.AssignSeveral(values=values):
                kept = values
            case _:
                pass
        for value in kept:
            _refuse(value, "stand in a pointer variable", mapped, sink)
        for operand in statement_operands(statement):
            for inside in expressions_in(operand):
                if isinstance(inside, typed.Call):
                    for argument in inside.arguments:
                        _refuse(argument, f"be passed to `{inside.callee.name}`", mapped, sink)


def _assigned(body: typed.Body) -> frozenset[typed.Variable]:
    """The pointer variables that some statement assigns."""
    found: set[typed.Variable] = set()
    for statement in body.all_statements:
        match statement:
            case typed.Assign(place=typed.VariablePlace(variable=variable)):
                found.add(variable)
            case typed.AssignSeveral(places=places):
                found.update(p.variable for p in places if isinstance(p, typed.VariablePlace))
            case _:
                pass
    return frozenset(found)


def _function_of(
    pointer: typed.Expression, mapped: dict[typed.Variable, typed.IndexFunction]
) -> typed.IndexFunction | None:
    return mapped.get(pointer.variable) if isinstance(pointer, typed.Read) else None


def _refuse(
    value: typed.Expression,
    use: str,
    mapped: dict[typed.Variable, typed.IndexFunction],
    sink: Sink,
) -> None:
    function = _function_of(value, mapped)
    if function is None or not isinstance(value.type, PointerType):
        return
    assert isinstance(value, typed.Read)
    note = Related(at=function.span, message=f"`{value.variable.name}` has this index function")
    sink.report(MappedElsewhere(at=value.span, name=value.variable.name, use=use, related=(note,)))
