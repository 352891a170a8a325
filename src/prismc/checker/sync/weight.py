"""How large the loops of pipelines are when they are unrolled.

Unrolled, a step knows its slot: addresses and mbarriers are constants. A loop that is larger than
the instruction caches near the schedulers gains nothing from that, and is written as one step
(`roll.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prismc.checker.types import typed
from prismc.checker.types.model import INT
from prismc.checker.types.walk import (
    expressions_in,
    places_of,
    statement_operands,
    statements_in,
)

# A loop that becomes more instructions is not unrolled, see `_weight`. (An SM keeps about 32 KiB of
# them, 16 bytes each, for its warps; half of that leaves room for what is around the loop.)
LARGE = 1000

Bodies = Mapping[str, typed.Body]


def loops_in(body: typed.Body) -> Iterator[typed.For]:
    """The counted loops of a function."""
    return (one for one in statements_in(body.statements) if isinstance(one, typed.For))


def is_large(loop: typed.For, bodies: Bodies) -> bool:
    """Whether the loop of a pipeline is too large to be unrolled."""
    return _weight(loop.body, bodies, {}) > LARGE


def loops_with_early_ends(body: typed.Body, bodies: Bodies) -> frozenset[int]:
    """The ids of the loops of pipelines that may end behind each of their steps: as one step they
    do, but unrolled they run on to the last."""
    return frozenset(
        loop.id
        for loop in loops_in(body)
        if loop.turns is not None and loop.turns.has_tail and is_large(loop, bodies)
    )


def _weight(
    body: tuple[typed.Statement, ...], bodies: Mapping[str, typed.Body], known: dict[str, int]
) -> int:
    """About how many instructions statements become, without those for indices: accesses to memory,
    arithmetic of other types than int, and `asm`, in the functions that they call too."""
    total = 0
    for statement in statements_in(body):
        total += isinstance(statement, typed.Asm | typed.LoadInto)
        total += sum(isinstance(place, typed.MemoryPlace) for place in places_of(statement))
        for operand in statement_operands(statement):
            for expression in expressions_in(operand):
                if isinstance(expression, typed.Call):
                    total += _weight_of(expression.callee.symbol, bodies, known)
                else:
                    total += _is_work(expression)
    return total


def _is_work(expression: typed.Expression) -> bool:
    match expression:
        case typed.Load():
            return True
        case typed.Binary() | typed.Unary() | typed.Convert() | typed.Builtin():
            return expression.type != INT
        case _:
            return False


def _weight_of(symbol: str, bodies: Mapping[str, typed.Body], known: dict[str, int]) -> int:
    if symbol not in known:
        body = bodies.get(symbol)
        known[symbol] = 0 if body is None else _weight(body.statements, bodies, known)
    return known[symbol]
