"""Operations of the language on forms: integers are exact, and wrap where their type does."""

from __future__ import annotations

from collections.abc import Callable
from operator import add, and_, floordiv, mod, or_, xor

from prismc.checker.sync.forms import (
    ALWAYS,
    ONE,
    Form,
    combine,
    constant,
    greatest,
    known,
    least,
    lower_bound,
    natural_value_if,
    plus,
    range_of,
    scaled,
    times,
)
from prismc.checker.types.fold import divide, fold_integers, remainder
from prismc.checker.types.model import ScalarType, Type
from prismc.checker.types.numbers import integer_range, wrap
from prismc.hardware.scalars import Kind, Scalar

_BITWISE: dict[str, Callable[[int, int], int]] = {"&": and_, "|": or_, "^": xor}
# Built-in functions of integers that are known.
BUILTINS: dict[str, Callable[..., int]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "clamp": lambda value, low, high: min(max(value, low), high),
}
# Sums with symbols whose range nobody knows are taken not to wrap from so many bits on.
_UNWRAPPED_BITS = 32
_NATURAL: dict[str, Callable[[int, int], int]] = {"/": floordiv, "%": mod}


def sum_or_product(sign: str, left: Form, right: Form) -> Form | None:
    """A sum, a difference, a product or a shift to the left; None for others, and where the result
    is no form."""
    match sign:
        case "+":
            return plus(left, right)
        case "-":
            return plus(left, scaled(right, -1))
        case "*":
            return times(left, right)
        case "<<":
            shift = known(right)
            is_plain = isinstance(shift, int) and 0 <= shift < 64
            return scaled(left, 1 << shift) if is_plain and isinstance(shift, int) else None
        case _:
            return None


def split(sign: str, left: Form, right: Form) -> Form | None:
    """`(8 * k + r) / 8` is `k + r / 8` for symbols and remainders that are not negative. A mask of
    low bits takes a remainder, too."""
    divisor = known(right)
    if sign == "&" and isinstance(divisor, int) and divisor > 0 and not divisor & (divisor + 1):
        sign, divisor = "%", divisor + 1
    bound = lower_bound(left)
    if sign not in ("/", "%") or not isinstance(divisor, int) or divisor <= 0:
        return None
    if bound is None or least(bound) < 0:
        return None
    rest = left.get(ONE, 0)
    symbols = {monomial: value for monomial, value in left.items() if monomial}
    if not all(isinstance(value, int) and value % divisor == 0 for value in symbols.values()):
        return None
    if sign == "%":
        return constant(combine(remainder, rest, divisor))
    quotients: Form = {
        monomial: combine(divide, value, divisor) for monomial, value in symbols.items()
    }
    return plus(quotients, constant(combine(divide, rest, divisor)))


def bound_of(sign: str, left: Form | None, right: Form | None, of: Type) -> int:
    """What a remainder, a quotient or a masked value is less than, which is then at least 0; 0 if
    that is not known."""
    if sign == "&":
        known_sides = [known(side) for side in (left, right) if side is not None]
        masks = [mask for mask in known_sides if mask is not None and least(mask) >= 0]
        return min(map(greatest, masks)) + 1 if masks else 0
    by = None if right is None or sign not in ("%", "/") else known(right)
    if by is None or least(by) <= 0:
        return 0
    if sign == "%":
        is_natural = _has_no_sign(of) or natural_value_if(left) == ALWAYS
        return greatest(by) if is_natural else 0
    low, high = range_in(left, of) or (-1, -1)
    return high // least(by) + 1 if low >= 0 else 0


def range_in(form: Form | None, of: Type) -> tuple[int, int] | None:
    """The least and the greatest value of a form of this type; None if nothing is known of them,
    or not all are values of the type."""
    found = None if form is None else range_of(form)
    if found is None or not isinstance(of, ScalarType) or not of.scalar.is_integer:
        return None
    low, high = integer_range(of.scalar)
    return found if low <= found[0] and found[1] <= high else None


def _has_no_sign(of: Type) -> bool:
    return isinstance(of, ScalarType) and of.scalar.is_integer and integer_range(of.scalar)[0] == 0


def known_map(operation: Callable[..., int], forms: tuple[Form, ...]) -> Form | None:
    """An operation on known values, thread by thread; None where a value is not known."""
    values = [known(form) for form in forms]
    plain = [value for value in values if value is not None]
    if len(plain) != len(forms):
        return None
    length = max((len(value) for value in plain if isinstance(value, tuple)), default=0)
    if not length:
        return constant(int(operation(*plain)))
    columns = [value if isinstance(value, tuple) else (value,) * length for value in plain]
    return constant(combine(add, tuple(map(operation, *columns)), 0))


def folded(sign: str, left: Form, right: Form, of: Type) -> Form | None:
    """An operation on known values; the plain cases run over all threads at once."""
    mine, other = known(left), known(right)
    if mine is None or other is None:
        return None
    if sign in _BITWISE:
        return wrapped(constant(combine(_BITWISE[sign], mine, other)), of)
    if sign in _NATURAL and least(mine) >= 0 and least(other) > 0:
        return constant(combine(_NATURAL[sign], mine, other))
    scalar = of.scalar if isinstance(of, ScalarType) else None
    return constant(combine(lambda a, b: _fold(sign, a, b, scalar), mine, other))


def _fold(sign: str, left: int, right: int, scalar: Scalar | None) -> int:
    """One operation; what the machine leaves undefined is 0: no thread may come to it."""
    if (sign in ("/", "%") and right == 0) or (sign in ("<<", ">>") and not 0 <= right < 64):
        return 0
    return fold_integers(sign, left, right, scalar)


def wrapped(form: Form, of: Type) -> Form | None:
    """A value in the range of its type; None for symbols with which it may be out of it."""
    if not isinstance(of, ScalarType) or not of.scalar.is_integer:
        return form
    scalar, value = of.scalar, known(form)
    low, high = integer_range(scalar)
    if value is None:
        found = range_of(form)
        if found is None:
            return form if scalar.bits >= _UNWRAPPED_BITS else None
        return form if low <= found[0] and found[1] <= high else None
    if low <= least(value) and greatest(value) <= high:
        return form
    return constant(combine(lambda number, _: wrap(number, scalar), value, 0))


def converted(form: Form | None, source: Type, target: Type) -> Form | None:
    """An integer as another integer type; symbols are kept by conversions that keep all values that
    they may have."""
    if form is None or not isinstance(source, ScalarType) or not isinstance(target, ScalarType):
        return None
    if target.scalar.kind is Kind.FLOAT or source.scalar.kind is Kind.FLOAT:
        return None
    if known(form) is not None:
        return wrapped(form, target)
    if target.scalar.kind is Kind.BOOL or source.scalar.kind is Kind.BOOL:
        return None
    low, high = integer_range(target.scalar)
    least_value, greatest_value = range_in(form, source) or integer_range(source.scalar)
    return form if low <= least_value and greatest_value <= high else None
