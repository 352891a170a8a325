"""What a test kernel is: launches with random arguments, what must come out, ways to break it.

A fault is an edit of the CUDA text and the kinds of finding that it must yield.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prismc.emulator.api import ALL_CHECKS, Checks, RunResult, run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.schedule import Plan

Array = np.ndarray[Any, Any]
Random = np.random.Generator


@dataclass(frozen=True)
class Launch:
    """Arguments, and by position the expected content of array arguments."""

    grid: int | Sequence[int]
    block: int | Sequence[int]
    args: list[Any]
    expected: dict[int, Array]
    tolerance: float = 0.0
    dynamic_shared: int = 0
    cluster: int | None = None

    def run(self, ptx: str, plan: Plan, checks: Checks = ALL_CHECKS) -> RunResult:
        """What the kernel of a text does, in one order of execution."""
        return run_ptx(
            ptx,
            None,
            self.grid,
            self.block,
            self.args,
            cluster=self.cluster,
            dynamic_shared=self.dynamic_shared,
            checks=checks,
            plan=plan,
            time_limit=60,
        )


@dataclass(frozen=True)
class Fault:
    """`old` (its `nth` occurrence, from 0) becomes `new`; one of `kinds` must be found."""

    old: str
    new: str
    kinds: tuple[Kind, ...]
    nth: int = 0

    def apply(self, text: str) -> str:
        """The text with the fault. Raises ValueError when `old` is not there."""
        at = -1
        for _ in range(self.nth + 1):
            at = text.index(self.old, at + 1)
        return text[:at] + self.new + text[at + len(self.old) :]


@dataclass(frozen=True)
class Kernel:
    """A test kernel by the name of its file."""

    name: str
    make: Callable[[Random], Launch]
    target: str = "sm_80"
    faults: tuple[Fault, ...] = field(default=())
    file: str = ""
    defines: str = ""

    @property
    def text_name(self) -> str:
        return self.file or self.name


RACE = (Kind.RACE,)
RACE_OR_ORDER = (Kind.RACE, Kind.ORDER)
SYNC = "__syncthreads();"
