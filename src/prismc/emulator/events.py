"""What the machine tells its observers: synchronisation events and memory accesses.

The base classes listen to nothing; `races` builds happens-before from them.
"""

from __future__ import annotations

from typing import NamedTuple

from prismc.emulator.memory import Place
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.scopes import Qualifiers, Scope
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.barrier import Barrier
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.run import Run


class Events:
    """Synchronisation, as it happens. Masks are bool `[lanes]`."""

    def batch_ended(self, batch: Batch) -> None:
        """All threads of a batch have exited."""

    def block_barrier(self, run: Run) -> None:
        """All threads of whole blocks, the run, pass a barrier together."""

    def barrier_arrival(self, batch: Batch, barrier: Barrier, arriving: Lanes) -> Lanes | None:
        """Lanes arrive at a block barrier. Returns those that may do so twice in one generation,
        because nothing says that the one in which they arrived last is complete; None for nobody.
        """
        return None

    def barrier_opened(
        self,
        batch: Batch,
        number: int,
        barrier: Barrier,
        opened: Lanes,
        joined: Lanes,
        released: Lanes,
    ) -> None:
        """A barrier opens in some blocks (bool `[blocks]`) after all of `joined` arrived."""

    def warp_barrier(self, run: Run, masks: Lanes) -> None:
        """The lanes of a warp barrier, by member masks (uint32 register array), are together."""

    def release(self, batch: Batch, lanes: Lanes) -> int:
        """The number of a view of all that lanes have done and know; 0 where nobody keeps it."""
        return 0

    def acquire(self, batch: Batch, lanes: Lanes, view: int) -> None:
        """Lanes know what a view knows from now on."""

    def join(self, first: int, second: int) -> int:
        """The view that knows what both know."""
        return 0

    def fence(self, run: Run, scope: Scope) -> None:
        """A thread fence."""

    def proxy_fence(self, run: Run) -> None:
        """A fence between the generic and the asynchronous proxy."""


class Async(NamedTuple):
    """An asynchronous operation: its number from 1 on, its instruction, its proxy, and whether it
    updates its target atomically, element by element, beside other operations that do.
    """

    number: int
    site: Instruction
    in_async_proxy: bool
    updates: bool


class Watch:
    """Memory accesses, as they happen; see `Place` for where they lead."""

    def read(
        self, run: Run, site: Instruction, place: Place, size: int, qualifiers: Qualifiers
    ) -> None:
        """Lanes load `size` bytes each."""

    def write(
        self,
        run: Run,
        site: Instruction,
        place: Place,
        size: int,
        qualifiers: Qualifiers,
        values: list[Lanes],
        width: int,
    ) -> None:
        """Lanes are about to store `size` bytes each: packed elements of `width` bytes."""

    def begin_write(self, run: Run, operation: Async, place: Place, size: int) -> None:
        """An asynchronous write of `size` bytes for each lane is issued."""

    def finish_write(
        self, batch: Batch, operation: Async, place: Place, size: int, lanes: Lanes
    ) -> None:
        """Lanes have waited for their asynchronous writes, which are theirs from here on."""

    def delivered(
        self, batch: Batch, operation: Async, place: Place, size: int, block: int, barrier: int
    ) -> int:
        """The copy engine has written; returns the view that knows it, for the mbarrier at an
        offset of shared memory in the block at a place of the batch.
        """
        return 0

    def begin_read(self, run: Run, operation: Async, place: Place, size: int) -> None:
        """An asynchronous read of `size` bytes for each lane is issued."""

    def finish_read(
        self, batch: Batch, operation: Async, place: Place, size: int, lanes: Lanes | None
    ) -> None:
        """Lanes have waited for their asynchronous reads; None: they are over, for nobody."""

    def threads_exit(self, run: Run) -> None:
        """Threads have exited; what they have left on its way is not complete yet."""

    def finish_products(
        self, batch: Batch, operation: Async, place: Place, size: int, warps: Lanes
    ) -> None:
        """Warps have waited for a product, which no longer reads shared memory."""

    def atomic(
        self,
        run: Run,
        site: Instruction,
        place: Place,
        size: int,
        qualifiers: Qualifiers,
    ) -> None:
        """Lanes have read and written `size` bytes atomically."""
