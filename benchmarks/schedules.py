"""All test kernels over many schedules: right values and no finding on any of them.

    python benchmarks/schedules.py --count 50 --compiler nvcc

The suite runs a few schedules of each kernel; this is the long form of the same test.
"""

from __future__ import annotations

import argparse
import sys
import time
import zlib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]


def main() -> int:
    """The number of kernels that failed."""
    from emulator.compilers import kernel_text, ptx_of
    from emulator.launches import KERNELS
    from emulator.more_launches import MORE_KERNELS
    from prismc.emulator.api import run_ptx
    from prismc.emulator.report import text_of
    from prismc.emulator.schedule import adversaries

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50, help="schedules for each kernel")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compiler", choices=["nvrtc", "nvcc"], default="nvrtc")
    options = parser.parse_args()
    failed = 0
    for kernel in (*KERNELS, *MORE_KERNELS):
        text = kernel.defines + kernel_text(kernel.text_name)
        ptx = ptx_of(text, kernel.target, options.compiler)
        launch = kernel.make(np.random.default_rng(zlib.crc32(kernel.name.encode())))
        start = time.monotonic()
        problem = ""
        for plan in adversaries(options.count, options.seed):
            result = run_ptx(
                ptx, None, launch.grid, launch.block, launch.args, cluster=launch.cluster,
                dynamic_shared=launch.dynamic_shared, plan=plan, time_limit=60,
            )  # fmt: skip
            wrong = [
                position
                for position, expected in launch.expected.items()
                if not np.allclose(
                    result.array(position), expected, rtol=launch.tolerance, atol=1e-5
                )
            ]
            if result.findings or wrong:
                problem = f"{plan}: wrong arrays {wrong}\n{text_of(result)}"
                break
        failed += bool(problem)
        verdict = problem or f"clean and right on {options.count} schedules"
        print(f"{kernel.name:20} {time.monotonic() - start:6.1f} s  {verdict}", flush=True)
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
