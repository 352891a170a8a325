"""Children of the typed tree's nodes, and walks over them. No behaviour."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from prismc.checker.types import typed


def bodies_of(statement: typed.Statement) -> tuple[tuple[typed.Statement, ...], ...]:
    """The statement lists that a statement holds, in the order of the text."""
    match statement:
        case typed.If(body=body, otherwise=otherwise):
            return (body, otherwise)
        case typed.Split(arms=arms):
            return tuple(arm.body for arm in arms)
        case (
            typed.Block(body=body)
            | typed.While(body=body)
            | typed.For(body=body)
            | typed.Group(body=body)
            | typed.Finish(body=body)
            | typed.Narrow(body=body)
        ):
            return (body,)
        case _:
            return ()


def statements_in(body: tuple[typed.Statement, ...]) -> Iterator[typed.Statement]:
    """Every statement of a body, outer before inner, in the order of the text."""
    for statement in body:
        yield statement
        for inner in bodies_of(statement):
            yield from statements_in(inner)


def operands(expression: typed.Expression) -> tuple[typed.Expression, ...]:
    """The expressions directly inside an expression, in the order they are evaluated."""
    found = _OPERANDS.get(type(expression))
    return () if found is None else found(expression)


def _of_address(address: typed.Address) -> tuple[typed.Expression, ...]:
    return (address.pointer,) if address.index is None else (address.pointer, address.index)


# By class, since every pass asks this for every expression, and comparing with one class after the
# other takes several times as long. What is not here has no operands.
_OPERANDS: Mapping[type[typed.Expression], Callable[[Any], tuple[typed.Expression, ...]]] = {
    typed.Unary: lambda node: (node.operand,),
    typed.Convert: lambda node: (node.operand,),
    typed.Bits: lambda node: (node.operand,),
    typed.Broadcast: lambda node: (node.operand,),
    typed.Binary: attrgetter("left", "right"),
    typed.Logical: attrgetter("left", "right"),
    typed.Conditional: attrgetter("condition", "value", "otherwise"),
    typed.Element: attrgetter("array", "index"),
    typed.Component: lambda node: (node.vector,),
    typed.MakeVector: attrgetter("elements"),
    typed.Load: attrgetter("pointer", "index"),
    typed.Builtin: attrgetter("arguments"),
    typed.Call: attrgetter("arguments"),
    typed.Address: _of_address,
    typed.Descriptor: attrgetter("pointer", "index"),
}


def expressions_in(expression: typed.Expression) -> Iterator[typed.Expression]:
    """The expression and everything inside it, outer before inner."""
    yield expression
    for operand in operands(expression):
        yield from expressions_in(operand)


def place_operands(place: typed.Place) -> tuple[typed.Expression, ...]:
    """The expressions that a place evaluates: array and index, pointer and index."""
    match place:
        case typed.ElementPlace(array=array, index=index):
            return (array, index)
        case typed.MemoryPlace(pointer=pointer, index=index):
            return (pointer, index)
        case typed.ComponentPlace(vector=vector):
            return place_operands(vector)
        case _:
            return ()


def statement_operands(statement: typed.Statement) -> tuple[typed.Expression, ...]:
    """The expressions of a statement itself, those of its places included, not of its bodies."""
    match statement:
        case typed.Declare(value=value):
            return () if value is None else (value,)
        case typed.DeclareSeveral(call=call) | typed.Evaluate(call=call):
            return (call,)
        case typed.Assign(place=place, value=value):
            return (*place_operands(place), value)
        case typed.AssignSeveral(places=places, values=values):
            return (*(e for place in places for e in place_operands(place)), *values)
        case typed.LoadInto(array=array, first=first, pointer=pointer, index=index):
            return (array, first, pointer, index)
        case typed.If(condition=condition) | typed.While(condition=condition):
            return (condition,)
        case typed.Assert(condition=condition) | typed.Assume(condition=condition):
            return (condition,)
        case typed.For(start=start, stop=stop, step=step):
            return (start, stop, step)
        case typed.Return(values=values):
            return values
        case typed.Print(arguments=arguments):
            return arguments
        case typed.Finish(counter=counter):
            return (counter,)
        case typed.Narrow(views=views):
            return tuple(e for view in views for e in _view_operands(view))
        case typed.Asm(outputs=outputs, updates=updates, inputs=inputs):
            places = (*outputs, *updates)
            return (*(e for place in places for e in place_operands(place)), *inputs)
        case _:
            return ()


def _view_operands(view: typed.View) -> Iterator[typed.Expression]:
    yield view.source
    if view.offset is not None:
        yield view.offset
    if view.function is not None:
        yield view.function.body


def calls_in(body: tuple[typed.Statement, ...]) -> Iterator[typed.Call]:
    """Every call of a body, in the order of the text."""
    for statement in statements_in(body):
        for operand in statement_operands(statement):
            for expression in expressions_in(operand):
                if isinstance(expression, typed.Call):
                    yield expression
