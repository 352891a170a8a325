"""How the time of the sync pass grows: kernels of many scopes, pipelines of many slots.

    python benchmarks/sync_scaling.py --scopes 250 500 1000 2000 --slots 8 16 32 64

Each scope stores to one of four shared arrays what it reads from another; `straight` puts them one
after the other, `loop` into one loop, `nest` five each into loops and loops inside these. The slots
are those of a pipeline: all threads fill (`ahead`), or one warp does for four (`apart`).
"""

from __future__ import annotations

import argparse
import time
from random import Random
from typing import NamedTuple

import prismc.checker.check
from prismc.checker.results import CheckedProgram
from prismc.driver.options import Options
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session

THREADS, ARRAYS, GROUP = 128, 4, 5
SHAPES = ("straight", "loop", "nest")
RINGS = {
    "ahead": """\
from std.copy import cp_async_16

@requires(block[1], thread[32])
def total(x: ptr(const f32), n: int) -> f32 @ thread[1]:
    shared S: f32[SLOTS][128]
    t: int @ thread[1] = id()
    sum: f32 @ thread[1] = 0.0
    pipeline k in range(n) through S as s:
        produce:
            partition s as async d @ thread[1] at t * 4:
                cp_async_16(d, 0, x, k * 128 + t * 4)
        consume:
            sum += s[127 - t]
    return sum
""",
    "apart": """\
@requires(block[1], warp[5])
def sums(x: ptr(const f32), y: ptr(f32), n: int):
    shared S: f32[SLOTS][128]
    claim y as out @ warp[4]:
        pipeline k in range(n) through S as s:
            produce:
                claim s as slot @ warp[1]:
                    split warp:
                        case 4:
                            pass
                        case 1:
                            l: int @ thread[1] = id()
                            for j in range(4):
                                partition slot as own @ thread[1] at l + 32 * j:
                                    own[0] = x[k * 128 + l + 32 * j]
            consume:
                split warp:
                    case 4:
                        t: int @ thread[1] = id()
                        partition out as own @ thread[1] at t:
                            own[0] += s[127 - t]
""",
}


class Figures(NamedTuple):
    """Seconds of processor time, for a whole check and for the sync pass in it, and its plan."""

    check: float
    sync: float
    operations: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scopes", type=int, nargs="+", default=[250, 500, 1000, 2000])
    parser.add_argument("--shapes", nargs="+", default=SHAPES, choices=SHAPES)
    parser.add_argument("--slots", type=int, nargs="+", default=[8, 16, 32, 64])
    options = parser.parse_args()
    print("| shape | scopes | check (s) | sync pass (s) | operations |\n|---|---|---|---|---|")
    for shape in options.shapes:
        for scopes in options.scopes:
            found = measure(kernel(scopes, shape))
            shown = f"{found.check:.2f} | {found.sync:.2f} | {found.operations}"
            print(f"| {shape} | {scopes} | {shown} |", flush=True)
    print("\n| ring | slots | check (s) | sync pass (s) | operations |\n|---|---|---|---|---|")
    for name, text in RINGS.items():
        for slots in options.slots:
            found = measure(text.replace("SLOTS", str(slots)))
            shown = f"{found.check:.2f} | {found.sync:.2f} | {found.operations}"
            print(f"| {name} | {slots} | {shown} |", flush=True)


def measure(text: str) -> Figures:
    """Check a program; the sync pass is timed by wrapping it."""
    plan, spent = prismc.checker.check.plan_synchronisation, 0.0

    def timed(*arguments: object) -> object:
        nonlocal spent
        start = time.process_time()
        found = plan(*arguments)  # type: ignore[arg-type]
        spent = time.process_time() - start
        return found

    session = Session(Options())
    session.files.overlay("scaled.prism", text)
    prismc.checker.check.plan_synchronisation = timed  # type: ignore[assignment]
    start = time.process_time()
    checked: CheckedProgram = run_stages(session, session.files.known("scaled.prism"), CHECKS)
    whole = time.process_time() - start
    prismc.checker.check.plan_synchronisation = plan
    assert not session.problems, session.problems
    operations = sum(len(each.operations) for each in checked.plan.instances.values())
    return Figures(check=whole, sync=spent, operations=operations)


def kernel(scopes: int, shape: str) -> str:
    """A kernel of so many scopes."""
    random = Random(0)
    lines = [
        f"@requires(grid[1], block[1], thread[{THREADS}])",
        f"@launch(threads = {THREADS})",
        "kernel scaled(X: ptr(const f32), Y: ptr(f32), n: int):",
        f"    partition Y as yb @ block[1] at id(block[1]) * {THREADS}:",
        "        group block[1]:",
        *(f"            shared S{number}: f32[{THREADS}]" for number in range(ARRAYS)),
        "            t: int @ thread[1] = id()",
        "            v: f32 @ thread[1] = X[t]",
    ]
    for number in range(scopes):
        depth = _open(lines, number, shape)
        lines += ["    " * (3 + depth) + line for line in _scope(number, random)]
    end = ["partition yb as y @ thread[1] at t:", "    y[0] = v"]
    return "\n".join(lines + ["            " + line for line in end]) + "\n"


def _open(lines: list[str], number: int, shape: str) -> int:
    """Start the loops that scope `number` is the first of; how deep it stands in loops."""
    if shape == "straight":
        return 0
    if shape == "loop":
        if number == 0:
            lines.append("            for k in range(n):")
        return 1
    if number % (2 * GROUP) == 0:
        lines.append(f"            for k{number} in range(n):")
    if number % (2 * GROUP) == GROUP:
        lines.append(f"                for j{number} in range(n):")
    return 1 if number % (2 * GROUP) < GROUP else 2


def _scope(number: int, random: Random) -> list[str]:
    written, read = random.sample(range(ARRAYS), 2)
    return [
        f"partition S{written} as p{number} @ thread[1] at t:",
        f"    p{number}[0] = v + S{read}[{THREADS - 1} - t]",
        f"v += S{written}[(t + {number % 7 + 1}) % {THREADS}]",
    ]


if __name__ == "__main__":
    main()
