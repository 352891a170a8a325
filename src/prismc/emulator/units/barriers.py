"""Block barriers: `bar` and `barrier` with ids, counts, arrive and reductions (PTX ISA 9.7.13.1).

A barrier counts warps: a warp has arrived when all its non-exited lanes have; it then counts for
32 threads. Without a count, all non-exited threads of the block take part.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.geometry import WARP
from prismc.emulator.launch import Launch
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.barrier import Barrier, Waiting
from prismc.emulator.state.batch import Batch, Unit
from prismc.emulator.state.run import Run
from prismc.emulator.waits import BLOCK


class BlockBarriers(Unit):
    """All barriers of the blocks of a batch."""

    def __init__(self, launch: Launch, batch: Batch) -> None:
        self.launch = launch
        self.batch = batch
        self.by_id: dict[int, Barrier] = {}

    def barrier(self, number: int) -> Barrier:
        """The barrier with an id, 0 to 15."""
        if number not in self.by_id:
            geometry = self.batch.geometry
            self.by_id[number] = Barrier(len(geometry.blocks), geometry.count)
        return self.by_id[number]

    def sync(
        self, run: Run, number: int, expected: int, waiting: Waiting, votes: Lanes | None = None
    ) -> int | None:
        """The run arrives and waits. `expected` is 0 for all threads of the block.

        `votes` are the predicates of a reduction. Returns the next block if nobody has to wait,
        None if the lanes were parked.
        """
        mask = run.mask_array()
        if self._is_simple(run, number, expected):
            self.launch.events.block_barrier(run)
            if self.launch.waits is not None:
                self.launch.waits.together(run, waiting.site)
            if waiting.finish is not None and votes is not None:
                votes = np.broadcast_to(votes, mask.shape)
                waiting.finish(run.frame, votes, mask, mask, self.batch.geometry.width)
            return waiting.block
        barrier = self.barrier(number)
        if votes is not None:
            barrier.votes = np.where(mask, votes, barrier.votes)
        self._expect(barrier, run, number, expected, waiting.site)
        barrier.waiting |= mask
        known = barrier.parked.get(waiting)
        barrier.parked[waiting] = mask.copy() if known is None else known | mask
        self._arrive(barrier, run, mask, waiting.site)
        self._settle(number, barrier)
        return None

    def _is_simple(self, run: Run, number: int, expected: int) -> bool:
        """Whether whole blocks arrive at once at a barrier where nobody is yet."""
        batch = self.batch
        if batch.exited or expected not in (0, batch.geometry.shape.block.volume):
            return False
        if number in self.by_id and self.by_id[number].joined.any():
            return False
        if run.whole:
            return True
        rows = run.mask_array().reshape(-1, batch.geometry.width)
        threads = np.count_nonzero(rows, axis=1)
        return bool(((threads == 0) | (threads == batch.geometry.shape.block.volume)).all())

    def arrive(self, run: Run, number: int, expected: int, site: Instruction) -> None:
        """The run arrives and does not wait."""
        barrier = self.barrier(number)
        self._expect(barrier, run, number, expected, site)
        self._arrive(barrier, run, run.mask_array(), site)
        self._settle(number, barrier)

    def _expect(
        self, barrier: Barrier, run: Run, number: int, expected: int, site: Instruction
    ) -> None:
        """Notes the participants' count; different counts in one generation are a fault."""
        width = self.batch.geometry.width
        blocks = run.mask_array().reshape(-1, width).any(axis=1)
        begun = barrier.joined.reshape(-1, width).any(axis=1)
        other = blocks & begun & (barrier.expected != expected)
        if other.any():
            known = int(barrier.expected[other][0])
            self.launch.findings.barrier_counts_differ(run, site, number, known, expected)
        barrier.expected[blocks & ~other] = expected
        apart = blocks & begun & (barrier.site_line != site.line)
        if not expected and apart.any():
            first = barrier.sites[int(barrier.site_line[apart][0])]
            self.launch.findings.barrier_sites_differ(run, site, first, number)
        barrier.sites[site.line] = site
        barrier.site_line[blocks & ~begun] = site.line

    def _arrive(self, barrier: Barrier, run: Run, mask: Lanes, site: Instruction) -> None:
        """Counts whole warps: lanes of a diverged warp gather in `partial` first."""
        gathered = barrier.partial | mask
        rows = gathered.reshape(-1, WARP)
        alive = self.batch.alive.reshape(-1, WARP)
        complete = np.logical_and(rows.any(axis=1), (rows | ~alive).all(axis=1))
        arriving = (rows & complete[:, None]).reshape(-1)
        barrier.partial = gathered & ~arriving
        again = barrier.joined & arriving
        if again.any():
            self.launch.findings.arrived_twice(run, site, again)
        barrier.joined |= arriving
        per_block = complete.reshape(len(barrier.counted), -1)
        barrier.counted += WARP * np.count_nonzero(per_block, axis=1)
        self._note_time(barrier, arriving)
        early = self.launch.events.barrier_arrival(self.batch, barrier, arriving)
        if early is not None and not again.any():
            self.launch.findings.may_arrive_twice(run, site, early)

    def _note_time(self, barrier: Barrier, arriving: Lanes) -> None:
        waits = self.launch.waits
        if waits is not None:
            times = waits.latest(self.batch, arriving, len(barrier.counted))
            barrier.last_arrival = np.maximum(barrier.last_arrival, times)

    def settle(self) -> None:
        """Looks again at all barriers, because threads have exited."""
        for number, barrier in self.by_id.items():
            if barrier.partial.any():
                self._recount(barrier)
            self._settle(number, barrier)

    def _recount(self, barrier: Barrier) -> None:
        """Warps whose last missing lanes have exited have arrived now."""
        rows = barrier.partial.reshape(-1, WARP)
        alive = self.batch.alive.reshape(-1, WARP)
        complete = np.logical_and(rows.any(axis=1), (rows | ~alive).all(axis=1))
        if not complete.any():
            return
        arriving = (rows & complete[:, None]).reshape(-1)
        barrier.partial &= ~arriving
        barrier.joined |= arriving
        per_block = complete.reshape(len(barrier.counted), -1)
        barrier.counted += WARP * np.count_nonzero(per_block, axis=1)
        self.launch.events.barrier_arrival(self.batch, barrier, arriving)

    def _settle(self, number: int, barrier: Barrier) -> None:
        """Opens the barrier in the blocks where enough threads have arrived."""
        batch = self.batch
        width = batch.geometry.width
        warps = batch.alive.reshape(len(barrier.counted), -1, WARP).any(axis=2)
        everyone = WARP * np.count_nonzero(warps, axis=1)
        wanted = np.where(barrier.expected == 0, everyone, barrier.expected)
        opened = (barrier.counted >= wanted) & (barrier.counted > 0)
        if not opened.any():
            return
        self._judge(number, barrier, opened, wanted)
        lanes = np.repeat(opened, width)
        released, joined = barrier.waiting & lanes, barrier.joined & lanes
        self.launch.events.barrier_opened(batch, number, barrier, opened, joined, released)
        barrier.waiting &= ~lanes
        barrier.joined &= ~lanes
        barrier.counted[opened] = 0
        barrier.generation[opened] += 1
        self._release(barrier, lanes, joined)
        barrier.last_arrival[opened] = 0

    def _judge(self, number: int, barrier: Barrier, opened: Lanes, wanted: Lanes) -> None:
        """Reports generations that were wrong though they opened."""
        batch = self.batch
        findings = self.launch.findings
        site = barrier.sites[int(barrier.site_line[opened][0])]
        if (over := opened & (barrier.counted > wanted)).any():
            findings.barrier_overrun(batch, site, number, over, barrier.counted, wanted)
        if not batch.exited:
            return
        threads = batch.geometry.shape.block.volume
        rows = batch.alive.reshape(len(opened), -1)
        short = opened & (barrier.expected == 0) & (np.count_nonzero(rows, axis=1) < threads)
        if short.any():
            findings.barrier_after_exit(batch, site, number, short, np.count_nonzero(rows, axis=1))

    def _release(self, barrier: Barrier, lanes: Lanes, joined: Lanes) -> None:
        width = self.batch.geometry.width
        self.launch.progress += 1
        waits = self.launch.waits
        parked, barrier.parked = barrier.parked, {}
        for waiting, mask in parked.items():
            free = mask & lanes
            if free.any():
                if waiting.finish is not None:
                    waiting.finish(waiting.frame, barrier.votes, free, joined, width)
                if waits is not None:
                    waits.go_on(self.batch, waiting.site, BLOCK, free, barrier.last_arrival)
                self.batch.push_mixed(waiting.frame, waiting.block, free)
            if (left := mask & ~lanes).any():
                barrier.parked[waiting] = left
