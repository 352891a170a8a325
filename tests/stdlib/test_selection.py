"""`top_k`, `top_k_pairs` and `bottom_k` of std.sort, against NumPy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from prismc.emulator.schedule import Plan
from support.groups import DTYPES, GROUPS, PLANS, Group, nightly, numbers, some, trials
from support.running import Array, Compiled, compile_texts

N = 3
TEXT = """
from std.block import load_blocked
from std.sort import bottom_k, top_k, top_k_pairs

@requires(grid[1], block[1], thread[{group.size}])
@launch(threads = {group.threads})
kernel k(n: int, X: ptr(const {t}), V: ptr(const i32), Y: ptr({t}), W: ptr(i32), Z: ptr({t})):
    g: int @ {group.perspective} = id({group.perspective})
    const SIZE: int = {N} * {group.size}
    partition X as x @ {group.perspective} at g * SIZE, V as v @ {group.perspective} at g * SIZE:
        partition Y as y @ {group.perspective} at g * n, W as w @ {group.perspective} at g * n:
            partition Z as z @ {group.perspective} at g * n:
                group {group.perspective}:
                    keys: {t}[{N}] @ thread[1]
                    values: i32[{N}] @ thread[1]
                    load_blocked(x, keys)
                    load_blocked(v, values)
                    top_k_pairs(keys, values, n, y, w)
                    bottom_k(keys, n, z)
                    top_k(keys, n, y)
"""
BLOCKS = 2


@cache
def compiled(t: str, group: Group) -> Compiled:
    return compile_texts({"k.prism": TEXT.format(t=t, group=group, N=N)}, "k.prism")


def selected(ranks: Array, k: int) -> Array:
    """Positions of the k that are first by `ranks`: what is before the k-th, then its equals."""
    order = np.argsort(ranks, kind="stable")[:k]
    equal = ranks[order] == ranks[order[-1]]
    return np.concatenate([np.sort(order[~equal]), np.sort(order[equal])])


def check(t: str, group: Group, k: int, plans: tuple[Plan, ...]) -> None:
    groups = group.count(BLOCKS)
    keys = numbers(t, groups * group.size * N, seed=k, high=9 if k % 2 else 120)
    rows = keys.reshape(groups, -1)
    ranks = rows.astype(np.float64)
    greatest = np.stack([selected(-row, k) for row in ranks])
    least = np.stack([selected(row, k) for row in ranks])
    values = np.arange(keys.size, dtype=np.int32)
    for plan in plans:
        given = {"n": k, "X": keys, "V": values}
        empty = {name: np.zeros(groups * k, keys.dtype) for name in "YZ"}
        places = np.zeros(groups * k, np.int32)
        found = compiled(t, group).run(BLOCKS, {**given, **empty, "W": places}, plan=plan)
        expected = {
            "Y": np.take_along_axis(rows, greatest, axis=1),
            "W": np.take_along_axis(values.reshape(groups, -1), greatest, axis=1),
            "Z": np.take_along_axis(rows, least, axis=1),
        }
        for name, array in expected.items():
            assert np.array_equal(found[name].reshape(groups, k), array), name


@pytest.mark.parametrize(("k", "plans"), trials(128 * N, least=1))
def test_how_many(k: int, plans: tuple[Plan, ...]) -> None:
    check("i32", GROUPS[0], k, plans)


@pytest.mark.parametrize(
    "group", [nightly(group, quick=group.size == 96) for group in GROUPS], ids=some
)
def test_groups(group: Group) -> None:
    check("i16", group, max(1, group.size), PLANS[2:3])


@pytest.mark.parametrize("t", [nightly(t, quick=t == "f32") for t in DTYPES])
def test_types(t: str) -> None:
    check(t, Group("thread[32]", 32, 32), 17, (Plan(),))


@pytest.mark.parametrize("k", [-5, 0, 128 * N + 7])
def test_all_or_none(k: int) -> None:
    keys = numbers("i32", 128 * N, seed=3, high=120)
    stored = keys.size if k > 0 else 0
    empty = {name: np.full(keys.size + 7, -1, np.int32) for name in "YZW"}
    given = {"n": k, "X": keys, "V": keys}
    found = compiled("i32", GROUPS[0]).run(1, {**given, **empty}, plan=PLANS[0])
    for name in "YZW":
        assert np.array_equal(np.sort(found[name][:stored]), np.sort(keys)[:stored]), name
        assert (found[name][stored:] == -1).all(), name
