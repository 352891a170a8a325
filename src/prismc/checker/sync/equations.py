"""What follows where sums of symbols are equal that two accesses read.

A sum tells its summands, a quotient and its remainder tell the dividend, and a number from
`range(start, n, step)` tells how often the loop has come round: `start + step * i`. What that leads
to may be impossible; then the sums are never equal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from math import gcd
from typing import NamedTuple

from prismc.checker.sync.forms import ONE, Atom, Form, Monomial, is_uniform, known, plus, symbol


class Numbers(ABC):
    """What is known of symbols where two accesses read them."""

    @abstractmethod
    def is_same(self, atom: Atom) -> bool:
        """Whether both read one value."""

    @abstractmethod
    def differs(self, atom: Atom) -> bool:
        """Whether they read two different ones."""

    @abstractmethod
    def are_both(self, mine: Mapping[int, int], other: Mapping[int, int]) -> bool:
        """Whether these iterations of loops, by id, can be theirs."""

    @abstractmethod
    def later(self, counter: Atom) -> tuple[int, int] | None:
        """How many iterations of its loop the second reads a counter after the first, at least and
        at most; None if that is not known."""


class Equation(NamedTuple):
    """Two sums that are equal: the left one where the first access reads it, the right one where
    the second does. No coefficient varies from thread to thread."""

    left: Form
    right: Form


# Two symbols that are equal in this way.
_Pair = tuple[Atom, Atom]


def changes(equation: Equation, numbers: Numbers) -> Iterator[int]:
    """What the symbols count for in the difference of both sides, but for those that cancel."""
    left, right = equation
    for monomial in dict.fromkeys((*left, *right)):
        mine, other = (_whole(side.get(monomial, 0)) for side in equation)
        is_same = all(map(numbers.is_same, monomial))
        yield from (mine - other,) if is_same else (mine, other)


def never_hold(equations: Iterable[Equation], numbers: Numbers) -> bool:
    """Whether these are never true at once."""
    found: dict[_Pair, None] = {}
    divided: set[_Pair] = set()
    left = list(equations)
    while left:
        equation = _reduced(left.pop(), numbers)
        if _never_meet(equation, numbers):
            return True
        for pair in _summands(equation, numbers):
            if pair not in found:
                found[pair] = None
                left += [Equation(*map(symbol, pair))] if _are(pair, "range") else []
        for pair in [pair for pair in found if pair not in divided]:
            if _is_whole(pair, found, numbers):
                divided.add(pair)
                left.append(Equation(*(_operands(atom)[0] for atom in pair)))
    return any(mine is other and numbers.differs(mine) for mine, other in found)


def _reduced(equation: Equation, numbers: Numbers) -> Equation:
    """The same without what is on both sides, but for counters of loops, divided by what divides
    all coefficients."""
    cancelled = {
        monomial
        for monomial in equation.left
        if _cancels(monomial, equation, numbers) and not _is_counter(monomial)
    }
    sides = [{each: side[each] for each in side if each not in cancelled} for side in equation]
    content = gcd(*(value for side in sides for value in map(_whole, side.values())))
    return Equation(*({each: _whole(side[each]) // content for each in side} for side in sides))


def _whole(value: int | tuple[int, ...]) -> int:
    assert isinstance(value, int), "they are uniform"
    return value


# ----------------------------------------------------------------------- summands


def _summands(equation: Equation, numbers: Numbers) -> Iterator[_Pair]:
    """The symbols that are equal if two sums are: each counts for more than all that are smaller
    can make up. Both sides have to be alike."""
    terms = _terms(equation, numbers)
    terms.sort(key=lambda term: -abs(term.weight))
    for position, term in enumerate(terms):
        rest = [(abs(one.weight), _spread(one)) for one in terms[position + 1 :]]
        if any(spread < 0 for _, spread in rest):
            return
        if sum(weight * spread for weight, spread in rest) >= abs(term.weight):
            return
        mine, other = (_split(monomial, numbers) for monomial in (term.mine, term.other))
        if len(mine[0]) == 1 and all(_is(atom, "count") for atom in mine[1]):
            yield mine[0][0], other[0][0]


class _Term(NamedTuple):
    """A product on either side of an equation, and what both count for."""

    weight: int
    mine: Monomial
    other: Monomial


def _terms(equation: Equation, numbers: Numbers) -> list[_Term]:
    """The products of both sides, in pairs of one kind; none if the sides are not alike."""
    left, right = (
        {each: value for each, value in side.items() if not _cancels(each, equation, numbers)}
        for side in equation
    )
    found: list[_Term] = []
    for monomial, value in left.items():
        kind = _kind(monomial, numbers)
        alike = [
            each
            for each in right
            if right[each] == value and (each == monomial or _kind(each, numbers) == kind)
        ]
        if not alike:
            return []
        other = monomial if monomial in alike else alike[0]
        del right[other]
        found.append(_Term(weight=_whole(value), mine=monomial, other=other))
    return [] if right else found


def _cancels(monomial: Monomial, equation: Equation, numbers: Numbers) -> bool:
    """Whether a product is the same on both sides."""
    is_same = all(map(numbers.is_same, monomial))
    return is_same and equation.left.get(monomial) == equation.right.get(monomial)


def _kind(monomial: Monomial, numbers: Numbers) -> object:
    """What products have in common that may stand for each other: one symbol that changes, both
    times a quotient or a remainder by one divisor, or the counter of a `range`."""
    changing, same = _split(monomial, numbers)
    if len(changing) != 1:
        return monomial
    atom = changing[0]
    if _is(atom, "range"):
        return same, "range"
    if not (_is(atom, "/") or _is(atom, "%")) or atom.origin is None:
        return monomial
    return same, atom.origin.operation, frozenset(_operands(atom)[1].items())


def _split(monomial: Monomial, numbers: Numbers) -> tuple[tuple[Atom, ...], tuple[Atom, ...]]:
    """The symbols of a product that may have changed, and the others; a symbol alone may be another
    one that has not."""
    changing = tuple(atom for atom in monomial if not numbers.is_same(atom))
    changing = monomial if len(monomial) == 1 else changing
    return changing, tuple(atom for atom in monomial if atom not in changing)


def _spread(term: _Term) -> int:
    """How far apart the two values of a term may be; -1 if that is not known."""
    spreads = [_range(monomial) for monomial in (term.mine, term.other)]
    return -1 if min(spreads) < 0 else max(spreads)


def _range(monomial: Monomial) -> int:
    """How far apart two values of a symbol may be; -1 if that is not known."""
    atom = monomial[0] if monomial else None
    if atom is None or len(monomial) > 1:
        return -1
    if atom.below:
        return atom.below - 1
    divisor = known(_operands(atom)[1]) if _is(atom, "%") else None
    if not isinstance(divisor, int):
        return -1
    is_natural = atom.natural_if == frozenset()
    return (abs(divisor) - 1) * (1 if is_natural else 2)


def _is(atom: Atom, operation: str) -> bool:
    return atom.origin is not None and atom.origin.operation == operation


def _are(pair: _Pair, operation: str) -> bool:
    return all(_is(atom, operation) for atom in pair)


def _operands(atom: Atom) -> tuple[Form, ...]:
    return () if atom.origin is None else atom.origin.operands


# ----------------------------------------------------------------------- quotients


def _is_whole(pair: _Pair, found: Iterable[_Pair], numbers: Numbers) -> bool:
    """Whether these are quotients by one divisor whose remainders are equal, too: then the
    dividends are."""
    if not _are(pair, "/"):
        return False
    divisors = [_operands(atom)[1] for atom in pair]
    if divisors[0] != divisors[1] or not all(map(numbers.is_same, _atoms(divisors[0]))):
        return False
    return any(all(map(_is_remainder, rests, pair)) for rests in found)


def _is_remainder(rest: Atom, quotient: Atom) -> bool:
    """Whether a symbol is what a quotient leaves; `(n % 8k) % 8` is `n % 8`."""
    if not _is(rest, "%"):
        return False
    dividend, divisor = _operands(quotient)
    if _operands(rest) == (dividend, divisor):
        return True
    number, atoms = known(divisor), _atoms(dividend)
    if not isinstance(number, int) or not number or dividend != {(atom,): 1 for atom in atoms[:1]}:
        return False
    if not _is(atoms[0], "%"):
        return False
    inner, outer = _operands(atoms[0])
    divides = all(isinstance(each, int) and each % number == 0 for each in outer.values())
    return divides and _operands(rest) == (inner, divisor)


def _atoms(form: Form) -> list[Atom]:
    return list(dict.fromkeys(atom for monomial in form for atom in monomial))


# ----------------------------------------------------------------------- numbers of loops


class _Number(NamedTuple):
    """A sum as `start + unit * (stride * i + offset)` for a common unit, where i counts the
    iterations of the counter's loop; without a counter it is 0."""

    start: Form
    offset: int
    counter: Atom | None = None
    stride: int = 0


