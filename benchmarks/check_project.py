"""`prismc check` of a project: 10,000 lines in 20 modules, first and again after a change.

    python benchmarks/check_project.py [--runs 3] [--prismc PATH] [--keep FOLDER]

Four modules hold functions, sixteen hold kernels that call them. Measured are whole processes: with
an empty cache, with nothing changed, after a change in one module of kernels, after a comment in
one of the modules that others import, and after a change in a function that kernels of another
module call. The figures are the least of all runs: other work on the machine only adds to them.
Limits: 6 s for the first, 1.5 s after a change of one module, 600 MB.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES, KERNELS, LINES = 4, 16, 500

LIBRARY_HEAD = """# Functions for kernels of this project.

from std.math import exp
from std.mma import mma_m16n8k8_tf32
from std.shuffle import shfl_xor

const THREADS: int = 256
const WARPS: int = THREADS / 32
"""

FUNCTIONS = """
def add_{n}(a: f32, b: f32) -> f32:
    return a + b

def greater_{n}(a: f32, b: f32) -> f32:
    return max(a, b)

# A polynomial of degree 3, by Horner's rule.
def cubic_{n}(x: f32) -> f32:
    return ((0.{n}5 * x + 0.25) * x + 1.5) * x + 1.0

@requires(thread[32])
def warp_fold_{n}[Op: fn(f32, f32) -> f32](v: f32 @ thread[1]) -> f32 @ thread[1]:
    r: f32 @ thread[1] = v
    unroll for j in range(5):
        r = Op(r, shfl_xor[32](r, 16 >> j))
    return r

@requires(block[1], thread[THREADS])
def block_fold_{n}[Op: fn(f32, f32) -> f32](
    v: f32 @ thread[1], partial: ptr(f32)
) -> f32 @ block[1]:
    w: int @ thread[32] = id()
    partition partial as slot @ thread[32] at w:
        group warp[1]:
            r: f32 @ thread[1] = warp_fold_{n}[Op](v)
            claim slot as one @ thread[1]:
                first thread[1]:
                    one[0] = r
    all: f32 = partial[0]
    for k in range(1, WARPS):
        all = Op(all, partial[k])
    return all

# c += a @ b for tiles in shared memory. The fragments' layout is that of the PTX ISA.
@requires(thread[32])
def warp_mma_{n}(a: ptr(const f32), b: ptr(const f32), c: ptr(f32)):
    lane: int @ thread[1] = id()
    r: int @ thread[1] = lane / 4
    q: int @ thread[1] = lane % 4
    ra: u32[4] @ thread[1]
    rb: u32[2] @ thread[1]
    acc: f32[4] @ thread[1] = 0
    ra[0] = bits(a[r * 8 + q])
    ra[1] = bits(a[(r + 8) * 8 + q])
    ra[2] = bits(a[r * 8 + q + 4])
    ra[3] = bits(a[(r + 8) * 8 + q + 4])
    rb[0] = bits(b[q * 8 + r])
    rb[1] = bits(b[(q + 4) * 8 + r])
    mma_m16n8k8_tf32(acc, ra, rb)
    partition c as mine @ thread[1] at r * 8 + q * 2:
        mine[0] += acc[0]
        mine[1] += acc[1]
        mine[64] += acc[2]
        mine[65] += acc[3]
"""

KERNEL_HEAD = """# Kernels of this project, part {part}.

import {library}
from std.math import exp
from {library} import add_{a}, block_fold_{a}, cubic_{a}, greater_{a}, warp_mma_{a}
from {library} import add_{b}, block_fold_{b}, cubic_{b}, greater_{b}, warp_mma_{b}

