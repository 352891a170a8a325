"""Folds and scans of std.block for every power of two of threads, type and operator, and that every
barrier planned in them is needed."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

from support.groups import PLANS, Group, nightly, numbers
from support.running import Array, Compiled, compile_texts

SIZES = tuple(1 << level for level in range(1, 11))
TYPES = ("f32", "f64", "i32", "i64", "u32")
# Named operators, and their values on two arrays; `last_set` does not commute.
OPERATORS = {
    "greater": np.maximum,
    "smaller": np.minimum,
    "plus": np.add,
    "last_set": lambda left, right: np.where(right != 0, right, left),
}
TEXT = """
from std.block import exclusive_scan_by, inclusive_scan_by, reduce

def greater[T: type](a: T, b: T) -> T:
    return max(a, b)

def smaller[T: type](a: T, b: T) -> T:
    return min(a, b)

def plus[T: type](a: T, b: T) -> T:
    return a + b

def last_set[T: type](a: T, b: T) -> T:
    return b if b != T(0) else a

@requires(grid[1], block[1], thread[{group.size}])
@launch(threads = {group.threads})
kernel k(X: ptr(const {t}), Y: ptr({t})):
    i: int @ thread[1] = id()
    partition Y as y @ thread[1] at i * 20:
        group {group.perspective}:
            v: {t} @ thread[1] = X[i]
{body}
"""
BODY = """
            y[{at}] = reduce[Op = {op}](v)
            up_to_{at}, all_{at} := inclusive_scan_by[Op = {op}](v)
            y[{at} + 1] = up_to_{at}
            y[{at} + 2] = all_{at}
            before_{at}, again_{at} := exclusive_scan_by[Op = {op}](v, {t}(7))
            y[{at} + 3] = before_{at}
            y[{at} + 4] = again_{at}
"""


def group_of(size: int) -> Group:
    """Blocks from 64 threads on, alternating with groups of their warps; lanes below."""
    if size < 64:
        return Group(f"thread[{size}]", size, 64)
    is_block = size.bit_length() % 2 == 1
    return Group("block[1]", size, size) if is_block else Group(f"thread[{size}]", size, size)


@cache
def compiled(t: str, size: int, dropped: tuple[int, ...] = ()) -> Compiled:
    parts = [BODY.format(at=5 * place, op=op, t=t) for place, op in enumerate(OPERATORS)]
    text = TEXT.format(group=group_of(size), t=t, body="".join(parts))
    return compile_texts({"k.prism": text}, "k.prism", dropped=dropped)


def given(t: str, size: int) -> dict[str, Any]:
    x = numbers(t, 2 * group_of(size).threads, seed=size, low=-9, high=9)
    return {"X": x, "Y": np.zeros(20 * x.size, x.dtype)}


def expected(x: Array, size: int) -> Array:
    rows = x.reshape(-1, size)
    columns: list[Array] = []
    for op in OPERATORS.values():
        up_to = np.stack(list(accumulate(rows.T, op)), axis=1).astype(x.dtype)
        before = np.hstack([np.full_like(rows[:, :1], 7), up_to[:, :-1]])
        columns += [up_to[:, -1:], up_to, up_to[:, -1:], before, up_to[:, -1:]]
    return np.stack([np.broadcast_to(column, rows.shape) for column in columns], axis=2)


@pytest.mark.parametrize(
    ("t", "size"),
    [
        nightly(t, size, quick=(t, size) in (("u32", 16), ("f32", 128)))
        for t in TYPES
        for size in SIZES
    ],
)
def test_values(t: str, size: int) -> None:
    arguments = given(t, size)
    for plan in PLANS:
        found = compiled(t, size).run(2, arguments, plan=plan)["Y"]
        assert np.array_equal(found.reshape(-1, size, 20), expected(arguments["X"], size))


@pytest.mark.parametrize(
    ("t", "size"),
    [nightly(t, size, quick=False) for t in ("i32", "f64") for size in SIZES],
)
def test_every_barrier_is_needed(t: str, size: int) -> None:
    arguments = given(t, size)
    for number in compiled(t, size).checked.plan.numbers():
        program = compiled(t, size, (number,))
        assert any(program.launch(2, arguments, plan=plan).findings for plan in PLANS), number
