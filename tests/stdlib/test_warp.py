"""std.warp on the PTX machine, against NumPy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from prismc.emulator.schedule import adversaries
from support.running import Array, Compiled, compile_texts

PLANS = adversaries(5)
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


@pytest.mark.parametrize("t", DTYPES)
def test_folds_and_scans(t: str) -> None:
    blocks = 2
    x = np.random.default_rng(1).integers(0, 100, 96 * blocks).astype(DTYPES[t])
    if t in ("i32", "i64", "f32", "f64", "i16"):
        x -= 50
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


@pytest.mark.parametrize(("t", "dtype"), [("u32", np.uint32), ("f64", np.float64)])
def test_matches(t: str, dtype: type) -> None:
    program = compile_texts({"k.prism": MATCHES.format(t=t)}, "k.prism")
    x = np.random.default_rng(2).integers(0, 5, 64).astype(dtype)
    x[32:] = 3
    found = program.run(1, {"X": x, "Y": np.zeros(128, np.uint32)})["Y"].reshape(64, 2)
    warps = x.reshape(2, 32)
    same = (warps[:, :, None] == warps[:, None, :]).astype(np.uint64)
    assert np.array_equal(found[:, 0], (same << np.arange(32, dtype=np.uint64)).sum(axis=2).ravel())
    assert np.array_equal(found[:, 1], [0] * 32 + [1] * 32)


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


@pytest.mark.parametrize("n", [4, 32])
@pytest.mark.parametrize("t", ["i32", "u32"])
def test_redux(t: str, n: int) -> None:
    program = compile_texts({"k.prism": INSTRUCTIONS.format(t=t, n=n)}, "k.prism")
    x = np.frombuffer(np.random.default_rng(5).bytes(256), DTYPES[t])
    found = program.run(1, {"X": x, "Y": np.zeros(384, x.dtype)})["Y"].reshape(64, 6)
    groups = x.reshape(-1, n)
    expected = [np.repeat(ufunc.reduce(groups, axis=1), n).astype(x.dtype) for ufunc in UFUNCS]
    assert np.array_equal(found, np.stack(expected, axis=1))
