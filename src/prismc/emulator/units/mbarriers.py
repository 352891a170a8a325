"""Memory barriers in shared memory: phases, arrivals and transaction bytes (PTX ISA 9.7.13.15).

The 64-bit object in memory is opaque; the machine keeps its state beside it and stores a mark in
its bytes, so that a program that overwrites a barrier is found out.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.findings import Kind
from prismc.emulator.launch import Launch
from prismc.emulator.phases import StaleWait, WaitHistory
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch, Unit
from prismc.emulator.state.run import Run

MOST_ARRIVALS = (1 << 20) - 1
_MARK = 0x6D62617200000000
_STEP = 8


class MBarrier:
    """One barrier: `phase` counts completed phases, `pending` arrivals and `bytes` are missing.

    `expected` arrivals complete a phase. `arrived` and `completed` are numbers of views of what is
    known by arriving, in the current phase and in the completed ones. `waits` is what the block's
    threads have waited for; `place` is the block's in its batch.
    """

    def __init__(
        self, number: int, expected: int, site: Instruction, place: int, threads: int
    ) -> None:
        self.number = number
        self.place = place
        self.expected = expected
        self.pending = expected
        self.bytes = 0
        self.phase = 0
        self.site = site
        self.last_expect: Instruction | None = None
        self.arrived = 0
        self.completed = 0
        self.waits = WaitHistory(threads)
        # When, for profiles: the last arrival of the current phase and of the last complete one.
        self.last_arrival = 0
        self.completed_at = 0

    def state(self) -> str:
        """The current phase in words."""
        text = f"phase {self.phase} with {self.expected - self.pending} of {self.expected} arrivals"
        return text + (f" and {self.bytes} bytes pending" if self.bytes else "")


class MBarriers(Unit):
    """The memory barriers of a batch, by their offset in its shared memory."""

    def __init__(self, launch: Launch, batch: Batch) -> None:
        self.launch = launch
        self.batch = batch
        self.by_offset: dict[int, MBarrier] = {}
        self.waits: dict[int, tuple[MBarrier, int]] = {}  # by PTX line, the last unmet wait
        self._stale: list[StaleWait] = []

    def init(self, run: Run, site: Instruction, offset: int, count: int) -> None:
        """`mbarrier.init`: phase 0, `count` arrivals a phase."""
        if not 1 <= count <= MOST_ARRIVALS:
            self._fault(run, site, Kind.COUNT, f"an mbarrier for {count} arrivals",
                        f"expect 1 to {MOST_ARRIVALS} arrivals")  # fmt: skip
        number = len(self.by_offset) + 1
        place, width = offset // self.batch.shared.stride, self.batch.geometry.width
        self.by_offset[offset] = MBarrier(number, count, site, place, width)
        self._view()[offset // _STEP] = _MARK | number

    def invalidate(self, offset: int) -> None:
        """`mbarrier.inval`: the memory may be used for something else."""
        self.by_offset.pop(offset, None)
        self._view()[offset // _STEP] = 0

    def _view(self) -> Lanes:
        return self.batch.shared.view(_STEP)

    def find(self, run: Run, site: Instruction, offset: int) -> MBarrier | None:
        """The barrier at an offset; None, and a finding, if there is none (any more)."""
        barrier = self.by_offset.get(offset)
        if barrier is None:
            self._fault(run, site, Kind.UNINIT, "uses an mbarrier that was never initialised",
                        "initialise it by one thread, then synchronise the block")  # fmt: skip
            return None
        if int(self._view()[offset // _STEP]) != _MARK | barrier.number:
            self._fault(run, site, Kind.LIFETIME, "the bytes of an mbarrier have been overwritten",
                        "keep data and barriers in separate memory")  # fmt: skip
        return barrier

    def _fault(
        self, run: Run | None, site: Instruction, kind: Kind, message: str, help: str
    ) -> None:
        self.launch.findings.plain(kind, run, site, message, help)

    def arrive(
        self, run: Run | None, site: Instruction, barrier: MBarrier, count: int, view: int
    ) -> None:
        """`count` arrivals that know `view`."""
        if count > barrier.pending:
            self._fault(
                run,
                site,
                Kind.COUNT,
                f"an mbarrier for {barrier.expected} arrivals gets more in phase {barrier.phase}",
                "wait for the phase before arriving again, or initialise it with the right count",
            )
        barrier.pending -= count
        waits = self.launch.waits
        if waits is not None and run is not None:
            (now,) = waits.latest(self.batch, run.mask_array(), 1)
            barrier.last_arrival = max(barrier.last_arrival, int(now))
        barrier.arrived = self.launch.events.join(barrier.arrived, view)
        self._settle(run, site, barrier)

    def expect(self, run: Run | None, site: Instruction, barrier: MBarrier, count: int) -> None:
        """`count` more bytes (fewer, if negative) complete the phase."""
        barrier.bytes += count
        if count > 0:
            barrier.last_expect = site
        self._settle(run, site, barrier)

    def complete(self, site: Instruction, offset: int, count: int, view: int) -> None:
        """An asynchronous copy has delivered `count` bytes."""
        barrier = self.by_offset.get(offset)
        if barrier is None:
            self._fault(None, site, Kind.UNINIT, "a copy signals an mbarrier that is not there",
                        "initialise the mbarrier before the copy is issued")  # fmt: skip
            return
        barrier.arrived = self.launch.events.join(barrier.arrived, view)
        self.expect(None, site, barrier, -count)

    def _settle(self, run: Run | None, site: Instruction, barrier: MBarrier) -> None:
        self.launch.progress += 1
        if barrier.pending > 0:
            return
        if barrier.bytes < 0:
            self._overdelivered(run, site, barrier)
        if barrier.bytes:
            return
        barrier.phase += 1
        barrier.pending = barrier.expected
        events = self.launch.events
        barrier.completed = events.join(barrier.completed, barrier.arrived)
        barrier.arrived = 0
        barrier.completed_at, barrier.last_arrival = barrier.last_arrival, 0

    def judge_end(self) -> None:
        """At the end of the threads no barrier may have bytes left to come or to spare."""
        for barrier in self.by_offset.values():
            if barrier.bytes:
                self._overdelivered(None, barrier.last_expect or barrier.site, barrier)

    def _overdelivered(self, run: Run | None, site: Instruction, barrier: MBarrier) -> None:
        self.launch.findings.transaction_bytes(
            run, site, barrier.last_expect, barrier.phase, barrier.bytes
        )

    def is_complete(self, barrier: MBarrier, parity: int | None, phase: int) -> bool:
        """Whether the phase of a parity, or else the phase of that number, is complete."""
        if parity is None:
            return barrier.phase > phase
        return barrier.phase & 1 != parity & 1

    def passed(self, site: Instruction, barrier: MBarrier, lanes: Lanes, parity: int) -> None:
        """Lanes pass a wait for a parity: the last complete phase has it."""
        threads = lanes % self.batch.geometry.width
        self._stale += barrier.waits.passed(
            threads, barrier.phase - 1, len(self._stale), lambda repeated: StaleWait(
                site, parity, barrier.phase - 1, barrier.state(), repeated)
        )  # fmt: skip

    def stale_wait(self, lane: int, *, reads: bool) -> StaleWait | None:
        """The last wait of a lane that was for nothing. That odd parity passes before the first
        phase is meant by those who fill a slot: it counts only for a lane that `reads`."""
        place, thread = divmod(lane, self.batch.geometry.width)
        numbers = [
            int(barrier.waits.stale[thread])
            for barrier in self.by_offset.values()
            if barrier.place == place
        ]
        found = self._stale[max(numbers, default=0) - 1] if any(numbers) else None
        return found if found is None or found.repeated or reads else None


def by_offset(offsets: Lanes) -> list[tuple[int, Lanes]]:
    """Each different offset with the positions that have it."""
    if len(offsets) == 1:
        return [(int(offsets[0]), np.zeros(1, np.int64))]
    found, inverse = np.unique(offsets, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    cuts = np.cumsum(np.bincount(inverse))[:-1]
    return list(zip(found.tolist(), np.split(order, cuts), strict=True))
