"""Launches of kernels that store through tensor maps: what is written, and may share no memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import prismc
from prismc.testing import RunError

STORES = """\
from std.copy import tma_load, tma_store

@requires(block[1], thread[64])
def put(to: tensor_map(f32[16, 32]), s: ptr(f32), x: int):
    claim s as async d @ thread[1]:
        first thread[1]:
            tma_store(to, x, 0, d, 0)

@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
kernel moved(A: tensor_map(f32[16, 32]), B: tensor_map(f32[16, 32]), C: tensor_map(f32[16, 32])):
    b: int @ block[1] = id()
    group block[1]:
        shared S: f32[16 * 32] align 128
        shared T: f32[16 * 32] align 128
        claim S as async d @ thread[1], T as async e @ thread[1]:
            first thread[1]:
                tma_load(d, A, b * 32, 0)
                tma_load(e, C, b * 32, 0)
        put(B, S, b * 32)
"""


def test_a_map_that_is_stored_through_has_memory_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "moved.prism"
    file.write_text(STORES, encoding="utf-8")
    moved = prismc.load(file, target="sm_90").moved
    a = np.arange(1024, dtype=np.float32).reshape(16, 64)
    b = np.zeros((16, 64), np.float32)
    moved[2](a, b, a)  # the two that are only read may be one
    assert (b == a).all()
    with pytest.raises(RunError, match="`B`, which the kernel may write, shares memory with `C`"):
        moved[2](a, b, b)
    b.flags.writeable = False
    with pytest.raises(RunError, match="`B` is read only, and the kernel may write it"):
        moved[2](a, b, a)
