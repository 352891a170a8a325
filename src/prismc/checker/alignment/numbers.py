"""What is known of an integer: its low bits, bounds, and what it is made of.

The low bits are what alignment is about; they survive wrap-around, as every integer type has a
power of two values. Operations on them are exact in the bits that they state.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from prismc.checker.types.fold import divide, remainder

# Bits that are followed: alignments are at most 65536 bytes.
MOST_BITS = 20


class Residue(NamedTuple):
    """The low `bits` bits of an integer are those of `value`, 0 <= value < 2 ** bits."""

    bits: int
    value: int

    @property
    def zeros(self) -> int:
        """How many low bits are known to be 0: the integer is a multiple of 2 ** zeros."""
        return self.bits if self.value == 0 else (self.value & -self.value).bit_length() - 1

    def cut(self, bits: int) -> Residue:
        """No more than `bits` bits of it."""
        return self if self.bits <= bits else Residue(bits, self.value & ((1 << bits) - 1))


ANY = Residue(0, 0)


def exactly(value: int) -> Residue:
    return Residue(MOST_BITS, value & ((1 << MOST_BITS) - 1))


def multiple_of(number: int) -> Residue:
    """A multiple of `number`, as far as powers of two go; 0 is a multiple of everything."""
    return Residue(MOST_BITS if number == 0 else min(MOST_BITS, _zeros(number)), 0)


def better(one: Residue, other: Residue) -> Residue:
    """Two statements about one integer: the one that says more."""
    return one if one.bits >= other.bits else other


def either(one: Residue, other: Residue) -> Residue:
    """What holds of both integers."""
    bits = min(one.bits, other.bits)
    differing = one.value ^ other.value
    return one.cut(min(bits, _zeros(differing)) if differing else bits)


def combine(operator: str, left: Residue, right: Residue) -> Residue:
    """`left operator right`; ANY for operators that say nothing about low bits."""
    match operator:
        case "+" | "-":
            bits = min(left.bits, right.bits)
            value = left.value + right.value if operator == "+" else left.value - right.value
            return _low(bits, value)
        case "*":
            bits = min(left.bits + right.zeros, right.bits + left.zeros, left.bits + right.bits)
            return _low(min(MOST_BITS, bits), left.value * right.value)
        case "%":
            # A remainder differs from the number by a multiple of the divisor.
            return left.cut(right.zeros)
        case "&" | "|" | "^":
            return _bitwise(operator, left, right)
        case "<<" if right.bits == MOST_BITS and right.value < MOST_BITS:
            return _low(min(MOST_BITS, left.bits + right.value), left.value << right.value)
        case "/" if right.bits == MOST_BITS and right.value.bit_count() == 1:
            return _shifted(left, _zeros(right.value))
        case ">>" if right.bits == MOST_BITS:
            return Residue(max(0, left.bits - right.value), left.value >> right.value)
        case _:
            return ANY


def _shifted(value: Residue, by: int) -> Residue:
    """Exact division by 2 ** by; a rest would be rounded by its sign."""
    if value.zeros < by:
        return ANY
    return Residue(value.bits - by, value.value >> by)


def _bitwise(operator: str, left: Residue, right: Residue) -> Residue:
    """Low bits are known from both sides, or from one that decides."""
    decides = {"&": 0, "|": 1, "^": None}[operator]
    value = 0
    for bit in range(MOST_BITS):
        mine = left.value >> bit & 1 if bit < left.bits else None
        other = right.value >> bit & 1 if bit < right.bits else None
        if mine is not None and other is not None:
            result = {"&": mine & other, "|": mine | other, "^": mine ^ other}[operator]
        elif decides is not None and decides in (mine, other):
            result = decides
        else:
            return Residue(bit, value)
        value |= result << bit
    return Residue(MOST_BITS, value)


def _low(bits: int, value: int) -> Residue:
    return Residue(bits, value & ((1 << bits) - 1))


def _zeros(number: int) -> int:
    return (number & -number).bit_length() - 1


# What a value is made of, so that equal conditions are recognised: nested tuples.
Key = tuple[Any, ...]
WIDEST = 1 << 64


class Known(NamedTuple):
    """An integer (or a bool as 0 and 1): low bits, least and greatest value, structure.

    `key` is None for what is not computed from values that stay the same.
    """

    residue: Residue = ANY
    low: int = -WIDEST
    high: int = WIDEST
    key: Key | None = None

    @property
    def exact(self) -> int | None:
        """The value, if there is only one."""
        return self.low if self.low == self.high else None


UNKNOWN = Known()


def number(value: int) -> Known:
    """A constant."""
    return Known(exactly(value), value, value, ("number", value))


def join(one: Known, other: Known) -> Known:
    """What holds of both."""
    key = one.key if one.key == other.key else None
    residue = either(one.residue, other.residue)
    return Known(residue, min(one.low, other.low), max(one.high, other.high), key)


def bounds(operator: str, left: Known, right: Known) -> tuple[int, int]:
    """Between which bounds `left operator right` lies in unbounded integers."""
    match operator:
        case "+":
            return left.low + right.low, left.high + right.high
        case "-":
            return left.low - right.high, left.high - right.low
        case "*":
            corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
            return min(corners), max(corners)
        case "/" if right.low > 0:
            corners = [divide(a, b) for a in left[1:3] for b in right[1:3]]
            return min(corners), max(corners)
        case "%" if right.low > 0:
            rest = _rest(left, right)
            if rest is not None:
                return rest, rest
            most = min(right.high - 1, max(left.high, -left.low))
            return (0 if left.low >= 0 else -most), most
        case "&" if right.low >= 0:
            mask = right.exact
            if mask is not None and mask < 1 << left.residue.bits:
                return left.residue.value & mask, left.residue.value & mask
            return 0, right.high
        case "&" if left.low >= 0:
            return 0, left.high
        case ">>" if left.low >= 0 and right.exact is not None and right.low >= 0:
            return left.low >> right.low, left.high >> right.low
        case "<<" if right.exact is not None and 0 <= right.low < 64:
            return left.low << right.low, left.high << right.low
        case _:
            return -WIDEST, WIDEST


def _rest(left: Known, right: Known) -> int | None:
    """`left % right` where it is one number: of constants, or by the low bits."""
    divisor = right.exact
    if divisor is None:
        return None
    if left.exact is not None:
        return remainder(left.exact, divisor)
    if divisor & (divisor - 1) or divisor > 1 << left.residue.bits:
        return None
    rest = left.residue.value % divisor
    if rest == 0 or left.low >= 0:
        return rest
    return rest - divisor if left.high <= 0 else None
