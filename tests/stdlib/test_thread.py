"""std.thread on the PTX machine, with ragged ends."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

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


@pytest.mark.parametrize("n", [0, 1, 8, 63, 512, 517, 1000])
def test_items(n: int) -> None:
    blocks = 2
    x = np.arange(n, dtype=np.float32)
    given = {
        "n": n,
        "X": x,
        "Y": np.zeros(1024, np.float32),
        "Z": np.zeros(1024, np.float32),
        "S": np.zeros(128, np.float32),
    }
    found = compiled().run(blocks, given)
    filled = np.full(1024, -1, np.float32)
    filled[:n] = x
    assert np.array_equal(found["Y"], filled)
    assert np.array_equal(found["Z"], np.append(x, np.zeros(1024 - n, np.float32)))
    assert np.array_equal(found["S"], np.cumsum(filled.reshape(-1, 8), axis=1).sum(axis=1))
