"""What the two regions of a pipeline may do to one another's variables and memory.

Iterations are produced ahead of time, so the result is that of the plain loop only if neither
region uses what the other writes, apart from the rings.
"""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.types import typed
from prismc.checker.types.guards import has_scope
from prismc.checker.types.model import ArrayType, PointerType
from prismc.checker.types.pipeline_errors import BadRegion, RegionsDepend, RingRead
from prismc.checker.types.walk import expressions_in, statement_operands, statements_in
from prismc.diagnostics.problem import Problem, Related
from prismc.source.span import Span

Body = tuple[typed.Statement, ...]
Uses = dict[typed.Variable, Span]


def check_regions(produce: Body, consume: Body, header: Span) -> Iterator[Problem]:
    """Problems of the regions of the pipeline at `header`, each as elaborated for one slot."""
    makes, takes = _Region(produce), _Region(consume)
    yield from _forbidden(produce, header)
    yield from _forbidden(consume, header)
    for ring, at in makes.ring_reads.items():
        note = Related(at=ring.span, message=f"`{ring.name}` names the slot of the iteration")
        yield RingRead(at=at, name=ring.name, related=(note,))
    pairs = (("produce", makes, "consume", takes), ("consume", takes, "produce", makes))
    for writer, mine, other, others in pairs:
        for variable, at in mine.written.items():
            used = others.used.get(variable)
            if used is not None:
                note = Related(at=at, message=f"written in `{writer}` here")
                yield RegionsDepend(
                    at=used, name=variable.name, writer=writer, other=other, related=(note,)
                )


def _forbidden(body: Body, header: Span) -> Iterator[Problem]:
    related = (Related(at=header, message="the pipeline"),)
    is_async = any(has_scope(statement) for statement in body)
    for statement in statements_in(body):
        match statement:
            case typed.DeclareShared(variable=variable):
                advice = "declare it before the pipeline"
                what = "`shared`"
                yield BadRegion(at=variable.span, what=what, advice=advice, related=related)
            case typed.DeclareSeveral() if is_async:
                what = "a call with several results beside an asynchronous scope"
                advice = "take the results inside the scope"
                yield BadRegion(at=statement.span, what=what, advice=advice, related=related)
            case _:
                pass


class _Region:
    """The variables from outside that a region writes and uses; for pointers, the memory."""

    def __init__(self, body: Body) -> None:
        self.written: Uses = {}
        self.used: Uses = {}
        self.ring_reads: Uses = {}
        self._own: set[typed.Variable] = set()
        self._views: dict[typed.Variable, typed.Variable] = {}
        for statement in statements_in(body):
            self._declare(statement)
            for operand in statement_operands(statement):
                for expression in expressions_in(operand):
                    self._expression(expression)
            self._statement(statement)

    def _declare(self, statement: typed.Statement) -> None:
        match statement:
            case typed.Declare(variable=variable) | typed.DeclareShared(variable=variable):
                self._own.add(variable)
            case typed.DeclareSeveral(variables=variables):
                self._own.update(variables)
            case typed.For(variable=variable):
                self._own.add(variable)
            case typed.Narrow(views=views):
                for view in views:
                    self._views[view.variable] = _variable_of(view.source) or view.variable
                    if view.function is not None:
                        self._own.add(view.function.parameter)
            case _:
                pass

    def _statement(self, statement: typed.Statement) -> None:
        match statement:
            case typed.Assign(place=place, operator=operator):
                self._write(place, is_read=bool(operator))
            case typed.AssignSeveral(places=places):
                for place in places:
                    self._write(place)
            case typed.LoadInto(array=array, pointer=pointer):
                self._touch(array, is_write=True)
                self._touch(pointer, is_read=True)
            case typed.Asm(outputs=outputs, updates=updates):
                for place in (*outputs, *updates):
                    self._write(place)
            case _:
                pass

    def _write(self, place: typed.Place, *, is_read: bool = False) -> None:
        match place:
            case typed.VariablePlace(variable=variable):
                self._note(variable, place.span, is_write=True)
            case typed.ElementPlace(array=array):
                self._touch(array, is_write=True)
            case typed.ComponentPlace(vector=vector):
                self._write(vector)
            case typed.MemoryPlace(pointer=pointer):
                self._touch(pointer, is_write=True, is_read=is_read)
            case _:
                pass

    def _expression(self, expression: typed.Expression) -> None:
        match expression:
            case typed.Load(pointer=pointer):
                self._touch(pointer, is_read=True)
            case typed.Call(callee=callee, arguments=arguments):
                for parameter, argument in zip(callee.parameters, arguments, strict=False):
                    self._pass(callee, parameter, argument)
            case typed.Read(variable=variable) if not isinstance(variable.type, PointerType):
                if variable.kind is not typed.VariableKind.SHARED:
                    self._note(variable, expression.span)
            case _:
                pass

    def _pass(
        self, callee: typed.Instance, parameter: typed.Variable, argument: typed.Expression
    ) -> None:
        if isinstance(parameter.type, ArrayType):
            self._touch(argument, is_write=not parameter.is_const)
        elif isinstance(parameter.type, PointerType):
            effects = callee.effects
            is_write = not parameter.type.is_const
            if effects is not None:
                is_write = parameter in effects.writes
            self._touch(argument, is_write=is_write, is_read=not is_write)

    def _touch(
        self, value: typed.Expression, *, is_write: bool = False, is_read: bool = False
    ) -> None:
        while isinstance(value, typed.Element):
            value = value.array
        variable = _variable_of(value)
        if variable is not None:
            self._note(variable, value.span, is_write=is_write, is_read=is_read)

    def _note(
        self, variable: typed.Variable, at: Span, *, is_write: bool = False, is_read: bool = False
    ) -> None:
        """A use of a variable, or of the memory that it names."""
        while variable in self._views and variable.kind is not typed.VariableKind.RING:
            variable = self._views[variable]
        if variable.kind is typed.VariableKind.RING:
            if is_read:
                self.ring_reads.setdefault(variable, at)
            return
        if variable in self._own:
            return
        self.used.setdefault(variable, at)
        if is_write:
            self.written.setdefault(variable, at)


def _variable_of(value: typed.Expression) -> typed.Variable | None:
    return value.variable if isinstance(value, typed.Read | typed.Slot) else None
