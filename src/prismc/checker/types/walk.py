"""Children of the typed tree's nodes, and walks over them. No behaviour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from prismc.checker.types import typed

_Bodies = tuple[tuple[typed.Statement, ...], ...]


def _one_body(statement: Any) -> _Bodies:
    return (statement.body,)


# By class, as for expressions below. What is not here holds no statements.
_BODIES: Mapping[type[typed.Statement], Callable[[Any], _Bodies]] = {
    typed.If: attrgetter("body", "otherwise"),
    typed.Split: lambda split: tuple(arm.body for arm in split.arms),
    typed.Block: _one_body,
    typed.While: _one_body,
    typed.For: _one_body,
    typed.Group: _one_body,
    typed.Finish: _one_body,
    typed.Narrow: _one_body,
}


def bodies_of(statement: typed.Statement) -> _Bodies:
    """The statement lists that a statement holds, in the order of the text."""
    found = _BODIES.get(type(statement))
    return () if found is None else found(statement)


def statements_in(body: tuple[typed.Statement, ...]) -> Iterator[typed.Statement]:
    """Every statement of a body, outer before inner, in the order of the text."""
    found: list[typed.Statement] = []
    _gather_statements(body, found)
    return iter(found)


# Walks gather lists: an item that goes up through a generator for each level costs more.
def _gather_statements(body: tuple[typed.Statement, ...], found: list[typed.Statement]) -> None:
    for statement in body:
        found.append(statement)
        inside = _BODIES.get(type(statement))
        if inside is not None:
            for inner in inside(statement):
                _gather_statements(inner, found)


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
    found: list[typed.Expression] = []
    _gather_expressions((expression,), found)
    return iter(found)


def _gather_expressions(
    expressions: tuple[typed.Expression, ...], found: list[typed.Expression]
) -> None:
    for expression in expressions:
        found.append(expression)
        inside = _OPERANDS.get(type(expression))
        if inside is not None:
            _gather_expressions(inside(expression), found)


def places_of(statement: typed.Statement) -> tuple[typed.Place, ...]:
    """The places that an assignment or inline assembly writes."""
    match statement:
        case typed.Assign(place=place):
            return (place,)
        case typed.AssignSeveral(places=places):
            return places
        case typed.Asm(outputs=outputs, updates=updates):
            return (*outputs, *updates)
        case _:
            return ()


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


def _of_places(places: tuple[typed.Place, ...]) -> tuple[typed.Expression, ...]:
    return tuple(operand for place in places for operand in place_operands(place))


def _of_asm(asm: typed.Asm) -> tuple[typed.Expression, ...]:
    return (*_of_places((*asm.outputs, *asm.updates)), *asm.inputs)


def _of_narrow(narrow: typed.Narrow) -> tuple[typed.Expression, ...]:
    return tuple(expression for view in narrow.views for expression in _view_operands(view))


# By class, as for expressions. What is not here has no operands.
_STATEMENT_OPERANDS: Mapping[
    type[typed.Statement], Callable[[Any], tuple[typed.Expression, ...]]
] = {
    typed.Declare: lambda node: () if node.value is None else (node.value,),
    typed.DeclareSeveral: lambda node: (node.call,),
    typed.Evaluate: lambda node: (node.call,),
    typed.Assign: lambda node: (*place_operands(node.place), node.value),
    typed.AssignSeveral: lambda node: (*_of_places(node.places), *node.values),
    typed.LoadInto: attrgetter("array", "first", "pointer", "index"),
    typed.If: lambda node: (node.condition,),
    typed.While: lambda node: (node.condition,),
    typed.Assert: lambda node: (node.condition,),
    typed.Assume: lambda node: (node.condition,),
    typed.For: attrgetter("start", "stop", "step"),
    typed.Return: attrgetter("values"),
    typed.Print: attrgetter("arguments"),
    typed.Finish: lambda node: (node.counter,),
    typed.Narrow: _of_narrow,
    typed.Asm: _of_asm,
}


def statement_operands(statement: typed.Statement) -> tuple[typed.Expression, ...]:
    """The expressions of a statement itself, those of its places included, not of its bodies."""
    found = _STATEMENT_OPERANDS.get(type(statement))
    return () if found is None else found(statement)


def _view_operands(view: typed.View) -> Iterator[typed.Expression]:
    yield view.source
    if view.offset is not None:
        yield view.offset
    if view.function is not None:
        yield view.function.body


def body_of(instance: typed.Instance, statements: tuple[typed.Statement, ...]) -> typed.Body:
    """An instance with its statements: many passes ask for all that is in it, and what it calls, so
    that is looked up here."""
    everything = tuple(statements_in(statements))
    return typed.Body(
        instance=instance,
        statements=statements,
        all_statements=everything,
        calls=tuple(calls_of(everything)),
    )


def calls_in(body: tuple[typed.Statement, ...]) -> Iterator[typed.Call]:
    """Every call of some statements, in the order of the text."""
    return calls_of(statements_in(body))


def calls_of(statements: Iterable[typed.Statement]) -> Iterator[typed.Call]:
    """The calls in the operands of some statements, not in the statements inside them."""
    found: list[typed.Expression] = []
    for statement in statements:
        _gather_expressions(statement_operands(statement), found)
    return (expression for expression in found if isinstance(expression, typed.Call))
