"""Which of a kernel's assumptions a launch breaks, for the arguments that are known."""

from __future__ import annotations

from collections.abc import Mapping

from prismc.checker.alignment.addresses import Addresses
from prismc.checker.alignment.conditions import Conditions
from prismc.checker.alignment.numbers import number
from prismc.checker.alignment.values import Values
from prismc.checker.types import typed
from prismc.checker.types.dump import readable


def broken_assumptions(
    program: typed.Program, symbol: str, integers: Mapping[str, int]
) -> tuple[str, ...]:
    """The conditions that do not hold for integer arguments by name, as they read. What depends on
    other arguments, pointers' alignment among them, is not judged."""
    body = program.bodies[symbol]
    values = Values(body, program.bodies)
    conditions = Conditions(values, Addresses(values))
    numbers = {
        parameter: number(integers[parameter.name])
        for parameter in body.instance.parameters
        if parameter.name in integers
    }
    with values.called_with(numbers, {}):
        return tuple(
            readable(condition)
            for condition in body.instance.assumptions
            if conditions.holds(condition) is False
        )