def _never_meet(equation: Equation, numbers: Numbers) -> bool:
    """Whether the iterations that two numbers belong to are never the same, or their blocks.

    A block begins with less than there are blocks: where all goes on in steps of as many, numbers
    of two blocks differ. Numbers of one start lie a multiple of the stride apart, and what offsets
    add; so do those of the steps that a pipeline's loop has for its slots.
    """
    counters = [each[0] for side in equation for each in side if _is_counter(each)]
    units = {_unit(counter) for counter in counters}
    unit = units.pop() if len(units) == 1 else None
    if unit is None or not all(map(numbers.is_same, unit)):
        return False
    left, right = (_number(side, unit) for side in equation)
    if left is None or right is None or left.start != right.start:
        return False
    changing = [one for one in left.start if not all(map(numbers.is_same, one))]
    if not changing:
        return _are_other_iterations(left, right, numbers)
    block = changing[0][0]
    is_block = changing == [(block,)] and _is(block, "block") and left.start[(block,)] == 1
    return is_block and any(_is(atom, "count") for atom in unit) and numbers.differs(block)


def _is_counter(monomial: Monomial) -> bool:
    return len(monomial) == 1 and monomial[0].step != 0


def _unit(counter: Atom) -> Monomial | None:
    """What a counter gains a multiple of; None if that is no product."""
    if _is(counter, "range"):
        step = _operands(counter)[1]
        return next(iter(step)) if len(step) == 1 and is_uniform(step) else None
    return ONE if counter.is_regular else None


