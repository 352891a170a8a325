"""The machine: one launch, batch by batch, until all threads have ended or nobody can go on."""

from __future__ import annotations

from collections import deque

import numpy as np

from prismc.emulator.checks.clocks import Clocks
from prismc.emulator.checks.engines import EngineWatch
from prismc.emulator.checks.order import ClockEvents
from prismc.emulator.checks.signals import Signals
from prismc.emulator.deadlock import report_deadlock
from prismc.emulator.geometry import WARP, Geometry
from prismc.emulator.grid import chunks_of
from prismc.emulator.launch import Launch
from prismc.emulator.linkage import Linkage
from prismc.emulator.memory import LOCAL_START
from prismc.emulator.profile import Profiler
from prismc.emulator.program import Program
from prismc.emulator.schedule import Order
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.frames import Frame
from prismc.emulator.timer import Timer
from prismc.emulator.turns import Turns
from prismc.emulator.units.barriers import BlockBarriers
from prismc.emulator.units.bulk import BulkGroups
from prismc.emulator.units.clusters import ClusterBarriers
from prismc.emulator.units.copies import ThreadCopies
from prismc.emulator.units.mbarriers import MBarriers
from prismc.emulator.units.meetings import Meetings
from prismc.emulator.units.warpgroups import WarpgroupProducts
from prismc.emulator.waits import Waits

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


class Machine:
    """Runs one launch."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.linkage = Linkage(launch)
        self.program = Program(launch, self.linkage)
        self.timer = Timer(launch)
        self.turns = Turns(launch, self.program, self.timer)

    def observe(self, *, races: bool, uninitialised: bool, profile: bool) -> None:
        """Turns checks and counting on; to be called before `prepare`."""
        launch = self.launch
        launch.poison = uninitialised
        if not races and not uninitialised and not profile:
            return
        clocks = Clocks()
        signals = Signals(clocks)
        kind = Profiler if profile else EngineWatch
        launch.watch = kind(launch, clocks, signals, races=races, uninitialised=uninitialised)
        if profile:
            launch.counts = {}
            launch.waits = Waits()
        if races:
            launch.events = ClockEvents(clocks, signals)

    def prepare(self, parameters: tuple[bytes, ...], dynamic_shared: int) -> None:
        """Lays out memory and decodes the kernel. Raises PtxError for what cannot run."""
        self.linkage.place_parameters(parameters)
        self.linkage.place_shared(dynamic_shared)
        self.program.code(self.launch.kernel)

    def run(self) -> None:
        """Runs all blocks. Raises TimeLimit, InstructionLimit."""
        launch = self.launch
        waiting = self._chunks()
        active: list[Batch] = []
        idle = 0
        with np.errstate(all="ignore"):
            while waiting or active:
                # Blocks start when the running ones have ended or wait for something.
                may_start = self._may_start(waiting, active)
                if may_start and (idle > _PATIENCE or not any(batch.ready for batch in active)):
                    active.append(self._begin(waiting.pop(0)))
                    idle = 0
                before = launch.progress
                for batch in active:
                    self.turns.advance(batch)
                active = self._without_finished(active)
                may_start = self._may_start(waiting, active)
                if launch.progress == before and not may_start and launch.deferred:
                    # The oldest of the things that happen by themselves happens.
                    launch.deferred.popleft().perform()
                idle = 0 if launch.progress != before else idle + 1
                if not may_start and self._is_dead(active, idle):
                    active = self._resolve(active, sum(map(len, waiting)))
                    idle = 0
                for batch in active:
                    batch.wake()
                self.timer.check()

    def _chunks(self) -> list[Lanes]:
        """The blocks of the grid, batch by batch, in starting order."""
        launch = self.launch
        shape, schedule = launch.shape, launch.schedule
        per_batch = _BATCH_LANES // shape.width
        if launch.watch is not None:
            # What races need to know of a block grows with its shared memory and its warps.
            shadow = launch.layout.shared_end * (shape.width // WARP + 4) * _SHADOW_PER_BYTE
            per_batch = min(per_batch, _MOST_SHADOW // shadow)
        order = schedule.order_blocks(shape.grid.volume)
        return chunks_of(shape, order, per_batch, schedule.plan.resident)

    def _begin(self, blocks: Lanes) -> Batch:
        """A batch whose threads are about to execute the kernel."""
        launch, geometry = self.launch, Geometry(self.launch.shape, blocks)
        schedule = launch.schedule
        batch = Batch(
            geometry,
            launch.layout.shared_end,
            launch.special,
            schedule.crew_numbers(geometry),
            splits_warps=schedule.plan.order is Order.SPLIT,
            marks_written=launch.poison,
        )
        batch.add(BlockBarriers(launch, batch))
        batch.add(ClusterBarriers(launch, batch))
        batch.add(Meetings(launch, batch))
        batch.add(MBarriers(launch, batch))
        batch.add(ThreadCopies(launch, batch))
        batch.add(BulkGroups(launch, batch))
        batch.add(WarpgroupProducts(launch, batch))
        outline = self.program.code(launch.kernel).outline
        frame = Frame(batch.special, outline, None, 0, LOCAL_START)
        batch.local_memory(frame.end)
        batch.push_mixed(frame, 0, batch.alive)
        return batch

    def _may_start(self, waiting: list[Lanes], active: list[Batch]) -> bool:
        """Whether there are blocks that have not started, and room for the next of them.

        A cluster of more blocks than may be resident still runs, by itself.
        """
        resident = self.launch.schedule.plan.resident
        if not waiting or not active or not resident:
            return bool(waiting)
        held = sum(batch.held_blocks() for batch in active)
        return held + len(waiting[0]) <= resident

    def _is_dead(self, active: list[Batch], idle: int) -> bool:
        """Whether nobody can go on: all wait, or turn in loops while nothing changes."""
        if not active or any(batch.ready for batch in active):
            return False
        resting = [rest for batch in active for rest in batch.resting]
        if self.launch.deferred or (resting and idle <= _SAME_ROUNDS):
            return False
        stateless = all(rest.spin is not None and rest.spin.stateless for rest in resting)
        return stateless or idle > _IDLE_ROUNDS

    def _without_finished(self, active: list[Batch]) -> list[Batch]:
        for batch in active:
            if not batch.alive_count:
                self._end(batch)
        return [batch for batch in active if batch.alive_count]

    def _end(self, batch: Batch) -> None:
        """All threads of a batch have exited; what it has left to happen happens now."""
        launch = self.launch
        own = [action for action in launch.deferred if action.batch is batch]
        launch.deferred = deque(action for action in launch.deferred if action.batch is not batch)
        for action in own:
            action.perform()
        batch.unit(MBarriers).judge_end()
        launch.events.batch_ended(batch)
        if launch.waits is not None:
            launch.waits.forget(batch)
        self.timer.finish(len(batch.geometry.blocks))

    def _resolve(self, active: list[Batch], unstarted: int) -> list[Batch]:
        """Nobody can go on: collectives run without their missing lanes, else it is a deadlock."""
        forced = [batch.unit(Meetings).force() for batch in active]
        if any(forced):
            return active
        report_deadlock(self.launch, active, unstarted)
        return []