const THREADS: int = 256
const WARPS: int = THREADS / 32
const TILE: int = 32
const PITCH: int = TILE + 1
const STEP: int = 8
"""

BODIES = """
@requires(grid[1], block[1], thread[THREADS])
@launch(threads = THREADS)
kernel softmax_{n}(cols: int, x: ptr(const f32), y: ptr(f32)):
    row: int @ block[1] = id()
    partition y as out @ block[1] at row * cols:
        group block[1]:
            shared partial: f32[WARPS]
            t: int @ thread[1] = id()
            most: f32 @ thread[1] = -3.0e38
            group thread[1]:
                for i in range(t, cols, THREADS):
                    most = max(most, x[row * cols + i])
            top: f32 = block_fold_{a}[greater_{a}](most, partial)
            sum: f32 @ thread[1] = 0
            group thread[1]:
                for i in range(t, cols, THREADS):
                    sum += exp(x[row * cols + i] - top)
            total: f32 = block_fold_{a}[add_{a}](sum, partial)
            partition out as mine @ thread[1] at t:
                group thread[1]:
                    for i in range(0, cols - t, THREADS):
                        mine[i] = exp(x[row * cols + t + i] - top) / total

@requires(grid[1], block[1], thread[32])
@launch(threads = 256)
kernel polynomial_{n}(n: int, x: ptr(const f32), y: ptr(f32)):
    i: int @ thread[1] = id()
    partition y as mine @ thread[1] at i:
        group thread[1]:
            if i < n:
                mine[0] = cubic_{a}(x[i]) + cubic_{b}(mine[0])

@requires(grid[1], block[1], thread[32])
@launch(threads = TILE * STEP)
kernel transpose_{n}(rows: int, cols: int, A: ptr(const f32), B: ptr(f32)):
    across: int = (cols + TILE - 1) / TILE
    row: int @ block[1] = id() / across * TILE
    col: int @ block[1] = id() % across * TILE
    partition B as B_tile @ block[1] at col * rows + row:
        group block[1]:
            shared tile: f32[TILE * PITCH]
            t: int @ thread[1] = id()
            x: int @ thread[1] = t % TILE
            y: int @ thread[1] = t / TILE
            partition tile as cell @ thread[1] at y * PITCH + x:
                group thread[1]:
                    for j in range(0, TILE, STEP):
                        if row + y + j < rows and col + x < cols:
                            cell[j * PITCH] = A[(row + y + j) * cols + col + x]
            partition B_tile as out @ thread[1] at y * rows + x:
                group thread[1]:
                    for j in range(0, TILE, STEP):
                        if col + y + j < cols and row + x < rows:
                            out[j * rows] = tile[x * PITCH + y + j]

@requires(grid[1], block[1], thread[THREADS])
@launch(threads = THREADS)
kernel total_{n}(n: int, x: ptr(const f32), sums: ptr(f32)):
    start: int @ thread[1] = id()
    stride: int = count(thread[1])
    partition sums as mine @ block[1] at id(block[1]):
        group block[1]:
            shared partial: f32[WARPS]
            sum: f32 @ thread[1] = 0
            group thread[1]:
                for i in range(start, n, stride):
                    sum += x[i]
            all: f32 = block_fold_{b}[add_{b}](sum, partial)
            claim mine as out @ thread[1]:
                first thread[1]:
                    out[0] = all

@requires(grid[1], block[1], thread[32], smem = 1280)
@launch(threads = 32)
kernel matmul_{n}(A: ptr(const f32), B: ptr(const f32), C: ptr(f32), M: int, N: int, K: int):
    tiles_n := (N + 7) / 8
    row: int @ block[1] = id() / tiles_n * 16
    col: int @ block[1] = id() % tiles_n * 8
    partition C as C_tile @ block[1] at row * N + col:
        group block[1]:
            shared A_s: f32[16 * 8]
            shared B_s: f32[8 * 8]
            shared C_s: f32[16 * 8]
            t: int @ thread[1] = id()
            partition C_s as zero @ thread[1] at t * 4:
                for j in range(4):
                    zero[j] = 0.0
            for k in range(0, K, 8):
                partition A_s as a @ thread[1] at t * 4:
                    group thread[1]:
                        for j in range(4):
                            i: int = row + (t * 4 + j) / 8
                            p: int = k + (t * 4 + j) % 8
                            a[j] = A[i * K + p] if i < M and p < K else 0.0
                partition B_s as b @ thread[1] at t * 2:
                    group thread[1]:
                        for j in range(2):
                            p: int = k + (t * 2 + j) / 8
                            i: int = col + (t * 2 + j) % 8
                            b[j] = B[p * N + i] if p < K and i < N else 0.0
                claim C_s as c @ thread[32]:
                    first thread[32]:
                        {library}.warp_mma_{b}(A_s, B_s, c)
            partition C_tile as out @ thread[1] at t * 4 / 8 * N + t * 4 % 8:
                group thread[1]:
                    for j in range(4):
                        if row + t * 4 / 8 < M and col + t * 4 % 8 + j < N:
                            out[j] = C_s[t * 4 + j]
