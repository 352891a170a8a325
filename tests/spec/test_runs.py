"""The programs of `tests/spec/*.md` that say what they compute: built, run, and compared.

A ```run fence after a program holds assignments of NumPy expressions to the kernel's parameters
and to `blocks`, and lines `check: EXPRESSION`, in which an array has the content it has after the
launch if the kernel may write it (`np` and a seeded `rng` are there). No fault may be found, in
order and under other schedules.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

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

    case: Case
    lines: tuple[str, ...]


def _runs() -> list[Run]:
    runs: list[Run] = []
    for page in sorted(Path(__file__).parent.glob("*.md")):
        cases = {_heading(case): case for case in read_cases(page)}
        for fence in read_fences(page):
            if fence.language == "run":
                runs.append(Run(cases[fence.heading], tuple(fence.text.strip().splitlines())))
    return runs


def _heading(case: Case) -> str:
    return case.name.split(" ", 1)[1]


_COMPILED: dict[str, Compiled] = {}


def _compiled(case: Case) -> Compiled:
    if case.name not in _COMPILED:
        _COMPILED[case.name] = compile_texts(case.texts, case.root, case.flags)
    return _COMPILED[case.name]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("run", _runs(), ids=lambda run: _heading(run.case))
def test_run(run: Run, schedule: str) -> None:
    names: dict[str, Any] = {"np": np, "rng": np.random.default_rng(7)}
    checks = [line.removeprefix("check:") for line in run.lines if line.startswith("check:")]
    for line in run.lines:
        if not line.startswith("check:"):
            exec(line, names)
    compiled = _compiled(run.case)
    after = compiled.run(names.pop("blocks"), names, plan=SCHEDULES[schedule])
    for check in checks:
        assert np.all(eval(check, names | after)), f"{check}: {after}"
