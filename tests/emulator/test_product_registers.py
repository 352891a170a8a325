"""Registers of asynchronous products: nobody touches them between issue and wait.

The products and what disturbs them stand in one asm text each, so that no compiler comes between.
"""

from __future__ import annotations

import numpy as np
import pytest

from emulator.compilers import kernel_text, ptx_of
from prismc.emulator.api import run_ptx
from prismc.emulator.findings import Finding, Kind

HEADER = kernel_text("wgmma_tiles").partition("__device__ __forceinline__ void fill")[0]
FENCE = "wgmma.fence.sync.aligned;"
PRODUCT = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
    "{%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;"
)
COMMIT = "wgmma.commit_group.sync.aligned;"
WAIT = "wgmma.wait_group.sync.aligned 0;"
CHANGE_A, CHANGE_D = "xor.b32 %5, %5, 1;", "add.f32 %1, %1, %1;"
READ_A, READ_D = "mov.b32 x, 0; xor.b32 x, %5, 1;", "add.f32 y, %1, %1;"


def _findings(*steps: str) -> tuple[Finding, ...]:
    body = " ".join(("{ .reg .b32 x; .reg .f32 y;", *steps, "}"))
    source = f"""{HEADER}
extern "C" __global__ void __launch_bounds__(128) product(float* out, unsigned* left) {{
    __shared__ __align__(1024) char b[8 * 128];
    int t = threadIdx.x;
    for (int i = t; i < 8 * 128; i += 128) b[i] = 0;
    proxy_fence();
    __syncthreads();
    float d[4] = {{1, 2, 3, 4}};
    unsigned a[4] = {{t, t, t, t}};
    asm volatile("{body}" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+r"(a[0]),
                 "+r"(a[1]), "+r"(a[2]), "+r"(a[3]) : "l"(descriptor(b)));
    for (int i = 0; i < 4; ++i) {{ out[4 * t + i] = d[i]; left[4 * t + i] = a[i]; }}
}}
"""
    args = [np.zeros(512, np.float32), np.zeros(512, np.uint32)]
    return run_ptx(ptx_of(source, "sm_90a"), None, 1, 128, args).findings


@pytest.mark.parametrize(
    "steps",
    [
        (FENCE, PRODUCT, COMMIT, WAIT),
        (CHANGE_A, CHANGE_D, FENCE, PRODUCT, COMMIT, WAIT, CHANGE_A, CHANGE_D),
        (FENCE, PRODUCT, COMMIT, WAIT, CHANGE_A, FENCE, PRODUCT, COMMIT, WAIT),
        # Products of one shape may follow each other without a fence.
        (FENCE, PRODUCT, PRODUCT, COMMIT, PRODUCT, COMMIT, WAIT),
        (FENCE, PRODUCT, READ_A, COMMIT, WAIT),
    ],
)
def test_in_order(steps: tuple[str, ...]) -> None:
    assert _findings(*steps) == ()


@pytest.mark.parametrize(
    ("steps", "kind", "words"),
    [
        ((FENCE, PRODUCT, CHANGE_A, COMMIT, WAIT), Kind.LIFETIME, "still reads"),
        ((FENCE, PRODUCT, COMMIT, CHANGE_A, WAIT), Kind.LIFETIME, "still reads"),
        ((FENCE, PRODUCT, COMMIT, CHANGE_D, WAIT), Kind.LIFETIME, "still changes"),
        ((FENCE, PRODUCT, COMMIT, READ_D, WAIT), Kind.LIFETIME, "still changes"),
        ((PRODUCT, COMMIT, WAIT), Kind.ORDER, "no `wgmma.fence`"),
        ((FENCE, CHANGE_A, PRODUCT, COMMIT, WAIT), Kind.ORDER, "no `wgmma.fence`"),
        ((FENCE, CHANGE_D, PRODUCT, COMMIT, WAIT), Kind.ORDER, "no `wgmma.fence`"),
        (
            (FENCE, PRODUCT, COMMIT, WAIT, CHANGE_A, PRODUCT, COMMIT, WAIT),
            Kind.ORDER,
            "no `wgmma.fence`",
        ),
    ],
)
def test_disturbed(steps: tuple[str, ...], kind: Kind, words: str) -> None:
    findings = _findings(*steps)
    assert [(finding.kind, words in finding.message) for finding in findings] == [(kind, True)]
