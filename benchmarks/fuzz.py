"""Give many broken programs to a part of prismc: no exception, limits of time and memory.

    python benchmarks/fuzz.py check|build|fmt|lsp --count 10000 [--first SEED]

Programs are mutations of `examples/` and `stdlib/`, the same for the same seed, and files that are
all of one kind. `build` compiles what checks to machine code, the IR verified after each pass: what
the checker accepts must not fail later. For `lsp` each program is edited four times, and everything
asked there is to ask before and after the check of each text. Prints the slowest and a histogram of
codes; exit code 1 when anything raises, takes more than 10 s of processor time, or a worker needs
more than 1 GB.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import resource
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from prismc.cli.entry import RECURSION_LIMIT, STACK_SIZES
from support.fuzzing import EDIT, TARGETS, programs
from support.mutations import extremes, mutate

SECONDS, MEGABYTES = 10, 1_000
HANGS = 600  # seconds of the clock, on a machine that may have other work
EDITS = 4


class Outcome(NamedTuple):
    """One program: what ran, seconds, which codes, and what was wrong with it."""

    name: str
    seconds: float
    codes: tuple[str, ...]
    fault: str


def main() -> int:
    options = arguments()
    texts = programs()
    names = list(texts)
    seeds = range(options.first, options.first + options.count)
    target = options.target
    work = [(target, names[i % len(names)], texts[names[i % len(names)]], i) for i in seeds]
    started = time.perf_counter()
    with multiprocessing.Pool(options.jobs, prepare) as pool:
        outcomes = pool.starmap(fuzz, work, chunksize=5)
        outcomes += pool.starmap(extreme, [(target, name) for name in extremes()], chunksize=1)
    report(outcomes, time.perf_counter() - started)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"greatest memory of a worker: {memory:.0f} MB")
    bad = [outcome for outcome in outcomes if outcome.fault]
    for outcome in bad[:20]:
        print(f"--- {outcome.name}\n{outcome.fault}")
    return 1 if bad or memory > MEGABYTES else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--count", type=int, default=1_000, help="how many mutations")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    return parser.parse_args()


def prepare() -> None:
    """Set a worker up as the command line is, whose threads have a deep stack."""
    sys.setrecursionlimit(RECURSION_LIMIT)
    threading.stack_size(STACK_SIZES[0])


def fuzz(target: str, name: str, source: str, seed: int) -> Outcome:
    content = edited(source, seed) if target == "lsp" else mutate(source, seed)
    return judged(target, f"{name} seed {seed}", content)


def extreme(target: str, name: str) -> Outcome:
    return judged(target, name, extremes()[name])


def edited(source: str, seed: int) -> bytes:
    """The texts of a document that is edited, each made from the last or from the first."""
    chance, texts = Random(seed), [source.encode()]
    for _ in range(EDITS):
        before = texts[-1].decode("utf-8", "replace") if chance.random() < 0.5 else source
        texts.append(mutate(before, chance.randrange(1 << 30)))
    return EDIT.encode().join(texts)


def judged(target: str, name: str, content: bytes) -> Outcome:
    """What a target makes of one input, in a thread of its own."""
    found: list[Outcome] = []
    faulthandler.dump_traceback_later(HANGS, exit=True)
    thread = threading.Thread(target=lambda: found.append(outcome(target, name, content)))
    thread.start()
    thread.join()
    faulthandler.cancel_dump_traceback_later()
    return found[0]


def outcome(target: str, name: str, content: bytes) -> Outcome:
    codes: tuple[str, ...] = ()
    fault = ""
    started = time.thread_time()
    try:
        codes = tuple(problem.code for problem in TARGETS[target](content))
    except Exception:  # noqa: BLE001 - this is what fuzzing looks for
        fault = traceback.format_exc(limit=-8)
    seconds = time.thread_time() - started
    if seconds > SECONDS:
        fault = fault or f"took {seconds:.1f} s"
    return Outcome(name, seconds, codes, fault)


def report(outcomes: list[Outcome], seconds: float) -> None:
    print(f"{len(outcomes)} programs in {seconds:.0f} s")
    for outcome in sorted(outcomes, key=lambda o: -o.seconds)[:5]:
        print(f"  {outcome.seconds:6.2f} s  {outcome.name}")
    clean = sum(not outcome.codes and not outcome.fault for outcome in outcomes)
    print(f"without a diagnostic: {clean}; programs by code:")
    counts = Counter(code for outcome in outcomes for code in dict.fromkeys(outcome.codes))
    print("  " + ", ".join(f"{code} {number}" for code, number in sorted(counts.items())))


if __name__ == "__main__":
    sys.exit(main())
