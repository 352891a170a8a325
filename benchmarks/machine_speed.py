"""How fast the PTX machine runs, with and without checks, and how much memory it takes.

    python benchmarks/machine_speed.py

Issue: 100 M thread instructions a second unchecked and 20 M with all checks on 64 blocks of 256
threads; the 512x512x512 TF32 product in under 30 s with checks; under 2 GB. Times are processor
time, which other work on the machine disturbs little; the machine runs on one core.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

COMPUTE = r"""
extern "C" __global__ void __launch_bounds__(256) compute(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    float a = x[i], b = a + 1.0f;
    unsigned h = i;
    for (int k = 0; k < n; ++k) {
        a = a * b + 0.5f;
        b = b * 0.99f + a * 0.01f;
        h = h * 1664525u + 1013904223u;
        h ^= h >> 7;
    }
    y[i] = a + b + (float)h;
}
"""
SHARE = r"""
extern "C" __global__ void __launch_bounds__(256) share(const float* x, float* y, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float sum = 0.0f, v = x[i];
    for (int k = 0; k < n; ++k) {
        s[t] = v;
        __syncthreads();
        sum = sum * 0.5f + s[(t + k) & 255];
        if (t & 1) v += sum; else v -= sum * 0.001f;
        __syncthreads();
    }
    y[i] = sum;
}
"""
REPEATS = 3


def _rate(text: str, grid: tuple[int, ...], args: list[object], *, checked: bool) -> float:
    """Millions of thread instructions a second of processor time, the best of a few runs."""
    from emulator.compilers import ptx_of
    from prismc.emulator.api import ALL_CHECKS, NO_CHECKS, run_ptx

    best = 0.0
    for _ in range(REPEATS):
        ptx, checks = ptx_of(text), ALL_CHECKS if checked else NO_CHECKS
        start = time.process_time()
        result = run_ptx(ptx, None, grid, 256, args, checks=checks)
        seconds = time.process_time() - start
        assert not result.findings
        best = max(best, result.statistics.thread_instructions / seconds / 1e6)
    return best


def _matmul(size: int) -> float:
    """Processor time of the example's product, checked, compared with NumPy; in seconds."""
    from prismc.driver.compiling import kernels_of
    from prismc.driver.inputs import open_root
    from prismc.driver.options import Options
    from prismc.driver.running import Launch, bind, run
    from prismc.driver.session import Session

    session = Session(Options())
    root = open_root(session, str(ROOT / "examples" / "tf32_matmul.prism"))
    assert root is not None
    (kernel,) = kernels_of(session, root)
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((size, size)).astype(np.float32) for _ in range(2))
    given = {"A": a, "B": b, "C": np.zeros((size, size), np.float32)}
    bound = bind(kernel, given | dict.fromkeys("MNK", size))
    grid = (-(-size // 16) * -(-size // 8),)
    from prismc.emulator.schedule import Plan

    start = time.process_time()
    (outcome,) = run(bound, Launch(grid=grid), [Plan()])
    seconds = time.process_time() - start
    assert not outcome.result.findings
    np.testing.assert_allclose(outcome.arrays["C"], a @ b, atol=0.2)
    return seconds


def main() -> None:
    """Prints the figures."""
    from emulator.compilers import kernel_text

    x = np.random.default_rng(0).standard_normal(64 * 256).astype(np.float32)
    small = [x, np.zeros_like(x), 200]
    m = np.random.default_rng(1).standard_normal((256, 256)).astype(np.float32)
    square = [m, m, np.zeros_like(m), 256, 256, 256]
    rows = [
        ("compute", COMPUTE, (64,), small),
        ("share", SHARE, (64,), small),
        ("sgemm 256", kernel_text("sgemm"), (4, 4), square),
    ]
    print(f"{'kernel':12} {'unchecked':>12} {'all checks':>12}   M thread instructions a second")
    for name, text, grid, args in rows:
        plain, checked = (_rate(text, grid, args, checked=c) for c in (False, True))
        print(f"{name:12} {plain:12.0f} {checked:12.0f}")
    print(f"TF32 product 512x512x512 with checks: {_matmul(512):.1f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory: {peak:.0f} MB")


if __name__ == "__main__":
    main()
