"""Exchanges of std.block, and the loads and stores that exchange, with ragged ends."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from prismc.emulator.schedule import Plan
from support.groups import GROUPS, PLANS, Group, nightly, numbers, some, trials
from support.running import Compiled, compile_texts

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


@pytest.mark.parametrize("n", [nightly(n, quick=n in (3, 8)) for n in (1, 2, 3, 4, 7, 8, 16)])
def test_exchanges(n: int) -> None:
    for plan in PLANS[:2]:
        check_exchanges("i32", GROUPS[1], n, plan)


@pytest.mark.parametrize("group", [nightly(g, quick=g.size == 8) for g in GROUPS], ids=some)
def test_exchanges_of_groups(group: Group) -> None:
    check_exchanges("u8", group, 8, PLANS[2])


# One load and one store a kernel: their tiles have bytes of their own, so every barrier is needed.
TRANSPOSED = """
from std.block import load_{load}, {imported}

@requires(grid[1], block[1], thread[{group.size}])
@launch(threads = {group.threads})
@assume(aligned(Y, 8))
kernel k(n: int, X: ptr(const i16), Y: ptr(i16)):
    g: int @ {group.perspective} = id({group.perspective})
    const SIZE: int = 4 * {group.size}
    partition X as x @ {group.perspective} at g * SIZE, Y as y @ {group.perspective} at g * SIZE:
        group {group.perspective}:
            v: i16[4] @ thread[1]
            load_{load}({input}, v)
            store_{store}({output}, v)
"""
WAYS = (
    ("transposed_guarded", "transposed"),
    ("transposed", "transposed_guarded"),
    ("warp_transposed_guarded", "warp_transposed"),
    ("warp_transposed", "warp_transposed_guarded"),
    ("transposed_guarded", "blocked_vec[4]"),
)


@cache
def transposed(group: Group, load: str, store: str) -> Compiled:
    given = {
        "load": load,
        "input": "x, n, -1" if "guarded" in load else "x",
        "store": store,
        "imported": "store_" + store.removesuffix("[4]"),
        "output": "y, n" if "guarded" in store else "y",
    }
    return compile_texts({"k.prism": TRANSPOSED.format(group=group, **given)}, "k.prism")


def check_transposed(group: Group, load: str, store: str, n: int, plans: tuple[Plan, ...]) -> None:
    """What is not there is -1 where the load is guarded, and stays 0 where the store is."""
    groups, size = group.count(BLOCKS), 4 * group.size
    rows = numbers("i16", groups * size, seed=n).reshape(groups, size)
    expected = np.where(np.arange(size) < n, rows, -1 if "guarded" in load else 0)
    for plan in plans:
        given = {"n": n, "X": rows.ravel(), "Y": np.zeros(rows.size, np.int16)}
        found = transposed(group, load, store).run(BLOCKS, given, plan=plan)["Y"]
        assert np.array_equal(found.reshape(groups, size), expected)


@pytest.mark.parametrize(("n", "plans"), trials(128 * 4))
@pytest.mark.parametrize(
    ("load", "store"), [nightly(*way, quick=place in (1, 2)) for place, way in enumerate(WAYS)]
)
def test_transposed(load: str, store: str, n: int, plans: tuple[Plan, ...]) -> None:
    check_transposed(GROUPS[0], load, store, n, plans)


@pytest.mark.parametrize("group", [nightly(g, quick=g.size == 8) for g in GROUPS[1:]], ids=some)
def test_transposed_in_groups(group: Group) -> None:
    check_transposed(group, *WAYS[4], n=4 * group.size - 1, plans=PLANS[3:])
