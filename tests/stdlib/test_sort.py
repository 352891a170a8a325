"""The sorts of std.sort against NumPy's: types, orders, groups, ragged lengths, ranges of bits."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from prismc.emulator.schedule import Plan
from support.groups import DTYPES, GROUPS, PLANS, Group, nightly, numbers, some, trials
from support.running import Array, Compiled, compile_texts

N = 4
TEXT = """
from std.block import load_blocked_guarded, store_blocked_guarded
from std.sort import {function}

def less[T: type](a: T, b: T) -> bool:
    return a < b

def tens_less[T: type](a: T, b: T) -> bool:
    return i32(a) / 10 < i32(b) / 10

@requires(grid[1], block[1], thread[{group.size}])
@launch(threads = {group.threads})
kernel k(n: int, last: {t}, X: ptr(const {t}), V: ptr(const i32), Y: ptr({t}), W: ptr(i32)):
    g: int @ {group.perspective} = id({group.perspective})
    partition X as x @ {group.perspective} at g * n, Y as y @ {group.perspective} at g * n:
        partition V as v @ {group.perspective} at g * n, W as w @ {group.perspective} at g * n:
            group {group.perspective}:
                keys: {t}[{N}] @ thread[1]
                values: i32[{N}] @ thread[1]
                load_blocked_guarded(x, n, last, keys)
                load_blocked_guarded(v, n, -1, values)
                {call}
                store_blocked_guarded(y, n, keys)
                store_blocked_guarded(w, n, values)
"""
BLOCKS = 2


@cache
def compiled(t: str, call: str, group: Group) -> Compiled:
    function = call.partition("(")[0].partition("[")[0]
    text = TEXT.format(t=t, call=call, function=function, group=group, N=N)
    return compile_texts({"k.prism": text}, "k.prism")


def check(t: str, call: str, group: Group, n: int, plans: tuple[Plan, ...]) -> None:
    """Each group sorts its `n` keys, of which many are equal, as NumPy's stable sort does."""
    is_descending = "descending" in call
    end = np.finfo if t.startswith("f") else np.iinfo
    last = end(DTYPES[t]).min if is_descending else end(DTYPES[t]).max
    groups = group.count(BLOCKS)
    keys = numbers(t, groups * n, seed=n + group.size).reshape(groups, n)
    values = np.arange(keys.size, dtype=np.int32).reshape(groups, n)
    order = np.argsort(_ranks(keys, call, is_descending), axis=1, kind="stable")
    for plan in plans:
        given = {"n": n, "last": last, "X": keys.ravel(), "V": values.ravel()}
        empty = {"Y": np.zeros(keys.size, keys.dtype), "W": np.zeros(keys.size, np.int32)}
        found = compiled(t, call, group).run(BLOCKS, {**given, **empty}, plan=plan)
        sorted_values = np.take_along_axis(values, order, axis=1) if "pairs" in call else values
        assert np.array_equal(
            found["Y"].reshape(groups, n), np.take_along_axis(keys, order, axis=1)
        )
        assert np.array_equal(found["W"].reshape(groups, n), sorted_values)


def _ranks(keys: Array, call: str, is_descending: bool) -> Array:
    """What NumPy sorts by to get the order of `call`."""
    if "tens_less" in call:
        return np.trunc(keys.astype(np.float64) / 10)
    return -keys.astype(np.float64) if is_descending else keys


RADIX = "radix_sort(keys)"
DESCENDING = "radix_sort_descending(keys)"
PAIRS = "radix_sort_pairs(keys, values)"
DESCENDING_PAIRS = "radix_sort_pairs_descending(keys, values)"
MERGE = "merge_sort[Less = less](keys)"
MERGE_PAIRS = "merge_sort_pairs[Less = tens_less](keys, values)"


@pytest.mark.parametrize(("n", "plans"), trials(128 * N))
@pytest.mark.parametrize(("t", "call"), [("i32", PAIRS), ("f32", MERGE_PAIRS)])
def test_ragged_lengths(t: str, call: str, n: int, plans: tuple[Plan, ...]) -> None:
    check(t, call, GROUPS[0], n, plans)


CALLS = (RADIX, DESCENDING_PAIRS, MERGE, MERGE_PAIRS)


