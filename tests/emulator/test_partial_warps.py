"""Blocks whose last warp has fewer than 32 threads: a full mask names those that there are."""

from __future__ import annotations

import numpy as np
import pytest

from emulator.compilers import ptx_of
from prismc.emulator.api import RunResult, run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.schedule import adversaries

DATA = np.random.default_rng(7).integers(-9, 9, 75, np.int32)


def _run(statement: str, schedules: int = 6) -> list[RunResult]:
    source = (
        'extern "C" __global__ void k(const int* x, int* y) {'
        f"__shared__ int s[96]; int t = threadIdx.x; int v = x[t]; {statement} y[t] = v; }}"
    )
    args = [DATA, np.zeros(75, np.int32)]
    plans = adversaries(schedules)
    return [run_ptx(ptx_of(source), None, 1, 75, args, plan=plan) for plan in plans]


def _last(values: np.ndarray) -> np.ndarray:
    return values[64:]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("s[t] = v; __syncwarp(); v = s[64 + (t - 63) % 11];", np.roll(_last(DATA), -1)),
        ("v = __popc(__ballot_sync(~0u, v > 0));", np.full(11, (_last(DATA) > 0).sum())),
        ("v = __all_sync(~0u, v > -10);", np.ones(11)),
        ("v = __popc(__match_any_sync(~0u, 3));", np.full(11, 11)),
        ("v = __reduce_add_sync(~0u, v);", np.full(11, _last(DATA).sum())),
    ],
)
def test_a_full_mask(statement: str, expected: np.ndarray) -> None:
    guard = "" if "s[" not in statement else "if (t >= 64) {"
    for result in _run(guard + statement + ("}" if guard else "")):
        assert not result.findings
        np.testing.assert_array_equal(_last(result.array(1)), expected)


@pytest.mark.parametrize(
    "statement",
    [
        "v = __shfl_xor_sync(~0u, v, 1);",
        "if (t == 70) return; __syncwarp();",
        "if (t % 2) v = __ballot_sync(~0u, v > 0);",
    ],
)
def test_lanes_that_are_missed(statement: str) -> None:
    (result,) = _run(statement, 1)
    assert Kind.PERSPECTIVE in {finding.kind for finding in result.findings}
