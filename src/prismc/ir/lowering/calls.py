"""Calls: hidden arguments first, then the program's; a pointer goes as a base and an offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prismc.checker.memory.facts import CallMemory, Replica
from prismc.checker.types import model, typed
from prismc.ir.core import Value
from prismc.ir.lowering.frame import Frame
from prismc.ir.lowering.positions import Hidden
from prismc.ir.ops.arithmetic import BinaryOperator
from prismc.ir.ops.control import Call
from prismc.ir.ops.memory import ArrayLoad, ArrayStore, SharedView
from prismc.ir.types import INT, SHARED_BYTES, UINT

if TYPE_CHECKING:
    from prismc.ir.lowering.expressions import Expressions


def lower_call(frame: Frame, expressions: Expressions, call: typed.Call) -> tuple[Value, ...]:
    """The values that a call gives: one for each result, two for a pointer."""
    callee = frame.lowered[call.callee.symbol]
    arguments: list[Value] = []
    for parameter, argument in zip(call.callee.parameters, call.arguments, strict=True):
        arguments += _argument(frame, expressions, parameter, argument)
    hidden = [_hidden(frame, call, kind) for kind in callee.hidden]
    op = Call(
        callee=call.callee.symbol,
        arguments=(*hidden, *arguments),
        results=tuple(Value(type) for type in callee.function.results),
        span=frame.builder.span,
    )
    results = frame.builder.add(op).results
    effects = call.callee.effects
    if effects is not None and effects.bytes is not None:
        _expect(frame, expressions, call, effects.bytes)
    return results


def _expect(
    frame: Frame, expressions: Expressions, call: typed.Call, size: typed.Expression
) -> None:
    """Count the bytes that a load brings; `size` is over the callee's parameters."""
    expected = frame.loads[1] if frame.loads else frame.hidden_value(Hidden.EXPECTED)
    builder = frame.builder
    with frame.scope():
        for parameter, argument in zip(call.callee.parameters, call.arguments, strict=True):
            if isinstance(parameter.type, model.ScalarType):
                frame.values[parameter] = expressions.value(argument)
        more = builder.convert(expressions.value(size), UINT)
    zero = builder.constant(0)
    known = ArrayLoad(array=expected, indices=(zero,), results=(Value(UINT),), span=builder.span)
    total = builder.binary(BinaryOperator.ADD, builder.add(known).result, more)
    builder.add(ArrayStore(array=expected, indices=(zero,), value=total, span=builder.span))


def lower_layout(frame: Frame, symbol: str, index: Value) -> Value:
    """Where a layout puts an element; a layout is a function of one int and nothing hidden."""
    op = Call(
        callee=symbol,
        arguments=(frame.builder.convert(index, INT),),
        results=(Value(INT),),
        span=frame.builder.span,
    )
    return frame.builder.add(op).result


def _argument(
    frame: Frame,
    expressions: Expressions,
    parameter: typed.Variable,
    argument: typed.Expression,
) -> tuple[Value, ...]:
    if not isinstance(parameter.type, model.PointerType):
        return (expressions.value(argument),)
    settled = frame.settled(expressions.view(argument), parameter.type)
    return (settled.base, frame.long_offset(settled))


def _hidden(frame: Frame, call: typed.Call, hidden: Hidden) -> Value:
    """What a hidden parameter of the callee is here, inside the group that the call implies."""
    inside = frame.position.in_group(call.callee.bound.code)
    match hidden:
        case Hidden.THREAD:
            return frame.index_value(inside.thread)
        case Hidden.BLOCK:
            return frame.index_value(inside.block)
        case Hidden.BLOCK_THREAD:
            return frame.block_thread()
        case Hidden.COMPLETION if frame.loads is not None:
            return frame.loads[0]
        case Hidden.EXPECTED if frame.loads is not None:
            return frame.loads[1]
        case Hidden.SHARED:
            return _callee_memory(frame, frame.checked.memory.calls[call.id])
        case _:
            return frame.hidden_value(hidden)


def _callee_memory(frame: Frame, memory: CallMemory) -> Value:
    """The start of the callee's shared memory in the caller's."""
    base = frame.hidden_value(Hidden.SHARED)
    copy = copy_offset(frame, memory.replicas, memory.stride)
    if memory.base == 0 and copy is None:
        return base
    view = SharedView(
        base=base, offset=copy, bytes=memory.base, results=(Value(SHARED_BYTES),),
        span=frame.builder.span,
    )  # fmt: skip
    return frame.builder.add(view).result


def copy_offset(frame: Frame, replicas: tuple[Replica, ...], stride: int) -> Value | None:
    """Bytes to the copy of the unit that runs here; None where there is one copy."""
    builder = frame.builder
    total: Value | None = None
    for replica in replicas:
        index = frame.groups[replica.group] if replica.group else frame.position.thread
        unit = frame.unit(index, replica.size)
        if total is not None:
            before = builder.binary(BinaryOperator.MUL, total, builder.constant(replica.count))
            unit = builder.binary(BinaryOperator.ADD, before, unit)
        total = unit
    if total is None:
        return None
    return builder.binary(BinaryOperator.MUL, total, builder.constant(stride))
