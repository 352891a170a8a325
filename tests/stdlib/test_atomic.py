"""std.atomic on the PTX machine, against NumPy: types, spaces, ragged sizes, schedules."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from prismc.emulator.schedule import Plan, adversaries
from support.checking import all_words, check_texts
from support.groups import nightly
from support.running import Array, Compiled, compile_texts

PLANS = adversaries(6)
SIZES = (1, 33, 200, 777)
DTYPES = {
    "i32": np.int32,
    "u32": np.uint32,
    "i64": np.int64,
    "u64": np.uint64,
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
}
WHOLE = ("i32", "u32", "i64", "u64")
BINS = 7

# Each thread's value goes to one of seven bins, of which all blocks share one row (`total`) and
# each block has its own (`part`, by way of shared memory).
COMMON = """
from std.atomic import add, fetch_add, fetch_sub{more}

const T: int = 64

@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
kernel k(n: int, X: ptr(const {t}), total: ptr(atomic {t}), old: ptr({t}), part: ptr({t})):
    b: int @ block[1] = id()
    i: int @ thread[1] = id()
    partition part as row @ block[1] at b * {rows}, old as mine @ thread[1] at i:
        group block[1]:
            shared s: {t}[{rows}]
            t: int @ thread[1] = id()
            partition s as z @ thread[1] at t:
                group thread[1]:
                    if t < {rows}:
                        z[0] = 0
            group thread[1]:
                if i < n:
                    at_: int = i % 7
                    v: {t} = X[i]
                    mine[0] = fetch_add[relaxed, grid[1]](total, at_, v)
                    add[relaxed, block[1]](s, at_, v)
{body}
            partition row as out @ thread[1] at t:
                group thread[1]:
                    if t < {rows}:
                        out[0] = s[t]
"""

INTEGERS = """
                    fetch_min[relaxed, grid[1]](total, 7 + at_, v)
                    fetch_max[acquire, grid[1]](total, 14 + at_, v)
                    fetch_and[release, grid[1]](total, 21 + at_, v)
                    fetch_or[acq_rel, grid[1]](total, 28 + at_, v)
                    fetch_xor[relaxed, grid[1]](total, 35 + at_, v)
                    fetch_sub[relaxed, grid[1]](total, i64(42 + at_), v)
                    fetch_min[relaxed, block[1]](s, 7 + at_, v)
                    fetch_max[relaxed, thread[1]](s, 14 + at_, v)
                    fetch_and[relaxed, block[1]](s, 21 + at_, v)
                    fetch_or[relaxed, thread[32]](s, 28 + at_, v)
                    fetch_xor[relaxed, block[1]](s, 35 + at_, v)
                    fetch_sub[relaxed, block[1]](s, 42 + at_, v)
"""
FLOATS = """
                    fetch_sub[relaxed, grid[1]](total, 7 + at_, v)
                    fetch_sub[relaxed, block[1]](s, 7 + at_, v)
