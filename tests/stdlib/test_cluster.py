"""std.cluster on the PTX machine: every type, each block reads the others' arrays."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from support.checking import check_texts
from support.groups import PLANS, draws, numbers
from support.running import Compiled, compile_texts

PROGRAM = """
from std.cluster import load_from

@requires(grid[1], block[4], thread[32])
@launch(threads = 32, cluster = 4)
kernel k(X: ptr(const {type}), Y: ptr({type})):
    c: int @ block[4] = id()
    partition Y as y @ block[4] at c * 128:
        group block[4]:
            shared S: {type}[2][32] @ block[1]
            rank: int @ block[1] = id()
            group block[1]:
                t: int @ thread[1] = id()
                partition S[1] as s @ thread[1] at t:
                    s[0] = X[c * 128 + rank * 32 + t]
            partition y as own @ block[1] at rank * 32:
                group block[1]:
                    t: int @ thread[1] = id()
                    partition own as o @ thread[1] at t:
                        o[0] = load_from(S[1], 31 - t, (rank + t) % 4)
"""


@cache
def compiled(type: str) -> Compiled:
    texts = {"main.prism": PROGRAM.format(type=type)}
    return compile_texts(texts, "main.prism", "--target sm_90")


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize("type", ["i32", "f32", "u64", "f64"])
def test_other_blocks_elements(type: str, seed: int) -> None:
    clusters = 1 + seed % 5
    x = numbers(type, 128 * clusters, seed)
    t, rank = np.arange(32), np.arange(4)[:, None]
    expected = x.reshape(-1, 4, 32)[:, (rank + t) % 4, 31 - t].reshape(-1)
    for plan in PLANS:
        found = compiled(type).run(4 * clusters, {"X": x, "Y": np.zeros_like(x)}, plan=plan)
        assert np.array_equal(found["Y"], expected)


def test_sizes_of_elements() -> None:
    session = check_texts(
        {"main.prism": PROGRAM.format(type="u16")}, "main.prism", "--target sm_90"
    )
    assert [problem.code for problem in session.problems] == ["P0313"]
