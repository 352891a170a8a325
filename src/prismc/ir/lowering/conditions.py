"""What `@assume` states about a kernel's parameters, for its launch to verify."""

from __future__ import annotations

from prismc.checker.types import model, typed
from prismc.checker.types.dump import readable
from prismc.hardware.scalars import BOOL, U64, Scalar
from prismc.ir.conditions import Condition, Formula

_TWO_OPERANDS = (
    "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=",
)  # fmt: skip
# Floats that C computes with as the kernels do; the others have no arithmetic on the host.
_HOST_FLOATS = ("f32", "f64")


def conditions_of(kernel: typed.Instance) -> tuple[Condition, ...]:
    """The assumptions of a kernel, in their order."""
    return tuple(
        Condition(text=readable(assumption), formula=_formula(assumption))
        for assumption in kernel.assumptions
    )


def _formula(expression: typed.Expression) -> Formula | None:
    """The expression as a host computes it; None where it does not."""
    scalar = _host_scalar(expression)
    if scalar is None:
        return None
    match expression:
        case typed.Constant(value=value):
            return Formula(operator="constant", scalar=scalar, constant=value)
        case typed.Read(variable=variable):
            return Formula(operator="parameter", scalar=scalar, name=variable.name)
        case typed.Unary(operator="not", operand=operand):
            return _applied("not", scalar, operand)
        case typed.Unary(operator="-", operand=operand):
            return _applied("negate", scalar, operand)
        case typed.Convert(operand=operand):
            return _applied("convert", scalar, operand)
        case typed.Binary(operator=operator, left=left, right=right) if operator in _TWO_OPERANDS:
            return _applied(operator, scalar, left, right)
        case typed.Logical(operator=operator, left=left, right=right):
            return _applied(operator, scalar, left, right)
        case typed.Builtin(name="aligned", arguments=(pointer, index, wanted)):
            return _aligned_element(scalar, pointer, index, wanted)
        case typed.Builtin(name="aligned" | "min" | "max" as name, arguments=arguments):
            return _applied(name, scalar, *arguments)
        case _:
            return None


def _aligned_element(
    scalar: Scalar, pointer: typed.Expression, index: typed.Expression, wanted: typed.Expression
) -> Formula | None:
    """`aligned(p, i, bytes)`: the address of an element in place of the pointer's."""
    base, place, number = _formula(pointer), _formula(index), _formula(wanted)
    if base is None or place is None or number is None:
        return None
    assert isinstance(pointer.type, model.PointerType)
    size = Formula(operator="constant", scalar=U64, constant=model.size_of(pointer.type.element))
    address = Formula(operator="convert", scalar=U64, operands=(base,))
    offset = Formula(operator="convert", scalar=U64, operands=(place,))
    moved = Formula(operator="*", scalar=U64, operands=(offset, size))
    place_of = Formula(operator="+", scalar=U64, operands=(address, moved))
    return Formula(operator="aligned", scalar=scalar, operands=(place_of, number))


def _applied(operator: str, scalar: Scalar, *operands: typed.Expression) -> Formula | None:
    values = tuple(value for each in operands if (value := _formula(each)) is not None)
    if len(values) < len(operands):
        return None
    return Formula(operator=operator, scalar=scalar, operands=values)


def _host_scalar(expression: typed.Expression) -> Scalar | None:
    """The type of a value on the host; a pointer counts as its address."""
    match expression.type:
        case model.PointerType():
            return U64
        case model.ScalarType(scalar=scalar):
            is_known = scalar.is_integer or scalar is BOOL or scalar.name in _HOST_FLOATS
            return scalar if is_known else None
        case _:
            return None