@pytest.mark.parametrize(
    ("call", "group"),
    [
        nightly(call, group, quick=(index + 2 * place) % 7 == 3)
        for index, call in enumerate(CALLS)
        for place, group in enumerate(GROUPS)
    ],
    ids=lambda value: some(value) if isinstance(value, Group) else value,
)
def test_groups(call: str, group: Group) -> None:
    check("i32", call, group, group.size * N - group.size // 3, PLANS[2:3])


@pytest.mark.parametrize(
    ("t", "call"),
    [
        nightly(t, call, quick=(index + place) % 11 == 6)
        for index, call in enumerate((RADIX, DESCENDING, PAIRS, DESCENDING_PAIRS))
        for place, t in enumerate(DTYPES)
    ],
)
def test_types(t: str, call: str) -> None:
    check(t, call, Group("thread[64]", 64, 64), 250, (Plan(),))


@pytest.mark.parametrize("t", [nightly("f16", quick=True), nightly("f64", quick=False)])
def test_all_floats(t: str) -> None:
    # Infinities, subnormal numbers and both zeros; -0.0 comes before 0.0.
    dtype: Any = DTYPES[t]
    x = np.array([np.inf, 0.0, -0.0, -np.inf, 1.5, -1.5, 1e-310, -6e-8, 3.0], dtype)
    keys = np.random.default_rng(5).permutation(np.tile(x, 20))[: 32 * N]
    values = np.zeros(keys.size, np.int32)
    given = {"n": keys.size // 4, "last": dtype(np.inf), "X": keys, "V": values}
    empty = {"Y": np.zeros_like(keys), "W": values}
    found = compiled(t, RADIX, Group("thread[8]", 8, 32)).run(1, {**given, **empty})["Y"]
    expected = np.lexsort((~np.signbit(keys.reshape(4, -1)), keys.reshape(4, -1)), axis=1)
    rows = np.take_along_axis(keys.reshape(4, -1), expected, axis=1)
    assert found.tobytes() == rows.tobytes()


RANGES = """
from std.block import load_blocked, store_blocked
from std.sort import radix_sort_pairs_bits

@requires(grid[1], block[1], thread[64])
kernel k(begin: int, end: int, X: ptr(const u32), V: ptr(const int), Y: ptr(u32), W: ptr(int)):
    partition X as x @ block[1], Y as y @ block[1], V as v @ block[1], W as w @ block[1]:
        group block[1]:
            keys: u32[{N}] @ thread[1]
            values: int[{N}] @ thread[1]
            load_blocked(x, keys)
            load_blocked(v, values)
            radix_sort_pairs_bits[false](keys, values, begin, end)
            store_blocked(y, keys)
            store_blocked(w, values)
"""


# No bits, one part of a digit, several.
@pytest.mark.parametrize(("begin", "end"), [(9, 9), (29, 32), (5, 12), (0, 9)])
def test_ranges_of_bits(begin: int, end: int) -> None:
    program = compile_texts({"k.prism": RANGES.format(N=N)}, "k.prism")
    keys = np.random.default_rng(end).integers(0, 2**32, 64 * N, dtype=np.uint32)
    values = np.arange(keys.size, dtype=np.int32)
    given: dict[str, Any] = {"begin": begin, "end": end, "X": keys, "V": values}
    found = program.run(1, {**given, "Y": np.zeros_like(keys), "W": np.zeros_like(values)})
    part = (keys.astype(np.uint64) >> np.uint64(begin)) & np.uint64(2 ** (end - begin) - 1)
    order = np.argsort(part, kind="stable")
    assert np.array_equal(found["Y"], keys[order])
    assert np.array_equal(found["W"], values[order])


RANKS = """
from std.block import load_blocked, store_blocked
from std.sort import radix_rank

@requires(grid[1], block[1], thread[{threads}])
kernel k(X: ptr(const u32), Y: ptr(int)):
    partition X as x @ block[1], Y as y @ block[1]:
        group block[1]:
            digits: u32[{N}] @ thread[1]
            ranks: int[{N}] @ thread[1]
            load_blocked(x, digits)
            for again in range(2):
                radix_rank[{bits}](digits, ranks)
                store_blocked(y, ranks)
"""


@pytest.mark.parametrize(("bits", "threads", "items"), [(1, 32, 3), (4, 96, 7)])
def test_ranks(bits: int, threads: int, items: int) -> None:
    text = RANKS.format(bits=bits, threads=threads, N=items)
    program = compile_texts({"k.prism": text}, "k.prism")
    around_calls = program.checked.plan.instances["k"].operations
    assert not around_calls, "each thread counts in a column of its own"
    digits = np.random.default_rng(bits).integers(0, 1 << bits, threads * items, dtype=np.uint32)
    digits[: digits.size // 3] = digits[0]
    ranks = np.empty(digits.size, np.int32)
    ranks[np.argsort(digits, kind="stable")] = np.arange(digits.size)
    for plan in PLANS[1:3]:
        found = program.run(1, {"X": digits, "Y": np.zeros(digits.size, np.int32)}, plan=plan)
        assert np.array_equal(found["Y"], ranks)
