"""Operations that compute a value, as C++ expressions.

Integer types below 32 bits are cast back after each operation, since C++ computes them as int;
float types that C++ lacks go through helpers, most of them by way of f32, which has more than
twice their precision, so that rounding twice is rounding once (Figueroa, "When is double rounding
innocuous?", 1995).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prismc.backend.cuda import expression as cpp
from prismc.backend.cuda.conversions import Conversions
from prismc.backend.cuda.expression import Expression
from prismc.backend.cuda.literals import constant
from prismc.backend.cuda.types import (
    CARRIERS,
    is_long,
    is_narrow,
    lane_field,
    lanes_in_word,
    scalar_of,
    size_of,
    type_text,
)
from prismc.hardware.scalars import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I32,
    I64,
    U16,
    U32,
    Kind,
    Scalar,
)
from prismc.ir.core import Op, Value
from prismc.ir.ops import arithmetic, groups, memory
from prismc.ir.ops.arithmetic import BinaryOperator, Comparison, UnaryOperator
from prismc.ir.types import PointerType, ScalarType, Type, VectorType

_SIGNS = {
    BinaryOperator.ADD: "+",
    BinaryOperator.SUB: "-",
    BinaryOperator.MUL: "*",
    BinaryOperator.DIV: "/",
    BinaryOperator.REM: "%",
    BinaryOperator.AND: "&",
    BinaryOperator.OR: "|",
    BinaryOperator.XOR: "^",
    BinaryOperator.SHL: "<<",
    BinaryOperator.SHR: ">>",
}
_BOOL_SIGNS = {BinaryOperator.AND: "&&", BinaryOperator.OR: "||", BinaryOperator.XOR: "!="}
_COMPARISONS = {
    Comparison.EQ: "==",
    Comparison.NE: "!=",
    Comparison.LT: "<",
    Comparison.LE: "<=",
    Comparison.GT: ">",
    Comparison.GE: ">=",
}
_EXTREMES = {
    (BinaryOperator.MIN, F32): "fminf",
    (BinaryOperator.MAX, F32): "fmaxf",
    (BinaryOperator.MIN, F64): "fmin",
    (BinaryOperator.MAX, F64): "fmax",
}
# Operations that f16 and bf16 have instructions for.
_DIRECT = {BinaryOperator.ADD: "add", BinaryOperator.SUB: "sub", BinaryOperator.MUL: "mul"}

_QUERIES = {
    groups.Query.THREAD_INDEX: "threadIdx.x",
    groups.Query.WARPGROUP_INDEX: "__shfl_sync(0xffffffffu, threadIdx.x / 128u, 0)",
    groups.Query.BLOCK_INDEX: "blockIdx.x",
    groups.Query.BLOCK_COUNT: "gridDim.x",
}

_GROUP_SIGNS = {groups.Part.NUMBER: "/", groups.Part.PLACE: "%"}

# The C++ conversions between the two 32-bit (64-bit) registers that keep the bits.
_BIT_FUNCTIONS = {
    (F32, U32): "__float_as_uint",
    (F32, I32): "__float_as_int",
    (U32, F32): "__uint_as_float",
    (I32, F32): "__int_as_float",
    (F64, I64): "__double_as_longlong",
    (I64, F64): "__longlong_as_double",
}


class Expressions(Conversions):
    """Writes operations as expressions. `value` gives the expression of an operand, `need` asks
    for a helper to be part of the module and returns its name."""

    def __init__(self, value: Callable[[Value], Expression], need: Callable[[str], str]) -> None:
        super().__init__(need)
        self._value = value
        # The number of the kernel's block, in any width.
        self._blocks: set[Value] = set()

    def of(self, op: Op) -> Expression:
        """The expression of an operation with one result that has one.

        Raises KeyError for other operations.
        """
        return _EMITTERS[type(op)](self, op)

    # ------------------------------------------------------------------ arithmetic

    def constant(self, op: arithmetic.Constant) -> Expression:
        return constant(scalar_of(op.result.type), op.value)

    def binary(self, op: arithmetic.Binary) -> Expression:
        scalar = scalar_of(op.left.type)
        left, right = self._value(op.left), self._value(op.right)
        if scalar is BOOL:
            return cpp.binary(left, _BOOL_SIGNS[op.operator], right)
        if scalar in CARRIERS:
            return self._carried_binary(op.operator, scalar, left, right)
        if op.operator in (BinaryOperator.MIN, BinaryOperator.MAX):
            function = _EXTREMES.get((op.operator, scalar), op.operator.value)
            return self._narrowed(scalar, cpp.call(function, left, right))
        if scalar is U16 and op.operator is BinaryOperator.MUL:
            # As int, 65535 * 65535 overflows.
            left = cpp.cast("unsigned int", left)
        return self._narrowed(scalar, cpp.binary(left, _SIGNS[op.operator], right))

    def _carried_binary(
        self, operator: BinaryOperator, scalar: Scalar, left: Expression, right: Expression
    ) -> Expression:
        if operator in _DIRECT and scalar in (F16, BF16):
            return cpp.call(self._need(f"{scalar.name}_{_DIRECT[operator]}"), left, right)
        left, right = self.widened(scalar, left), self.widened(scalar, right)
        if operator in (BinaryOperator.MIN, BinaryOperator.MAX):
            return self.rounded(scalar, cpp.call(_EXTREMES[operator, F32], left, right))
        return self.rounded(scalar, cpp.binary(left, _SIGNS[operator], right))

    def unary(self, op: arithmetic.Unary) -> Expression:
        scalar = scalar_of(op.operand.type)
        operand = self._value(op.operand)
        match op.operator:
            case UnaryOperator.NEG if scalar in CARRIERS:
                mask = cpp.literal(f"0x{1 << (scalar.bits - 1):x}")
                return self._narrow_carrier(scalar, cpp.binary(operand, "^", mask))
            case UnaryOperator.ABS if scalar in CARRIERS:
                mask = cpp.literal(f"0x{(1 << (scalar.bits - 1)) - 1:x}")
                return self._narrow_carrier(scalar, cpp.binary(operand, "&", mask))
            case UnaryOperator.NEG:
                return self._narrowed(scalar, cpp.prefix("-", operand))
            case UnaryOperator.NOT:
                sign = "!" if scalar is BOOL else "~"
                return self._narrowed(scalar, cpp.prefix(sign, operand))
            case UnaryOperator.ABS:
                return self._absolute(scalar, operand)
            case _:
                return _counted_bits(op.operator, scalar, operand)

    def _absolute(self, scalar: Scalar, operand: Expression) -> Expression:
        if scalar.kind is Kind.UNSIGNED:
            return operand
        function = {F32: "fabsf", F64: "fabs", I64: "llabs"}.get(scalar, "abs")
        return self._narrowed(scalar, cpp.call(function, operand))

    def compare(self, op: arithmetic.Compare) -> Expression:
        scalar = scalar_of(op.left.type)
        left, right = (self.widened(scalar, self._value(v)) for v in (op.left, op.right))
        if right.text.isdecimal() and not left.widens:
            # What is a place of threads is never below 0: no sign is needed for its comparison.
            left = left.imposed
        return cpp.binary(left, _COMPARISONS[op.comparison], right)

    def select(self, op: arithmetic.Select) -> Expression:
        return cpp.conditional(
            self._value(op.condition), self._value(op.when_true), self._value(op.when_false)
        )

    def _narrowed(self, scalar: Scalar, computed: Expression) -> Expression:
        return cpp.cast(scalar.c_name, computed) if is_narrow(scalar) else computed

    def _narrow_carrier(self, scalar: Scalar, computed: Expression) -> Expression:
        return cpp.cast(scalar.c_name, computed) if scalar.bits < 32 else computed

    # ------------------------------------------------------------------ conversions

    def convert(self, op: arithmetic.Convert) -> Expression:
        if op.operand in self._blocks:
            self._blocks.add(op.result)
        return self.converted(
            scalar_of(op.operand.type), scalar_of(op.result.type), self._value(op.operand)
        )

    def bitcast(self, op: arithmetic.Bitcast) -> Expression:
        source, target = op.operand.type, op.result.type
        operand = self._value(op.operand)
        if source == target:
            return operand
        if isinstance(source, ScalarType) and isinstance(target, ScalarType):
            if function := _BIT_FUNCTIONS.get((source.scalar, target.scalar)):
                return cpp.call(function, operand)
            if _is_integer_in_c(source.scalar) and _is_integer_in_c(target.scalar):
                return cpp.cast(target.scalar.c_name, operand)
        return cpp.call(f"{self._need('bits_as')}<{type_text(target)}>", operand)

    # ------------------------------------------------------------------ vectors

    def make_vector(self, op: arithmetic.MakeVector) -> Expression:
        vector = _vector(op.result.type)
        elements = tuple(self._value(element) for element in op.elements)
        name = type_text(vector)
        if is_long(vector):
            elements = (cpp.braces("", *elements),)
        return cpp.braces(name, *elements)

    def extract(self, op: arithmetic.Extract) -> Expression:
        of, vector = _vector(op.vector.type), self._value(op.vector)
        in_word = lanes_in_word(of)
        if not in_word:
            return cpp.member(vector, lane_field(of, op.lane))
        word = cpp.member(vector, f"word[{op.lane // in_word}]")
        if shift := op.lane % in_word * of.element.bits:
            word = cpp.binary(word, ">>", cpp.literal(str(shift)))
        return cpp.cast(of.element.c_name, word)

    # ------------------------------------------------------------------ memory

    def array_element(
        self, op: memory.ArrayLoad | memory.ArrayStore | memory.SubArray
    ) -> Expression:
        """The element (the sub-array) as a place."""
        return cpp.index(self._value(op.array), *(self._value(index) for index in op.indices))

    def shared_view(self, op: memory.SharedView) -> Expression:
        base = self._value(op.base)
        if op.offset is not None:
            base = cpp.binary(base, "+", self._value(op.offset))
        if op.bytes:
            base = cpp.binary(base, "+", cpp.literal(str(op.bytes)))
        return cpp.cast(type_text(op.result.type), base)

    def pointer_cast(self, op: memory.PointerCast) -> Expression:
        # C++ pointers are generic, and become const by themselves.
        return self._value(op.pointer)

    def is_shared(self, op: memory.IsShared) -> Expression:
        # The compiler knows it once functions are inlined: no test is left in the machine code.
        return cpp.binary(cpp.call("__isShared", self._value(op.pointer)), "!=", cpp.literal("0"))

    def load(self, op: memory.Load) -> Expression:
        return self.memory_element(op.pointer, op.index, op.result.type)

    def memory_element(self, pointer: Value, index: Value, type: Type) -> Expression:
        """The place that an access of `type` through `pointer` reads or writes."""
        of = pointer.type
        base, at = self._value(pointer), self._value(index)
        if index in self._blocks:
            # It is not below 0: no sign has to be worked out for the upper half of an address.
            at = cpp.cast("unsigned int", at)
        if type == getattr(of, "element", None):
            return cpp.index(base, at)
        const = "const " if getattr(of, "is_const", False) else ""
        start = base if at.text == "0" else cpp.prefix("&", cpp.index(base, at))
        return cpp.prefix("*", cpp.cast(f"{const}{type_text(type)} *", start))

    def map_address(self, op: memory.MapAddress) -> Expression:
        return cpp.cast("unsigned long long", cpp.prefix("&", self._value(op.map)))

    def descriptor(self, op: memory.Descriptor) -> Expression:
        fields = op.leading >> 4 << 16 | op.stride >> 4 << 32 | op.code << 62
        return cpp.call(
            self._need("matrix_at"),
            self._value(op.pointer),
            self._bytes_in(op.pointer, op.index),
            cpp.literal(f"0x{fields:x}ull"),
        )

    def address(self, op: memory.Address) -> Expression:
        pointer = self._value(op.pointer)
        if op.kind is memory.AddressKind.GENERIC:
            place = cpp.prefix("&", cpp.index(pointer, self._value(op.index)))
            return cpp.cast("unsigned long long", place)
        # In bytes, the CUDA compilers keep the address in a loop, not the index beside it.
        offset = self._bytes_in(op.pointer, op.index)
        if offset.text != "0":
            pointer = cpp.binary(cpp.cast("const char *", pointer), "+", offset)
        return cpp.cast("unsigned int", cpp.call("__cvta_generic_to_shared", pointer))

    def _bytes_in(self, pointer: Value, index: Value) -> Expression:
        """How many bytes an element of an array in shared memory is behind the first."""
        of, at = pointer.type, self._value(index)
        assert isinstance(of, PointerType), "an element is behind a pointer"
        if at.text == "0":
            return at
        size = cpp.literal(f"{size_of(of.element)}u")
        return cpp.binary(cpp.cast("unsigned int", at), "*", size)

    # ------------------------------------------------------------------ groups

    def position(self, op: groups.Position) -> Expression:
        if op.query is groups.Query.BLOCK_INDEX:
            self._blocks.add(op.result)
        register = cpp.literal(_QUERIES[op.query])
        return cpp.supplied(cpp.cast("int", register), register, widens=False)

    def in_group(self, op: groups.InGroup) -> Expression:
        # Beside an unsigned operand C++ divides without signs.
        sign, size = _GROUP_SIGNS[op.part], cpp.literal(f"{op.size}u")
        part = cpp.binary(self._value(op.index), sign, size)
        return cpp.supplied(cpp.cast("int", part), part, widens=False)


def _is_integer_in_c(scalar: Scalar) -> bool:
    return scalar.is_integer or scalar in CARRIERS


def _vector(type: Type) -> VectorType:
    if isinstance(type, VectorType):
        return type
    raise TypeError(f"no vector type: {type}")


def _counted_bits(operator: UnaryOperator, scalar: Scalar, operand: Expression) -> Expression:
    """`popc clz ctz` of any width through the functions for 32 and 64 bits."""
    suffix = "ll" if scalar.bits == 64 else ""
    if scalar.bits < 32:
        unsigned = "unsigned char" if scalar.bits == 8 else "unsigned short"
        operand = cpp.cast(unsigned, operand)
    if operator is UnaryOperator.POPC:
        return cpp.call(f"__popc{suffix}", operand)
    if operator is UnaryOperator.CLZ:
        counted = cpp.call(f"__clz{suffix}", operand)
        missing = 32 - min(scalar.bits, 32)
        return cpp.binary(counted, "-", cpp.literal(str(missing))) if missing else counted
    if scalar.bits < 32:
        # A bit just above the type ends the count for 0.
        operand = cpp.binary(operand, "|", cpp.literal(f"0x{1 << scalar.bits:x}u"))
    return cpp.call(f"__clz{suffix}", cpp.call(f"__brev{suffix}", operand))


_EMITTERS: dict[type[Op], Callable[[Expressions, Any], Expression]] = {
    arithmetic.Constant: Expressions.constant,
    arithmetic.Binary: Expressions.binary,
    arithmetic.Unary: Expressions.unary,
    arithmetic.Compare: Expressions.compare,
    arithmetic.Select: Expressions.select,
    arithmetic.Convert: Expressions.convert,
    arithmetic.Bitcast: Expressions.bitcast,
    arithmetic.MakeVector: Expressions.make_vector,
    arithmetic.Extract: Expressions.extract,
    memory.ArrayLoad: Expressions.array_element,
    memory.SubArray: Expressions.array_element,
    memory.SharedView: Expressions.shared_view,
    memory.PointerCast: Expressions.pointer_cast,
    memory.IsShared: Expressions.is_shared,
    memory.Load: Expressions.load,
    memory.Address: Expressions.address,
    memory.MapAddress: Expressions.map_address,
    memory.Descriptor: Expressions.descriptor,
    groups.Position: Expressions.position,
    groups.InGroup: Expressions.in_group,
}
