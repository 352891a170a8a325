"""Exchanges of std.block, and the loads and stores that exchange, with ragged ends."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from prismc.emulator.schedule import Plan
from support.groups import GROUPS, PLANS, Group, nightly, numbers, some, trials
from support.running import Array, Compiled, compile_texts

BLOCKS = 2
EXCHANGES = """
from std.block import blocked_to_striped, load_blocked, scatter_to_blocked, scatter_to_striped
from std.block import scatter_to_striped_guarded, store_blocked, striped_to_blocked

@requires(grid[1], block[1], thread[{group.size}])
@launch(threads = {group.threads})
kernel k(valid: int, X: ptr(const {t}), R: ptr(const int), Y: ptr({t})):
    g: int @ {group.perspective} = id({group.perspective})
    const SIZE: int = {n} * {group.size}
    partition X as x @ {group.perspective} at g * SIZE, R as r @ {group.perspective} at g * SIZE:
        partition Y as y @ {group.perspective} at g * 5 * SIZE:
            group {group.perspective}:
                v: {t}[{n}] @ thread[1]
                ranks: int[{n}] @ thread[1]
                load_blocked(r, ranks)
                load_blocked(x, v)
                striped_to_blocked(v)
                partition y as out @ {group.perspective}:
                    store_blocked(out, v)
                load_blocked(x, v)
                for again in range(3):
                    blocked_to_striped(v)
                partition y as out @ {group.perspective} at SIZE:
                    store_blocked(out, v)
                load_blocked(x, v)
                scatter_to_blocked(v, ranks)
                partition y as out @ {group.perspective} at 2 * SIZE:
                    store_blocked(out, v)
                load_blocked(x, v)
                scatter_to_striped(v, ranks)
                partition y as out @ {group.perspective} at 3 * SIZE:
                    store_blocked(out, v)
                load_blocked(x, v)
                static for i in range({n}):
                    ranks[i] = ranks[i] if ranks[i] < valid else -1
                scatter_to_striped_guarded(v, ranks, valid, 99)
                partition y as out @ {group.perspective} at 4 * SIZE:
                    store_blocked(out, v)
"""


@cache
def exchanges(t: str, group: Group, n: int) -> Compiled:
    return compile_texts({"k.prism": EXCHANGES.format(t=t, group=group, n=n)}, "k.prism")


def check_exchanges(t: str, group: Group, n: int, plan: Plan) -> None:
    groups, size = group.count(BLOCKS), group.size * n
    rows = numbers(t, groups * size, seed=n).reshape(groups, size)
    chance = np.random.default_rng(n)
    ranks = np.stack([chance.permutation(size) for _ in range(groups)]).astype(np.int32)
    valid = size // 3
    # Where item i of thread t of the striped arrangement lies, in the order of threads.
    striped = np.arange(size).reshape(n, group.size).T.ravel()
    scattered = np.empty_like(rows)
    np.put_along_axis(scattered, ranks, rows, axis=1)
    back = np.argsort(striped)
    thrice = rows[:, striped][:, striped][:, striped]
    kept = np.where(np.arange(size) < valid, scattered, 99)[:, striped]
    expected = [rows[:, back], thrice, scattered, scattered[:, striped], kept]
    given = {"valid": valid, "X": rows.ravel(), "R": ranks.ravel()}
    empty = {"Y": np.zeros(5 * rows.size, rows.dtype)}
    found = exchanges(t, group, n).run(BLOCKS, {**given, **empty}, plan=plan)["Y"]
    assert np.array_equal(found.reshape(groups, 5, size), np.stack(expected, axis=1))


@pytest.mark.parametrize("n", [nightly(n, quick=n in (3, 8)) for n in (1, 2, 3, 4, 7, 8, 16, 64)])
def test_exchanges(n: int) -> None:
    for plan in PLANS[:2]:
        check_exchanges("i32", GROUPS[1], n, plan)


@pytest.mark.parametrize("group", [nightly(g, quick=g.size == 8) for g in GROUPS], ids=some)
def test_exchanges_of_groups(group: Group) -> None:
    check_exchanges("u8", group, 8, PLANS[2])


TRANSPOSED = """
from std.block import load_blocked_guarded, load_transposed, load_transposed_guarded
from std.block import load_warp_transposed, load_warp_transposed_guarded, store_blocked_guarded
from std.block import store_blocked_vec, store_transposed_guarded, store_warp_transposed
from std.block import store_warp_transposed_guarded

@requires(grid[1], block[1], thread[{group.size}])
@launch(threads = {group.threads})
@assume(aligned(A, 16), aligned(C, 8))
kernel k(n: int, X: ptr(const f32), A: ptr(f32), B: ptr(f32), C: ptr(f32), D: ptr(f32)):
    g: int @ {group.perspective} = id({group.perspective})
    const SIZE: int = 4 * {group.size}
    partition X as x @ {group.perspective} at g * SIZE, A as a @ {group.perspective} at g * SIZE:
        partition B as b @ {group.perspective} at g * n, C as c @ {group.perspective} at g * SIZE:
            partition D as d @ {group.perspective} at g * n:
                group {group.perspective}:
                    v: f32[4] @ thread[1]
                    load_transposed_guarded(x, n, -1.0, v)
                    store_blocked_vec[4](a, v)
                    load_transposed(x, v)
                    store_transposed_guarded(b, n, v)
                    {by_warps}
"""
BY_WARPS = """load_warp_transposed_guarded(x, n, -2.0, v)
                    store_warp_transposed(c, v)
                    load_warp_transposed(x, v)
                    store_warp_transposed_guarded(d, n, v)"""
BY_LANES = """load_blocked_guarded(x, n, -2.0, v)
                    store_blocked_vec[2](c, v)
                    store_blocked_guarded(d, n, v)"""


@cache
def transposed(group: Group) -> Compiled:
    by_warps = BY_WARPS if group.size % 32 == 0 else BY_LANES
    text = TRANSPOSED.format(group=group, by_warps=by_warps)
    return compile_texts({"k.prism": text}, "k.prism")


def filled(rows: Array, n: int, value: float) -> Array:
    return np.where(np.arange(rows.shape[1]) < n, rows, value)


def check_transposed(group: Group, n: int, plans: tuple[Plan, ...]) -> None:
    groups, size = group.count(BLOCKS), 4 * group.size
    rows = np.random.default_rng(n).normal(size=(groups, size)).astype(np.float32)
    expected = {
        "A": filled(rows, n, -1), "B": rows[:, :n], "C": filled(rows, n, -2), "D": rows[:, :n],
    }  # fmt: skip
    for plan in plans:
        empty = {name: np.zeros(array.size, np.float32) for name, array in expected.items()}
        found = transposed(group).run(BLOCKS, {"n": n, "X": rows.ravel(), **empty}, plan=plan)
        for name, array in expected.items():
            assert np.array_equal(found[name].reshape(groups, -1), array), name


@pytest.mark.parametrize(("n", "plans"), trials(128 * 4, least=1))
def test_transposed(n: int, plans: tuple[Plan, ...]) -> None:
    check_transposed(GROUPS[0], n, plans)


@pytest.mark.parametrize("group", [nightly(g, quick=g.size == 8) for g in GROUPS[1:]], ids=some)
def test_transposed_in_groups(group: Group) -> None:
    check_transposed(group, 4 * group.size - 1, PLANS[3:])
