"""What operators make of integers that are known in part."""

from __future__ import annotations

from collections.abc import Iterable

from prismc.checker.alignment.numbers import ANY, UNKNOWN, Key, Known, Residue, better, join
from prismc.checker.types.model import ScalarType, Type
from prismc.checker.types.numbers import integer_range
from prismc.hardware.scalars import Kind

_COMMUTATIVE = frozenset(("+", "*", "&", "|", "^"))


def compared(operator: str, left: Known, right: Known) -> Known:
    """A comparison as 0, 1, or either."""
    key = comparison_key(operator, left, right)
    if operator in (">", ">="):
        operator, left, right = {">": "<", ">=": "<="}[operator], right, left
    match operator:
        case "<":
            return Known(ANY, int(left.high < right.low), int(left.low < right.high), key)
        case "<=":
            return Known(ANY, int(left.high <= right.low), int(left.low <= right.high), key)
        case _:
            bits = min(left.residue.bits, right.residue.bits)
            may_equal = (
                left.low <= right.high
                and right.low <= left.high
                and left.residue.cut(bits) == right.residue.cut(bits)
            )
            is_same = left.exact is not None and left.exact == right.exact
            must_equal = is_same or (left.key is not None and left.key == right.key)
            low, high = int(must_equal), int(may_equal)
            return Known(ANY, low, high, key) if operator == "==" else Known(
                ANY, 1 - high, 1 - low, key
            )  # fmt: skip


def comparison_key(operator: str, left: Known, right: Known) -> Key | None:
    """One key for all spellings of a comparison: `<`, `<=`, `==`, and `not` of the last."""
    if left.key is None or right.key is None:
        return None
    if operator in (">", ">="):
        return ({">": "<", ">=": "<="}[operator], right.key, left.key)
    if operator in ("<", "<="):
        return (operator, left.key, right.key)
    sides = sorted((left.key, right.key), key=repr)
    key = ("==", *sides)
    return key if operator == "==" else ("not", key)


def refined(value: Known, fact: Known) -> Known:
    """What is known of a value, with a statement about it."""
    return Known(
        better(value.residue, fact.residue),
        max(value.low, fact.low),
        min(value.high, fact.high),
        value.key,
    )


def logical(operator: str, left: Known | None, right: Known | None) -> Known | None:
    if left is None or right is None:
        return None
    pick = min if operator == "and" else max
    low, high = pick(left.low, right.low), pick(left.high, right.high)
    return Known(ANY, max(0, low), min(1, high), key_of(operator, left, right))


def joined(values: Iterable[Known | None]) -> Known | None:
    found: Known | None = None
    for value in values:
        if value is not None:
            found = value if found is None else join(found, value)
    return found


def key_of(operator: str, *parts: Known | Type) -> Key | None:
    keys = [part.key if isinstance(part, Known) else part for part in parts]
    if any(key is None for key in keys):
        return None
    return (operator, *(sorted(keys, key=repr) if operator in _COMMUTATIVE else keys))


def any_of(of: Type) -> Known:
    """Any value of a type."""
    return of_type(of, ANY, *UNKNOWN[1:3], None)


def of_type(of: Type, residue: Residue, low: int, high: int, key: Key | None) -> Known:
    """A value that wraps in its type: bounds beyond it say nothing."""
    if not isinstance(of, ScalarType) or of.scalar.kind is Kind.FLOAT:
        return UNKNOWN
    least, most = (0, 1) if of.scalar.kind is Kind.BOOL else integer_range(of.scalar)
    if low < least or high > most:
        low, high = least, most
    return Known(residue.cut(max(1, of.scalar.bits)), low, high, key)
