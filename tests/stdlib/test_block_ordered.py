"""Folds and scans of std.block with operators that do not commute, of one and of several items."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import accumulate

import numpy as np
import pytest

from prismc.emulator.schedule import Plan
from support.groups import DTYPES, GROUPS, PLANS, Group, nightly, numbers, some, trials
from support.running import Array, Compiled, compile_texts

N = 3
BLOCKS = 2
# `last_set` is associative, and 0 changes nothing: the last one of two that is not 0.
TEXT = """
from std.block import exclusive_scan, exclusive_scan_by, exclusive_scan_items
from std.block import exclusive_scan_items_by, inclusive_scan, inclusive_scan_by
from std.block import inclusive_scan_items, inclusive_scan_items_by, load_blocked_guarded, reduce
from std.block import reduce_commuting, reduce_items, store_blocked, sum_items

def last_set[T: type](a: T, b: T) -> T:
    return b if b != T(0) else a

def greater[T: type](a: T, b: T) -> T:
    return max(a, b)

@requires(grid[1], block[1], thread[{group.size}])
@launch(threads = {group.threads})
kernel k(n: int, X: ptr(const {t}), Y: ptr({t})):
    g: int @ {group.perspective} = id({group.perspective})
    const SIZE: int = {columns} * {group.size}
    partition X as x @ {group.perspective} at g * n, Y as y @ {group.perspective} at g * SIZE:
        group {group.perspective}:
            v: {t}[{N}] @ thread[1]
            found: {t}[{columns}] @ thread[1]
            load_blocked_guarded(x, n, 0, v)
            found[0] = reduce[Op = last_set](v[0])
            found[1] = reduce_items[Op = last_set](v)
            found[2] = reduce_commuting[Op = greater](v[0])
            up_to, all := inclusive_scan_by[Op = last_set](v[0])
            found[3] = up_to
            before, still_all := exclusive_scan_by[Op = last_set](v[0], 0)
            found[4] = before
            found[5] = still_all
            found[6] = inclusive_scan(v[0])
            sum_before, sum := exclusive_scan(v[0])
            found[7] = sum_before
            found[8] = sum_items(v)
            w: {t}[{N}] @ thread[1] = 0
            static for i in range({N}):
                w[i] = v[i]
            found[9] = inclusive_scan_items_by[Op = last_set](w)
            static for i in range({N}):
                found[10 + i] = w[i]
                w[i] = v[i]
            found[10 + {N}] = exclusive_scan_items_by[Op = last_set](w, 0)
            static for i in range({N}):
                found[11 + {N} + i] = w[i]
                w[i] = v[i]
            found[11 + 2 * {N}] = inclusive_scan_items(w)
            static for i in range({N}):
                found[12 + 2 * {N} + i] = w[i]
                w[i] = v[i]
            found[12 + 3 * {N}] = exclusive_scan_items(w)
            static for i in range({N}):
                found[13 + 3 * {N} + i] = w[i]
            store_blocked(y, found)
"""
COLUMNS = 13 + 4 * N


@cache
def compiled(t: str, group: Group) -> Compiled:
    text = TEXT.format(t=t, group=group, N=N, columns=COLUMNS)
    return compile_texts({"k.prism": text}, "k.prism")


def last_set(a: int, b: int) -> int:
    return b or a


def plus(a: int, b: int) -> int:
    return a + b


def scanned(rows: Array, op: Callable[[int, int], int]) -> tuple[Array, Array]:
    """Each row's inclusive and exclusive scan, from 0."""
    full = np.array([list(accumulate(map(int, row), op, initial=0)) for row in rows])
    return full[:, 1:], full[:, :-1]


def check(t: str, group: Group, n: int, plans: tuple[Plan, ...]) -> None:
    groups = group.count(BLOCKS)
    x = numbers(t, groups * n, seed=n, low=-3, high=4)
    items = np.zeros((groups, group.size, N), np.int64)
    items.reshape(groups, -1)[:, :n] = x.reshape(groups, n)
    first = items[:, :, 0]
    up_to, before = scanned(first, last_set)
    sum_up_to, sum_before = scanned(first, plus)
    all_last, all_last_before = scanned(items.reshape(groups, -1), last_set)
    sums, sums_before = scanned(items.reshape(groups, -1), plus)
    columns = [
        up_to[:, -1:], all_last[:, -1:], first.max(axis=1, keepdims=True), up_to, before,
        up_to[:, -1:], sum_up_to, sum_before, sums[:, -1:],
    ]  # fmt: skip
    scans = [(all_last, all_last), (all_last, all_last_before), (sums, sums), (sums, sums_before)]
    for total, each in scans:
        columns += [total[:, -1:], *np.moveaxis(each.reshape(items.shape), 2, 0)]
    expected = np.stack([np.broadcast_to(column, first.shape) for column in columns], axis=2)
    for plan in plans:
        given = {"n": n, "X": x, "Y": np.zeros(expected.size, x.dtype)}
        found = compiled(t, group).run(BLOCKS, given, plan=plan)["Y"].reshape(expected.shape)
        assert np.array_equal(found, expected.astype(x.dtype))


@pytest.mark.parametrize(("n", "plans"), trials(128 * N))
def test_ragged_lengths(n: int, plans: tuple[Plan, ...]) -> None:
    check("i32", GROUPS[0], n, plans)


@pytest.mark.parametrize("group", [nightly(g, quick=g.size in (8, 96)) for g in GROUPS], ids=some)
def test_groups(group: Group) -> None:
    check("i64", group, group.size * N - 1, PLANS[2:3])


@pytest.mark.parametrize("t", [nightly(t, quick=t == "f16") for t in DTYPES])
def test_types(t: str) -> None:
    check(t, Group("thread[32]", 32, 32), 90, (Plan(),))
