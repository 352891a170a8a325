"""Who may write what: declarations, assignments, stores, results."""

from __future__ import annotations

from prismc.checker.perspectives.aliases import names_in
from prismc.checker.perspectives.data import Data
from prismc.checker.perspectives.errors import (
    DeclaredBroader,
    DeclaredDoesNotDivide,
    PointerAssignment,
    StoreTooBroad,
    StoreVaries,
    WriteDown,
    WriteScope,
)
from prismc.checker.perspectives.scope import Scope
from prismc.checker.types import typed
from prismc.checker.types.model import ErrorType, PointerType
from prismc.checker.types.show import show
from prismc.checker.types.signature import Result
from prismc.checker.types.walk import expressions_in, place_operands
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.groups import THREAD, Perspective
from prismc.source.span import Span


class Writes:
    """Judges what one body writes: information flows from broad to narrow, and all who share a
    variable write it together."""

    def __init__(self, scope: Scope, data: Data, sink: Sink) -> None:
        self._scope = scope
        self._data = data
        self._sink = sink

    def declare(self, statement: typed.Declare) -> None:
        variable, value = statement.variable, statement.value
        is_possible = self.declared_perspective(variable)
        if value is not None and (is_possible or not _counts(value, variable.perspective)):
            self._data.varies(value)
        if value is not None and is_possible:
            self._require_as_broad(f"`{variable.name}`", variable, value)
        self._scope.declared(variable)

    def declare_several(self, statement: typed.DeclareSeveral) -> None:
        self._data.varies(statement.call)
        is_refused = self._scope.bound.lacks(statement.call.callee.bound) is not None
        for variable in statement.variables:
            if not is_refused:  # for the call's bound: its results are no second mistake
                self.declared_perspective(variable)
            self._scope.declared(variable)

    def declared_perspective(self, variable: typed.Variable) -> bool:
        """`@ q`: not broader than the code, and its size divides the entry of its level."""
        stated, bound = variable.perspective, self._scope.bound
        entry = bound.size(stated.level)
        if entry and entry % stated.size == 0:
            return True
        self._scope.refused.add(variable)
        if entry == 0 or stated.size % entry == 0:
            self._sink.report(
                DeclaredBroader(
                    at=variable.span,
                    name=variable.name,
                    stated=stated,
                    code_perspective=bound.code,
                    related=self._data.speaker_note(),
                )
            )
        else:
            self._sink.report(
                DeclaredDoesNotDivide(
                    at=variable.span,
                    name=variable.name,
                    stated=stated,
                    size=stated.size,
                    entry=entry,
                    level=stated.level.name.lower(),
                    related=self._data.speaker_note(),
                )
            )
        return False

    def _require_as_broad(
        self, what: str, variable: typed.Variable, value: typed.Expression
    ) -> None:
        """A value is at least as broad as the variable it goes to; pointers are exactly so."""
        target, varies = variable.perspective, self._data.varies(value)
        if isinstance(value.type, ErrorType):
            return
        if isinstance(variable.type, PointerType):
            self._require_equal(variable, value, varies)
        elif target.is_narrower_or_equal(varies):
            self._data.require_settled(value, target)
        else:
            note = Related(at=variable.span, message=f"{what} is {target}")
            self._sink.report(
                WriteDown(
                    at=value.span,
                    what=what,
                    target=target,
                    varies=varies,
                    advice=f"declare {what} as `{show(variable.type)} @ {varies}`, or give it a "
                    f"value that is {target}",
                    related=(note, *self._data.culprit(value, target)),
                )
            )

    def _require_equal(
        self, variable: typed.Variable, value: typed.Expression, varies: Perspective
    ) -> None:
        if varies != variable.perspective and not self._scope.has_refused(value):
            note = Related(at=variable.span, message=f"`{variable.name}` is {variable.perspective}")
            self._sink.report(
                PointerAssignment(
                    at=value.span,
                    name=variable.name,
                    target=variable.perspective,
                    given=varies,
                    related=(note, *self._data.culprit(value, variable.perspective)),
                )
            )

    def write(self, place: typed.Place, value: typed.Expression) -> None:
        for operand in place_operands(place):
            self._data.varies(operand)
        match place:
            case typed.VariablePlace(variable=variable):
                self._write_variable(place, variable, value)
            case typed.ElementPlace(array=array, index=index):
                self._write_element(place, array, index, value)
            case typed.MemoryPlace(pointer=pointer):
                self._store(place, pointer)
                self._data.varies(value)
            case typed.ComponentPlace(vector=vector):
                self.write(vector, value)
            case _:
                pass

    def _write_variable(
        self, place: typed.Place, variable: typed.Variable, value: typed.Expression
    ) -> None:
        if not self._require_scope(place.span, variable):
            self._data.varies(value)
            return
        self._require_as_broad(f"`{variable.name}`", variable, value)

    def _write_element(
        self,
        place: typed.Place,
        array: typed.Expression,
        index: typed.Expression,
        value: typed.Expression,
    ) -> None:
        variable = _array_variable(array)
        if variable is None or not self._require_scope(place.span, variable):
            self._data.varies(value)
            return
        target, varies = variable.perspective, self._data.varies(index)
        if target.is_narrower_or_equal(varies):
            self._require_as_broad(f"`{variable.name}`", variable, value)
            return
        note = Related(at=variable.span, message=f"`{variable.name}` is {target}")
        self._sink.report(
            StoreVaries(
                at=index.span,
                name=variable.name,
                array_perspective=target,
                varies=varies,
                related=(note, *self._data.culprit(index, target)),
            )
        )

    def _require_scope(self, span: Span, variable: typed.Variable) -> bool:
        """A variable is written by all of those who share it, together."""
        if variable in self._scope.refused:
            return False
        if variable.perspective.is_narrower_or_equal(self._scope.code):
            return True
        note = Related(at=variable.span, message=f"`{variable.name}` is {variable.perspective}")
        self._sink.report(
            WriteScope(
                at=span,
                name=variable.name,
                variable_perspective=variable.perspective,
                code_perspective=self._scope.code,
                related=(note, *self._data.speaker_note()),
            )
        )
        return False

    def _store(self, place: typed.Place, pointer: typed.Expression) -> None:
        """Only a thread's own pointer is stored through (paper-notes A14)."""
        perspective = self._data.varies(pointer)
        if perspective == THREAD or isinstance(pointer.type, ErrorType):
            return
        if self._scope.has_refused(pointer):
            return
        for name in names_in(pointer):
            if self._scope.hiding_of(name) is not None:
                return
            note = Related(at=name.variable.span, message=f"`{name.shown}` is {perspective}")
            self._sink.report(
                StoreTooBroad(
                    at=place.span,
                    name=name.shown,
                    pointer_perspective=perspective,
                    related=(note,),
                )
            )
            return

    def load_into(self, statement: typed.LoadInto) -> None:
        self._data.varies(statement.array)
        variable = _array_variable(statement.array)
        varies = (
            self._data.varies(statement.first)
            .meet(self._data.varies(statement.pointer))
            .meet(self._data.varies(statement.index))
        )
        if variable is None or not self._require_scope(statement.span, variable):
            return
        target = variable.perspective
        if target.is_narrower_or_equal(varies):
            if target != THREAD:
                self._data.require_settled_pointer(statement.pointer, statement.span, target)
        else:
            note = Related(at=variable.span, message=f"`{variable.name}` is {variable.perspective}")
            self._sink.report(
                WriteDown(
                    at=statement.span,
                    what=f"`{variable.name}`",
                    target=variable.perspective,
                    varies=varies,
                    advice=f"declare `{variable.name}` `@ {varies}`",
                    related=(note,),
                )
            )

    def asm(self, statement: typed.Asm) -> None:
        """The author of `unsafe` answers for values; names are still hidden and claimed."""
        for place in (*statement.outputs, *statement.updates):
            for operand in place_operands(place):
                self._data.varies(operand)
        for value in statement.inputs:
            self._data.varies(value)

    def result(self, value: typed.Expression, result: Result) -> None:
        """A returned value is at least as broad as its result is declared."""
        varies = self._data.varies(value)
        if isinstance(value.type, ErrorType):
            return
        if result.perspective.is_narrower_or_equal(varies):
            self._data.require_settled(value, result.perspective)
            return
        note = Related(at=result.span, message=f"the result is {result.perspective}")
        self._sink.report(
            WriteDown(
                at=value.span,
                what="the result",
                target=result.perspective,
                varies=varies,
                advice=f"declare the result `@ {varies}`",
                related=(note, *self._data.culprit(value, result.perspective)),
            )
        )


def _array_variable(array: typed.Expression) -> typed.Variable | None:
    while isinstance(array, typed.Element):
        array = array.array
    return array.variable if isinstance(array, typed.Read) else None


def _counts(value: typed.Expression, of: Perspective) -> bool:
    """Whether a value holds the index of units that its declaration names, which was refused."""
    return any(
        isinstance(part, typed.UnitIndex) and part.of == of for part in expressions_in(value)
    )
