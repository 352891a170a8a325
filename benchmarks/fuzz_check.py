"""Check many broken programs: no traceback, at most 10 s a file and 1 GB of memory.

    python benchmarks/fuzz_check.py --count 10000 [--build]

With --build, programs that check are compiled to machine code too, the IR verified after each pass:
what the checker accepts must not fail later. Programs are mutations of `examples/` and `stdlib/`,
the same for the same seed. Prints the slowest and a histogram of codes; exit code 1 when a limit is
broken or a check ends in an exception.
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
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from prismc.cli.entry import RECURSION_LIMIT, STACK_SIZES  # noqa: E402
from prismc.diagnostics.text import render_problems  # noqa: E402
from prismc.driver.build import Emit, build_file  # noqa: E402
from prismc.driver.options import Options  # noqa: E402
from prismc.driver.pipeline import check_file  # noqa: E402
from prismc.driver.session import Session  # noqa: E402
from prismc.hardware.targets import DEFAULT_TARGET  # noqa: E402
from prismc.source.files import SourceFile, UnreadableFile  # noqa: E402
from support.mutations import extremes, mutate  # noqa: E402

SECONDS, MEGABYTES = 10, 1_000


class Outcome(NamedTuple):
    """One check: what ran, how long, which codes, and what was wrong with it."""

    name: str
    seconds: float
    codes: tuple[str, ...]
    fault: str


def main() -> int:
    options = arguments()
    sources = [*(ROOT / "examples").glob("*.prism"), *(ROOT / "stdlib").glob("*.prism")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(sources)}
    names = list(texts)
    seeds = range(options.first, options.first + options.count)
    work = [(names[i % len(names)], texts[names[i % len(names)]], i) for i in seeds]
    started = time.perf_counter()
    with multiprocessing.Pool(options.jobs, prepare, (options.build,)) as pool:
        outcomes = pool.starmap(fuzz, work, chunksize=20)
        outcomes += pool.starmap(extreme, [(name,) for name in extremes()], chunksize=1)
    report(outcomes, time.perf_counter() - started)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"greatest memory of a worker: {memory:.0f} MB")
    bad = [outcome for outcome in outcomes if outcome.fault]
    for outcome in bad[:20]:
        print(f"--- {outcome.name}\n{outcome.fault}")
    return 1 if bad or memory > MEGABYTES else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1_000, help="how many mutations")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--build", action="store_true", help="build the programs that check")
    return parser.parse_args()


def prepare(builds: bool) -> None:
    """Set a worker up; `run` is what it does with a program."""
    global run
    run = build if builds else check_file
    sys.setrecursionlimit(RECURSION_LIMIT)
    threading.stack_size(STACK_SIZES[0])


def fuzz(name: str, source: str, seed: int) -> Outcome:
    return judged(f"{name} seed {seed}", mutate(source, seed))


def extreme(name: str) -> Outcome:
    return judged(name, extremes()[name])


def judged(name: str, content: bytes) -> Outcome:
    """Check one program in a thread with a deep stack, as the command line does."""
    found: list[tuple[tuple[str, ...], str]] = []
    faulthandler.dump_traceback_later(6 * SECONDS, exit=True)
    started = time.perf_counter()
    thread = threading.Thread(target=lambda: found.append(checked(content)))
    thread.start()
    thread.join()
    seconds = time.perf_counter() - started
    faulthandler.cancel_dump_traceback_later()
    codes, fault = found[0]
    if seconds > SECONDS:
        fault = fault or f"took {seconds:.1f} s"
    return Outcome(name, seconds, codes, fault)


def checked(content: bytes) -> tuple[tuple[str, ...], str]:
    """The codes of a program's problems, and the traceback of a check that failed itself."""
    session = Session(Options(verify=True))
    try:
        file = session.files.overlay_bytes("fuzz.prism", content)
        run(session, file)
        render_problems(session.problems, session.files, max_errors=50)
    except UnreadableFile:
        return ("not UTF-8",), ""
    except Exception:  # noqa: BLE001 - this is what fuzzing looks for
        return (), traceback.format_exc(limit=-8)
    if refused := [p.shown_message() for p in session.problems if p.code == "P0702"]:
        return (), f"the CUDA compiler refuses it: {refused[0]}"
    unplaced = [problem.code for problem in session.problems if not problem.at.file]
    return tuple(p.code for p in session.problems), f"without a place: {unplaced}" * bool(unplaced)


def build(session: Session, file: SourceFile) -> None:
    """Everything, to a cubin that is thrown away."""
    build_file(session, file, (DEFAULT_TARGET,), (Emit.CUBIN,), lambda t, k: Path(t.name))


run = check_file


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
