"""Atomics on one address by very many threads, whose operand is a constant or each thread's own."""

from __future__ import annotations

import numpy as np
import pytest

from emulator.compilers import ptx_of
from prismc.emulator.api import run_ptx

THREADS = 2048
OWN = np.arange(THREADS) % 1000 - 300


@pytest.mark.parametrize(
    ("call", "start", "expected"),
    [
        ("atomicAdd(x, 1)", 5, 5 + THREADS),
        ("atomicAdd(x, own)", 5, 5 + int(OWN.sum())),
        ("atomicAdd(x, -1)", 5, 5 - THREADS),
        ("atomicSub(x, own)", 5, 5 - int(OWN.sum())),
        ("atomicMin(x, -7)", 5, -7),
        ("atomicMin(x, own)", 5, -300),
        ("atomicMax(x, own)", 5, 699),
        ("atomicOr(x, 1 << own % 31)", 0, 2**31 - 1),
        ("atomicXor(x, own)", 3, 3 ^ int(np.bitwise_xor.reduce(OWN))),
        ("atomicExch(x, 9)", 5, 9),
        ("atomicCAS(x, 5, 8)", 5, 8),
    ],
)
def test_one_address(call: str, start: int, expected: int) -> None:
    source = (
        'extern "C" __global__ void k(int* x, int* old) {'
        " int i = blockIdx.x * 256 + threadIdx.x, own = i % 1000 - 300;"
        f" old[i] = {call.replace('1 << own', '1 << (own + 310)')}; }}"
    )
    arguments = [np.int32([start]), np.zeros(THREADS, np.int32)]
    result = run_ptx(ptx_of(source), None, THREADS // 256, 256, arguments)
    assert not result.findings
    assert result.array(0) == [expected]
    if call == "atomicAdd(x, 1)":
        assert sorted(result.array(1)) == list(range(5, 5 + THREADS))
