"""Plain copies of std.copy on the PTX machine: groups of all sizes, ragged lengths."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from prismc.emulator.schedule import adversaries
from support.groups import nightly
from support.running import Compiled, compile_texts

PLANS = adversaries(4)
QUICK = (312, 313, 500, 512)
TEXT = """
from std.copy import copy, copy_tile, copy_vec, fill

@requires(grid[1], block[1], thread[{unit}])
@launch(threads = 128)
@assume(aligned(X, 16), aligned(Y, 16), aligned(Z, 8))
kernel k(n: int, X: ptr(const f32), Y: ptr(f32), Z: ptr(f32)):
    u: int @ {P} = id({P})
    partition X as x @ {P} at u * 512, Y as y @ {P} at u * 512, Z as z @ {P} at u * 512:
        group {P}:
            shared a: f32[512]
            shared b: f32[200]
            fill(a, 512, -1.0)
            copy(a, x, n)
            copy_tile[200](b, x)
            copy_vec[4](y, a, 512)
            fill(a, 200, 7.0)
            copy(a, b, n - 312)
            copy_vec[2](z, a, 200)
            copy_tile[3](z, b)
"""


@cache
def compiled(group: str) -> Compiled:
    unit = 128 if group.startswith("block") else int(group[7:-1])
    return compile_texts({"k.prism": TEXT.format(P=group, unit=unit)}, "k.prism")


@pytest.mark.parametrize(
    "n", [nightly(n, quick=n in QUICK) for n in sorted({*QUICK, *range(312, 512, 10)})]
)
@pytest.mark.parametrize("group", ["thread[8]", "thread[32]", "thread[64]", "block[1]"])
def test_there_and_back(group: str, n: int) -> None:
    blocks = 2
    units = blocks * (1 if group.startswith("block") else 128 // int(group[7:-1]))
    x = np.random.default_rng(n).normal(size=(units, 512)).astype(np.float32)
    given = {
        "n": n,
        "X": x.ravel(),
        "Y": np.zeros(x.size, np.float32),
        "Z": np.zeros(x.size, np.float32),
    }
    for plan in PLANS:
        found = compiled(group).run(blocks, given, plan=plan)
        first, second = x.copy(), np.zeros_like(x)
        first[:, n:] = -1
        second[:, :200] = 7
        second[:, : n - 312] = x[:, : n - 312]
        second[:, :3] = x[:, :3]
        assert np.array_equal(found["Y"].reshape(x.shape), first)
        assert np.array_equal(found["Z"].reshape(x.shape), second)


ALONE = """
from std.copy import copy, fill

@requires(grid[1], block[1], thread[1])
@launch(threads = 32)
kernel k(n: int, X: ptr(const u16), Y: ptr(u16)):
    i: int @ thread[1] = id()
    partition X as x @ thread[1] at i * 24, Y as y @ thread[1] at i * 24:
        group thread[1]:
            fill(y, 24, 3)
            copy(y, x, n)
"""


@cache
def alone() -> Compiled:
    return compile_texts({"k.prism": ALONE}, "k.prism")


@pytest.mark.parametrize("n", range(25))
def test_a_thread_alone(n: int) -> None:
    x = np.random.default_rng(n).integers(0, 1 << 16, (64, 24), np.uint16)
    expected = np.full_like(x, 3)
    expected[:, :n] = x[:, :n]
    for plan in PLANS:
        given = {"n": n, "X": x.ravel(), "Y": np.zeros(x.size, np.uint16)}
        assert np.array_equal(alone().run(2, given, plan=plan)["Y"].reshape(x.shape), expected)
