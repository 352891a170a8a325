"""The ```run fences of pages: launches of the program above, and what must come out.

A fence holds assignments of NumPy expressions to the kernel's parameters and to `blocks`, to
`kernel` the name of one where there are several, and lines

    check: EXPRESSION       arrays that the kernel may write have their content after the launch
    finds: BOUNDS           the emulator must find a fault of this kind, and no other

(`np`, `ml_dtypes`, a seeded `rng` and the emulator's `Buffer` are there). Without a `finds:` line,
no fault may be found.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from prismc.emulator.api import RunResult
from prismc.emulator.findings import Kind
from prismc.emulator.host import Buffer
from prismc.emulator.schedule import Order, Plan
from support.fences import read_fences
from support.running import Compiled, compile_texts
from support.spec_page import program_above, read_cases

_STATEMENT = re.compile(r"(check|finds): *(.*)")
SCHEDULES = {
    "together": Plan(),
    "reversed": Plan(order=Order.REVERSED, high_blocks_first=True),
    "stalled": Plan(order=Order.STALLED),
    "random": Plan(order=Order.RANDOM, seed=1),
}


class Run(NamedTuple):
    """One launch of a page's program: the one above the fence, which opens at line `program`."""

    page: Path
    heading: str
    program: int
    lines: tuple[str, ...]


def read_runs(page: Path) -> list[Run]:
    """The launches of a page, in order."""
    return [
        Run(page, fence.heading, program_above(page, fence), tuple(fence.text.strip().splitlines()))
        for fence in read_fences(page)
        if fence.language == "run"
    ]


@cache
def compile_page(page: Path, program: int, dropped: tuple[int, ...] = ()) -> Compiled:
    """The program at a line of a page, without the planned operations `dropped`."""
    (case,) = (case for case in read_cases(page) if case.line == program)
    return compile_texts(case.texts, case.root, case.flags, dropped)


def check_run(run: Run, plan: Plan) -> None:
    """Compile and launch. Raises AssertionError when something else happens than is stated."""
    check_compiled(compile_page(run.page, run.program), run, plan)


def check_compiled(compiled: Compiled, run: Run, plan: Plan) -> None:
    """Launch the program of a run. Raises AssertionError as `check_run` does."""
    names = _names(run)
    kernel = names.get("kernel")
    result = compiled.launch(names["blocks"], names, kernel, plan)
    found = {finding.kind for finding in result.findings}
    assert found == {Kind[name] for name in _stated(run, "finds")}, _listed(result)
    after = compiled.outputs(result, kernel)
    for check in _stated(run, "check"):
        assert np.all(eval(check, names | after)), f"{check}: {after}"


def has_faults_without(run: Run, number: int, plan: Plan) -> bool:
    """Whether the emulator finds anything when a planned operation is left out."""
    compiled, names = compile_page(run.page, run.program, (number,)), _names(run)
    return bool(compiled.launch(names["blocks"], names, names.get("kernel"), plan).findings)


def _names(run: Run) -> dict[str, Any]:
    """What the assignments of a fence define."""
    names: dict[str, Any] = {
        "np": np, "ml_dtypes": ml_dtypes, "rng": np.random.default_rng(7), "Buffer": Buffer
    }  # fmt: skip
    for line in run.lines:
        if not _STATEMENT.match(line):
            exec(line, names)
    return names


def _stated(run: Run, word: str) -> list[str]:
    """What follows a word at the start of a line: the checks, or the kinds of findings."""
    found = (_STATEMENT.match(line) for line in run.lines)
    return [match[2] for match in found if match and match[1] == word]


def _listed(result: RunResult) -> str:
    return "\n".join(map(str, result.findings))
