"""Whole processes, as a user waits for them: version, check, build.

Prints the median and the least wall time, and the median processor time, which says more on a
machine that others use too.

    python benchmarks/startup.py [--runs 15] [--prismc PATH]

Install prismc from a wheel and point `--prismc` at it for the figures of the README: an installed
package has its bytecode compiled once. Limits: version 80 ms, checking 100 lines 250 ms and 1,000
lines 1 s, building saxpy 250 ms above what NVRTC itself takes.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "tf32_matmul.prism"

# Compiles one CUDA file as the build does, in this process: what cannot be saved.
NVRTC_ALONE = """
import sys, time
from prismc.backend.cuda_module import CudaModule
from prismc.backend.toolchain.nvrtc import Nvrtc
text = open(sys.argv[1]).read()
started = time.perf_counter()
module = CudaModule(name="saxpy.cu", text=text, kernels=(), files=())
assert Nvrtc().compile(module, "sm_80").cubin
print(time.perf_counter() - started)
"""


def main() -> int:
    options = arguments()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    prismc = [options.prismc] if options.prismc else [sys.executable, "-m", "prismc"]
    python = str(Path(options.prismc).parent / "python") if options.prismc else sys.executable
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        small, large = folder / "small.prism", folder / "large.prism"
        small.write_text(program(100))
        large.write_text(program(1_000))
        saxpy = str(ROOT / "examples" / "saxpy.prism")
        cubin, cuda = folder / "saxpy.cubin", folder / "saxpy.cu"
        subprocess.run([*prismc, "build", saxpy, "--emit", "cuda", "-o", cuda], check=True)
        jobs = {
            "python -c pass": [python, "-c", "pass"],
            "prismc --version": [*prismc, "--version"],
            f"prismc check, {lines(small)} lines": [*prismc, "check", "--no-cache", str(small)],
            f"prismc check, {lines(large)} lines": [*prismc, "check", "--no-cache", str(large)],
            f"the same {lines(large)} lines again": [*prismc, "check", str(large)],
            "prismc build saxpy --emit cubin": [
                *prismc,
                "build",
                "--no-cache",
                saxpy,
                "-o",
                str(cubin),
            ],
        }
        print(f"{'':36}{'median':>9}{'least':>9}{'cpu':>9}  (ms, {options.runs} runs)")
        for name, command in jobs.items():
            tell(name, [timed(command, environment) for _ in range(options.runs + 1)][1:])
        alone = [python, "-c", NVRTC_ALONE, str(cuda)]
        own = [float(subprocess.check_output(alone, env=environment)) for _ in range(options.runs)]
        tell("NVRTC alone on saxpy", [(seconds, seconds) for seconds in own])
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--prismc", help="the installed command to measure")
    return parser.parse_args()


def program(least: int) -> str:
    """The TF32 example with its kernel repeated under new names, at least `least` lines."""
    text = EXAMPLE.read_text(encoding="utf-8").split("\ntest ")[0]
    if least <= text.count("\n"):
        return text
    head, kernel = text[: text.index("@requires(grid")], text[text.index("@requires(grid") :]
    copies = [head]
    while sum(copy.count("\n") for copy in copies) < least:
        copies.append(kernel.replace("tf32_matmul(", f"tf32_matmul_{len(copies)}(") + "\n")
    return "".join(copies)


def lines(path: Path) -> int:
    return path.read_text().count("\n")


def timed(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Wall seconds and processor seconds of one process that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tell(name: str, seconds: list[tuple[float, float]]) -> None:
    walls, processor = zip(*seconds, strict=True)
    figures = (statistics.median(walls), min(walls), statistics.median(processor))
    print(f"{name:36}" + "".join(f"{figure * 1e3:9.0f}" for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
