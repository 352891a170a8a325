"""Loops whose counter matters by its remainder only: slots of a ring, parity.

`i % 2` takes the same two values again and again, however often the loop goes around. So an index
with it is evaluated for a cycle of iterations, like those of a loop with constant bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import lcm

from prismc.checker.sync.evaluate import Evaluator
from prismc.checker.sync.turning import Turning
from prismc.checker.types import typed
from prismc.checker.types.walk import expressions_in, statement_operands, statements_in

MOST_ITERATIONS = 16


def cycles_of(
    body: tuple[typed.Statement, ...], evaluator: Evaluator, turning: Iterable[Turning]
) -> dict[int, int]:
    """After how many iterations all remainders of a loop's counter, and the values of variables
    that are `turning` in it, come again, by the loop's id: loops that count upwards from a constant
    in constant steps, but nobody knows how far."""
    cycles: dict[int, int] = {}
    for one in turning:
        cycles[one.loop] = lcm(cycles.get(one.loop, 1), len(one.values))
    for divisor, dividend in _remainders(body):
        for loop in evaluator.counted_loops(dividend):
            cycles[loop] = lcm(cycles.get(loop, 1), divisor)
    return {
        statement.id: cycles[statement.id]
        for statement in statements_in(body)
        if isinstance(statement, typed.For)
        and 1 < cycles.get(statement.id, 1) <= MOST_ITERATIONS
        and evaluator.counts_up(statement)
    }


def _remainders(
    body: tuple[typed.Statement, ...],
) -> Iterator[tuple[int, typed.Expression]]:
    """Constant divisors, each with what is divided; masks of low bits are divisors, too."""
    for statement in statements_in(body):
        for operand in statement_operands(statement):
            for expression in expressions_in(operand):
                match expression:
                    case typed.Binary(
                        operator="%", left=left, right=typed.Constant(value=int(value))
                    ) if value > 1:
                        yield value, left
                    case typed.Binary(
                        operator="&", left=left, right=typed.Constant(value=int(value))
                    ) if value > 0 and value & (value + 1) == 0:
                        yield value + 1, left
                    case _:
                        pass
