"""Statements that hold no others: declarations, assignments, calls, `asm`, returns."""

from __future__ import annotations

from typing import assert_never

from prismc.checker.types import model, typed
from prismc.ir.core import Value
from prismc.ir.lowering import calls
from prismc.ir.lowering.expressions import Expressions
from prismc.ir.lowering.frame import Frame
from prismc.ir.lowering.places import Places, Target
from prismc.ir.lowering.positions import Hidden
from prismc.ir.lowering.types import lower_array, lower_element, lower_pointer
from prismc.ir.lowering.views import View
from prismc.ir.ops.arithmetic import BinaryOperator, Comparison
from prismc.ir.ops.control import Return
from prismc.ir.ops.intrinsic import Asm, CudaText
from prismc.ir.ops.memory import ArrayAlloc, ArrayCopy, ArrayFill, ArrayStore, SharedView
from prismc.ir.types import BOOLEAN, INT, ScalarType, Space, Type, VectorType

Simple = (
    typed.Declare
    | typed.DeclareSeveral
    | typed.DeclareShared
    | typed.Assign
    | typed.AssignSeveral
    | typed.LoadInto
    | typed.Evaluate
    | typed.Asm
    | typed.CudaText
    | typed.Return
)


class SimpleStatements:
    """Lowers such statements of one function."""

    def __init__(self, frame: Frame, expressions: Expressions) -> None:
        self._frame = frame
        self._builder = frame.builder
        self._expressions = expressions
        self._places = Places(frame, expressions)

    def lower(self, statement: Simple) -> None:
        """Adds a statement's operations."""
        match statement:
            case typed.Declare(variable=variable, value=value):
                self._declare(variable, value)
            case typed.DeclareSeveral(variables=variables, call=call):
                self._declare_several(variables, call)
            case typed.DeclareShared(variable=variable):
                self._declare_shared(variable)
            case typed.Assign():
                self._assign(statement)
            case typed.AssignSeveral(places=places, values=values):
                self._assign_several(places, values)
            case typed.LoadInto():
                self._load_into(statement)
            case typed.Evaluate(call=call):
                calls.lower_call(self._frame, self._expressions, call)
            case typed.Asm():
                self._asm(statement)
            case typed.CudaText(text=text):
                self._builder.add(CudaText(text=text, span=statement.span))
            case typed.Return(values=values):
                self._return(values)
            case _:
                assert_never(statement)

    # ------------------------------------------------------------------ declarations

    def _declare(self, variable: typed.Variable, value: typed.Expression | None) -> None:
        frame = self._frame
        if isinstance(variable.type, model.ArrayType):
            self._declare_array(variable, variable.type, value)
        elif value is None:
            frame.values[variable] = None
        elif isinstance(variable.type, model.PointerType):
            self._bind_pointer(variable, value)
        else:
            frame.values[variable] = self._expressions.value(value, variable.name)

    def _declare_array(
        self, variable: typed.Variable, of: model.ArrayType, value: typed.Expression | None
    ) -> None:
        array = Value(lower_array(of), variable.name)
        self._builder.add(ArrayAlloc(results=(array,), span=self._builder.span))
        self._frame.values[variable] = array
        if value is not None:
            self._fill(array, value)

    def _fill(self, array: Value, value: typed.Expression) -> None:
        """Set a whole array: from another one, or every element to one value."""
        held, span = self._expressions.value(value), self._builder.span
        if isinstance(value.type, model.ArrayType):
            self._builder.add(ArrayCopy(target=array, source=held, span=span))
        else:
            self._builder.add(ArrayFill(array=array, value=held, span=span))

    def _declare_several(self, variables: tuple[typed.Variable, ...], call: typed.Call) -> None:
        values = list(calls.lower_call(self._frame, self._expressions, call))
        for variable in variables:
            if isinstance(variable.type, model.PointerType):
                self._frame.bind_pointer(variable, View(values.pop(0), values.pop(0)))
            else:
                value = values.pop(0)
                value.hint = variable.name
                self._frame.values[variable] = value

    def _declare_shared(self, variable: typed.Variable) -> None:
        frame = self._frame
        array = frame.checked.memory.arrays[variable.id]
        pointer = model.PointerType(element=variable.type)
        offset = calls.copy_offset(frame, array.replicas, array.stride)
        if offset is not None:
            frame.copies[variable] = offset
        size = model.size_of(variable.type)
        layout = variable.layout.symbol if variable.layout is not None else ""
        slots = [
            SharedView(
                base=frame.hidden_value(Hidden.SHARED),
                offset=offset,
                bytes=array.offset + number * size,
                results=(Value(lower_pointer(pointer, Space.SHARED), variable.name),),
                span=self._builder.span,
            )
            for number in range(max(1, variable.slots) if layout else 1)
        ]
        views = tuple(View(self._builder.add(slot).result, layout=layout) for slot in slots)
        frame.values[variable], frame.slots[variable] = views[0], views

    def _bind_pointer(self, variable: typed.Variable, value: typed.Expression) -> None:
        self._frame.bind_pointer(variable, self._expressions.view(value))

    # ------------------------------------------------------------------ assignments

    def _assign(self, statement: typed.Assign) -> None:
        place, value = statement.place, statement.value
        if isinstance(place.type, model.ArrayType):
            self._fill(self._array(place), value)
        elif isinstance(place, typed.VariablePlace) and isinstance(place.type, model.PointerType):
            self._bind_pointer(place.variable, value)
        elif not statement.operator:
            held = self._expressions.value(value)
            self._places.target(place).write(held)
        else:
            target = self._places.target(place)
            before = target.read()
            after = self._expressions.binary(
                statement.operator, before, self._expressions.value(value)
            )
            target.write(after)

    def _array(self, place: typed.Place) -> Value:
        """The array that a place of array type names."""
        match place:
            case typed.VariablePlace(variable=variable):
                read: typed.Expression = typed.Read(
                    id=place.id, span=place.span, type=place.type, variable=variable
                )
            case typed.ElementPlace(array=array, index=index):
                read = typed.Element(
                    id=place.id, span=place.span, type=place.type, array=array, index=index
                )
            case _:
                raise TypeError(f"no array: {type(place).__name__}")
        return self._expressions.value(read)

    def _assign_several(
        self, places: tuple[typed.Place, ...], values: tuple[typed.Expression, ...]
    ) -> None:
        held = [self._held(value) for value in values]
        targets = [self._target_of_several(place) for place in places]
        for place, target, value in zip(places, targets, held, strict=True):
            if isinstance(value, Value):
                if target is not None:
                    target.write(value)
            elif isinstance(place, typed.VariablePlace):
                self._frame.bind_pointer(place.variable, value)

    def _held(self, value: typed.Expression) -> Value | View:
        if not isinstance(value.type, model.PointerType):
            return self._expressions.value(value)
        return self._expressions.view(value)

    def _target_of_several(self, place: typed.Place) -> Target | None:
        is_pointer = isinstance(place.type, model.PointerType)
        return None if is_pointer else self._places.target(place)

    def _load_into(self, statement: typed.LoadInto) -> None:
        expressions, builder = self._expressions, self._builder
        array = expressions.value(statement.array)
        first = expressions.array_index(statement.first)
        base, place = expressions.place(statement.pointer, statement.index)
        vector = builder.load(base, place, _vector_of(array, statement.lanes))
        for lane in range(statement.lanes):
            index = builder.binary(BinaryOperator.ADD, first, builder.constant(lane, first.type))
            element = builder.extract(vector, lane)
            builder.add(ArrayStore(array=array, indices=(index,), value=element, span=builder.span))

    # ------------------------------------------------------------------ calls and text

    def _return(self, values: tuple[typed.Expression, ...]) -> None:
        self._frame.may_have_returned = True
        results: list[Value] = []
        for result, value in zip(self._frame.instance.results, values, strict=True):
            held = self._held(value)
            if isinstance(held, View):
                held = self._frame.settled(held, result.type)
                results += (held.base, self._frame.long_offset(held))
            else:
                results.append(held)
        self._builder.add(Return(values=tuple(results), span=self._builder.span))

    def _asm(self, statement: typed.Asm) -> None:
        outputs = [self._places.target(place) for place in statement.outputs]
        updates = [self._places.target(place) for place in statement.updates]
        inputs = tuple(self._passed(self._expressions.value(e)) for e in statement.inputs)
        before = tuple(self._passed(target.read()) for target in updates)
        types = [_carrier(lower_element(place.type)) for place in statement.outputs]
        op = Asm(
            updates=before,
            inputs=inputs,
            pieces=statement.pieces,
            touches_memory=statement.touches_memory,
            results=tuple(Value(of) for of in (*types, *(value.type for value in before))),
            span=statement.span,
        )
        self._builder.add(op)
        places = (*statement.outputs, *statement.updates)
        for place, target, value in zip(places, (*outputs, *updates), op.results, strict=True):
            target.write(self._received(value, lower_element(place.type)))

    def _received(self, value: Value, of: Type) -> Value:
        if of != BOOLEAN:
            return value
        return self._builder.compare(Comparison.NE, value, self._builder.constant(0, INT))

    def _passed(self, value: Value) -> Value:
        return self._builder.convert(value, _carrier(value.type))


def _carrier(of: Type) -> Type:
    """How a value passes through `asm`: a bool as 0 or 1."""
    return INT if of == BOOLEAN else of


def _vector_of(array: Value, lanes: int) -> VectorType:
    element = getattr(array.type, "element", None)
    if not isinstance(element, ScalarType):
        raise TypeError(f"no array of scalars: {array.type}")
    return VectorType(element=element.scalar, lanes=lanes)
