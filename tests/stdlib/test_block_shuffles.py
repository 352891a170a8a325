"""Shuffles and histograms of std.block, against NumPy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from prismc.emulator.schedule import Plan
from support.groups import DTYPES, GROUPS, PLANS, Group, nightly, numbers, some, trials
from support.running import Compiled, compile_texts

BLOCKS = 2
SHUFFLES = """
from std.block import rotate, shift_down, shift_up, shuffle, store_blocked

@requires(grid[1], block[1], thread[{group.size}])
@launch(threads = {group.threads})
kernel k(n: int, X: ptr(const {t}), S: ptr(const int), Y: ptr({t})):
    g: int @ {group.perspective} = id({group.perspective})
    const SIZE: int = {group.size}
    partition X as x @ {group.perspective} at g * SIZE, S as s @ {group.perspective} at g * SIZE:
        partition Y as y @ {group.perspective} at g * 4 * SIZE:
            group {group.perspective}:
                t: int @ thread[1] = id()
                found: {t}[4] @ thread[1]
                found[0] = shuffle(x[t], s[t])
                found[1] = rotate(x[t], n % SIZE)
                found[2] = shift_up(x[t], n, {t}(101))
                found[3] = shift_down(x[t], n, x[SIZE - 1])
                store_blocked(y, found)
"""


@cache
def shuffles(t: str, group: Group) -> Compiled:
    return compile_texts({"k.prism": SHUFFLES.format(t=t, group=group)}, "k.prism")


def check_shuffles(t: str, group: Group, n: int, plans: tuple[Plan, ...]) -> None:
    groups, size = group.count(BLOCKS), group.size
    rows = numbers(t, groups * size, seed=n).reshape(groups, size)
    sources = np.random.default_rng(n).integers(0, size, rows.shape, dtype=np.int32)
    moved = min(n, size)
    up, down = np.full_like(rows, 101), np.repeat(rows[:, -1:], size, axis=1)
    up[:, moved:] = rows[:, : size - moved]
    down[:, : size - moved] = rows[:, moved:]
    shuffled = np.take_along_axis(rows, sources, axis=1)
    expected = np.stack([shuffled, np.roll(rows, -n, axis=1), up, down], axis=2)
    for plan in plans:
        given = {"n": n, "X": rows.ravel(), "S": sources.ravel()}
        empty = {"Y": np.zeros(expected.size, rows.dtype)}
        found = shuffles(t, group).run(BLOCKS, {**given, **empty}, plan=plan)["Y"]
        assert np.array_equal(found.reshape(expected.shape), expected)


@pytest.mark.parametrize(("n", "plans"), trials(140))
def test_distances(n: int, plans: tuple[Plan, ...]) -> None:
    check_shuffles("i32", GROUPS[0], n, plans)


@pytest.mark.parametrize(
    "group", [nightly(g, quick=g.size in (8, 96)) for g in GROUPS[:-1]], ids=some
)
def test_groups(group: Group) -> None:
    check_shuffles("f64", group, 3, PLANS[1:2])


@pytest.mark.parametrize("t", [nightly(t, quick=t == "u8") for t in DTYPES])
def test_types(t: str) -> None:
    check_shuffles(t, Group("thread[64]", 64, 64), 5, (Plan(),))


HISTOGRAMS = """
from std.block import histogram, histogram_add, load_blocked_guarded
from std.copy import copy

const BINS: int = 50

@requires(grid[1], block[1], thread[{group.size}])
@launch(threads = {group.threads})
kernel k(n: int, times: int, X: ptr(const i32), Y: ptr(u32), Z: ptr(u32)):
    g: int @ {group.perspective} = id({group.perspective})
    partition X as x @ {group.perspective} at g * n, Y as y @ {group.perspective} at g * BINS:
        partition Z as z @ {group.perspective} at g * BINS:
            group {group.perspective}:
                bins: int[3] @ thread[1]
                load_blocked_guarded(x, n, -1, bins)
                shared counts: u32[BINS]
                for again in range(times):
                    histogram[BINS](counts, bins)
                    histogram_add(counts, bins)
                    copy(y, counts, BINS)
                histogram[BINS](z, bins)
"""


@cache
def histograms(group: Group) -> Compiled:
    return compile_texts({"k.prism": HISTOGRAMS.format(group=group)}, "k.prism")


def check_histograms(group: Group, n: int, plans: tuple[Plan, ...]) -> None:
    groups = group.count(BLOCKS)
    rows = numbers("i32", groups * n, seed=n, low=-3, high=49).reshape(groups, n)
    counts = np.array([np.bincount(row[row >= 0], minlength=50) for row in rows])
    for plan in plans:
        given = {"n": n, "times": 2, "X": rows.ravel()}
        empty = {name: np.full(groups * 50, 77, np.uint32) for name in "YZ"}
        found = histograms(group).run(BLOCKS, {**given, **empty}, plan=plan)
        assert np.array_equal(found["Y"].reshape(counts.shape), 2 * counts)
        assert np.array_equal(found["Z"].reshape(counts.shape), counts)


@pytest.mark.parametrize(("n", "plans"), trials(128 * 3))
def test_histograms(n: int, plans: tuple[Plan, ...]) -> None:
    check_histograms(GROUPS[0], n, plans)


@pytest.mark.parametrize("group", [nightly(g, quick=g.size == 8) for g in GROUPS[1:]], ids=some)
def test_histograms_of_groups(group: Group) -> None:
    check_histograms(group, group.size * 3, PLANS[2:3])
