"""Addresses of accesses as sums: the memory's start, offsets of narrowings, the index.

Each part has the low bits that are known of it, in bytes. The address of an element is their sum,
also where a layout moves elements, as long as it keeps as many of them side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from prismc.checker.alignment.numbers import (
    MOST_BITS,
    Known,
    Residue,
    better,
    combine,
    either,
    exactly,
    multiple_of,
    number,
)
from prismc.checker.alignment.values import Values
from prismc.checker.memory.bounds import DEFAULT_ALIGNMENT
from prismc.checker.types import typed
from prismc.checker.types.model import ArrayType, PointerType, ScalarType, size_of
from prismc.checker.types.walk import expressions_in, operands
from prismc.source.span import Span

Arguments = Mapping[typed.Variable, typed.Expression]


class Part(NamedTuple):
    """A summand of an address in bytes. `value` is what it is computed from, in elements; a base
    has the name of its `variable` instead."""

    residue: Residue
    span: Span
    value: typed.Expression | None = None
    variable: typed.Variable | None = None


class Address(NamedTuple):
    """The parts, the last one the base. `parted` is an index function on the way that may move the
    elements of one access apart. `placed` is the whole address where a layout was looked into."""

    parts: tuple[Part, ...]
    parted: typed.IndexFunction | None = None
    placed: Residue | None = None

    @property
    def residue(self) -> Residue:
        if self.placed is not None:
            return self.placed
        total = exactly(0)
        for part in self.parts:
            total = combine("+", total, part.residue)
        return total


class Addresses:
    """Finds addresses in one body. Inside a call's conditions the parameters of the callee stand
    for the arguments."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._arguments: Arguments = {}

    @contextmanager
    def given(self, arguments: Arguments) -> Iterator[None]:
        """With arguments for the parameters of a function."""
        before, self._arguments = self._arguments, arguments
        known = {
            parameter: self._values.value(argument)
            for parameter, argument in arguments.items()
            if isinstance(parameter.type, ScalarType)
        }
        with self._values.binding(known):
            yield
        self._arguments = before

    def argument(self, expression: typed.Expression) -> typed.Expression:
        """The argument that a parameter stands for; other expressions as they are."""
        if isinstance(expression, typed.Read) and expression.variable in self._arguments:
            return self._arguments[expression.variable]
        return expression

    def of(self, pointer: typed.Expression, index: typed.Expression | None, size: int) -> Address:
        """The address of element `index`, from where `size` bytes are accessed."""
        assert isinstance(pointer.type, PointerType)
        element = size_of(pointer.type.element)
        parts: list[Part] = []
        total = number(0)
        if index is not None:
            total = self._values.value(index)
            parts.append(Part(_bytes(total, element), index.span, value=index))
        return self._from(pointer, total, parts, element, max(1, size // element))

    def _from(
        self,
        pointer: typed.Expression,
        index: Known,
        parts: list[Part],
        element: int,
        lanes: int,
    ) -> Address:
        """Follow a pointer to its memory; `index` is the sum of the parts, in elements."""
        pointer = self.argument(pointer)
        if isinstance(pointer, typed.Slot):
            start = pointer.index * size_of(pointer.variable.type)
            base = combine("+", _start(pointer.variable), exactly(start))
            return self._in_array(parts, base, pointer, pointer.variable, index)
        if not isinstance(pointer, typed.Read):
            return _ended(parts, multiple_of(element), pointer, None)
        variable = pointer.variable
        view = self._values.views.get(variable)
        stated = self._values.facts.numbers.get(("pointer", variable.id))
        if stated is not None:
            return _ended(parts, stated.residue, pointer, variable)
        if view is None:
            source = self._values.definition_of(variable)
            if source is not None:
                return self._from(source, index, parts, element, lanes)
            if variable.kind is typed.VariableKind.SHARED:
                return self._in_array(parts, _start(variable), pointer, variable, index)
            base = self._base(variable, element, frozenset())
            return _ended(parts, base, pointer, variable)
        if view.function is not None:
            return self._mapped(view, view.function, index, element, lanes)
        if view.offset is not None:
            offset = self._values.value(view.offset)
            parts.append(Part(_bytes(offset, element), view.offset.span, value=view.offset))
            total = combine("+", index.residue, offset.residue)
            index = Known(total, index.low + offset.low, index.high + offset.high)
        return self._from(view.source, index, parts, element, lanes)

    def _in_array(
        self,
        parts: list[Part],
        base: Residue,
        pointer: typed.Expression,
        shared: typed.Variable,
        index: Known,
    ) -> Address:
        """An element of a shared array, or of its slot that begins at `base`."""
        address = _ended(parts, _by_layout(base, shared), pointer, shared)
        place = None if shared.layout is None else self._values.applied(shared.layout, index)
        if place is None or not isinstance(shared.type, ArrayType):
            return address
        size = exactly(size_of(shared.type.element))
        placed = combine("+", base, combine("*", place.residue, size))
        return address._replace(placed=better(address.residue, placed))

    def _mapped(
        self,
        view: typed.View,
        function: typed.IndexFunction,
        index: Known,
        element: int,
        lanes: int,
    ) -> Address:
        with self._values.binding({function.parameter: index}):
            value = self._values.value(function.body)
            moved = [self._moved(function.body, function.parameter, j) for j in range(1, lanes)]
        is_parted = moved != list(range(1, lanes))
        body = function.body
        parts = [Part(_bytes(value, element), body.span, value=body)]
        rest = self._from(view.source, value, parts, element, lanes)
        return rest._replace(parted=function if is_parted else rest.parted)

    def _base(
        self, variable: typed.Variable, element: int, seen: frozenset[typed.Variable]
    ) -> Residue:
        """The address of a variable's memory, whatever it has been given."""
        if variable.kind is typed.VariableKind.SHARED:
            return _by_layout(_start(variable), variable)
        found: Residue | None = None
        for source in self._values.pointers_of(variable):
            base = multiple_of(element)
            if isinstance(source, typed.Read) and source.variable in (*seen, variable):
                continue
            if isinstance(source, typed.Read) and source.variable not in self._values.views:
                base = self._base(source.variable, element, seen | {variable})
            elif isinstance(source, typed.Read | typed.Slot):
                base = self._from(source, number(0), [], element, 1).residue
            elif variable.kind is typed.VariableKind.PARAMETER:
                stated = self._values.always.numbers.get(("pointer", variable.id))
                base = base if stated is None else stated.residue
                base = better(base, self._values.bases.get(variable, base))
            found = base if found is None else either(found, base)
        return multiple_of(element) if found is None else found

    # ------------------------------------------------------------------ index functions

    def _moved(self, body: typed.Expression, parameter: typed.Variable, by: int) -> int | None:
        """How much `body` grows when the parameter grows by `by`; None if that is not known."""
        match body:
            case typed.Read(variable=variable) if variable is parameter:
                return by
            case typed.Convert(operand=operand):
                return self._moved(operand, parameter, by)
            case typed.Binary(operator=operator, left=left, right=right):
                mine, other = (self._moved(side, parameter, by) for side in (left, right))
                if mine is None or other is None:
                    return None
                return self._combined(operator, left, right, mine, other)
            case _:
                inside = (e for operand in operands(body) for e in expressions_in(operand))
                reads = (e for e in inside if isinstance(e, typed.Read))
                return None if any(e.variable is parameter for e in reads) else 0

    def _combined(
        self, operator: str, left: typed.Expression, right: typed.Expression, mine: int, other: int
    ) -> int | None:
        if operator in ("+", "-"):
            return mine + other if operator == "+" else mine - other
        if not mine and not other:
            return 0
        factors = self._values.value(left), self._values.value(right)
        if operator == "*":
            value = factors[1].exact if not other else factors[0].exact if not mine else None
            return None if value is None else value * (mine or other)
        number_ = factors[1].exact
        if other or number_ is None or number_ < 0:
            return None
        return _stepped(operator, factors[0], mine, number_)


def _stepped(operator: str, left: Known, step: int, number_: int) -> int | None:
    """What `left operator number_` gains when `left` gains `step`, which changes only its known low
    bits."""
    residue = left.residue
    if left.low < 0 or not 0 <= residue.value + step < 1 << residue.bits:
        return None
    before, after = residue.value, residue.value + step
    match operator:
        case "<<":
            return step << number_
        case ">>":
            return (after >> number_) - (before >> number_)
        case "/" if number_ and (1 << residue.bits) % number_ == 0:
            return after // number_ - before // number_
        case "%" if number_ and (1 << residue.bits) % number_ == 0:
            return after % number_ - before % number_
        case "&":
            return (after & number_) - (before & number_)
        case "|" | "^":
            low = number_ & ((1 << residue.bits) - 1)
            ends = [end | low if operator == "|" else end ^ low for end in (before, after)]
            return ends[1] - ends[0]
        case _:
            return None


def _ended(
    parts: list[Part],
    base: Residue,
    pointer: typed.Expression,
    variable: typed.Variable | None,
) -> Address:
    return Address((*parts, Part(base, pointer.span, variable=variable)))


def _bytes(elements: Known, size: int) -> Residue:
    return combine("*", elements.residue, exactly(size))


def _start(shared: typed.Variable) -> Residue:
    """Where a shared array starts."""
    return multiple_of(shared.alignment or DEFAULT_ALIGNMENT)


def _by_layout(base: Residue, shared: typed.Variable) -> Residue:
    """A layout keeps addresses only inside the runs that it does not part."""
    if shared.layout is None or not isinstance(shared.type, ArrayType):
        return base
    run = shared.run * size_of(shared.type.element)
    return base.cut(min(MOST_BITS, run.bit_length() - 1))
