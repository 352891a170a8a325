"""std.warp on the PTX machine, against NumPy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from support.groups import PLANS, draws, numbers
from support.running import Array, Compiled, compile_texts

FOLDS = """
from std.warp import warp_exclusive_scan, warp_exclusive_scan_by, warp_inclusive_scan
from std.warp import warp_inclusive_scan_by, warp_max, warp_min, warp_reduce, warp_sum

# Associative, and not commutative: (a, b), (c, d) is (a * c, b * c + d), in two halves of 16 bits.
def later[T: type](left: T, right: T) -> T:
    return right

def least[T: type](a: T, b: T) -> T:
    return min(a, b)

@requires(grid[1], block[1], thread[32])
@launch(threads = 96)
kernel k(X: ptr(const {t}), Y: ptr({t})):
    i: int @ thread[1] = id()
    partition Y as y @ thread[1] at i * 10:
        group thread[32]:
            v: {t} @ thread[1] = X[i]
            y[0] = warp_sum(v)
            y[1] = warp_min(v)
            y[2] = warp_max(v)
            y[3] = warp_reduce[Op = least](v)
            y[4] = warp_inclusive_scan(v)
            y[5] = warp_inclusive_scan_by[Op = later](v)
            before, all := warp_exclusive_scan(v)
            y[6] = before
            y[7] = all
            least_before, least_of_all := warp_exclusive_scan_by[Op = least](v, {t}(77))
            y[8] = least_before
            y[9] = least_of_all
"""
DTYPES = {
    "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "f32": np.float32,
    "f64": np.float64, "i16": np.int16,
}  # fmt: skip


@cache
def folds(t: str) -> Compiled:
    return compile_texts({"k.prism": FOLDS.format(t=t)}, "k.prism")


def lanes(values: Array) -> Array:
    """One value a warp, for each of its lanes."""
    return np.repeat(values, 32)


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize("t", DTYPES)
def test_folds_and_scans(t: str, seed: int) -> None:
    blocks = 1 + seed % 5
    x = numbers(t, 96 * blocks, seed)
    warps = x.reshape(-1, 32)
    sums = np.cumsum(warps, axis=1, dtype=x.dtype)
    least = np.minimum.accumulate(warps, axis=1)
    first = np.full((len(warps), 1), 77, x.dtype)
    expected = np.stack(
        [
            lanes(sums[:, -1]),
            lanes(warps.min(axis=1)),
            lanes(warps.max(axis=1)),
            lanes(warps.min(axis=1)),
            sums.ravel(),
            x,
            (sums - warps).ravel(),
            lanes(sums[:, -1]),
            np.hstack([first, least[:, :-1]]).ravel(),
            lanes(least[:, -1]),
        ],
        axis=1,
    )
    for plan in PLANS:
        given = {"X": x, "Y": np.zeros(x.size * 10, x.dtype)}
        found = folds(t).run(blocks, given, plan=plan)["Y"].reshape(-1, 10)
        assert np.array_equal(found, expected)


MATCHES = """
from std.warp import match_all, match_any

@requires(grid[1], block[1], thread[32])
@launch(threads = 64)
kernel k(X: ptr(const {t}), Y: ptr(u32)):
    i: int @ thread[1] = id()
    partition Y as y @ thread[1] at i * 2:
        group thread[32]:
            y[0] = match_any(X[i])
            y[1] = u32(match_all(X[i]))
"""


@cache
def matches(t: str) -> Compiled:
    return compile_texts({"k.prism": MATCHES.format(t=t)}, "k.prism")


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize("t", ["u32", "f64"])
def test_matches(t: str, seed: int) -> None:
    blocks = 1 + seed % 3
    x = numbers(t, 64 * blocks, seed, 0, 1 + seed)
    x[32:64] = 3
    warps = x.reshape(-1, 32)
    same = (warps[:, :, None] == warps[:, None, :]).astype(np.uint64)
    masks = (same << np.arange(32, dtype=np.uint64)).sum(axis=2).ravel()
    expected = np.stack([masks, lanes((warps == warps[:, :1]).all(axis=1))], axis=1)
    for plan in PLANS:
        given = {"X": x, "Y": np.zeros(2 * x.size, np.uint32)}
        found = matches(t).run(blocks, given, plan=plan)["Y"].reshape(-1, 2)
        assert np.array_equal(found, expected)


INSTRUCTIONS = """
from std.warp import redux_and, redux_max, redux_min, redux_or, redux_sum, redux_xor

@requires(grid[1], block[1], thread[32])
@launch(threads = 64)
kernel k(X: ptr(const {t}), Y: ptr({t})):
    i: int @ thread[1] = id()
    partition Y as y @ thread[1] at i * 6:
        group thread[{n}]:
            v: {t} @ thread[1] = X[i]
            y[0] = redux_sum(v)
            y[1] = redux_min(v)
            y[2] = redux_max(v)
            y[3] = redux_and(v)
            y[4] = redux_or(v)
            y[5] = redux_xor(v)
"""
UFUNCS = (np.add, np.minimum, np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor)


@cache
def instructions(t: str, n: int) -> Compiled:
    return compile_texts({"k.prism": INSTRUCTIONS.format(t=t, n=n)}, "k.prism")


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize("n", [4, 32])
@pytest.mark.parametrize("t", ["i32", "u32"])
def test_redux(t: str, n: int, seed: int) -> None:
    blocks = 1 + seed % 5
    x = np.frombuffer(np.random.default_rng(seed).bytes(256 * blocks), DTYPES[t])
    groups = x.reshape(-1, n)
    expected = [np.repeat(ufunc.reduce(groups, axis=1), n).astype(x.dtype) for ufunc in UFUNCS]
    for plan in PLANS:
        given = {"X": x, "Y": np.zeros(6 * x.size, x.dtype)}
        found = instructions(t, n).run(blocks, given, plan=plan)["Y"].reshape(-1, 6)
        assert np.array_equal(found, np.stack(expected, axis=1))
