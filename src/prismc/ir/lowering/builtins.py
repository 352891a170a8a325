"""The functions of the language itself, as operations."""

from __future__ import annotations

from prismc.hardware.scalars import Scalar
from prismc.ir.core import Value
from prismc.ir.lowering.frame import Frame
from prismc.ir.ops.arithmetic import BinaryOperator, UnaryOperator
from prismc.ir.types import INT, ScalarType, Type, VectorType

_UNARY = {
    "abs": UnaryOperator.ABS,
    "popc": UnaryOperator.POPC,
    "clz": UnaryOperator.CLZ,
    "ctz": UnaryOperator.CTZ,
}
_BINARY = {"min": BinaryOperator.MIN, "max": BinaryOperator.MAX}


def lower_builtin(frame: Frame, name: str, arguments: tuple[Value, ...], of: Type) -> Value:
    """The value of a built-in function's call.

    Raises KeyError for a name that is no built-in.
    """
    builder = frame.builder
    match name, arguments:
        case ("min" | "max", (left, right)):
            return builder.binary(_BINARY[name], left, right)
        case ("clamp", (value, low, high)):
            raised = builder.binary(BinaryOperator.MAX, value, low)
            return builder.binary(BinaryOperator.MIN, raised, high)
        case ("select", (condition, when_true, when_false)):
            return builder.select(condition, when_true, when_false)
        case ("pack", (first, *_)):
            vector = VectorType(element=scalar_of(first), lanes=len(arguments))
            return builder.bitcast(frame.vector(arguments, vector), of)
        case ("unpack", (word,)):
            return builder.bitcast(word, of)
        case ("log2", (operand,)):
            zeros = builder.unary(UnaryOperator.CLZ, operand, INT)
            most = builder.constant(scalar_of(operand).bits - 1)
            return builder.binary(BinaryOperator.SUB, most, zeros)
        case (_, (operand,)):
            return builder.unary(_UNARY[name], operand, of)
    raise KeyError(name)


def scalar_of(value: Value) -> Scalar:
    """The scalar of a value's type.

    Raises TypeError for vectors, arrays and pointers.
    """
    if isinstance(value.type, ScalarType):
        return value.type.scalar
    raise TypeError(f"no scalar: {value.type}")
