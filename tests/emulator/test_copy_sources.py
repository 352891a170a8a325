"""`cp.async` reads its source until its thread has waited for it (PTX ISA, "cp.async")."""

from __future__ import annotations

import numpy as np
import pytest

from emulator.compilers import ptx_of
from prismc.emulator.api import run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.report import text_of

_KERNEL = """
extern "C" __global__ void taken(float* x, float* y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"((unsigned)__cvta_generic_to_shared(s + t)), "l"(x + FROM) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    BETWEEN
    if (t < LIMIT) x[t] = -1.0f;
    asm volatile("cp.async.wait_all;" ::: "memory");
    y[t] = s[t];
}
"""
_WAIT = 'asm volatile("cp.async.wait_group 0;" ::: "memory");'
_BARRIER = "__syncthreads();"


@pytest.mark.parametrize(
    ("source", "limit", "between", "found"),
    [
        ("t", 64, "", {Kind.LIFETIME}),
        ("t", 64, _WAIT, set()),
        ("63 - t", 64, _BARRIER, {Kind.LIFETIME}),
        ("63 - t", 64, _WAIT, {Kind.RACE}),
        ("63 - t", 64, _WAIT + _BARRIER, set()),
        ("0", 1, _BARRIER, {Kind.LIFETIME}),
        ("0", 1, _WAIT, {Kind.RACE}),
        ("0", 1, f"if (t < 32) {{ {_WAIT} }} {_BARRIER}", {Kind.LIFETIME}),
        ("0", 1, f"if (t >= 32) {{ {_WAIT} }} {_BARRIER}", {Kind.LIFETIME}),
        ("0", 1, _WAIT + _BARRIER, set()),
    ],
)
def test_sources_are_in_use(source: str, limit: int, between: str, found: set[Kind]) -> None:
    text = _KERNEL.replace("FROM", source).replace("LIMIT", str(limit))
    ptx = ptx_of(text.replace("BETWEEN", between))
    x = np.arange(64, dtype=np.float32)
    result = run_ptx(ptx, None, 1, 64, [x, np.zeros(64, np.float32)])
    assert {finding.kind for finding in result.findings} == found, text_of(result)