def _number(total: Form, unit: Monomial) -> _Number | None:
    """A sum by its counter; None if it has several, or counts one more than once."""
    rest = dict(total)
    counters = [each for each in rest if _is_counter(each)]
    if not counters:
        return _Number(offset=_whole(rest.pop(unit, 0)), start=rest)
    weight, counter = _whole(rest.pop(counters[0])), counters[0][0]
    if len(counters) > 1:
        return None
    if not _is(counter, "range"):
        stride = weight * counter.step
        return _Number(offset=_whole(rest.pop(unit, 0)), start=rest, counter=counter, stride=stride)
    begin, step = _operands(counter)
    start = plus(rest, begin)
    if weight != 1 or start is None or not is_uniform(start):
        return None
    offset = _whole(start.get(unit, 0))
    start = {each: start[each] for each in start if each != unit}
    return _Number(offset=offset, start=start, counter=counter, stride=_whole(step[unit]))


def _are_other_iterations(left: _Number, right: _Number, numbers: Numbers) -> bool:
    """Whether two numbers of one start are never the same."""
    distance = right.offset - left.offset
    counters = [one.counter for one in (left, right) if one.counter is not None]
    is_one = counters == [left.counter, left.counter] and left.stride == right.stride
    later = numbers.later(counters[0]) if is_one else None
    if later is not None:
        gain, rest = divmod(-distance, left.stride)
        return rest != 0 or not later[0] <= gain <= later[1]
    has_start = all(_is(counter, "range") for counter in counters)  # others begin with anything
    return has_start and distance % gcd(left.stride, right.stride) != 0
