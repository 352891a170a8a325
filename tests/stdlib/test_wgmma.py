"""Products of std.wgmma that no page of the specification runs: 8-bit floats, shapes by their names
in PTX."""

from __future__ import annotations

import re
from functools import cache

import ml_dtypes
import numpy as np
import pytest

from support.groups import PLANS, draws
from support.running import Compiled, compile_texts

EIGHT_BITS = """
from std.wgmma import wgmma_k32

@requires(grid[1], block[1], thread[128])
@launch(threads = 128)
kernel k(A: ptr(const {a}), B: ptr(const {b}), C: ptr(f32)):
    partition C as C_b @ block[1]:
        group block[1]:
            shared A_s: {a}[64 * 128] layout swizzle128
            shared B_s: {b}[8 * 128] layout swizzle128
            t: int @ thread[1] = id()
            c: f32[4] @ thread[1] = 1
            partition A_s as a @ thread[1] at t, B_s as b @ thread[1] at t:
                for r in range(64):
                    a[r * 128] = A[t + r * 128]
                for r in range(8):
                    b[r * 128] = B[t + r * 128]
            group thread[128]:
                async c as d:
                    static for kk in range(0, 128, 32):
                        wgmma_k32(d, A_s, kk, B_s, kk, true)
            partition C_b as mine @ thread[1] at (t / 32 * 16 + t % 32 / 4) * 8 + t % 4 * 2:
                static for i in range(4):
                    mine[i / 2 * 64 + i % 2] = c[i]
"""
NAMED = """
from std.wgmma import wgmma_m64n64k16

@requires(grid[1], block[1], thread[128])
@launch(threads = 128)
kernel k(A: ptr(const f16), C: ptr(f32)):
    partition C as C_b @ block[1]:
        group block[1]:
            shared A_s: f16[64 * 64] layout swizzle128
            t: int @ thread[1] = id()
            c: f32[32] @ thread[1]
            partition A_s as a @ thread[1] at t:
                for r in range(32):
                    a[r * 128] = A[t + r * 128]
            group thread[128]:
                async c as d:
                    static for kk in range(0, 64, 16):
                        wgmma_m64n64k16(d, A_s, kk, A_s, kk, kk > 0)
            partition C_b as mine @ thread[1] at (t / 32 * 16 + t % 32 / 4) * 64 + t % 4 * 2:
                static for j in range(8):
                    static for i in range(4):
                        mine[i / 2 * 8 * 64 + j * 8 + i % 2] = c[j * 4 + i]
"""
FORMATS = {"f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}


@cache
def eight_bits(left: str, right: str) -> Compiled:
    text = EIGHT_BITS.format(a=left, b=right)
    return compile_texts({"k.prism": text}, "k.prism", "--target sm_90a")


@pytest.mark.parametrize("seed", draws())
@pytest.mark.parametrize("left", FORMATS)
@pytest.mark.parametrize("right", FORMATS)
def test_eight_bit_floats(left: str, right: str, seed: int) -> None:
    """Small integers, which both formats and the sums hold exactly; four products go on summing."""
    chance = np.random.default_rng(seed)
    a, b = chance.integers(-4, 5, (64, 128)), chance.integers(-4, 5, (8, 128))
    given = {
        "A": a.astype(FORMATS[left]).view(np.uint8).ravel(),
        "B": b.astype(FORMATS[right]).view(np.uint8).ravel(),
        "C": np.zeros(64 * 8, np.float32),
    }
    for plan in PLANS:
        found = eight_bits(left, right).run(1, given, plan=plan)["C"].reshape(64, 8)
        assert np.array_equal(found, a @ b.T + 1)


@cache
def named() -> Compiled:
    return compile_texts({"k.prism": NAMED}, "k.prism", "--target sm_90a")


@pytest.mark.parametrize("seed", draws())
def test_a_shape_by_its_name(seed: int) -> None:
    a = np.random.default_rng(seed).integers(-4, 5, (64, 64))
    given = {"A": a.astype(np.float16).ravel(), "C": np.zeros(64 * 64, np.float32)}
    for plan in PLANS:
        assert np.array_equal(named().run(1, given, plan=plan)["C"].reshape(64, 64), a @ a.T)


def test_what_is_kept_is_known_to_be_shared() -> None:
    """The register that holds the address of shared memory hides its value alone."""
    assert "st.shared.u16" in named().ptx
    assert not re.search(r"\b(ld|st)\.[bu]16", named().ptx)
