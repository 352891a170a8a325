"""Every planned operation of the programs in the test suite is missed when it is left out.

    python benchmarks/prove_plans.py tests/examples tests/stdlib tests/spec/test_runs.py

Runs these tests and notes which kernels they launch, with which arguments. Then each kernel runs
under `--schedules` schedules (its first launch; others under a few), where nothing may be found,
and once more without each operation of its plan (and of the functions that it calls), where some
launch must be found at fault. Prints a table, then what was not found. A launch that does not end
is no fault.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from prismc.checker.sync.plan import SyncKind
from prismc.checker.types.walk import calls_in
from prismc.emulator.host import Buffer
from prismc.emulator.schedule import Plan, adversaries
from prismc.emulator.timer import TimeLimit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
running = import_module("support.running")  # what the tests use

MOST_LAUNCHES = 6
FEW_SCHEDULES = 5  # for other launches of a kernel than its first


class Made(NamedTuple):
    """How a program was compiled."""

    texts: tuple[tuple[str, str], ...]
    root: str
    flags: str

    def compiled(self, *dropped: int) -> Any:
        return running.compile_texts(dict(self.texts), self.root, self.flags, dropped)


class Kernel(NamedTuple):
    made: Made
    symbol: str


class Launch(NamedTuple):
    blocks: int
    arguments: Mapping[str, Any]


class Recorder:
    """Notes the launches of a run of pytest, by kernel, and the test that made the first one."""

    def __init__(self) -> None:
        self.launches: dict[Kernel, list[Launch]] = {}
        self.tests: dict[Kernel, str] = {}
        self._test = ""
        self._made: dict[int, Made] = {}
        self._kept: list[Any] = []

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._test = item.nodeid

    def install(self) -> None:
        """Take the place of what compiles and launches, before the tests import it."""
        launch, compile_texts = running.Compiled.launch, running.compile_texts

        def compile_noted(
            texts: Mapping[str, str], root: str, flags: str = "", dropped: tuple[int, ...] = ()
        ) -> Any:
            compiled = compile_texts(texts, root, flags, dropped)
            if not dropped:
                self._kept.append(compiled)
                self._made[id(compiled)] = Made(tuple(texts.items()), root, flags)
            return compiled

        def launch_noted(
            compiled: Any,
            blocks: int,
            arguments: Mapping[str, Any],
            kernel: str | None = None,
            plan: Plan | None = None,
            *limits: float,
        ) -> Any:
            made = self._made.get(id(compiled))
            result = launch(compiled, blocks, arguments, kernel, plan, *limits)
            if made is not None and not result.findings:
                key = Kernel(made, compiled.kernel(kernel).symbol)
                self.tests.setdefault(key, self._test)
                known = self.launches.setdefault(key, [])
                names = [parameter.name for parameter in compiled.kernel(kernel).parameters]
                launched = Launch(blocks, {name: arguments[name] for name in names})
                if len(known) < MOST_LAUNCHES and not any(_same(launched, one) for one in known):
                    known.append(launched)
            return result

        running.compile_texts = compile_noted
        running.Compiled.launch = launch_noted


def _same(first: Launch, second: Launch) -> bool:
    """Whether two launches are alike, as they are where a test goes through schedules."""
    pairs = zip(first.arguments.values(), second.arguments.values(), strict=True)
    return first.blocks == second.blocks and all(
        np.array_equal(_content(mine), _content(other)) for mine, other in pairs
    )


def _content(value: Any) -> Any:
    return value.array if isinstance(value, Buffer) else np.asarray(value)


class Verdict(NamedTuple):
    operations: int
    faults: int
    missed: list[str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tests", nargs="+", help="files and folders of tests, as for pytest")
    parser.add_argument("--schedules", type=int, default=30)
    parser.add_argument("--every", type=int, default=1, help="prove only every so many kernels")
    options = parser.parse_args()
    recorder = Recorder()
    recorder.install()
    # The package is a plugin of pytest too, and is imported here already.
    quiet = ["-q", "--no-header", "-p", "no:cacheprovider"]
    quiet += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    failed = pytest.main([*quiet, *options.tests], [recorder])
    plans = adversaries(options.schedules)
    print("\n| first launched by | launches | operations | found without | seconds |")
    print("|---|---|---|---|---|")
    missed: list[str] = []
    for number, (kernel, launches) in enumerate(recorder.launches.items()):
        if number % options.every:
            continue
        start = time.monotonic()
        verdict = prove(kernel, launches, plans)
        found = verdict.operations - len(verdict.missed)
        shown = f"{len(launches)} | {verdict.operations} | {found}"
        where = recorder.tests[kernel]
        print(f"| {where} | {shown} | {time.monotonic() - start:.0f} |", flush=True)
        missed += [f"{where}: {kernel.symbol}: {words}" for words in verdict.missed]
        if verdict.faults:
            missed.append(f"{where}: {kernel.symbol}: the whole program is at fault")
    print("\n".join(["", *missed, f"{len(missed)} not as they should be"]))
    return bool(missed or failed not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED))


def prove(kernel: Kernel, launches: list[Launch], plans: tuple[Plan, ...]) -> Verdict:
    """Run a kernel whole, then without each operation that it may reach."""
    whole = kernel.made.compiled()
    faults = any(findings(whole, kernel, launches[:1], plans)) or any(
        findings(whole, kernel, launches[1:], plans[:FEW_SCHEDULES])
    )
    missed: list[str] = []
    numbers = dict(operations(whole, kernel.symbol))
    for number, words in numbers.items():
        if not any(findings(kernel.made.compiled(number), kernel, launches, plans)):
            missed.append(f"operation {number}, {words}")
    return Verdict(operations=len(numbers), faults=faults, missed=missed)


def operations(compiled: Any, symbol: str) -> Iterator[tuple[int, str]]:
    """The planned operations of a kernel and of what it calls: numbers, and kinds with lines."""
    bodies, instances = compiled.checked.program.bodies, compiled.checked.plan.instances
    waiting, seen = [symbol], {symbol}
    while waiting:
        name = waiting.pop()
        for operation in instances[name].operations if name in instances else ():
            if operation.kind is not SyncKind.BLOCK_VOTE:
                yield operation.number, f"{operation.kind.value} in {name}"
        called = {call.callee.symbol for call in calls_in(bodies[name].statements)}
        waiting += [each for each in called if each in bodies and each not in seen]
        seen |= called


def findings(
    compiled: Any, kernel: Kernel, launches: list[Launch], plans: tuple[Plan, ...]
) -> Iterator[bool]:
    """For each launch and schedule, whether anything is found."""
    for plan in plans:
        for launch in launches:
            try:
                result = compiled.launch(launch.blocks, launch.arguments, kernel.symbol, plan)
                yield bool(result.findings)
            except TimeLimit:
                yield False


if __name__ == "__main__":
    sys.exit(main())
