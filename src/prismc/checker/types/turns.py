"""How the loop of a pipeline goes around its rings."""

from __future__ import annotations

from prismc.checker.types.typed import Expression, For, Statement, Variable
from prismc.source.record import Record


class Turns(Record):
    """How the loop of a pipeline goes around its rings: the body is one step for each of `slots`
    slots, `length` statements each. Written as the first step alone, the loop counts by `step`;
    `slot` is then the slot of the iteration, `parity` whether an odd number of rounds is complete,
    and `advance` moves both on. With `has_tail` the steps of iterations that do not exist run too,
    without what depends on their existence."""

    rings: tuple[Variable, ...]
    slots: int
    length: int
    step: Expression
    slot: Variable
    parity: Variable
    advance: tuple[Statement, ...]
    has_tail: bool


def steps_of(loop: For) -> tuple[tuple[Statement, ...], ...]:
    """The statements of each step of a pipeline's loop."""
    if loop.turns is None:
        return ()
    length = loop.turns.length
    return tuple(loop.body[at : at + length] for at in range(0, len(loop.body), length))
