"""Which part of an address is to blame, and the `assume` that would supply what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from prismc.checker.alignment.addresses import Address, Addresses, Part
from prismc.checker.alignment.numbers import UNKNOWN, Residue, combine, exactly, multiple_of
from prismc.checker.alignment.values import Facts, Values
from prismc.checker.types import typed
from prismc.checker.types.model import ScalarType
from prismc.checker.types.walk import expressions_in
from prismc.diagnostics.problem import Related
from prismc.hardware.scalars import Kind


class Blame(NamedTuple):
    """A parameter that more would have to be known of, and what: a pointer's alignment in bytes, or
    what an integer is a multiple of."""

    parameter: typed.Variable
    wanted: int


class Explanation(NamedTuple):
    """What is known too little of, where it stands, and how to say more; with `is_stated`, by an
    assumption. `blames` are the parameters of which a caller may know more, any of them; `zeros` is
    how many low bits are known to be 0."""

    reason: str
    related: tuple[Related, ...]
    advice: str
    is_stated: bool = False
    blames: tuple[Blame, ...] = ()
    zeros: int = 0


class Explainer:
    """Explains what is missing in one body."""

    def __init__(self, instance: typed.Instance, values: Values, addresses: Addresses) -> None:
        self._instance = instance
        self._values = values
        self._addresses = addresses

    def address(self, address: Address, needed: int, element: int) -> Explanation:
        """Why an address is not known to be a multiple of `needed` bytes."""
        worst = min(address.parts, key=lambda part: part.residue.zeros)
        if worst.value is None:
            return self._base(worst, needed)
        what = "the index" if worst is address.parts[0] else "this offset"
        return self.multiple(worst.value, max(1, needed // element), element, what)

    def multiple(
        self, value: typed.Expression, wanted: int, element: int, what: str
    ) -> Explanation:
        """Why an integer, counted in elements of so many bytes, is not known to be a multiple of
        `wanted`."""
        size = exactly(element)
        terms = [
            (term, combine("*", self._values.value(term).residue, size))
            for term in self._terms(value)
        ]
        term, residue = min(terms, key=lambda each: each[1].zeros)
        given = 1 << residue.zeros
        unit = "bytes" if element > 1 else "it"
        count = f"{given // element} elements, " if given > element > 1 else ""
        shown = f"{given} bytes" if element > 1 else f"a multiple of {given}"
        note = Related(at=self._addresses.argument(term).span, message=f"this gives {shown}")
        reason = f"{what} is only known to give multiples of {count}{given} {unit}"
        if element == 1:
            reason = f"{what} is only known to be a multiple of {given}"
        variables = list(dict.fromkeys(self._leaves(value, 8)))
        suffice = self._to_assume(value, variables, wanted)
        own = self._instance.parameters
        suffice.sort(key=lambda variable: variable not in own)
        advice = f"make it a multiple of {wanted}"
        if suffice:
            advice = self._stated(f"{suffice[0].name} % {wanted} == 0", suffice[0])
        unknown = [v for v in dict.fromkeys((*suffice, *variables)) if v in own]
        blames = tuple(Blame(variable, wanted) for variable in unknown)
        return Explanation(reason, (note,), advice, bool(suffice), blames, residue.zeros)

    def _base(self, base: Part, needed: int) -> Explanation:
        given = 1 << base.residue.zeros
        variable = base.variable
        if variable is None:
            reason = f"this pointer is only known to be aligned to {given}"
            return Explanation(reason, (), "give it a name, and state its alignment in `unsafe`")
        reason = f"`{variable.name}` is only known to be aligned to {given}"
        note = Related(at=variable.span, message=f"`{variable.name}` is declared here")
        if variable.kind is typed.VariableKind.SHARED:
            return Explanation(reason, (note,), f"declare it with `align {needed}`")
        advice = self._stated(f"aligned({variable.name}, {needed})", variable)
        is_given = variable in self._instance.parameters
        blames = (Blame(variable, needed),) if is_given else ()
        return Explanation(reason, (note,), advice, True, blames)

    def _stated(self, condition: str, variable: typed.Variable) -> str:
        """Where to state a condition about a variable."""
        if variable in self._instance.parameters:
            what = "the kernel" if self._instance.is_kernel else f"`{self._instance.name}`"
            return f"if it is so, write `@assume({condition})` before {what}"
        return f"if it is so, write `assume({condition})` in `unsafe:` before this line"

    def _terms(self, value: typed.Expression) -> Iterator[typed.Expression]:
        argument = self._addresses.argument(value)
        if argument is not value:
            yield from self._terms(argument)
        elif isinstance(value, typed.Binary) and value.operator in ("+", "-"):
            yield from self._terms(value.left)
            yield from self._terms(value.right)
        else:
            yield value

    def _to_assume(
        self, value: typed.Expression, variables: list[typed.Variable], wanted: int
    ) -> list[typed.Variable]:
        """The variables of which each, if it were a multiple of `wanted`, would make the value
        one."""
        known: Residue = multiple_of(wanted)
        facts = self._values.facts
        suffice: list[typed.Variable] = []
        for variable in variables:
            fact = UNKNOWN._replace(residue=known)
            numbers = {**facts.numbers, ("variable", variable.id): fact}
            with self._values.under(Facts(numbers=numbers, conditions=facts.conditions)):
                found = self._values.value(value)
            if found.residue.zeros >= known.bits:
                suffice.append(variable)
        return suffice

    def _leaves(self, value: typed.Expression, depth: int) -> Iterator[typed.Variable]:
        """The integer variables without a definition that an expression is made of."""
        for inside in expressions_in(value):
            argument = self._addresses.argument(inside)
            if argument is not inside:
                yield from self._leaves(argument, depth - 1)
            elif isinstance(inside, typed.Read) and self._values.is_stable(inside.variable):
                definition = self._values.definition_of(inside.variable)
                if definition is not None and depth:
                    yield from self._leaves(definition, depth - 1)
                elif definition is None and _is_integer(inside.variable):
                    yield inside.variable


def depends_on(
    expression: typed.Expression, values: Values, parameters: tuple[typed.Variable, ...]
) -> typed.Variable | None:
    """A parameter that an expression is made of, as far as definitions tell."""
    for inside in expressions_in(expression):
        if not isinstance(inside, typed.Read):
            continue
        variable = inside.variable
        if variable in parameters:
            return variable
        definition = values.definition_of(variable)
        found = None if definition is None else depends_on(definition, values, parameters)
        if found is not None:
            return found
    return None


def _is_integer(variable: typed.Variable) -> bool:
    of = variable.type
    return isinstance(of, ScalarType) and of.scalar.kind in (Kind.SIGNED, Kind.UNSIGNED)
