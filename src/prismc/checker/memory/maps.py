"""Which tensor maps a function may store through, itself or by what it calls."""

from __future__ import annotations

from prismc.checker.types import typed
from prismc.checker.types.model import TensorMapType
from prismc.checker.types.walk import expressions_in, statement_operands


def written_maps(body: typed.Body, program: typed.Program) -> frozenset[typed.Variable]:
    """The tensor maps among a body's parameters whose arrays it may write."""
    found: set[typed.Variable] = set()
    for statement in body.all_statements:
        if isinstance(statement, typed.Asm) and statement.touches_memory:
            for operand in statement_operands(statement):
                found.update(
                    inside.variable
                    for inside in expressions_in(operand)
                    if isinstance(inside, typed.Read) and isinstance(inside.type, TensorMapType)
                )
    for call in body.calls:
        written = _written_by(call.callee, program)
        for parameter, argument in zip(call.callee.parameters, call.arguments, strict=True):
            if parameter in written and isinstance(argument, typed.Read):
                found.add(argument.variable)
    return frozenset(found)


def _written_by(callee: typed.Instance, program: typed.Program) -> frozenset[typed.Variable]:
    maps = frozenset(p for p in callee.parameters if isinstance(p.type, TensorMapType))
    if not maps:
        return maps
    if callee.kind is typed.InstanceKind.UNSAFE:
        return maps if callee.effects is None else maps.intersection(callee.effects.writes)
    body = program.bodies.get(callee.symbol)
    return maps if body is None else written_maps(body, program)
