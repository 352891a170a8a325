"""std.thread on the PTX machine, with ragged ends."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from prismc.emulator.schedule import Plan
from support.groups import PLANS, trials
from support.running import Compiled, compile_texts

TEXT = """
from std.thread import thread_inclusive_scan, thread_load, thread_load_guarded, thread_load_vec
from std.thread import thread_reduce, thread_store, thread_store_guarded, thread_store_vec

def plus[T: type](a: T, b: T) -> T:
    return a + b

@requires(grid[1], block[1], thread[1])
@launch(threads = 64)
@assume(aligned(X, 16), aligned(Y, 16), aligned(Z, 16))
kernel k(n: int, X: ptr(const f32), Y: ptr(f32), Z: ptr(f32), S: ptr(f32)):
    i: int @ thread[1] = id()
    partition Y as y @ thread[1] at i * 8, Z as z @ thread[1] at i * 8, S as s @ thread[1] at i:
        partition X as x @ thread[1] at i * 8:
            group thread[1]:
                a: f32[8]
                b: f32[8]
                if i * 8 + 8 <= n:
                    thread_load_vec[4](x, a)
                    thread_load(x, b)
                    thread_store_vec[2](y, b)
                    thread_store_vec[4](z, a)
                else:
                    thread_load_guarded(x, n - i * 8, -1.0, a)
                    thread_store(y, a)
                    thread_store_guarded(z, n - i * 8, a)
                thread_inclusive_scan[Op = plus](a)
                s[0] = thread_reduce[Op = plus](a)
"""


@cache
def compiled() -> Compiled:
    return compile_texts({"k.prism": TEXT}, "k.prism")


@pytest.mark.parametrize(
    ("n", "plans"), [*((n, PLANS[:1]) for n in (8, 63, 512, 517)), *trials(1024)]
)
def test_items(n: int, plans: tuple[Plan, ...]) -> None:
    blocks = 2
    x = np.arange(n, dtype=np.float32)
    given = {
        "n": n,
        "X": x,
        "Y": np.zeros(1024, np.float32),
        "Z": np.zeros(1024, np.float32),
        "S": np.zeros(128, np.float32),
    }
    filled = np.full(1024, -1, np.float32)
    filled[:n] = x
    for plan in plans:
        found = compiled().run(blocks, given, plan=plan)
        assert np.array_equal(found["Y"], filled)
        assert np.array_equal(found["Z"], np.append(x, np.zeros(1024 - n, np.float32)))
        assert np.array_equal(found["S"], np.cumsum(filled.reshape(-1, 8), axis=1).sum(axis=1))


MORE = """
from std.thread import lower_bound, thread_exclusive_scan, thread_sort, thread_sort_pairs
from std.thread import upper_bound

def less(a: i32, b: i32) -> bool:
    return a < b

def plus(a: i32, b: i32) -> i32:
    return a + b

@requires(grid[1], block[1], thread[1])
@launch(threads = 64)
kernel k(n: int, X: ptr(const i32), T: ptr(const i32), Y: ptr(i32)):
    i: int @ thread[1] = id()
    partition X as x @ thread[1] at i * 7, Y as y @ thread[1] at i * 31:
        group thread[1]:
            v: i32[7]
            w: i32[7]
            static for j in range(7):
                v[j] = x[j]
                w[j] = j
            y[0] = thread_exclusive_scan[Op = plus](v, 5)
            static for j in range(7):
                y[1 + j] = v[j]
                v[j] = x[j]
            thread_sort[Less = less](v)
            static for j in range(7):
                y[8 + j] = v[j]
                v[j] = x[j]
            thread_sort_pairs[Less = less](v, w)
            static for j in range(7):
                y[15 + j] = v[j]
                y[22 + j] = w[j]
            y[29] = lower_bound[Less = less](T, 0, n, x[0])
            y[30] = upper_bound[Less = less](T, 0, n, x[0])
"""


@pytest.mark.parametrize(("n", "plans"), [*((n, PLANS[:1]) for n in (1, 2, 17)), *trials(64)])
def test_scans_sorts_and_searches(n: int, plans: tuple[Plan, ...]) -> None:
    chance = np.random.default_rng(n)
    x = chance.integers(0, 9, (64, 7)).astype(np.int32)
    table = np.sort(chance.integers(0, 9, n)).astype(np.int32)
    given = {"n": n, "X": x.ravel(), "T": table, "Y": np.zeros(64 * 31, np.int32)}
    found = [more().run(1, given, plan=plan)["Y"].reshape(64, 31) for plan in plans]
    order = np.argsort(x, axis=1, kind="stable")
    rows = np.take_along_axis(x, order, axis=1)
    sums = 5 + np.cumsum(x, axis=1)
    ends = [np.searchsorted(table, x[:, :1], side) for side in ("left", "right")]
    columns = [sums[:, -1:], 5 + 0 * x[:, :1], sums[:, :-1], rows, rows, order, *ends]
    assert all(np.array_equal(each, np.hstack(columns)) for each in found)


@cache
def more() -> Compiled:
    return compile_texts({"k.prism": MORE}, "k.prism")
