"""Pipelines that are written as one step: the slot of the iteration is a value.

What the first step of the unrolled loop does with slot s, an iteration does with slot s + its own,
modulo the number of slots.
"""

from __future__ import annotations

from prismc.checker.types import model, typed
from prismc.ir.analysis.ranges import Range
from prismc.ir.core import Value
from prismc.ir.lowering.frame import Frame
from prismc.ir.lowering.positions import Hidden
from prismc.ir.lowering.views import View
from prismc.ir.ops.arithmetic import BinaryOperator, Comparison
from prismc.ir.ops.memory import SharedView


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
