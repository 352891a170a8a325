"""Conditions: what one that holds says about numbers, and whether one is bound to hold."""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.alignment.addresses import Addresses
from prismc.checker.alignment.numbers import (
    UNKNOWN,
    WIDEST,
    Key,
    Known,
    exactly,
    multiple_of,
    number,
)
from prismc.checker.alignment.rules import comparison_key, refined
from prismc.checker.alignment.values import Facts, Values
from prismc.checker.types import typed

_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
Statement = tuple[Key, Known]


class Conditions:
    """Learns from conditions, and proves them."""

    def __init__(self, values: Values, addresses: Addresses) -> None:
        self._values = values
        self._addresses = addresses

    # ------------------------------------------------------------------ learning

    def learnt(self, condition: typed.Expression, *, holds: bool) -> Facts:
        """The facts of here, and what `condition` says if it holds (or does not)."""
        facts = self._values.facts
        numbers = dict(facts.numbers)
        conditions = set(facts.conditions)
        for key, known in self._statements(condition, holds=holds):
            numbers[key] = refined(numbers[key], known) if key in numbers else known
        conditions.update(self._keys(condition, holds=holds))
        if len(conditions) == len(facts.conditions) and numbers == facts.numbers:
            return facts
        return Facts(numbers=numbers, conditions=frozenset(conditions))

    def _keys(self, condition: typed.Expression, *, holds: bool) -> Iterator[Key]:
        """The conditions that hold with it."""
        match condition:
            case typed.Logical(operator=operator, left=left, right=right):
                if holds is (operator == "and"):
                    yield from self._keys(left, holds=holds)
                    yield from self._keys(right, holds=holds)
            case typed.Unary(operator="not", operand=operand):
                yield from self._keys(operand, holds=not holds)
            case typed.Binary(operator=operator, left=left, right=right) if operator in _OPPOSITES:
                sign = operator if holds else _OPPOSITES[operator]
                key = comparison_key(sign, self._values.value(left), self._values.value(right))
                if key is not None:
                    yield key
            case typed.Builtin(name="aligned") if holds:
                key = self.alignment_key(condition)
                if key is not None:
                    yield key

    def _statements(self, condition: typed.Expression, *, holds: bool) -> Iterator[Statement]:
        match condition:
            case typed.Logical(operator=operator, left=left, right=right):
                if holds is (operator == "and"):
                    yield from self._statements(left, holds=holds)
                    yield from self._statements(right, holds=holds)
            case typed.Unary(operator="not", operand=operand):
                yield from self._statements(operand, holds=not holds)
            case typed.Builtin(name="aligned", arguments=(pointer, bytes_)) if holds:
                yield from self._pointer(pointer, self._values.value(bytes_))
            case typed.Binary(operator=operator, left=left, right=right) if operator in _OPPOSITES:
                sign = operator if holds else _OPPOSITES[operator]
                yield from self._compared(sign, left, right)

    def _pointer(self, pointer: typed.Expression, bytes_: Known) -> Iterator[Statement]:
        if not isinstance(pointer, typed.Read) or not self._values.is_fixed(pointer.variable):
            return
        if bytes_.exact:
            residue = multiple_of(bytes_.exact)
            yield ("pointer", pointer.variable.id), UNKNOWN._replace(residue=residue)

    def _compared(
        self, sign: str, left: typed.Expression, right: typed.Expression
    ) -> Iterator[Statement]:
        mine, other = self._values.value(left), self._values.value(right)
        if sign in (">", ">="):
            sign, mine, other = {">": "<", ">=": "<="}[sign], other, mine
        if sign in ("<", "<="):
            gap = int(sign == "<")
            if mine.key is not None and mine.exact is None:
                yield mine.key, UNKNOWN._replace(high=other.high - gap)
            if other.key is not None and other.exact is None:
                yield other.key, UNKNOWN._replace(low=mine.low + gap)
        elif sign == "==":
            yield from self._equal(left, other)
            yield from self._equal(right, mine)

    def _equal(self, side: typed.Expression, other: Known) -> Iterator[Statement]:
        """`side == other`: also what `x % 8 == 0` and `x & 7 == 0` say about x."""
        value = self._values.value(side)
        # Code that is never reached would make numbers others: 1 == 0 says nothing of 1.
        if value.key is not None and value.exact is None:
            yield value.key, Known(other.residue, other.low, other.high)
        if other.exact is None or not isinstance(side, typed.Binary):
            return
        inner, divisor = self._values.value(side.left), self._values.value(side.right).exact
        if inner.key is None or not divisor:
            return
        bits = 0
        if side.operator == "%":
            bits = multiple_of(divisor).bits
        elif side.operator == "&":
            bits = (~divisor & (divisor + 1)).bit_length() - 1
        residue = exactly(other.exact).cut(max(0, bits))
        yield inner.key, Known(residue, -WIDEST, WIDEST)

    # ------------------------------------------------------------------ proving

    def holds(self, condition: typed.Expression) -> bool | None:
        """Whether a condition holds for certain, or certainly does not; None if nobody knows."""
        match condition:
            case typed.Logical(operator=operator, left=left, right=right):
                sides = self.holds(left), self.holds(right)
                decides = operator == "or"
                if decides in sides:
                    return decides
                return None if None in sides else not decides
            case typed.Unary(operator="not", operand=operand):
                inner = self.holds(operand)
                return None if inner is None else not inner
            case typed.Builtin(name="aligned"):
                return self._is_aligned(condition)
            case _:
                return self._is_true(condition)

    def _is_true(self, condition: typed.Expression) -> bool | None:
        value = self._values.value(condition)
        if value.low >= 1:
            return True
        if value.high <= 0:
            return False
        conditions = self._values.facts.conditions
        if value.key is not None and value.key in conditions:
            return True
        if isinstance(condition, typed.Binary) and condition.operator in _OPPOSITES:
            sides = self._values.value(condition.left), self._values.value(condition.right)
            opposite = comparison_key(_OPPOSITES[condition.operator], *sides)
            return False if opposite in conditions else None
        return None

    def _is_aligned(self, condition: typed.Builtin) -> bool | None:
        pointer, index, wanted = self.alignment(condition)
        if wanted is None:
            return None
        if self.alignment_key(condition) in self._values.facts.conditions:
            return True
        address = self._addresses.of(pointer, index, wanted)
        if address.parted is None and address.residue.zeros >= multiple_of(wanted).bits:
            return True
        return False if address.residue.bits >= multiple_of(wanted).bits else None

    def alignment(
        self, condition: typed.Builtin
    ) -> tuple[typed.Expression, typed.Expression | None, int | None]:
        """Pointer, index and bytes of `aligned(p, bytes)` or `aligned(p, i, bytes)`."""
        pointer, *index, wanted = condition.arguments
        return pointer, index[0] if index else None, self._values.value(wanted).exact

    def alignment_key(self, condition: typed.Builtin) -> Key | None:
        """What says the same as `aligned(p, i, bytes)` for an equal index."""
        return self._aligned_key(*self.alignment(condition))

    def is_stated(
        self, pointer: typed.Expression, index: typed.Expression | None, size: int
    ) -> bool:
        """Whether it is assumed that an element is aligned to `size` bytes, or to more."""
        keys = (self._aligned_key(pointer, index, size << more) for more in range(8))
        return any(key in self._values.facts.conditions for key in keys)

    def _aligned_key(
        self, pointer: typed.Expression, index: typed.Expression | None, wanted: int | None
    ) -> Key | None:
        pointer = self._addresses.argument(pointer)
        place = number(0) if index is None else self._values.value(index)
        if not isinstance(pointer, typed.Read) or wanted is None or place.key is None:
            return None
        if not self._values.is_fixed(pointer.variable):
            return None
        return ("aligned", pointer.variable.id, place.key, wanted)
