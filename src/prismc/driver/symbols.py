"""Where a kernel's shared arrays lie, for findings that name them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prismc.emulator.names import SharedArray

if TYPE_CHECKING:
    from prismc.checker.results import CheckedProgram
    from prismc.checker.types.model import Type


def shared_arrays(checked: CheckedProgram, kernel: str) -> tuple[SharedArray, ...]:
    """The shared arrays of a kernel and of what it calls, by their offset in its memory."""
    return tuple(_arrays(checked, kernel, 0))


def _arrays(checked: CheckedProgram, symbol: str, base: int) -> Iterator[SharedArray]:
    from prismc.checker.memory.facts import copies
    from prismc.checker.types import typed
    from prismc.checker.types.walk import calls_in, statements_in

    memory = checked.memory
    body = checked.program.bodies[symbol].statements
    for statement in statements_in(body):
        if isinstance(statement, typed.DeclareShared) and statement.variable.id in memory.arrays:
            array = memory.arrays[statement.variable.id]
            element, shape = _elements(array.variable.type)
            for number in range(copies(array.replicas)):
                yield SharedArray(
                    name=array.variable.name,
                    start=base + array.offset + number * array.stride,
                    size=array.stride if array.replicas else array.size,
                    element=element,
                    shape=(array.variable.slots, *shape) if array.variable.slots else shape,
                )
    for call in calls_in(body):
        own = memory.calls.get(call.id)
        if own is not None and call.callee.symbol in checked.program.bodies:
            for number in range(copies(own.replicas)):
                start = base + own.base + number * own.stride
                yield from _arrays(checked, call.callee.symbol, start)


def _elements(type_: Type) -> tuple[int, tuple[int, ...]]:
    """Bytes of an element, and the array's shape."""
    from prismc.checker.types.model import ArrayType, ScalarType, VectorType

    match type_:
        case ArrayType(element=element, length=length):
            size, shape = _elements(element)
            return size, (length, *shape)
        case ScalarType(scalar=scalar):
            return scalar.size, ()
        case VectorType(element=scalar, lanes=lanes):
            return scalar.size * lanes, ()
        case _:
            return 1, ()
