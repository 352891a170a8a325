"""Counters that would pass their type after the last iteration: such a launch ends (decision 0146).

`for i in range(0, n, 16)` adds 16 once more when the last iteration is done. Where n is so near the
end of its type that this would not fit, the loop would never end, or go on at negative numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prismc.ir.analysis.ranges import Range, range_of_type
from prismc.ir.core import Op, Value
from prismc.ir.lowering.frame import Frame
from prismc.ir.ops.arithmetic import (
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Constant,
    Convert,
)
from prismc.ir.ops.intrinsic import Assert
from prismc.ir.types import BOOLEAN, UINT
from prismc.source.span import Span

_MOST_WORD = (1 << 32) - 1


def keep_in_range(frame: Frame, start: Value, stop: Value, step: Value) -> None:
    """Make sure that an upward loop ends where it should; one that counts in 64 bits does.

    Nothing is tested that is known to be small enough. With a constant step, the bound of a loop
    that every launch comes to is tested once, where the kernel starts, if it is a parameter; others
    where they are used.
    """
    by, known, most = frame.ranges.of(step), frame.ranges.of(stop), _most(stop)
    limit = most - by.high + 1
    if most > _MOST_WORD or (by.low >= 1 and known.high <= limit):
        return
    if by.low != by.high:
        test = _test_of_both(stop, step, frame.builder.span)
    elif frame.is_at_start and stop in frame.arguments and frame.ranges.of(start).high <= limit:
        frame.limits[stop] = limit
        frame.ranges.set(stop, Range(known.low, limit))
        return
    else:
        test = _test(stop, limit, frame.builder.span)
    for op in test:
        frame.builder.add(op)


def _most(value: Value) -> int:
    """The end of its type."""
    limits = range_of_type(value.type)
    assert limits is not None, "a loop counts in integers"
    return limits.high


def tests_of(limits: Mapping[Value, int], at: Span) -> Iterator[Op]:
    """What a kernel does first, for the bounds that are tested there."""
    for value, limit in limits.items():
        yield from _test(value, limit, at)


def _test(value: Value, limit: int, at: Span) -> Iterator[Op]:
    most = Constant(value=limit, results=(Value(value.type),), span=at)
    fits = Compare(
        comparison=Comparison.LE,
        left=value,
        right=most.result,
        results=(Value(BOOLEAN),),
        span=at,
    )
    yield from (most, fits)
    yield Assert(condition=fits.result, message="", tells=False, span=at)


def _test_of_both(stop: Value, step: Value, at: Span) -> Iterator[Op]:
    """That step - 1 is at most what is left above `stop`: without signs, so that a step of 0 or
    less, which would never end, fails as well."""
    words = [Convert(operand=side, results=(Value(UINT),), span=at) for side in (step, stop)]
    ends = [Constant(value=end, results=(Value(UINT),), span=at) for end in (1, _most(stop))]
    yield from (*words, *ends)
    less = _minus(words[0].result, ends[0].result, at)
    left = _minus(ends[1].result, words[1].result, at)
    yield from (less, left)
    fits = Compare(
        comparison=Comparison.LE,
        left=less.result,
        right=left.result,
        results=(Value(BOOLEAN),),
        span=at,
    )
    yield fits
    yield Assert(condition=fits.result, message="", tells=False, span=at)


def _minus(left: Value, right: Value, at: Span) -> Op:
    result = Value(UINT)
    return Binary(operator=BinaryOperator.SUB, left=left, right=right, results=(result,), span=at)