"""
MORE = ", fetch_and, fetch_max, fetch_min, fetch_or, fetch_xor"
UFUNCS = (
    np.add,
    np.minimum,
    np.maximum,
    np.bitwise_and,
    np.bitwise_or,
    np.bitwise_xor,
    np.subtract,
)


@cache
def compiled(t: str) -> Compiled:
    is_whole = t in WHOLE
    text = COMMON.format(
        t=t,
        more=MORE if is_whole else "",
        rows=49 if is_whole else 14,
        body=INTEGERS if is_whole else FLOATS if t != "f16" else "",
    )
    if t == "f16":
        text = text.replace(", fetch_sub", "")
    return compile_texts({"k.prism": text}, "k.prism")


def values(t: str, n: int) -> Array:
    """Whole numbers of all sizes; small ones for floats, whose sums are then exact."""
    chance = np.random.default_rng(n)
    if t in WHOLE:
        limits = np.iinfo(DTYPES[t])
        return chance.integers(limits.min, limits.max, n, DTYPES[t], endpoint=True)
    return chance.integers(-3, 4, n).astype(DTYPES[t])


@pytest.mark.parametrize(
    "n", [nightly(n, quick=n in SIZES) for n in sorted({*SIZES, *range(2, 800, 49)})]
)
@pytest.mark.parametrize("t", DTYPES)
def test_all_operations(t: str, n: int) -> None:
    x, plan = values(t, n), PLANS[n % len(PLANS)]
    ufuncs = UFUNCS if t in WHOLE else (np.add, np.subtract) if t != "f16" else (np.add, np.add)
    blocks, used = -(-n // 64), len(ufuncs) if t != "f16" else 1
    rows = len(ufuncs) * BINS
    found = compiled(t).run(
        blocks,
        {
            "n": n,
            "X": x,
            "total": np.zeros(rows, x.dtype),
            "old": np.zeros(blocks * 64, x.dtype),
            "part": np.zeros(blocks * rows, x.dtype),
        },
        plan=plan,
    )
    total = np.zeros((len(ufuncs), BINS), x.dtype)
    part = np.zeros((blocks, len(ufuncs), BINS), x.dtype)
    at = np.arange(n)
    for row, ufunc in enumerate(ufuncs[:used]):
        ufunc.at(total[row], at % BINS, x)
        ufunc.at(part, (at // 64, row, at % BINS), x)
    assert np.array_equal(found["total"].reshape(total.shape), total)
    assert np.array_equal(found["part"].reshape(part.shape), part)


def test_the_space_is_known() -> None:
    lines = [line.split()[0] for line in compiled("u32").ptx.splitlines() if line.strip()]
    atomics = [line for line in lines if line.startswith(("atom.", "red."))]
    assert all(".shared." in line or ".global." in line for line in atomics)
    assert sum(".shared." in line for line in atomics) == 7
    assert not any(line.startswith("isspacep") for line in lines)


TICKETS = """
from std.atomic import compare_exchange, exchange, fetch_add, load, store

@requires(grid[1], block[1], thread[32])
@launch(threads = 96)
kernel k(ticket: ptr(atomic u64), best: ptr(atomic f32), X: ptr(const f32), seen: ptr(u64),
        last: ptr(atomic u32), chain: ptr(u32), flag: ptr(atomic u32)):
    i: int @ thread[1] = id()
    partition seen as s @ thread[1] at i, chain as c @ thread[1] at i:
        group thread[1]:
            s[0] = fetch_add[relaxed, grid[1]](ticket, 0, 1)
            c[0] = exchange[acq_rel, grid[1]](last, 0, u32(i + 1))
            x: f32 = X[i]
            old: f32 = load[relaxed, grid[1]](best, 0)
            while old < x:
                found: f32 = compare_exchange[relaxed, grid[1]](best, 0, old, x)
                old = x if bits(found) == bits(old) else found
            store[release, grid[1]](flag, i, u32(i))
"""


@cache
def tickets() -> Compiled:
    return compile_texts({"k.prism": TICKETS}, "k.prism")


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_each_sees_its_own_turn(plan: Plan) -> None:
    blocks, n = 3, 288
    x = np.random.default_rng(4).normal(size=n).astype(np.float32)
    found = tickets().run(
        blocks,
        {
            "ticket": np.zeros(1, np.uint64),
            "best": np.full(1, -np.inf, np.float32),
            "X": x,
            "seen": np.zeros(n, np.uint64),
            "last": np.zeros(1, np.uint32),
            "chain": np.zeros(n, np.uint32),
            "flag": np.zeros(n, np.uint32),
        },
        plan=plan,
    )
    assert sorted(found["seen"]) == list(range(n))
    # Every thread found the number of the one before it; the last one's stayed.
    assert sorted([*found["chain"], *found["last"]]) == list(range(n + 1))
    assert found["best"][0] == x.max()
    assert np.array_equal(found["flag"], np.arange(n))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("load[release, grid[1]](p, 0)", "a load is relaxed or acquire"),
        ("store[acquire, grid[1]](p, 0, 1)", "a store is relaxed or release"),
        ("add[acq_rel, grid[1]](p, 0, 1)", "relaxed or release"),
        ("fetch_and[relaxed, grid[1]](f, 0, 1.0)", "integers"),
        ("fetch_add[relaxed, grid[1]](b, 0, bf16(1.0))", "no atomic sum"),
    ],
)
def test_refused(call: str, words: str) -> None:
    text = f"""
from std.atomic import {call.split("[")[0]}

@requires(grid[1], block[1], thread[32])
kernel k(p: ptr(atomic u32), f: ptr(atomic f32), b: ptr(atomic bf16)):
    group thread[1]:
        {call}
"""
    session = check_texts({"k.prism": text}, "k.prism")
    assert [p.code for p in session.problems] == ["P0313"]
    assert words in all_words(session.problems[0])
