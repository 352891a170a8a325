"""Expressions of the typed tree as IR values."""

from __future__ import annotations

from prismc.checker.types import model, typed
from prismc.ir.core import Op, Value
from prismc.ir.lowering import calls
from prismc.ir.lowering.broadcasts import broadcast
from prismc.ir.lowering.builtins import lower_builtin
from prismc.ir.lowering.cost import is_cheap
from prismc.ir.lowering.frame import Frame
from prismc.ir.lowering.indices import as_index, combine_indices, is_wide
from prismc.ir.lowering.positions import Hidden
from prismc.ir.lowering.turns import turned_slot, turned_view
from prismc.ir.lowering.types import lower_element, lower_type
from prismc.ir.lowering.views import IndexMap, View, layout_of
from prismc.ir.ops.arithmetic import BinaryOperator, Comparison, UnaryOperator
from prismc.ir.ops.control import If, Yield
from prismc.ir.ops.memory import (
    Address,
    AddressKind,
    ArrayLoad,
    Descriptor,
    IsShared,
    MapAddress,
    SubArray,
)
from prismc.ir.types import BOOLEAN, INT, UINT, ULONG, ArrayType, ScalarType, Type, VectorType
from prismc.source.span import Span

BINARY = {
    "+": BinaryOperator.ADD,
    "-": BinaryOperator.SUB,
    "*": BinaryOperator.MUL,
    "/": BinaryOperator.DIV,
    "%": BinaryOperator.REM,
    "&": BinaryOperator.AND,
    "|": BinaryOperator.OR,
    "^": BinaryOperator.XOR,
    "<<": BinaryOperator.SHL,
    ">>": BinaryOperator.SHR,
}
COMPARISONS = {
    "==": Comparison.EQ,
    "!=": Comparison.NE,
    "<": Comparison.LT,
    "<=": Comparison.LE,
    ">": Comparison.GT,
    ">=": Comparison.GE,
}
_UNARY = {"-": UnaryOperator.NEG, "~": UnaryOperator.NOT, "not": UnaryOperator.NOT}
_WIDENING = ("+", "-", "*")


