"""std.shuffle on the PTX machine; groups of lanes that leave their loops at different times."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from support.groups import PLANS, draws, nightly, numbers
from support.running import Array, Compiled, compile_texts

LOOPS = """
from std.shuffle import shfl_xor

@requires(grid[1], block[1], thread[{n}])
@launch(threads = 64)
kernel k(trips: ptr(const i32), Y: ptr(f32)):
    i: int @ thread[1] = id()
    g: int @ thread[{n}] = id()
    partition Y as y @ thread[1] at i:
        group thread[{n}]:
            v: f32 @ thread[1] = f32(i)
            for k in range(trips[g]):
                v = v * 2.0 + shfl_xor[{n}](v, {n} / 2)
            y[0] = v
"""


@cache
def loops(n: int) -> Compiled:
    return compile_texts({"k.prism": LOOPS.format(n=n)}, "k.prism")


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize("n", [2, 4, 8, 16, 32])
def test_groups_on_their_own(n: int, seed: int) -> None:
    trips = np.random.default_rng(seed).integers(0, 6, 64, np.int32)
    expected = np.arange(64, dtype=np.float32)
    for trip in range(trips.max()):
        groups = expected.reshape(-1, n)
        runs = trips[: len(groups), None] > trip
        partner = groups[:, np.arange(n) ^ n // 2]
        expected = np.where(runs, groups * 2 + partner, groups).ravel()
    for plan in PLANS:
        found = loops(n).run(1, {"trips": trips, "Y": np.zeros(64, np.float32)}, plan=plan)["Y"]
        assert (found == expected).all()


MODES = """
from std.shuffle import shfl_down, shfl_down_checked, shfl_idx, shfl_up, shfl_up_checked, shfl_xor

@requires(grid[1], block[1], thread[32])
@launch(threads = 96)
kernel k(d: int, X: ptr(const {t}), at_: ptr(const i32), Y: ptr({t}), F: ptr(bool)):
    i: int @ thread[1] = id()
    partition Y as y @ thread[1] at i * 20, F as f @ thread[1] at i * 10:
        group thread[32]:
{body}
"""
ONE = """
            group thread[{n}]:
                y[{k}] = shfl_xor[{n}](X[i], d % {n})
                y[{k} + 1] = shfl_idx[{n}](X[i], at_[i])
                y[{k} + 2] = shfl_up[{n}](X[i], d)
                y[{k} + 3] = shfl_down[{n}](X[i], d)
                below_{n}, has_below_{n} := shfl_up_checked[{n}](X[i], d)
                above_{n}, has_above_{n} := shfl_down_checked[{n}](X[i], d)
                f[{k} / 2] = has_below_{n} and bits(below_{n}) == bits(y[{k} + 2])
                f[{k} / 2 + 1] = has_above_{n} and bits(above_{n}) == bits(y[{k} + 3])
"""
GROUPS = (2, 4, 8, 16, 32)
DTYPES = {
    "u8": np.uint8, "i16": np.int16, "f16": np.float16, "i32": np.int32, "f32": np.float32,
    "u64": np.uint64, "f64": np.float64,
}  # fmt: skip


@cache
def compiled(t: str) -> Compiled:
    body = "".join(ONE.format(n=n, k=4 * k) for k, n in enumerate(GROUPS))
    return compile_texts({"k.prism": MODES.format(t=t, body=body)}, "k.prism")


@pytest.mark.parametrize("distance", [nightly(n, quick=n in (0, 1, 3, 7, 31)) for n in range(32)])
@pytest.mark.parametrize("t", DTYPES)
def test_modes(t: str, distance: int) -> None:
    chance = np.random.default_rng(distance)
    x = np.frombuffer(chance.bytes(96 * np.dtype(DTYPES[t]).itemsize), DTYPES[t])
    if np.dtype(DTYPES[t]).kind == "f":
        x = chance.normal(size=96).astype(DTYPES[t])
    at = chance.integers(0, 32, 96, np.int32)
    given = {"d": distance, "X": x, "at_": at, "Y": np.zeros(96 * 20, x.dtype)}
    given["F"] = np.zeros(960, np.bool_)
    for plan in PLANS:
        arrays = compiled(t).run(1, given, plan=plan)
        check_modes(x, at, distance, arrays)


def check_modes(x: Array, at: Array, distance: int, arrays: dict[str, Array]) -> None:
    found, flags = arrays["Y"].reshape(96, 5, 4), arrays["F"].reshape(96, 5, 2)
    thread = np.arange(96)
    for k, n in enumerate(GROUPS):
        lane, start = thread % n, thread // n * n
        up, down = lane - distance, lane + distance
        sources = (
            lane ^ distance % n,
            at % n,
            np.where(up < 0, lane, up),
            np.where(down >= n, lane, down),
        )
        assert np.array_equal(flags[:, k], np.stack([up >= 0, down < n], axis=1))
        for mode, source in enumerate(sources):
            assert np.array_equal(found[:, k, mode], x[start + source]), (n, mode)


SUMS = """
from std.shuffle import shfl_up_add

@requires(grid[1], block[1], thread[{n}])
@launch(threads = 64)
kernel k(X: ptr(const {t}), Y: ptr({t})):
    i: int @ thread[1] = id()
    partition Y as y @ thread[1] at i:
        group thread[{n}]:
            up_to: {t} @ thread[1] = X[i]
            static for k in range(log2({n})):
                up_to = shfl_up_add[{n}](up_to, 1 << k)
            y[0] = up_to
"""


@cache
def sums(t: str, n: int) -> Compiled:
    return compile_texts({"k.prism": SUMS.format(t=t, n=n)}, "k.prism")


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize(("t", "n"), [("i32", 32), ("u32", 8), ("f32", 4)])
def test_sums(t: str, n: int, seed: int) -> None:
    blocks = 1 + seed % 5
    x = numbers(t, 64 * blocks, seed)
    for plan in PLANS:
        found = sums(t, n).run(blocks, {"X": x, "Y": np.zeros(x.size, x.dtype)}, plan=plan)["Y"]
        assert np.array_equal(found, np.cumsum(x.reshape(-1, n), axis=1, dtype=x.dtype).ravel())
