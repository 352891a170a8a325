"""How launches end: by traps, by recursion without end, by time, by refusal."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from emulator.compilers import ptx_of
from prismc.emulator.api import run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.host import LaunchError
from prismc.emulator.ptx.parser import parse_module
from prismc.emulator.timer import TimeLimit

NOTHING = (
    'extern "C" __global__ void __launch_bounds__(64) nothing(int* x, int n) { if (n) *x = n; }'
)


def test_recursion_without_end() -> None:
    source = """
__device__ __noinline__ int deep(volatile int* x, int n) {
    volatile int keep[64];
    keep[n & 63] = *x;
    return deep(x, n + keep[n & 63]) + keep[(n + 1) & 63];
}
extern "C" __global__ void k(int* x) { *x = deep(x, 1); }
"""
    result = run_ptx(ptx_of(source), None, 1, 32, [np.ones(1, np.int32)])
    assert Kind.TRAP in {finding.kind for finding in result.findings}


def test_a_trap_ends_its_threads_only() -> None:
    source = """
extern "C" __global__ void k(int* x) {
    if (threadIdx.x == 5) asm volatile("trap;");
    x[threadIdx.x] = 1;
}
"""
    result = run_ptx(ptx_of(source), None, 1, 32, [np.zeros(32, np.int32)])
    assert [finding.kind for finding in result.findings] == [Kind.TRAP]
    assert result.array(0).sum() == 31


def test_a_limit_of_instructions() -> None:
    source = """
extern "C" __global__ void k(volatile int* x) {
    x[threadIdx.x + 2] = 1;
    while (*x < 2000000000) *x += 1;
}
"""
    module, arguments = parse_module(ptx_of(source)), [np.zeros(33, np.int32)]
    result = run_ptx(module, None, 1, 32, arguments, instruction_limit=10_000)
    assert result.is_stopped
    assert 10_000 < result.statistics.thread_instructions < 20_000
    assert list(result.array(0)[2:]) == [1] * 31
    assert [finding.kind for finding in result.findings] == [Kind.BOUNDS]
    arguments[0][0] = 2_000_000_000
    assert not run_ptx(module, None, 1, 32, arguments, instruction_limit=10_000).is_stopped


def test_the_time_limit() -> None:
    source = 'extern "C" __global__ void k(volatile int* x) { while (*x < 2000000000) *x += 1; }'
    with pytest.raises(TimeLimit):
        run_ptx(ptx_of(source), None, 1, 32, [np.zeros(1, np.int32)], time_limit=0.2)


def test_time_that_others_take_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    source = 'extern "C" __global__ void k(volatile int* x) { while (*x < 999) *x += 1; }'
    hours = count(0, 3600)
    monkeypatch.setattr("time.monotonic", lambda: next(hours))
    told: list[tuple[int, int, int]] = []
    result = run_ptx(ptx_of(source), None, 1, 1, [np.zeros(1, np.int32)], time_limit=60,
                     on_tick=lambda *numbers: told.append(numbers))  # fmt: skip
    assert result.array(0)[0] == 999
    assert len(told) > 2


def test_a_long_block_tells_how_far_it_is() -> None:
    source = """
extern "C" __global__ void k(volatile int* x, int n) {
    for (int k = 0; k < n; ++k) *x += 1;
}
"""
    told: list[tuple[int, int, int]] = []
    args = [np.zeros(1, np.int32), 1 << 30]
    with pytest.raises(TimeLimit):
        run_ptx(ptx_of(source), None, 1, 1, args, time_limit=1.0,
                on_tick=lambda *numbers: told.append(numbers))  # fmt: skip
    assert len(told) >= 2
    assert all(numbers[:2] == (0, 1) for numbers in told)
    assert told[0][2] < told[-1][2]


@pytest.mark.parametrize(
    ("grid", "block", "args", "message"),
    [
        (1, 32, [], "takes 2 arguments, 0 given"),
        (1, 32, [np.zeros(1, np.int32)], "takes 2 arguments, 1 given"),
        (1, 128, [np.zeros(1, np.int32), 1], "allows 64 threads"),
        (1, 2048, [np.zeros(1, np.int32), 1], "the limit is 1024"),
        (0, 32, [np.zeros(1, np.int32), 1], "positive"),
        ((1, 2, 3, 4), 32, [np.zeros(1, np.int32), 1], "positive"),
        (1.5, 32, [np.zeros(1, np.int32), 1], "positive"),
        (1, 32, [np.zeros(1, np.int32), 1 << 40], "does not fit"),
        (1, 32, [np.zeros(1, np.int32), 1.5], "1.5"),
        (1, 32, [np.zeros(1, np.int32), np.zeros(3)], "an array for"),
        (1, 32, [np.array([None]), 1], "Python objects"),
    ],
)
def test_launches_that_cannot_be(grid: object, block: int, args: list, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        run_ptx(ptx_of(NOTHING), None, grid, block, args)


def test_an_unknown_kernel() -> None:
    with pytest.raises(LaunchError, match="no kernel `other`; the module has: nothing"):
        run_ptx(ptx_of(NOTHING), "other", 1, 32, [])
