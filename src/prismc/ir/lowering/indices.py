"""Index arithmetic: 64 bits where 32 could overflow, 32 where they cannot.

An index into memory that may be global is the number that the source's expression has in unbounded
integers: a sum or product of ints whose range does not fit 32 bits is computed in 64, as a CUDA
compiler may for signed ints. Shared memory is far smaller than 2^31 bytes, so its indices stay int,
and so does what the program has computed as an int before on every path: had it overflowed, the
program would be wrong there.
"""

from __future__ import annotations

from prismc.ir.analysis.ranges import INT_RANGE, combine
from prismc.ir.core import Value
from prismc.ir.lowering.frame import Frame
from prismc.ir.ops.arithmetic import BinaryOperator
from prismc.ir.types import INT, LONG, PointerType, Space


def is_wide(pointer: Value) -> bool:
    """Whether indices into `pointer` may pass 2^31."""
    return not isinstance(pointer.type, PointerType) or pointer.type.space is not Space.SHARED


def as_index(frame: Frame, value: Value) -> Value:
    """Any integer as an index: i32 where that holds all its values, else i64."""
    if value.type in (INT, LONG):
        return value
    fits = INT_RANGE.holds(frame.ranges.of(value))
    return frame.builder.convert(value, INT if fits else LONG)


def combine_indices(
    frame: Frame, operator: BinaryOperator, left: Value, right: Value, *, wide: bool
) -> Value:
    """`left operator right` (a sum, difference or product), widened if `wide` and in doubt."""
    builder = frame.builder
    is_long = LONG in (left.type, right.type)
    if not is_long and wide:
        computed = frame.computed(operator, left, right)
        if computed is not None:
            return computed
        found = combine(operator, frame.ranges.of(left), frame.ranges.of(right))
        is_long = found is None or not INT_RANGE.holds(found)
    if is_long:
        left, right = builder.convert(left, LONG), builder.convert(right, LONG)
    return builder.binary(operator, left, right)
