"""Faults of barriers: counts, ids, sites, threads that have left."""

from __future__ import annotations

import numpy as np

from prismc.emulator.findings import Collector, Finding, Kind, ThreadId, thread_id
from prismc.emulator.geometry import WARP
from prismc.emulator.phases import StaleWait
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.run import Run


class BarrierFaults(Collector):
    """Reports faults of barriers."""

    def transaction_bytes(
        self,
        run: Run | None,
        site: Instruction,
        expected: Instruction | None,
        phase: int,
        missing: int,
    ) -> None:
        """A phase whose copies delivered more or fewer bytes than promised."""
        if not self.is_new(Kind.COUNT, site, expected):
            return
        self.add(
            Finding(
                kind=Kind.COUNT,
                message=f"phase {phase} of an mbarrier: {missing} bytes pending; "
                f"{'more' if missing < 0 else 'fewer'} were delivered than promised",
                help="promise exactly the bytes that the copies of the phase deliver",
                site=site,
                threads=() if run is None else self.threads(run, None),
                other=expected,
                other_role="bytes are promised here",
            )
        )

    def stale_wait(self, wait: StaleWait, thread: ThreadId, access: Instruction) -> None:
        """A wait by parity that held nothing back: the cause of another finding at `access`."""
        if self.is_new(Kind.PHASE, wait.site, access):
            self.add(
                Finding(
                    kind=Kind.PHASE,
                    message=wait.message(),
                    help=wait.help(),
                    site=wait.site,
                    threads=(thread,),
                    other=access,
                    other_role="the access that it does not hold back",
                )
            )

    def check_barrier(self, run: Run, site: Instruction, number: int, count: int) -> None:
        """Ids above 15 and counts that are no multiple of 32 or exceed the block."""
        threads = run.batch.geometry.width
        if number < 16 and count % WARP == 0 and count <= threads:
            return
        message = f"barrier {number} with {count} threads"
        if number > 15:
            message += ": ids go from 0 to 15"
        elif count % WARP:
            message += f": the count is no multiple of {WARP}"
        else:
            message += f": the block has only {threads}"
        self.plain(Kind.COUNT, run, site, message, "correct the barrier's id and thread count")

    def barrier_counts_differ(
        self, run: Run, site: Instruction, number: int, known: int, count: int
    ) -> None:
        """Two thread counts in one generation of a barrier."""
        message = f"barrier {number}: {_count(count)} here, {_count(known)} elsewhere in one turn"
        help = "give all arrivals at one barrier the same count"
        self.plain(Kind.COUNT, run, site, message, help)

    def barrier_sites_differ(
        self, run: Run, site: Instruction, first: Instruction, number: int
    ) -> None:
        """Threads of one block wait for each other at different barrier instructions."""
        if not self.is_new(Kind.PERSPECTIVE, site, first):
            return
        self.add(
            Finding(
                kind=Kind.PERSPECTIVE,
                message=f"threads of one block meet at two different barriers (id {number})",
                help="move the barrier out of the divergent branch",
                site=site,
                threads=self.threads(run, None),
                other=first,
                other_role="other threads wait here",
            )
        )

    def arrived_twice(self, run: Run, site: Instruction, again: Lanes) -> None:
        """A warp arrives at a barrier again before the generation is complete."""
        self.plain(Kind.COUNT, run, site, "a warp arrives twice in one generation of a barrier",
                    "let the warp wait (sync) before it arrives again")  # fmt: skip

    def may_arrive_twice(self, run: Run, site: Instruction, early: Lanes) -> None:
        """A warp arrives again, and nothing orders the others' arrivals before that."""
        if not self.is_new(Kind.COUNT, site):
            return
        self.add(
            Finding(
                kind=Kind.COUNT,
                message="a warp that arrived without waiting may arrive twice in one generation of "
                "a barrier: nothing says that the last one is complete",
                help="let the warp wait (sync) before it arrives again",
                site=site,
                threads=self.threads(run, np.flatnonzero(early), are_lanes=True),
            )
        )

    def barrier_overrun(
        self,
        batch: Batch,
        site: Instruction,
        number: int,
        over: Lanes,
        counted: Lanes,
        wanted: Lanes,
    ) -> None:
        """More threads arrived than the barrier expected."""
        block = int(np.flatnonzero(over)[0])
        if self.is_new(Kind.COUNT, site):
            self.add(
                Finding(
                    kind=Kind.COUNT,
                    message=f"barrier {number}: {int(counted[block])} threads arrived, "
                    f"{int(wanted[block])} were expected",
                    help="give the barrier the number of threads that really arrive",
                    site=site,
                    threads=(thread_id(batch.geometry, block * batch.geometry.width),),
                )
            )

    def barrier_after_exit(
        self, batch: Batch, site: Instruction, number: int, short: Lanes, present: Lanes
    ) -> None:
        """A block barrier opens although some threads of the block have exited before it."""
        block = int(np.flatnonzero(short)[0])
        if not self.is_new(Kind.EXIT, site):
            return
        total = batch.geometry.shape.block.volume
        self.add(
            Finding(
                kind=Kind.EXIT,
                message=f"barrier {number}: {int(present[block])} of {total} threads present, "
                "the others have exited",
                help="keep all threads of the block until the last barrier and guard only the "
                "memory accesses",
                site=site,
                threads=(thread_id(batch.geometry, block * batch.geometry.width),),
            )
        )


def _count(count: int) -> str:
    return f"{count} threads" if count else "all threads"
