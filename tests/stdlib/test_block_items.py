"""Loads, stores and exchanges of std.block: arrangements, guards, groups on their own."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from support.groups import PLANS, draws
from support.running import Compiled, compile_texts

# Every load's items are stored in every way; what comes out tells both arrangements.
TEXT = """
from std.block import load_blocked, load_blocked_guarded, load_blocked_vec, load_striped
from std.block import load_striped_guarded, load_transposed, store_blocked, store_blocked_guarded
from std.block import store_striped, store_striped_guarded, store_transposed

const N: int = 4

@requires(grid[1], block[1], thread[{unit}])
@launch(threads = {threads})
@assume(aligned(X, 16))
kernel k(valid: int, X: ptr(const {t}), A: ptr({t}), B: ptr({t}), C: ptr({t}), D: ptr({t}),
        E: ptr({t})):
    u: int @ {P} = id({P})
    const SIZE: int = N * {unit}
    partition X as x @ {P} at u * SIZE, A as a @ {P} at u * SIZE, B as b @ {P} at u * SIZE:
        partition C as c @ {P} at u * SIZE, D as d @ {P} at u * SIZE, E as e @ {P} at u * SIZE:
            group {P}:
                v: {t}[N] @ thread[1]
                load_blocked(x, v)
                store_striped(a, v)
                load_blocked_vec[N](x, v)
                store_blocked_guarded(b, valid, v)
                load_striped(x, v)
                store_blocked(c, v)
                for k in range(2):
                    load_transposed(x, v)
                    static for i in range(N):
                        v[i] += 1  # otherwise nobody would miss a barrier: nothing changes
                    store_transposed(d, v)
                load_striped_guarded(x, valid, 5, v)
                store_striped(e, v)
                load_blocked_guarded(x, valid - 1, 6, v)
                store_striped_guarded(e, valid - 2, v)
"""


@cache
def compiled(t: str, group: str, unit: int, threads: int) -> Compiled:
    text = TEXT.format(t=t, P=group, unit=unit, threads=threads)
    return compile_texts({"k.prism": text}, "k.prism")


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize(
    ("t", "group", "unit", "threads"),
    [
        ("i32", "thread[4]", 4, 32),
        ("f32", "thread[32]", 32, 64),
        ("i32", "thread[64]", 64, 192),
        ("u8", "block[1]", 96, 96),
        ("f32", "block[1]", 256, 256),
    ],
)
def test_arrangements(t: str, group: str, unit: int, threads: int, seed: int) -> None:
    blocks, n = 2, 4
    dtype = {"i32": np.int32, "f32": np.float32, "u8": np.uint8}[t]
    units = blocks * threads // unit
    random, edges = np.random.default_rng(seed), (0, unit * n - 3, unit * n, 2)
    x = random.integers(0, 200, (units, unit * n)).astype(dtype)
    valid = edges[seed] if seed < len(edges) else int(random.integers(unit * n))
    item = np.arange(unit * n)
    blocked, striped = item.reshape(unit, n).T.ravel(), item.reshape(n, unit).T.ravel()
    for plan in PLANS:
        given = {name: np.zeros(x.size, dtype) for name in "ABCDE"}
        found = compiled(t, group, unit, threads).run(
            blocks, {"valid": valid, "X": x.ravel(), **given}, plan=plan
        )
        expected = {name: x.copy() for name in "ABCDE"}
        expected["A"] = x[:, blocked]
        expected["B"] = np.where(item < valid, x, 0)
        expected["C"] = x[:, striped]
        expected["D"] = x + 1
        expected["E"] = np.where(item < valid, x, 5)
        again = np.where(item < valid - 1, x, 6)[:, blocked]
        expected["E"] = np.where(item < valid - 2, again, expected["E"])
        for name, values in expected.items():
            assert np.array_equal(found[name].reshape(x.shape), values.astype(dtype)), name
