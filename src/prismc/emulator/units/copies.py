"""Asynchronous copies on their way: from issue to completion (PTX ISA 9.7.9.25).

An operation takes place at its issue or as late as a schedule may put it, and is *complete* for a
thread only when that thread has waited for it. Between issue and completion its memory belongs to
it; the watch is told of both.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from prismc.emulator.events import Async
from prismc.emulator.launch import Launch
from prismc.emulator.memory import Place, Region
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.schedule import Copies
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch, Unit
from prismc.emulator.state.run import Run
from prismc.emulator.units.mbarriers import MBarriers


class Deferred(Protocol):
    """Something that happens by itself in a batch, sooner or later."""

    batch: Batch

    def perform(self) -> None: ...


class ThreadCopy:
    """One `cp.async` of some lanes: `size` bytes each, `count` of them read, the rest zeros.

    `groups` is the commit group of each lane's copy. `open` marks lanes that have not waited yet.
    """

    def __init__(
        self,
        lanes: Lanes,
        target: Place,
        source: Region,
        starts: Lanes,
        count: int,
        size: int,
        groups: Lanes,
        operation: Async,
    ) -> None:
        self.lanes = lanes
        self.target = target
        self.source = source
        self.starts = starts
        self.count = count
        self.size = size
        self.groups = groups
        self.operation = operation
        self.open = np.ones(len(lanes), np.bool_)
        self.moved = np.zeros(len(lanes), np.bool_)

    def move(self, chosen: Lanes) -> None:
        """Moves the bytes of the lanes at some positions."""
        chosen = chosen[~self.moved[chosen]]
        self.moved[chosen] = True
        span = np.arange(self.size)
        reads = span < self.count
        at = np.where(reads, self.starts[chosen][:, None] + span, 0)
        content = np.where(reads, self.source.data[at], 0)
        self.target.region.data[self.target.offsets[chosen][:, None] + span] = content


class ThreadCopies(Unit):
    """All `cp.async` copies of a batch that somebody still has to wait for."""

    def __init__(self, launch: Launch, batch: Batch) -> None:
        self.launch = launch
        self.batch = batch
        self.committed = np.zeros(batch.geometry.count, np.int64)
        self.pending: list[ThreadCopy] = []

    def issue(self, copy: ThreadCopy) -> None:
        """Notes a copy; it moves its bytes now if the schedule says so."""
        self.pending.append(copy)
        if self.launch.schedule.plan.copies is Copies.EARLY:
            copy.move(np.arange(len(copy.lanes)))

    def commit(self, run: Run) -> None:
        """`commit_group`: copies issued so far form a group."""
        self.committed[run.lane_numbers()] += 1

    def wait(self, run: Run, newest: int | None) -> None:
        """Completes all but the `newest` groups of the run's lanes; None: all copies."""
        limits = np.zeros(self.batch.geometry.count, np.int64)
        lanes = run.lane_numbers()
        limits[lanes] = np.iinfo(np.int64).max if newest is None else self.committed[lanes] - newest
        self.complete(limits)

    def complete(self, limits: Lanes, until: int | None = None) -> None:
        """Completes each lane's copies of groups below its limit, of the `until` oldest issues."""
        for copy in self.pending[:until]:
            chosen = np.flatnonzero(copy.open & (copy.groups < limits[copy.lanes]))
            if not len(chosen):
                continue
            copy.open[chosen] = False
            copy.move(chosen)
            self._tell(copy, chosen)
        self.pending = [copy for copy in self.pending if copy.open.any()]

    def _tell(self, copy: ThreadCopy, chosen: Lanes) -> None:
        """Tells the watch that the lanes at some positions have their copies."""
        watch = self.launch.watch
        if watch is None:
            return
        lanes = copy.lanes[chosen]
        if copy.count:
            source = Place(copy.source, copy.starts[chosen], None)
            watch.finish_read(self.batch, copy.operation, source, copy.count, lanes)
        place = Place(copy.target.region, copy.target.offsets[chosen], None)
        watch.finish_write(self.batch, copy.operation, place, copy.size, lanes)

    def finish(self) -> None:
        """Completes everything, as the end of the threads does."""
        self.complete(np.full(self.batch.geometry.count, np.iinfo(np.int64).max))


class AsyncArrival:
    """`cp.async.mbarrier.arrive`: arrivals once the copies that lanes have issued are there."""

    def __init__(
        self, launch: Launch, batch: Batch, site: Instruction, lanes: Lanes, offsets: Lanes
    ) -> None:
        self.launch = launch
        self.batch = batch
        self.site = site
        self.lanes = lanes
        self.offsets = offsets
        self.before = list(batch.unit(ThreadCopies).pending)
        self.issued_at = 0  # for profiles
        if launch.waits is not None:
            mask = np.isin(batch.every_lane, lanes)
            (self.issued_at,) = launch.waits.latest(batch, mask, 1).tolist()

    def perform(self) -> None:
        """Completes the copies and arrives."""
        batch = self.batch
        copies, barriers = batch.unit(ThreadCopies), batch.unit(MBarriers)
        limits = np.zeros(batch.geometry.count, np.int64)
        limits[self.lanes] = np.iinfo(np.int64).max
        still = [copy for copy in copies.pending if copy in self.before]
        later = [copy for copy in copies.pending if copy not in self.before]
        copies.pending = still
        copies.complete(limits)
        copies.pending += later
        for lane, offset in zip(self.lanes.tolist(), self.offsets.tolist(), strict=True):
            barrier = barriers.by_offset.get(offset)
            if barrier is not None:
                view = self.launch.events.release(batch, np.array([lane]))
                barrier.last_arrival = max(barrier.last_arrival, self.issued_at)
                barriers.arrive(None, self.site, barrier, 1, view)
