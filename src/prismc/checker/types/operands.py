"""Which operands an operator takes, and what to do about those that it does not."""

from __future__ import annotations

from prismc.checker.types.context import default_type, is_boolean
from prismc.checker.types.fold import COMPARISONS
from prismc.checker.types.model import INT, LiteralType, ScalarType, Type, scalar_of
from prismc.hardware.groups import Perspective
from prismc.hardware.scalars import BF16, F16, F32, F64, Kind

_ARITHMETIC_FLOATS = (F16, BF16, F32, F64)


def folds_as_literal(sign: str, of: Type) -> bool:
    return isinstance(of, LiteralType) and not (sign == "~" and of.is_float)


def compare_perspectives(sign: str, left: Perspective, right: Perspective) -> bool:
    match sign:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<=":
            return left.is_narrower_or_equal(right)
        case ">=":
            return left.is_broader_or_equal(right)
        case "<":
            return left != right and left.is_narrower_or_equal(right)
        case _:
            return left != right and left.is_broader_or_equal(right)


def is_integral(of: Type) -> bool:
    if isinstance(of, LiteralType):
        return not of.is_float
    return isinstance(of, ScalarType) and of.scalar.is_integer


def unary_takes(sign: str, of: Type) -> bool:
    if not isinstance(of, ScalarType):
        return False
    if sign == "~":
        return of.scalar.is_integer
    return of.scalar.is_integer or of.scalar in _ARITHMETIC_FLOATS


def takes(sign: str, of: Type) -> bool:
    """Whether `sign` works on values of this type (shifts apart)."""
    if not isinstance(of, ScalarType):
        return False
    scalar = of.scalar
    if scalar.kind is Kind.BOOL:
        return sign in ("==", "!=", "&", "|", "^")
    if scalar.is_float:
        allowed = sign in COMPARISONS or sign in ("+", "-", "*", "/")
        return allowed and scalar in _ARITHMETIC_FLOATS
    return True


def advice_for(sign: str, of: Type) -> str:
    if is_boolean(of):
        return "use `and`, `or`, `not`, or convert to `int(..)`"
    if isinstance(of, ScalarType) and of.scalar.is_float:
        if of.scalar not in _ARITHMETIC_FLOATS:
            return f"{of.scalar} only stores values: compute in `f32(..)`"
        return "convert to an integer, or use a function of `std.math`"
    if sign in COMPARISONS:
        return "compare scalars"
    return "use the operator on its elements, which are scalars"


def wider_of(left: Type, right: Type) -> str | None:
    """The type to convert to: the float of the two, or else the wider one."""
    if not isinstance(left, ScalarType) or not isinstance(right, ScalarType):
        one, other = scalar_of(default_type(left)), scalar_of(default_type(right))
    else:
        one, other = left.scalar, right.scalar
    if one is None or other is None or Kind.BOOL in (one.kind, other.kind):
        return None
    return max(one, other, key=lambda scalar: (scalar.is_float, scalar.bits)).name


def common_literal(left: Type, right: Type) -> Type:
    is_float = any(isinstance(side, LiteralType) and side.is_float for side in (left, right))
    return default_type(LiteralType(is_float=is_float)) if is_float else INT
