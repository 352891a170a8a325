"""What an unsafe function declares is all that it does: barriers are derived from its effects.

Without `@effects` raw text counts as touching everything that the function can name. With it, an
access to a parameter that the effects leave out would be ordered with nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.perspectives.aliases import Aliases, pointer_variables
from prismc.checker.perspectives.errors import UndeclaredEffect
from prismc.checker.types import typed
from prismc.checker.types.effects import Effects
from prismc.checker.types.model import PointerType, TensorMapType
from prismc.checker.types.walk import (
    expressions_in,
    places_of,
    statement_operands,
)
from prismc.diagnostics.problem import Fix, Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.asynchronous import Agent
from prismc.source.span import Span

# What is done, with which pointer, where, and whether `reads(..)` covers it.
Use = tuple[str, typed.Expression, Span, bool]


def check_declared_effects(body: typed.Body, aliases: Aliases, sink: Sink) -> None:
    """Hold the body of an unsafe function against its `@effects`, each parameter once."""
    effects = body.instance.effects
    if effects is None:
        return
    writable = frozenset(effects.writes)
    readable = writable | frozenset(effects.reads)
    told: set[typed.Variable] = set()
    for done, pointer, at, is_read in _uses(body):
        allowed = readable if is_read else writable
        for root in sorted(aliases.roots_of(pointer_variables(pointer)), key=lambda v: v.id):
            if root.kind is not typed.VariableKind.PARAMETER or root in allowed or root in told:
                continue
            told.add(root)
            effect = f"{'reads' if is_read else 'writes'}({root.name})"
            note = Related(at=effects.span, message="these are the declared effects")
            is_plain = done in ("is read", "is written")
            fix = _declaration(effects, effect, is_certain=is_plain)
            advice = f"`{effect}`"
            if is_read and not is_plain:
                advice += f", or `writes({root.name})` if the code may change it,"
            sink.report(
                UndeclaredEffect(
                    at=at, done=done, name=root.name, effect=advice, related=(note,), fixes=(fix,)
                )
            )


def _declaration(effects: Effects, effect: str, *, is_certain: bool) -> Fix:
    """The effect behind those that are declared. What inline code does to an address that it gets,
    nobody knows but its author."""
    place = Span(effects.span.file, effects.span.end - 1, effects.span.end - 1)
    text = f", {effect}" if _are_any(effects) else effect
    return Fix(at=place, text=text, title=f"declare `{effect}`", is_certain=is_certain)


def _are_any(effects: Effects) -> bool:
    whole = (effects.scope, effects.syncs, effects.completes)
    listed = (effects.reads, effects.writes, effects.needs)
    is_generic = effects.agent is Agent.GENERIC
    return any(listed) or any(each is not None for each in whole) or not is_generic


def _uses(body: typed.Body) -> Iterator[Use]:
    for statement in body.all_statements:
        for place in places_of(statement):
            if isinstance(place, typed.MemoryPlace):
                yield "is written", place.pointer, place.span, False
        if isinstance(statement, typed.LoadInto):
            yield "is read", statement.pointer, statement.span, True
        for operand in statement_operands(statement):
            for inside in expressions_in(operand):
                yield from _of_expression(inside)


def _of_expression(expression: typed.Expression) -> Iterator[Use]:
    match expression:
        case typed.Load(pointer=pointer):
            yield "is read", pointer, expression.span, True
        case typed.Address(pointer=pointer) | typed.Descriptor(pointer=pointer):
            yield "has its address taken", pointer, expression.span, True
        case typed.Call(callee=callee, arguments=arguments):
            for parameter, argument in zip(callee.parameters, arguments, strict=True):
                if not isinstance(parameter.type, PointerType | TensorMapType):
                    continue
                writes = _touches(callee, parameter)
                if writes is not None:
                    yield "is passed on", argument, argument.span, not writes
        case _:
            pass


def _touches(callee: typed.Instance, parameter: typed.Variable) -> bool | None:
    """Whether a callee may write through a parameter; None if it declares not to touch it."""
    effects = callee.effects
    if effects is None:
        return not (isinstance(parameter.type, PointerType) and parameter.type.is_const)
    if parameter in effects.writes:
        return True
    return False if parameter in effects.reads else None