class Expressions:
    """Lowers expressions at the place where the frame's builder stands."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._builder = frame.builder

    # ------------------------------------------------------------------ values

    def value(self, expression: typed.Expression, hint: str = "") -> Value:
        """The value of an expression that is no pointer; an array gives its reference.

        `hint` names the value if it has no name yet.
        """
        value = self._value(expression)
        if not value.hint:
            value.hint = hint
        return value

    def _value(self, expression: typed.Expression) -> Value:
        builder = self._builder
        match expression:
            case typed.Constant(value=value):
                return self._frame.number(value, self._scalar(expression.type))
            case typed.Read(variable=variable):
                return self._read(variable)
            case typed.Unary(operator=operator, operand=operand):
                return builder.unary(_UNARY[operator], self._value(operand))
            case typed.Binary(operator=operator, left=left, right=right):
                return self.binary(operator, self._value(left), self._value(right))
            case typed.Logical() | typed.Conditional():
                return self._lazy(expression)
            case typed.Convert(operand=operand):
                return builder.convert(self._value(operand), lower_element(expression.type))
            case typed.Bits(operand=operand):
                return builder.bitcast(self._value(operand), lower_element(expression.type))
            case typed.Element():
                return self._element(expression)
            case typed.Component(vector=vector, lane=lane):
                return self._builder.extract(self._value(vector), lane)
            case typed.MakeVector(elements=elements):
                return self._make_vector(elements, lower_element(expression.type))
            case typed.Load(pointer=pointer, index=index):
                base, place = self.place(pointer, index)
                return builder.load(base, place, lower_element(expression.type))
            case typed.Builtin(name="is_shared", arguments=(pointer,)):
                base, result = self.view(pointer).base, (Value(BOOLEAN),)
                return self._add(IsShared(pointer=base, results=result, span=self._span))
            case typed.Builtin(name="aligned", arguments=(pointer, wanted)):
                return self._is_aligned(pointer, None, wanted)
            case typed.Builtin(name="aligned", arguments=(pointer, index, wanted)):
                return self._is_aligned(pointer, index, wanted)
            case typed.Builtin(name="completion"):
                return self._frame.hidden_value(Hidden.COMPLETION)
            case typed.Builtin(name=name, arguments=arguments):
                values = tuple(self._value(argument) for argument in arguments)
                return lower_builtin(self._frame, name, values, lower_element(expression.type))
            case typed.Broadcast():
                return self._broadcast(expression)
            case typed.UnitIndex(of=of, within=within) if of is not None:
                return self._frame.unit_index(of, within)
            case typed.UnitCount(of=of):
                return self._frame.unit_count(of)
            case typed.Address(kind="map_address", pointer=tensor_map):
                result = (Value(ULONG),)
                held = self._value(tensor_map)
                return self._add(MapAddress(map=held, results=result, span=self._span))
            case typed.Descriptor():
                return self._descriptor(expression)
            case typed.Address(kind=kind, pointer=pointer, index=index):
                return self._address(kind, pointer, index)
            case typed.Call():
                return calls.lower_call(self._frame, self, expression)[0]
            case _:
                raise TypeError(f"no value: {type(expression).__name__}")

    def _scalar(self, of: model.Type) -> ScalarType:
        lowered = lower_element(of)
        if not isinstance(lowered, ScalarType):
            raise TypeError(f"no scalar: {of}")
        return lowered

    def _read(self, variable: typed.Variable) -> Value:
        binding = self._frame.values[variable]
        if binding is None:
            zero = self._frame.zero(variable.type, variable.name)
            self._frame.values[variable] = zero
            return zero
        if isinstance(binding, View):
            raise TypeError(f"`{variable.name}` is a pointer")
        return binding

    def binary(self, operator: str, left: Value, right: Value) -> Value:
        """An arithmetic operator or a comparison, by its sign in the source."""
        if operator in COMPARISONS:
            return self._builder.compare(COMPARISONS[operator], left, right)
        return self._builder.binary(BINARY[operator], left, right)

    def _make_vector(self, elements: tuple[typed.Expression, ...], of: Type) -> Value:
        if not isinstance(of, VectorType):
            raise TypeError(f"no vector: {of}")
        return self._frame.vector(tuple(self._value(element) for element in elements), of)

    # ------------------------------------------------------------------ lazy operands

    def _lazy(self, expression: typed.Logical | typed.Conditional) -> Value:
        """`and`, `or`, `if else`: plain operations where evaluating both sides is free of effects
        and cheap, control flow otherwise."""
        if isinstance(expression, typed.Logical):
            return self._logical(expression)
        condition = self._value(expression.condition)
        if is_cheap(expression.value) and is_cheap(expression.otherwise):
            when_true = self._perhaps(expression.value)
            return self._builder.select(condition, when_true, self._perhaps(expression.otherwise))
        return self._choose(
            condition, expression.value, expression.otherwise, lower_element(expression.type)
        )

    def _perhaps(self, expression: typed.Expression) -> Value:
        """A value that the program may not ask for: that it is computed says nothing."""
        with self._frame.scope():
            return self._value(expression)

    def _logical(self, expression: typed.Logical) -> Value:
        left = self._value(expression.left)
        is_and = expression.operator == "and"
        if is_cheap(expression.right):
            operator = BinaryOperator.AND if is_and else BinaryOperator.OR
            return self._builder.binary(operator, left, self._perhaps(expression.right))
        if is_and:
            return self._choose(left, expression.right, False, BOOLEAN)
        return self._choose(left, True, expression.right, BOOLEAN)

    def _choose(
        self,
        condition: Value,
        then: typed.Expression | bool,
        otherwise: typed.Expression | bool,
        of: Type,
    ) -> Value:
        regions = []
        for side in (then, otherwise):
            self._builder.open()
            with self._frame.scope():
                value = (
                    self._builder.constant(side, BOOLEAN)
                    if isinstance(side, bool)
                    else self._value(side)
                )
            self._builder.add(Yield(values=(value,), span=self._span))
            regions.append(self._builder.close())
        choice = If(
            condition=condition,
            then=regions[0],
            otherwise=regions[1],
            results=(Value(of),),
            span=self._span,
        )
        return self._add(choice)

    # ------------------------------------------------------------------ arrays and memory

    def array_place(
        self, array: typed.Expression, index: typed.Expression
    ) -> tuple[Value, tuple[Value, ...]]:
        """The whole array under an element expression, and the indices, outermost first."""
        indices = [self.array_index(index)]
        while isinstance(array, typed.Element):
            indices.append(self.array_index(array.index))
            array = array.array
        indices.reverse()
        return self._value(array), tuple(indices)

    def array_index(self, index: typed.Expression) -> Value:
        """An index into a register array."""
        return as_index(self._frame, self._value(index))

    def _element(self, expression: typed.Element) -> Value:
        array, indices = self.array_place(expression.array, expression.index)
        of = lower_type(expression.type)
        result = (Value(of),)
        if isinstance(of, ArrayType):
            return self._add(
                SubArray(array=array, indices=indices, results=result, span=self._span)
            )
        return self._add(ArrayLoad(array=array, indices=indices, results=result, span=self._span))

    def view(self, pointer: typed.Expression) -> View:
        """What a pointer expression stands for."""
        match pointer:
            case typed.Read(variable=variable):
                binding = self._frame.values[variable]
            case typed.Slot(variable=variable, index=index):
                binding = self._slot(variable, index)
            case typed.Call():
                base, offset = calls.lower_call(self._frame, self, pointer)
                return View(base, offset, layout=layout_of(pointer.type))
            case _:
                raise TypeError(f"no pointer: {type(pointer).__name__}")
        if not isinstance(binding, View):
            raise TypeError(f"`{variable.name}` is no pointer")
        return binding

    def _slot(self, slots: typed.Variable, index: int) -> View:
        """A slot of a shared array; of a ring in a pipeline's step, `index` further."""
        frame, first = self._frame, self._frame.values[slots]
        assert isinstance(first, View), "shared arrays are pointers"
        turns = frame.turn is not None and slots in frame.turn.turns.rings
        if slots.layout is not None:
            return turned_view(frame, slots, index) if turns else frame.slots[slots][index]
        if not turns and not index:
            return first
        length, of = 1, slots.type
        while isinstance(of, model.ArrayType):
            length, of = length * of.length, of.element
        if not turns:
            return self._moved(first, self._builder.constant(index * length))
        size, slot = self._builder.constant(length), turned_slot(frame, index)
        return self._moved(first, self._builder.binary(BinaryOperator.MUL, slot, size))

    def offset(self, view: View, by: typed.Expression) -> View:
        """The view that begins at element `by` of `view`."""
        return self._moved(view, self.index(by, wide=is_wide(view.base)))

    def _moved(self, view: View, offset: Value) -> View:
        return view._replace(offset=self._advanced(view, offset))

    def _advanced(self, view: View, index: Value) -> Value:
        if view.offset is None:
            return index
        return combine_indices(
            self._frame, BinaryOperator.ADD, view.offset, index, wide=is_wide(view.base)
        )

    def index(self, expression: typed.Expression, *, wide: bool) -> Value:
        """An index expression as i32 or i64; sums and products that may pass 2^31 take 64 bits."""
        if (
            isinstance(expression, typed.Binary)
            and expression.operator in _WIDENING
            and expression.type == model.INT
        ):
            sides = (expression.left, expression.right)
            left, right = (self.index(side, wide=wide) for side in sides)
            operator = BINARY[expression.operator]
            return combine_indices(self._frame, operator, left, right, wide=wide)
        return as_index(self._frame, self._value(expression))

    def place(self, pointer: typed.Expression, index: typed.Expression) -> tuple[Value, Value]:
        """Base and substituted index of an access."""
        view = self.view(pointer)
        return self.resolve(view, self.index(index, wide=is_wide(view.base)))

    def resolve(self, view: View, index: Value) -> tuple[Value, Value]:
        """Base and index of the element that `view` has at `index`."""
        place = self._advanced(view, index)
        if view.through is not None:
            return self.resolve(view.through.target, self._mapped(view.through, place))
        if view.layout:
            place = calls.lower_layout(self._frame, view.layout, place)
        return view.base, place

    def _mapped(self, through: IndexMap, index: Value) -> Value:
        frame = self._frame
        argument = frame.builder.convert(index, INT)
        with frame.scope():
            frame.values = dict(through.values)
            frame.values[through.function.parameter] = argument
            return self.index(through.function.body, wide=is_wide(through.target.base))

    # ------------------------------------------------------------------ groups

    def _broadcast(self, expression: typed.Broadcast) -> Value:
        value = self._value(expression.operand)
        lanes = expression.to.size
        return value if lanes == 1 else broadcast(self._frame, value, expression.type, lanes)

    def _address(
        self, kind: str, pointer: typed.Expression, index: typed.Expression | None
    ) -> Value:
        zero = typed.Constant(id=0, span=pointer.span, type=model.INT, value=0)
        base, place = self.place(pointer, index or zero)
        is_shared = kind == "shared_address"
        return self._add(
            Address(
                kind=AddressKind.SHARED if is_shared else AddressKind.GENERIC,
                pointer=base,
                index=place,
                results=(Value(UINT if is_shared else ULONG),),
                span=self._span,
            )
        )

    def _descriptor(self, expression: typed.Descriptor) -> Value:
        """A swizzle is the hardware's to apply: the address is that of the plain index."""
        view = self.view(expression.pointer)
        if expression.swizzle.width:
            view = view._replace(layout="")
        index = self.index(expression.index, wide=is_wide(view.base))
        base, place = self.resolve(view, index)
        return self._add(
            Descriptor(
                pointer=base,
                index=place,
                code=expression.swizzle.code,
                leading=expression.leading,
                stride=expression.stride,
                results=(Value(ULONG),),
                span=self._span,
            )
        )

    def _is_aligned(
        self, pointer: typed.Expression, index: typed.Expression | None, wanted: typed.Expression
    ) -> Value:
        """Whether an address is a multiple of so many bytes."""
        builder = self._builder
        address = self._address("address", pointer, index)
        number = builder.convert(self._value(wanted), ULONG)
        rest = builder.binary(BinaryOperator.REM, address, number)
        return builder.compare(Comparison.EQ, rest, builder.constant(0, ULONG))

    # ------------------------------------------------------------------ building

    @property
    def _span(self) -> Span:
        return self._builder.span

    def _add(self, op: Op) -> Value:
        return self._builder.add(op).result
