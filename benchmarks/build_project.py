"""`prismc build` of many files: 20 kernels for two targets, and 50 files that are up to date.

    python benchmarks/build_project.py [--runs 3] [--prismc PATH]

NVRTC alone compiles the same CUDA texts in one process with a thread for each processor: what a
build cannot go below. Limits: 1.3 times that for the kernels, 400 ms for the files. The figures are
wall time and processor time, the least of all runs: other work on the machine only adds to them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from startup import ROOT, timed

TARGETS = ("sm_80", "sm_90a")
KERNELS, FILES = 20, 50
EXAMPLES = (
    *("bf16_matmul", "block_sum", "histogram", "prefix_scan", "row_softmax", "saxpy"),
    *("tf32_matmul", "transpose"),
)

# Compiles every CUDA file of a folder for the target in its name, with as many threads as there
# are processors.
NVRTC_ALONE = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from prismc.backend.cuda_module import CudaModule
from prismc.backend.toolchain.nvrtc import Nvrtc
nvrtc = Nvrtc()
def compile(path):
    module = CudaModule(name=path.name, text=path.read_text(), kernels=(), files=())
    assert nvrtc.compile(module, path.name.split(".")[1]).cubin
with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
    list(pool.map(compile, sorted(Path(sys.argv[1]).iterdir())))
"""


def main() -> int:
    options = arguments()
    prismc = [options.prismc] if options.prismc else [sys.executable, "-m", "prismc"]
    python = str(Path(options.prismc).parent / "python") if options.prismc else sys.executable
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        environment["PRISMC_CACHE"] = str(folder / "cache")
        targets = [word for target in TARGETS for word in ("--target", target)]
        kernels = copies(folder / "kernels", KERNELS)
        subprocess.run(
            [*prismc, "build", *kernels, *targets, "--emit", "cuda", "-o", f"{folder}/cuda/"],
            env=environment,
            check=True,
            stderr=subprocess.DEVNULL,
        )
        build = [*prismc, "build", *kernels, *targets, "-o", f"{folder}/out/"]
        files = copies(folder / "files", FILES)
        idle = [*prismc, "build", *files, "-o", f"{folder}/idle/"]
        subprocess.run(idle, env=environment, check=True, stderr=subprocess.DEVNULL)
        jobs = {
            "NVRTC alone": [python, "-c", NVRTC_ALONE, str(folder / "cuda")],
            f"build {KERNELS} kernels, 2 targets": [*build, "--always", "--no-cache"],
            f"build {FILES} files, up to date": idle,
        }
        figures = {
            name: [timed(command, environment) for _ in range(options.runs + 1)][1:]
            for name, command in jobs.items()
        }
    print(f"{'':36}{'wall':>9}{'cpu':>9}  (ms, least of {options.runs} runs)")
    for name, seconds in figures.items():
        least = [min(values) * 1e3 for values in zip(*seconds, strict=True)]
        print(f"{name:36}" + "".join(f"{figure:9.0f}" for figure in least))
    return 0


def copies(folder: Path, number: int) -> list[str]:
    """Files with the kernels of the examples, in turn, under names of their own."""
    folder.mkdir()
    for count in range(number):
        text = (ROOT / "examples" / f"{EXAMPLES[count % len(EXAMPLES)]}.prism").read_text()
        (folder / f"k{count}.prism").write_text(f"{text}\n# Copy {count}.\n")
    return sorted(map(str, folder.iterdir()))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--prismc", help="the installed command to measure")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
