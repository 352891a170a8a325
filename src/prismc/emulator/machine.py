"""The machine: one launch, batch by batch, until all threads have ended or nobody can go on."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from prismc.emulator.batch import Batch
from prismc.emulator.checks.clocks import Clocks
from prismc.emulator.checks.engines import EngineWatch
from prismc.emulator.checks.order import ClockEvents
from prismc.emulator.checks.signals import Signals
from prismc.emulator.code import Code
from prismc.emulator.copies import Deferred
from prismc.emulator.deadlock import report_deadlock
from prismc.emulator.events import Async, Events, Watch
from prismc.emulator.faults.every import Findings
from prismc.emulator.findings import Kind
from prismc.emulator.geometry import WARP, Dim3, Geometry, Shape
from prismc.emulator.linkage import Linkage, source_name
from prismc.emulator.memory import GlobalMemory, Region
from prismc.emulator.names import SharedArray, indexed
from prismc.emulator.profile import Profiler
from prismc.emulator.ptx.tree import Function, Instruction, Module
from prismc.emulator.schedule import Copies, Plan, Schedule
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.waits import Waits

if TYPE_CHECKING:
    from collections.abc import Callable

    from prismc.emulator.lanes import Run

# Lanes of a batch: enough to hide Python's cost, few enough for the caches.
_BATCH_LANES = 32768
# Rounds in which all that is alive waits in loops and nothing changes: then it never will.
_IDLE_ROUNDS = 1000
# The same for loops that keep no state.
_SAME_ROUNDS = 2
# After so many idle rounds more blocks start: those that run may wait for them.
_PATIENCE = 3


# Bytes that the race detector keeps for each byte of shared memory and warp, and their limit.
_SHADOW_PER_BYTE = 4
_MOST_SHADOW = 400 << 20


# Seconds between two reports of how far a launch is.
_TICK = 0.2

_SHARED_SIZES = frozenset({"dynamic_smem_size", "total_smem_size", "aggr_smem_size"})
_CLOCKS = frozenset(
    {"clock", "clock64", "clock_hi", "globaltimer", "globaltimer_lo", "globaltimer_hi"}
)
# Which bits of the workspace's address the driver puts into these registers.
_WORKSPACE = {"envreg1": 32, "envreg2": 0}
_WORKSPACE_NAME = "the grid's workspace"


class TimeLimit(Exception):
    """The launch took longer than it was allowed to."""


class Machine:
    """One launch of one kernel."""

    def __init__(
        self, module: Module, kernel: Function, shape: Shape, plan: Plan, off: frozenset[Kind]
    ) -> None:
        self.module = module
        self.kernel = kernel
        self.shape = shape
        self.schedule = Schedule(plan)
        self.memory = GlobalMemory()
        self.findings = Findings(self, off)
        self.events = Events()
        self.watch: Watch | None = None
        self.poison = False
        self.printed: list[str] = []
        self.progress = 0
        self.instructions = 0
        self.counts: dict[str, Lanes] | None = None
        self.waits: Waits | None = None
        self.deadline: float | None = None
        self.on_tick: Callable[[int, int, int], None] | None = None
        self.finished_blocks = 0
        self.linkage = Linkage(self, module, kernel)
        self.shared_end = 0
        self.shared_arrays: tuple[SharedArray, ...] = ()
        self.entry: Code
        self._clock = 0
        self._next_tick = 0.0
        self._asyncs = 0
        self._deferred: deque[Deferred] = deque()

    def observe(self, *, races: bool, uninitialised: bool, profile: bool) -> None:
        """Turns checks and counting on; to be called before `prepare`."""
        self.poison = uninitialised
        if not races and not uninitialised and not profile:
            return
        clocks = Clocks()
        signals = Signals(clocks)
        kind = Profiler if profile else EngineWatch
        self.watch = kind(self, clocks, signals, races=races, uninitialised=uninitialised)
        if profile:
            self.counts = {}
            self.waits = Waits()
        if races:
            self.events = ClockEvents(clocks, signals)

    def prepare(self, parameters: tuple[bytes, ...], dynamic_shared: int) -> None:
        """Lays out memory and decodes the kernel. Raises PtxError for what cannot run."""
        self.linkage.place_parameters(parameters)
        self.shared_end = self.linkage.place_shared(dynamic_shared)
        self.entry = self.linkage.code(self.kernel)

    def run(self) -> None:
        """Runs all blocks. Raises TimeLimit."""
        waiting = self._chunks()
        active: list[Batch] = []
        idle = 0
        with np.errstate(all="ignore"):
            while waiting or active:
                # Blocks start when the running ones have ended or wait for something.
                may_start = self._may_start(waiting, active)
                if may_start and (idle > _PATIENCE or not any(batch.ready for batch in active)):
                    active.append(Batch(self, Geometry(self.shape, waiting.pop(0))))
                    idle = 0
                before = self.progress
                for batch in active:
                    batch.advance()
                active = self._without_finished(active)
                may_start = self._may_start(waiting, active)
                if self.progress == before and not may_start:
                    self._perform_deferred()
                idle = 0 if self.progress != before else idle + 1
                if not may_start and self._is_dead(active, idle):
                    active = self._resolve(active, sum(map(len, waiting)))
                    idle = 0
                for batch in active:
                    batch.wake()
                self.check_time()

    def _may_start(self, waiting: list[Lanes], active: list[Batch]) -> bool:
        """Whether there are blocks that have not started, and room for the next of them.

        A cluster of more blocks than may be resident still runs, by itself.
        """
        if not waiting or not active or not self.schedule.plan.resident:
            return bool(waiting)
        held = sum(batch.held_blocks() for batch in active)
        return held + len(waiting[0]) <= self.schedule.plan.resident

    def _is_dead(self, active: list[Batch], idle: int) -> bool:
        """Whether nobody can go on: all wait, or turn in loops while nothing changes."""
        if not active or any(batch.ready for batch in active):
            return False
        resting = [rest for batch in active for rest in batch.resting]
        if self._deferred or (resting and idle <= _SAME_ROUNDS):
            return False
        stateless = all(rest.spin is not None and rest.spin.stateless for rest in resting)
        return stateless or idle > _IDLE_ROUNDS

    def _perform_deferred(self) -> None:
        """The oldest of the things that happen by themselves happens."""
        if self._deferred:
            self._deferred.popleft().perform()

    def _finish_deferred(self, batch: Batch) -> None:
        """What a batch has left to happen happens at its end."""
        own = [action for action in self._deferred if action.batch is batch]
        self._deferred = deque(action for action in self._deferred if action.batch is not batch)
        for action in own:
            action.perform()

    def _chunks(self) -> list[Lanes]:
        """The blocks of the grid in starting order, cut into batches of whole clusters."""
        blocks = self._by_cluster(self.schedule.order_blocks(self.shape.grid.volume))
        cluster = self.shape.cluster.volume
        per_batch = max(1, _BATCH_LANES // (self.shape.width * cluster)) * cluster
        if self.watch is not None:
            # What races need to know of a block grows with its shared memory and its warps.
            shadow = self.shared_end * (self.shape.width // WARP + 4) * _SHADOW_PER_BYTE
            per_batch = min(per_batch, max(1, _MOST_SHADOW // (shadow * cluster)) * cluster)
        first = len(blocks)
        if self.schedule.plan.resident:
            # Those that run first may do so together; each of the others starts when one has ended.
            first = min(first, max(1, self.schedule.plan.resident // cluster) * cluster)
        starts = [*range(0, first, per_batch), *range(first, len(blocks), cluster)]
        return [
            blocks[start:end] for start, end in zip(starts, [*starts[1:], len(blocks)], strict=True)
        ]

    def _by_cluster(self, blocks: Lanes) -> Lanes:
        """The same order with the blocks of each cluster side by side, by rank."""
        if self.shape.cluster.volume == 1:
            return blocks
        geometry = Geometry(Shape(self.shape.grid, Dim3(32), self.shape.cluster), blocks)
        rank = geometry.cluster_rank[::32]
        corner = _cluster_numbers(self.shape, blocks)
        first = {int(number): place for place, number in reversed(list(enumerate(corner)))}
        start = np.array([first[int(number)] for number in corner], np.int64)
        ordered: Lanes = blocks[np.lexsort((rank, start))]
        return ordered

    def _without_finished(self, active: list[Batch]) -> list[Batch]:
        for batch in active:
            if not batch.alive_count:
                self._finish_deferred(batch)
                batch.mbarriers.finish()
                self.events.batch_ended(batch)
                if self.waits is not None:
                    self.waits.forget(batch)
                self.finished_blocks += len(batch.geometry.blocks)
                self._tick()
        return [batch for batch in active if batch.alive_count]

    def _resolve(self, active: list[Batch], unstarted: int) -> list[Batch]:
        """Nobody can go on: collectives run without their missing lanes, else it is a deadlock."""
        forced = [batch.meetings.force() for batch in active]
        if any(forced):
            return active
        report_deadlock(self, active, unstarted)
        return []

    # Services

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
            self._deferred.append(action)

    def special(self, name: str) -> Lanes:
        """Special registers that depend on the machine's state, `[1]`."""
        if name in _SHARED_SIZES:
            return np.array([self.shared_end], np.uint32)
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
        for region in self.memory.regions:
            if region.name == _WORKSPACE_NAME:
                return region.base
        return self.memory.add(_WORKSPACE_NAME, "global", 64).base

    def count(self, run: Run, block: int) -> None:
        """Notes that a run executes a block."""
        code = run.frame.code
        issued = len(code.blocks[block].instructions)
        self.instructions += run.count * issued
        if self.counts is not None:
            known = self.counts.get(code.name)
            if known is None:
                known = self.counts[code.name] = np.zeros(len(code.blocks), np.int64)
            known[block] += run.count
        if self.waits is not None:
            self.waits.issue(run, issued)

    def check_time(self) -> None:
        """Tells how far the launch is. Raises TimeLimit when the time is over."""
        if self.deadline is None and self.on_tick is None:
            return
        now = time.monotonic()
        if self.deadline is not None and now > self.deadline:
            raise TimeLimit
        if now > self._next_tick:
            self._next_tick = now + _TICK
            self._tick()

    def _tick(self) -> None:
        if self.on_tick is not None:
            self.on_tick(self.finished_blocks, self.shape.grid.volume, self.instructions)

    def array_name(self, region: Region, offset: int) -> str:
        """The name of the array at an offset of a region."""
        if region.space != "shared":
            return region.name
        variable = self.linkage.shared_at(offset % region.stride)
        if variable is None:
            return "shared memory"
        named = self._shared_array(offset % region.stride - variable.start)
        return named.name if named is not None else source_name(variable.variable.name)

    def element(self, region: Region, offset: int) -> str:
        """How people name a place in an array: indexes where its shape is known, else the byte."""
        if region.space == "shared":
            at = offset % region.stride
            variable = self.linkage.shared_at(at)
            if variable is None:
                return f"address {at}"
            named = self._shared_array(at - variable.start)
            if named is None:
                return f"byte {at - variable.start}"
            return indexed(at - variable.start - named.start, named.element, named.shape)
        if not region.shape:
            return f"byte {offset}"
        return indexed(offset, region.element, region.shape)

    def _shared_array(self, offset: int) -> SharedArray | None:
        """The array that the compiler put at an offset of the kernel's one shared variable."""
        if len(self.linkage.shared) != 1:
            return None
        for array in self.shared_arrays:
            if array.start <= offset < array.start + array.size:
                return array
        return None


def _cluster_numbers(shape: Shape, blocks: Lanes) -> Lanes:
    """The cluster of each block, as a number."""
    grid, cluster = shape.grid, shape.cluster
    x, y, z = blocks % grid.x, blocks // grid.x % grid.y, blocks // (grid.x * grid.y)
    numbers: Lanes = (x // cluster.x) + grid.x * ((y // cluster.y) + grid.y * (z // cluster.z))
    return numbers
