"""Pipelines that are written as one step: the slot of the iteration is a value.

What the first step of the unrolled loop does with slot s, an iteration does with slot s + its own,
modulo the number of slots.
"""

from __future__ import annotations

from collections.abc import Iterable

from prismc.checker.sync.plan import Mbarrier, SyncOperation
from prismc.checker.types import model, typed
from prismc.checker.types.walk import bodies_of, statements_in
from prismc.ir.analysis.ranges import Range
from prismc.ir.core import Value
from prismc.ir.lowering.frame import Frame
from prismc.ir.lowering.positions import Hidden
from prismc.ir.lowering.views import View
from prismc.ir.ops.arithmetic import BinaryOperator, Comparison
from prismc.ir.ops.memory import SharedView

_BY_PLACE = typed.Block | typed.Group | typed.Split | typed.Narrow
_LEAVING = typed.Break | typed.Continue | typed.Return


def turned_slot(frame: Frame, by: int) -> Value:
    """The slot `by` further than that of the iteration."""
    assert frame.turn is not None, "slots turn in the loop of a pipeline"
    builder, slots = frame.builder, frame.turn.turns.slots
    slot = frame.values[frame.turn.turns.slot]
    assert isinstance(slot, Value), "a slot is a number"
    if not by:
        return slot
    further = builder.binary(BinaryOperator.ADD, slot, builder.constant(by))
    if slots & (slots - 1) == 0:
        found = builder.binary(BinaryOperator.AND, further, builder.constant(slots - 1))
    else:
        count = builder.constant(slots)
        is_slot = builder.compare(Comparison.LT, further, count)
        around = builder.binary(BinaryOperator.SUB, further, count)
        found = builder.select(is_slot, further, around)
    frame.ranges.set(found, Range(0, slots - 1))
    return found


def steady_statements(body: Iterable[typed.Statement]) -> frozenset[int]:
    """The ids of the statements that a thread comes to in every run of `body` or in none: the place
    of the thread alone decides."""
    found: set[int] = set()
    if any(isinstance(one, _LEAVING) for one in statements_in(tuple(body))):
        return frozenset()
    waiting = list(body)
    while waiting:
        statement = waiting.pop()
        found.add(statement.id)
        if isinstance(statement, _BY_PLACE):
            waiting += (inner for each in bodies_of(statement) for inner in each)
    return frozenset(found)


def turned_parity(
    frame: Frame, mbarrier: Mbarrier, operation: SyncOperation, waits: int
) -> Value | None:
    """The parity of the phase that a wait at a ring is for, where it follows from the iteration:
    each of these waits once at each slot's mbarrier, and nobody else does, at one of `waits`."""
    turn = frame.turn
    is_steady = turn is not None and operation.position.anchor in turn.steady
    if turn is None or not is_steady or not operation.turns or operation.slot or waits > 1:
        return None
    parity = frame.values[turn.turns.parity]
    assert isinstance(parity, Value), "a parity is a number"
    if not mbarrier.has_credit:
        return parity
    return frame.builder.binary(BinaryOperator.XOR, parity, frame.builder.constant(1))


def turned_view(frame: Frame, ring: typed.Variable, by: int) -> View:
    """The slot of a ring with a layout, which counts from the slot's start."""
    builder, first = frame.builder, frame.slots[ring][0]
    size = builder.constant(model.size_of(ring.type))
    offset = builder.binary(BinaryOperator.MUL, turned_slot(frame, by), size)
    copy = frame.copies.get(ring)
    if copy is not None:
        offset = builder.binary(BinaryOperator.ADD, offset, copy)
    view = SharedView(
        base=frame.hidden_value(Hidden.SHARED),
        offset=offset,
        bytes=frame.checked.memory.arrays[ring.id].offset,
        results=(Value(first.base.type, ring.name),),
        span=builder.span,
    )
    return View(builder.add(view).result, layout=first.layout)