"""


def write_project(folder: Path) -> int:
    """The modules of the project, at least `LINES` lines each; how many lines they have."""
    for part in range(LIBRARIES):
        text, number = LIBRARY_HEAD, 0
        while text.count("\n") < LINES:
            text += FUNCTIONS.format(n=number)
            number += 1
        (folder / f"functions_{part}.prism").write_text(text)
    for part in range(KERNELS):
        words = {"library": f"functions_{part % LIBRARIES}", "a": part // 4, "b": part // 4 + 1}
        text, number = KERNEL_HEAD.format(part=part, **words), 0
        while text.count("\n") < LINES:
            text += BODIES.format(n=number, **words)
            number += 1
        (folder / f"kernels_{part:02}.prism").write_text(text)
    return sum(path.read_text().count("\n") for path in folder.glob("*.prism"))


def change_a_kernel(folder: Path, step: int) -> None:
    """Another number in one module of kernels."""
    path = folder / "kernels_05.prism"
    text = path.read_text()
    path.write_text(text.replace("-3.0e38", f"-{step}.5e37", 1) if step else text)


def add_a_comment(folder: Path, step: int) -> None:
    """A comment on top of a module that four others import: all that it declares moves down."""
    path = folder / "functions_1.prism"
    path.write_text(f"# Change {step}.\n" + path.read_text())


def change_a_function(folder: Path, step: int) -> None:
    """Another number in a function that kernels of another module call."""
    path = folder / "functions_1.prism"
    path.write_text(path.read_text().replace("x + 1.0\n", f"x + 1.0{step}5\n", 1))


def nothing(folder: Path, step: int) -> None:
    """No change."""


def main() -> int:
    options = arguments()
    prismc = [options.prismc] if options.prismc else [sys.executable, "-m", "prismc"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(options.keep or place, "project")
        folder.mkdir(parents=True, exist_ok=True)
        number = write_project(folder)
        print(f"{number} lines in {LIBRARIES + KERNELS} modules")
        print(f"{'':48}{'wall':>7}{'cpu':>7}{'MB':>7}  (seconds, least of {options.runs} runs)")
        command = [*prismc, "check", str(folder)]
        changes: list[tuple[str, Callable[[Path, int], None]]] = [
            ("first, empty cache", nothing),
            ("again, nothing changed", nothing),
            ("one module of kernels changed", change_a_kernel),
            ("a comment in an imported module", add_a_comment),
            ("a function changed that another module calls", change_a_function),
        ]
        warm = {**environment, "PRISMC_CACHE": str(Path(place, "warm"))}
        for name, change in changes:
            figures = []
            for run in range(options.runs):
                change(folder, run + 1)
                if change is nothing and name.startswith("first"):
                    warm["PRISMC_CACHE"] = str(Path(place, f"cold{run}"))
                figures.append(measured(command, warm))
            seconds, processor, peaks = zip(*figures, strict=True)
            print(f"{name:48}{min(seconds):7.2f}{min(processor):7.2f}{max(peaks):7.0f}")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--prismc", help="the installed command to measure")
    parser.add_argument("--keep", help="a folder in which the project stays")
    return parser.parse_args()


def measured(command: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    """Wall and processor seconds of a process that must succeed, and the most MB that it and its
    own processes held at the same time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    peak, done = [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], held(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    code = process.wait()
    seconds = time.perf_counter() - started
    done.set()
    watcher.join()
    assert code == 0, f"exit code {code}"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, processor, peak[0]


def held(pid: int) -> float:
    """MB of a process and its children, memory that they share counted once for each sharer."""
    total = 0
    for number in (pid, *children(pid)):
        try:
            lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def children(pid: int) -> list[int]:
    found = []
    for place in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(word) for word in place.read_text().split()]
        except OSError:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
