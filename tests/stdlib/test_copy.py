"""std.copy on the PTX machine, with copies that happen as late and as early as they may."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from prismc.emulator.schedule import adversaries
from support.groups import draws
from support.running import Compiled, compile_texts

# Each thread copies the elements of the thread opposite, in three steps.
SIXTEEN = """
from std.copy import cp_async_16

@requires(grid[1], block[1], thread[64])
@assume(aligned(x, 16))
kernel k(x: ptr(const {type}), y: ptr({type}), n: int):
    partition y as row @ block[1]:
        group block[1]:
            shared S: {type}[64 * {count}]
            t: int @ thread[1] = id()
            for step in range(n):
                partition S as async s @ thread[1] at t * {count}:
                    cp_async_16(s, 0, x, (step * 64 + t) * {count})
                partition row as out @ thread[1] at t * {count}:
                    for i in range({count}):
                        out[i] += S[(63 - t) * {count} + i]
"""
SIZES = """
from std.copy import cp_async

@requires(grid[1], block[1], thread[32])
@assume(aligned(x, 16))
kernel k(x: ptr(const u32), y: ptr(u32)):
    partition x as xb @ block[1], y as row @ block[1]:
        group block[1]:
            shared S: u32[128]
            t: int @ thread[1] = id()
            partition S as s @ thread[1] at t * {words}, xb as own @ thread[1] at t * {words}:
                group thread[1]:
                    async s as d:
                        cp_async(d, own, {bytes})
            partition row as out @ thread[1] at t * {words}:
                for i in range({words}):
                    out[i] = S[(31 - t) * {words} + i]
"""
TYPES = {"f32": np.float32, "f64": np.float64, "u32": np.uint32, "i16": np.int16}
PLANS = adversaries(5)


@cache
def sixteen(name: str) -> Compiled:
    text = SIXTEEN.format(type=name, count=16 // np.dtype(TYPES[name]).itemsize)
    return compile_texts({"k.prism": text}, "k.prism")


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize("name", TYPES)
def test_sixteen_bytes(name: str, seed: int) -> None:
    count, n = 16 // np.dtype(TYPES[name]).itemsize, (seed + 3) % 24
    x = np.random.default_rng(seed).integers(-99, 99, (n, 64, count)).astype(TYPES[name])
    want = x[:, ::-1].sum(axis=0, dtype=TYPES[name]).ravel()
    for plan in PLANS:
        given = {"x": x.ravel(), "y": np.zeros(64 * count, TYPES[name]), "n": n}
        assert np.array_equal(sixteen(name).run(1, given, plan=plan)["y"], want)


@cache
def sizes(words: int) -> Compiled:
    return compile_texts({"k.prism": SIZES.format(words=words, bytes=4 * words)}, "k.prism")


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize("words", [1, 2, 4])
def test_sizes(words: int, seed: int) -> None:
    x = np.random.default_rng(seed).integers(0, 1 << 32, 32 * words, np.uint32)
    for plan in PLANS:
        y = np.zeros(32 * words, np.uint32)
        after = sizes(words).run(1, {"x": x, "y": y}, plan=plan)["y"]
        assert np.array_equal(after, x.reshape(32, words)[::-1].ravel())


def test_older_targets_have_no_such_copies() -> None:
    with pytest.raises(AssertionError, match="sm_80"):
        compile_texts({"k.prism": SIZES.format(words=1, bytes=4)}, "k.prism", "--target sm_75")
