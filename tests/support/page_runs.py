"""The ```run fences of pages: launches of the program above, and what must come out.

A fence holds assignments of NumPy expressions to the kernel's parameters and to `blocks`, and lines

    check: EXPRESSION       arrays that the kernel may write have their content after the launch
    finds: BOUNDS           the emulator must find a fault of this kind, and no other

(`np`, a seeded `rng` and the emulator's `Buffer` are there). Without a `finds:` line, no fault may be found.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from prismc.emulator.findings import Kind
from prismc.emulator.host import Buffer
from prismc.emulator.schedule import Order, Plan
from support.fences import read_fences
from support.running import Compiled, compile_texts
from support.spec_page import Case, read_cases

SCHEDULES = {
    "together": Plan(),
    "reversed": Plan(order=Order.REVERSED, high_blocks_first=True),
    "stalled": Plan(order=Order.STALLED),
    "random": Plan(order=Order.RANDOM, seed=1),
}


class Run(NamedTuple):
    """One launch of a page's program."""

    page: Path
    heading: str
    lines: tuple[str, ...]


def read_runs(page: Path) -> list[Run]:
    """The launches of a page, in order."""
    return [
        Run(page, fence.heading, tuple(fence.text.strip().splitlines()))
        for fence in read_fences(page)
        if fence.language == "run"
    ]


@cache
def _compiled(page: Path, heading: str) -> Compiled:
    case = _last_case(page, heading)
    return compile_texts(case.texts, case.root, case.flags)


def _last_case(page: Path, heading: str) -> Case:
    """The last program under a heading. Raises LookupError where there is none."""
    for case in reversed(read_cases(page)):
        if case.name.split(" ", 1)[1] == heading:
            return case
    raise LookupError(f"{page}: no program under {heading!r}")


def check_run(run: Run, plan: Plan) -> None:
    """Compile and launch. Raises AssertionError when something else happens than is stated."""
    names: dict[str, Any] = {"np": np, "rng": np.random.default_rng(7), "Buffer": Buffer}
    stated: dict[str, list[str]] = {"check": [], "finds": []}
    for line in run.lines:
        word, _, rest = line.partition(":")
        if word in stated:
            stated[word].append(rest.strip())
        else:
            exec(line, names)
    compiled, blocks = _compiled(run.page, run.heading), names.pop("blocks")
    result = compiled.launch(blocks, names, plan=plan)
    found = {finding.kind for finding in result.findings}
    assert found == {Kind[name] for name in stated["finds"]}, "\n".join(map(str, result.findings))
    after = compiled.outputs(result)
    for check in stated["check"]:
        assert np.all(eval(check, names | after)), f"{check}: {after}"
