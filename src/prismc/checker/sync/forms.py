"""Symbolic values of index expressions: sums of products of uniform symbols.

A form maps a product of symbols to its coefficient: an int, or one int for each thread of the
instance where it varies from thread to thread. The empty product's coefficient is the part that is
known. `row * K + t / 8` with threads 0..15 is `{(row, K): 1, (): (0, .., 0, 1, .., 1)}`. A value
that is no such sum has no form; whoever reads it must expect anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import repeat
from operator import add, mul
from typing import NamedTuple

from prismc.hardware.groups import Level, Perspective
from prismc.source.record import Record

# How far a symbol is one value, in threads; a block counts as more than it has, n blocks n times.
BLOCK_WIDE = 1 << 20
GRID_WIDE = 1 << 30

MOST_TERMS = 12


class Atom(Record):
    """A value that is not known but the same in each aligned group of `width` threads; with a width
    of 0 in no two accesses.

    It is settled once in every iteration of the loops in `loops` (ids of loop statements). `step`
    is what a loop counter gains in each iteration, 0 for other symbols; without `is_regular` it
    gains some positive multiple of that. It is not negative if none of `natural_if` is; with None
    nothing is known. It is at least 0 and less than `below`; with 0 that is not known. `origin`
    tells where its value comes from, if that helps.
    """

    name: str
    order: int
    width: int
    loops: tuple[int, ...]
    step: int = 0
    is_regular: bool = True
    natural_if: frozenset[Atom] | None = None
    below: int = 0
    origin: Origin | None = None


class Origin(NamedTuple):
    """What a symbol is: a quotient (`/`) or remainder (`%`) of two operands, the counter of a
    `range` from the first in steps of the second, the index of the `block` that runs the code (the
    cluster, where blocks are in one), or their `count`."""

    operation: str
    operands: tuple[Form, ...] = ()


Monomial = tuple[Atom, ...]
Coefficient = int | tuple[int, ...]
Form = Mapping[Monomial, Coefficient]

ONE: Monomial = ()
ALWAYS: frozenset[Atom] = frozenset()  # what is never negative, whatever other symbols are
# The length of a row of what a tensor map describes. No place in a row is beyond it: outside of the
# tensor there are no elements.
ROW = Atom(name="row", order=-1, width=GRID_WIDE, loops=())


def width_of(perspective: Perspective) -> int:
    """The width of a value that is uniform at `perspective`."""
    if perspective.level is Level.THREAD:
        return perspective.size
    return BLOCK_WIDE * perspective.size if perspective.level is Level.BLOCK else GRID_WIDE


def constant(value: Coefficient) -> Form:
    return {ONE: value}


def symbol(atom: Atom) -> Form:
    return {(atom,): 1}


def known(form: Form) -> Coefficient | None:
    """The value of a form without symbols; None if it has any."""
    if not form:
        return 0
    return form[ONE] if len(form) == 1 and ONE in form else None


def is_uniform(form: Form) -> bool:
    """Whether no coefficient varies from thread to thread."""
    return all(isinstance(value, int) for value in form.values())


def combine(
    operation: Callable[[int, int], int], left: Coefficient, right: Coefficient
) -> Coefficient:
    """An operation on two coefficients, thread by thread where either varies."""
    if isinstance(left, int):
        if isinstance(right, int):
            return operation(left, right)
        return _narrow(tuple(map(operation, repeat(left), right)))
    if isinstance(right, int):
        return _narrow(tuple(map(operation, left, repeat(right))))
    return _narrow(tuple(map(operation, left, right)))


def _narrow(values: tuple[int, ...]) -> Coefficient:
    """One int where all threads agree."""
    first = values[0]
    return first if values.count(first) == len(values) else values


def plus(left: Form, right: Form) -> Form | None:
    """The sum of two forms; None if it has too many terms to be of use."""
    total = dict(left)
    for monomial, coefficient in right.items():
        value = combine(add, total[monomial], coefficient) if monomial in total else coefficient
        if value == 0:
            total.pop(monomial, None)
        else:
            total[monomial] = value
    return total if len(total) <= MOST_TERMS else None


def scaled(form: Form, factor: Coefficient) -> Form:
    """Each coefficient times a factor."""
    if factor == 0:
        return {}
    return {monomial: combine(mul, value, factor) for monomial, value in form.items()}


def times(left: Form, right: Form) -> Form | None:
    """The product of two forms; None if it has too many terms to be of use."""
    if len(left) * len(right) > MOST_TERMS:
        return None
    total: Form = {}
    for monomial, coefficient in right.items():
        moved = {
            _product(other, monomial): combine(mul, value, coefficient)
            for other, value in left.items()
        }
        total = plus(total, moved) or {}
    return total


def _product(left: Monomial, right: Monomial) -> Monomial:
    return tuple(sorted((*left, *right), key=lambda atom: atom.order))


def least(value: Coefficient) -> int:
    return value if isinstance(value, int) else min(value)


def greatest(value: Coefficient) -> int:
    return value if isinstance(value, int) else max(value)


def lower_bound(form: Form, naturals: frozenset[Atom] = frozenset()) -> Coefficient | None:
    """A bound from below, thread by thread; None unless all symbols count upwards from 0, where
    `naturals` are known to."""
    needed = natural_if(form)
    return form.get(ONE, 0) if needed is not None and needed <= naturals else None


def range_of(form: Form) -> tuple[int, int] | None:
    """The least and the greatest value that a form may have; None if that is not known."""
    low, high = 0, 0
    for monomial, coefficient in form.items():
        if len(monomial) > 1 or (monomial and not monomial[0].below):
            return None
        most = monomial[0].below - 1 if monomial else 1
        values = least(coefficient) * most, greatest(coefficient) * most
        low += min(0, values[0]) if monomial else values[0]
        high += max(0, values[1]) if monomial else values[1]
    return low, high


def natural_if(form: Form) -> frozenset[Atom] | None:
    """The symbols that must not be negative for the part of a form with symbols not to be; None if
    that would not be enough."""
    needed: set[Atom] = set()
    for monomial, coefficient in form.items():
        if monomial and least(coefficient) < 0:
            return None
        for atom in monomial:
            needed |= {atom} if atom.natural_if is None else atom.natural_if
    return frozenset(needed)


def show_form(form: Form | None) -> str:
    """A form as people read it: `row*K + [0 .. 7]`."""
    if form is None:
        return "?"
    if not form:
        return "0"
    return " + ".join(_show_term(monomial, value) for monomial, value in form.items())


def _show_term(monomial: Monomial, coefficient: Coefficient) -> str:
    names = "*".join(atom.name for atom in monomial)
    if isinstance(coefficient, int):
        if not names:
            return str(coefficient)
        return names if coefficient == 1 else f"{coefficient}*{names}"
    threads = f"[{coefficient[0]}, {coefficient[1]}, .. {coefficient[-1]}]"
    return f"{threads}*{names}" if names else threads


def natural_value_if(form: Form | None) -> frozenset[Atom] | None:
    """The symbols that must not be negative for a value not to be; None if that is not enough."""
    return None if form is None or least(form.get(ONE, 0)) < 0 else natural_if(form)


def show_operand(form: Form | None) -> str:
    shown = show_form(form)
    return f"({shown})" if form is not None and len(form) > 1 else shown
