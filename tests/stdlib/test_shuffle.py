"""std.shuffle on the PTX machine; groups of lanes that leave their loops at different times."""

from __future__ import annotations

import numpy as np
import pytest

from support.running import compile_texts

TEXT = """
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


@pytest.mark.parametrize("n", [2, 4, 8, 16, 32])
def test_shfl_xor(n: int) -> None:
    program = compile_texts({"k.prism": TEXT.format(n=n)}, "k.prism")
    trips = np.arange(64, dtype=np.int32) % 3
    found = program.run(1, {"trips": trips, "Y": np.zeros(64, np.float32)})["Y"]
    expected = np.arange(64, dtype=np.float32)
    for trip in range(2):
        groups = expected.reshape(-1, n)
        runs = trips[: len(groups), None] > trip
        partner = groups[:, np.arange(n) ^ n // 2]
        expected = np.where(runs, groups * 2 + partner, groups).ravel()
    assert (found == expected).all()
