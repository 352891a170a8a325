"""Counters that would pass their type after the last iteration: such a launch ends (decision 0146).

`for i in range(0, n, 16)` adds 16 once more when the last iteration is done. Where n is so near the
end of its type that this would not fit, the loop would never end, or go on at negative numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prismc.ir.analysis.ranges import INT_RANGE, Range
from prismc.ir.core import Op, Value
from prismc.ir.lowering.frame import Frame
from prismc.ir.ops.arithmetic import Compare, Comparison, Constant
from prismc.ir.ops.intrinsic import Assert
from prismc.ir.types import BOOLEAN, INT
from prismc.source.span import Span


def keep_in_range(frame: Frame, start: Value, stop: Value, step: Value) -> None:
    """Make sure that an upward loop of ints with a constant step ends where it should.

    The bound of a loop that every launch comes to is tested once, where the kernel starts, if it is
    a parameter; others where they are used. Nothing is tested that is known to be small enough.
    """
    by = frame.ranges.of(step)
    if stop.type != INT or by.low != by.high:
        return
    limit = INT_RANGE.high - by.low + 1
    known = frame.ranges.of(stop)
    if known.high <= limit:
        return
    if frame.is_at_start and stop in frame.arguments and frame.ranges.of(start).high <= limit:
        frame.limits[stop] = limit
        frame.ranges.set(stop, Range(known.low, limit))
        return
    for op in _test(stop, limit, frame.builder.span):
        frame.builder.add(op)


def tests_of(limits: Mapping[Value, int], at: Span) -> Iterator[Op]:
    """What a kernel does first, for the bounds that are tested there."""
    for value, limit in limits.items():
        yield from _test(value, limit, at)


def _test(value: Value, limit: int, at: Span) -> Iterator[Op]:
    most = Constant(value=limit, results=(Value(INT),), span=at)
    fits = Compare(
        comparison=Comparison.LE,
        left=value,
        right=most.result,
        results=(Value(BOOLEAN),),
        span=at,
    )
    yield from (most, fits)
    yield Assert(condition=fits.result, message="", tells=False, span=at)
