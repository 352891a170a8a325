"""Whose code a place is: down into the typed statements that hold it.

What is written once may stand several times in the typed tree: static loops and pipelines are
expanded there, each copy with the places of the original. The way that leads deepest counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from prismc.checker.perspectives.aliases import Aliases, Name
from prismc.checker.types import typed
from prismc.checker.types.model import PointerType
from prismc.checker.types.variables import read_type
from prismc.checker.types.walk import bodies_of
from prismc.hardware.groups import Bound
from prismc.source.record import Record, replace
from prismc.source.span import Span


class Hiding(Record):
    """A narrowing that is open at a place, and the variables that are in scope outside it."""

    narrow: typed.Narrow
    outside: tuple[typed.Variable, ...]


class Code(Record):
    """Who speaks at a place of one instance.

    `visible` are the variables in scope, `hidings` the open narrowings, outermost first, and
    `around` the span of the innermost statement. In the header of a group or an arm, `inside` is
    the bound that it makes.
    """

    body: typed.Body
    bound: Bound
    visible: tuple[typed.Variable, ...]
    hidings: tuple[Hiding, ...]
    around: Span
    inside: Bound | None = None


def code_in(body: typed.Body, offset: int) -> Code:
    """Who speaks at a place of the function that `body` is an instance of."""
    instance = body.instance
    everywhere = Span(instance.span.file, 0, 1 << 62)
    start = Code(
        body=body,
        bound=instance.bound,
        visible=instance.parameters,
        hidings=(),
        around=everywhere,
    )
    return _down(body.statements, offset, start)


def _down(statements: tuple[typed.Statement, ...], offset: int, here: Code) -> Code:
    """The code at a place that is `here` or in one of some statements, whichever is smallest."""
    found, now = here, here
    for statement in statements:
        if statement.span.start <= offset <= statement.span.end:
            inner = _enter(statement, offset, replace(now, around=statement.span))
            if _length(inner.around) < _length(found.around):
                found = inner
        if not isinstance(statement, typed.For | typed.Narrow):
            now = replace(now, visible=(*now.visible, *declared_by(statement)))
    return found


def _enter(statement: typed.Statement, offset: int, here: Code) -> Code:
    """The code at a place of a statement: in its body, or as around it in its header."""
    match statement:
        case typed.Group(bound=bound, body=body, header=header) if offset > header.end:
            return _down(body, offset, replace(here, bound=bound))
        case typed.Split(arms=arms):
            for arm in arms:
                if arm.header.end < offset <= arm.span.end:
                    within = replace(here, bound=arm.bound, around=arm.span)
                    return _down(arm.body, offset, within)
                if arm.header.start <= offset <= arm.header.end:
                    return replace(here, inside=arm.bound, around=arm.header)
            return here
        case typed.Narrow(body=body, header=header) if offset > header.end:
            hiding = Hiding(narrow=statement, outside=here.visible)
            visible = (*here.visible, *declared_by(statement))
            within = replace(here, visible=visible, hidings=(*here.hidings, hiding))
            return _down(body, offset, within)
        case typed.Group(bound=bound):
            return replace(here, inside=bound)
        case typed.Narrow():
            return here
        case _:
            within = replace(here, visible=(*here.visible, *declared_by(statement)))
            ways = [_down(body, offset, within) for body in bodies_of(statement)]
            return min(ways, key=lambda code: _length(code.around), default=here)


def hidden_names(code: Code) -> Iterator[tuple[typed.Narrow, list[str]]]:
    """The open narrowings, outermost first, each with the names in scope that it hides and no
    other before it does."""
    known: set[str] = set()
    for hiding in code.hidings:
        aliases = aliases_of(code.body)
        names: dict[str, None] = {}
        for view in hiding.narrow.views:
            source = _source(view)
            is_ring = view.variable.kind is typed.VariableKind.RING
            names[source.variable.name if is_ring else source.shown] = None
            for variable in hiding.outside:
                if _is_pointer(variable) and aliases.may_share(source, Name(variable)):
                    names[variable.name] = None
        fresh = [name for name in names if name not in known]
        known.update(fresh)
        if fresh:
            yield hiding.narrow, fresh


@lru_cache(maxsize=16)
def aliases_of(body: typed.Body) -> Aliases:
    """Which names of an instance may stand for the same memory."""
    return Aliases(body)


def _is_pointer(variable: typed.Variable) -> bool:
    return isinstance(read_type(variable), PointerType)


def _source(view: typed.View) -> Name:
    if isinstance(view.source, typed.Slot):
        return Name(view.source.variable, view.source.index)
    assert isinstance(view.source, typed.Read)
    return Name(view.source.variable)


def _length(span: Span) -> int:
    return span.end - span.start


def declared_by(statement: typed.Statement) -> Iterator[typed.Variable]:
    """The variables that a statement itself declares, not those of its bodies."""
    match statement:
        case (
            typed.Declare(variable=variable)
            | typed.DeclareShared(variable=variable)
            | typed.For(variable=variable)
        ):
            yield variable
        case typed.DeclareSeveral(variables=variables):
            yield from variables
        case typed.Narrow(views=views):
            for view in views:
                yield view.variable
                if view.function is not None:
                    yield view.function.parameter
        case _:
            pass
