"""What the conditions around an access leave of the threads of its code, for one choice of the
counters of loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from prismc.checker.sync.asked import Guard
from prismc.checker.sync.conditions import Said, least_values, said_by
from prismc.checker.sync.coverage import threads_in
from prismc.checker.sync.evaluate import Counters, Evaluator
from prismc.checker.sync.forms import Coefficient, Form, Monomial, known
from prismc.source.record import Record


class Inside(Record):
    """What conditions leave: threads, bounds of products of symbols, and what they say is at least
    0. It `is_certain` if all of these threads come to the access."""

    threads: int
    is_certain: bool
    rows: Mapping[Monomial, Coefficient]
    said: tuple[Form, ...]


def inside_of(
    guards: Iterable[Guard], threads: int, counters: Counters, evaluator: Evaluator
) -> Inside:
    """The part of `threads` for which all guards may hold."""
    is_certain = True
    said: list[Said] = []
    for guard in guards:
        evaluate = partial(evaluator.form, counters=counters, loops=guard.loops)
        value = evaluate(guard.condition)
        flags = None if value is None else known(value)
        if flags is None:
            is_certain = is_certain and guard.is_assumed
            said += said_by(guard.condition, guard.holds, evaluate)
        elif isinstance(flags, int):
            threads = threads if bool(flags) is guard.holds else 0
        else:
            threads &= _mask(flags, guard.holds, threads)
    return Inside(
        threads=threads,
        is_certain=is_certain,
        rows=least_values(said),
        said=tuple(each.form for each in said if not each.divisor),
    )


def _mask(flags: Sequence[int], holds: bool, threads: int) -> int:
    mask = 0
    for thread in threads_in(threads):
        if bool(flags[thread]) is holds:
            mask |= 1 << thread
    return mask
