"""Places: what an assignment writes, evaluated once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from prismc.checker.types import model, typed
from prismc.ir.core import Value
from prismc.ir.lowering.expressions import Expressions
from prismc.ir.lowering.frame import Frame
from prismc.ir.lowering.types import lower_element
from prismc.ir.ops.arithmetic import Insert
from prismc.ir.ops.memory import ArrayLoad, ArrayStore


class Target(NamedTuple):
    """A place that has been evaluated: how to read it and how to write it."""

    read: Callable[[], Value]
    write: Callable[[Value], None]


class Places:
    """Evaluates the places of single values."""

    def __init__(self, frame: Frame, expressions: Expressions) -> None:
        self._frame = frame
        self._expressions = expressions

    def target(self, place: typed.Place) -> Target:
        """Evaluate the arrays, pointers and indices of a place.

        Raises TypeError for a place of arrays or pointers.
        """
        match place:
            case typed.VariablePlace(variable=variable):
                return self._variable(variable)
            case typed.ElementPlace(array=array, index=index):
                return self._element(*self._expressions.array_place(array, index), place.type)
            case typed.MemoryPlace(pointer=pointer, index=index):
                return self._memory(*self._expressions.place(pointer, index), place.type)
            case typed.ComponentPlace(vector=vector, lane=lane):
                return self._component(self.target(vector), lane)
            case _:
                raise TypeError(f"no place: {type(place).__name__}")

    def _variable(self, variable: typed.Variable) -> Target:
        frame = self._frame

        def write(value: Value) -> None:
            if not value.hint:
                value.hint = variable.name
            frame.values[variable] = value

        return Target(lambda: frame.parts(variable)[0], write)

    def _element(self, array: Value, indices: tuple[Value, ...], of: model.Type) -> Target:
        builder = self._frame.builder

        def read() -> Value:
            result = (Value(lower_element(of)),)
            load = ArrayLoad(array=array, indices=indices, results=result, span=builder.span)
            return builder.add(load).result

        def write(value: Value) -> None:
            builder.add(ArrayStore(array=array, indices=indices, value=value, span=builder.span))

        return Target(read, write)

    def _memory(self, base: Value, index: Value, of: model.Type) -> Target:
        builder = self._frame.builder
        return Target(
            lambda: builder.load(base, index, lower_element(of)),
            lambda value: builder.store(base, index, value),
        )

    def _component(self, vector: Target, lane: int) -> Target:
        builder = self._frame.builder

        def write(value: Value) -> None:
            whole = vector.read()
            result = (Value(whole.type),)
            insert = Insert(
                vector=whole, element=value, lane=lane, results=result, span=builder.span
            )
            vector.write(builder.add(insert).result)

        return Target(lambda: self._frame.builder.extract(vector.read(), lane), write)
