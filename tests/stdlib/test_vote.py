"""std.vote and std.lanes on the PTX machine: every group size, groups that vote on their own."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from support.checking import all_words, check_texts
from support.groups import PLANS, draws
from support.running import Compiled, compile_texts

HEAD = """
from std.lanes import members, start
from std.vote import all, any, ballot, uniform

@requires(grid[1], block[1], thread[32])
@launch(threads = 64)
kernel k(X: ptr(const u32), Y: ptr(u32)):
    i: int @ thread[1] = id()
    partition Y as y @ thread[1] at i * 36:
        group thread[32]:
            flag: bool @ thread[1] = X[i] % 2 == 1
"""
ONE = """
            group thread[{n}]:
                y[{k}] = ballot(flag)
                y[{k} + 1] = u32(any(flag))
                y[{k} + 2] = u32(all(flag))
                y[{k} + 3] = u32(uniform(flag))
                y[{k} + 4] = start[{n}]()
                y[{k} + 5] = members[{n}]()
"""
GROUPS = (1, 2, 4, 8, 16, 32)


@cache
def compiled() -> Compiled:
    body = "".join(ONE.format(n=n, k=6 * k) for k, n in enumerate(GROUPS))
    return compile_texts({"k.prism": HEAD + body}, "k.prism")


@pytest.mark.parametrize("seed", draws())
def test_votes(seed: int) -> None:
    """A warp of flags that are all the same among others that are rare to frequent."""
    random, blocks = np.random.default_rng(seed), 1 + seed % 5
    flags = random.random(64 * blocks) < random.choice([0.0, 0.1, 0.5, 0.9, 1.0], 64 * blocks)
    flags[32:64] = seed % 2
    for plan in PLANS:
        given = {"X": flags.astype(np.uint32) + 2, "Y": np.zeros(flags.size * 36, np.uint32)}
        found = compiled().run(blocks, given, plan=plan)["Y"].reshape(-1, 6, 6)
        for k, n in enumerate(GROUPS):
            groups = flags.reshape(-1, n)
            lanes = np.arange(0, 32, n).repeat(n)
            whole = (1 << n) - 1
            expected = np.stack(
                [
                    (groups << np.arange(n)).sum(axis=1).repeat(n),
                    groups.any(axis=1).repeat(n),
                    groups.all(axis=1).repeat(n),
                    (groups == groups[:, :1]).all(axis=1).repeat(n),
                    np.tile(lanes, flags.size // 32),
                    np.tile([whole << int(lane) for lane in lanes], flags.size // 32),
                ],
                axis=1,
            )
            assert np.array_equal(found[:, k], expected), n


def test_more_than_a_warp() -> None:
    text = """
from std.vote import any

@requires(block[1], thread[64])
def f(flag: bool @ thread[1]):
    fine: bool @ thread[32] = any[thread[32]](flag)
    wrong: bool = any(flag)
"""
    session = check_texts({"k.prism": text}, "k.prism")
    assert [p.code for p in session.problems] == ["P0313"]
    assert "group thread[32]" in all_words(session.problems[0])
