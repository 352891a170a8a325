"""What the conditions around an access say about symbols: `col + r < n` bounds n from below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from prismc.checker.sync.forms import (
    Atom,
    Coefficient,
    Form,
    Monomial,
    combine,
    constant,
    known,
    least,
    lower_bound,
    plus,
    scaled,
)
from prismc.checker.types import typed
from prismc.source.record import Record

Evaluate = Callable[[typed.Expression], Form | None]


class Said(Record):
    """That `form` is at least 0. With a `divisor`, that it is one product of symbols and a multiple
    of the divisor."""

    form: Form
    divisor: int = 0


# Comparisons as "side `small` + gap <= side `large`".
_ORDERS = {"<": (0, 1, 1), "<=": (0, 1, 0), ">": (1, 0, 1), ">=": (1, 0, 0)}
_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def said_by(condition: typed.Expression, holds: bool, evaluate: Evaluate) -> Iterator[Said]:
    """What follows where a condition holds, or does not."""
    match condition:
        case typed.Logical(operator="and", left=left, right=right) if holds:
            yield from said_by(left, holds, evaluate)
            yield from said_by(right, holds, evaluate)
        case typed.Logical(operator="or", left=left, right=right) if not holds:
            yield from said_by(left, holds, evaluate)
            yield from said_by(right, holds, evaluate)
        case typed.Unary(operator="not", operand=operand):
            yield from said_by(operand, not holds, evaluate)
        case typed.Binary(
            operator="==",
            left=typed.Binary(operator="%", left=dividend, right=divisor),
            right=typed.Constant(value=0),
        ) if holds:
            form, number = evaluate(dividend), evaluate(divisor)
            by = None if number is None else known(number)
            if form is not None and list(form.values()) == [1] and isinstance(by, int) and by > 0:
                yield Said(form=form, divisor=by)
        case typed.Binary(operator=sign, left=left, right=right) if sign in _ORDERS:
            small, large, gap = _ORDERS[sign] if holds else _ORDERS[_OPPOSITES[sign]]
            sides = evaluate(left), evaluate(right)
            form = _difference(sides[large], sides[small], gap)
            if form is not None:
                yield Said(form=form)
        case _:
            pass


def least_values(said: Sequence[Said]) -> dict[Monomial, Coefficient]:
    """Bounds of lone products of symbols from below, thread by thread.

    What is found not to be negative helps to find more: `col + t < n` tells that n is positive, and
    then a quotient by n is not negative either.
    """
    divisors = {next(iter(each.form)): each.divisor for each in said if each.divisor}
    naturals: frozenset[Atom] = frozenset()
    while True:
        found: dict[Monomial, Coefficient] = {}
        for each in said:
            if not each.divisor:
                _bound(each.form, naturals, divisors, found)
        lone = (
            product[0]
            for product, value in found.items()
            if len(product) == 1 and least(value) >= 0
        )
        now = naturals.union(lone)
        if now == naturals:
            return found
        naturals = now


def _bound(
    form: Form,
    naturals: frozenset[Atom],
    divisors: Mapping[Monomial, int],
    found: dict[Monomial, Coefficient],
) -> None:
    """A form that is at least 0: each of its lone products is at least the rest, negated."""
    for monomial, coefficient in form.items():
        if not monomial or coefficient != 1:
            continue
        rest = {other: value for other, value in form.items() if other != monomial}
        bound = lower_bound(scaled(rest, -1), naturals)
        if bound is not None:
            value = combine(_multiple_from, bound, divisors.get(monomial, 1))
            found[monomial] = combine(max, found[monomial], value) if monomial in found else value


def _multiple_from(number: int, divisor: int) -> int:
    return -(-number // divisor) * divisor


def _difference(high: Form | None, low: Form | None, gap: int) -> Form | None:
    """`high - low - gap`, where all is known and not too long."""
    if high is None or low is None:
        return None
    difference = plus(high, scaled(low, -1))
    return None if difference is None else plus(difference, constant(-gap))
