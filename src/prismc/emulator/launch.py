"""One launch of one kernel: what all its blocks share, and who is told what happens."""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np

from prismc.emulator.events import Async, Events, Watch
from prismc.emulator.faults.every import Findings
from prismc.emulator.findings import Kind
from prismc.emulator.geometry import Geometry, Shape
from prismc.emulator.layout import Layout
from prismc.emulator.ptx.tree import Function, Instruction, Module
from prismc.emulator.schedule import Copies, Plan, Schedule
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.code import Step
from prismc.emulator.state.run import Run
from prismc.emulator.waits import Waits

_SHARED_SIZES = frozenset({"dynamic_smem_size", "total_smem_size", "aggr_smem_size"})
_CLOCKS = frozenset(
    {"clock", "clock64", "clock_hi", "globaltimer", "globaltimer_lo", "globaltimer_hi"}
)
# Which bits of the workspace's address the driver puts into these registers.
_WORKSPACE = {"envreg1": 32, "envreg2": 0}
_WORKSPACE_NAME = "the grid's workspace"


class Deferred(Protocol):
    """Something that happens by itself in a batch, sooner or later."""

    batch: Batch

    def perform(self) -> None: ...


class Uses(Protocol):
    """What becomes of the values of loads: see `origins`."""

    def before(self, function: Function, site: Instruction) -> Step | None: ...

    def watch(self, site: Instruction, watch: Watch | None) -> Watch | None: ...


class Launch:
    """The state of a launch outside of its batches.

    `progress` counts what may let others go on, `instructions` those of all threads, `counts` the
    runs of each block of each function for profiles. `poison` asks for marks of written bytes.
    """

    def __init__(
        self, module: Module, kernel: Function, shape: Shape, plan: Plan, off: frozenset[Kind]
    ) -> None:
        self.module = module
        self.kernel = kernel
        self.shape = shape
        self.schedule = Schedule(plan)
        self.layout = Layout()
        self.findings = Findings(self.layout, off)
        self.events = Events()
        self.watch: Watch | None = None
        self.uses: Uses | None = None
        self.waits: Waits | None = None
        self.counts: dict[str, Lanes] | None = None
        self.poison = False
        self.printed: list[str] = []
        self.progress = 0
        self.instructions = 0
        self.deferred: deque[Deferred] = deque()
        self._clock = 0
        self._asyncs = 0

    def watch_of(self, load: Instruction) -> Watch | None:
        """Who is told of a load."""
        return self.watch if self.uses is None else self.uses.watch(load, self.watch)

    def new_async(
        self, site: Instruction, *, in_async_proxy: bool = False, updates: bool = False
    ) -> Async:
        """A new asynchronous operation."""
        self._asyncs += 1
        return Async(self._asyncs, site, in_async_proxy, updates)

    def defer(self, action: Deferred) -> None:
        """Something that happens by itself: now, or when nobody can go on without it."""
        if self.schedule.plan.copies is Copies.EARLY:
            action.perform()
        else:
            self.deferred.append(action)

    def special(self, name: str) -> Lanes:
        """Special registers that depend on the launch's state, `[1]`."""
        if name in _SHARED_SIZES:
            return np.array([self.layout.shared_end], np.uint32)
        if name in _WORKSPACE:
            return np.array([self._workspace() >> _WORKSPACE[name] & 0xFFFFFFFF], np.uint32)
        self._clock += 1
        return np.array([self._clock], np.uint64)

    def knows_special(self, name: str) -> bool:
        """Whether a special register has a value here."""
        small = Geometry(self.shape, np.zeros(1, np.int64))
        known = (*_SHARED_SIZES, *_WORKSPACE, *_CLOCKS)
        return name in known or small.special(name) is not None

    def _workspace(self) -> int:
        """The address of the memory that cooperative launches synchronise through."""
        memory = self.layout.memory
        for region in memory.regions:
            if region.name == _WORKSPACE_NAME:
                return region.base
        return memory.add(_WORKSPACE_NAME, "global", 64).base

    def count(self, run: Run, block: int) -> None:
        """Notes that a run executes a block."""
        outline = run.frame.outline
        issued = outline.issued[block]
        self.instructions += run.count * issued
        if self.counts is not None:
            name = outline.function.name
            known = self.counts.get(name)
            if known is None:
                known = self.counts[name] = np.zeros(len(outline.issued), np.int64)
            known[block] += run.count
        if self.waits is not None:
            self.waits.issue(run, issued)
