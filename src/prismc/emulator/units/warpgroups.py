"""Asynchronous products of warpgroups on their way (PTX ISA 9.7.15).

A warp's quarter of a product needs only its own rows of A, so every warp is computed by itself;
that all four warps of a warpgroup execute the same products is checked when they end.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from prismc.emulator.events import Async
from prismc.emulator.geometry import WARP
from prismc.emulator.launch import Launch
from prismc.emulator.memory import Place
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.schedule import Copies
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.semantics.wgmma import Product, matrix
from prismc.emulator.state.batch import Batch, Unit
from prismc.emulator.state.frames import Frame
from prismc.emulator.state.run import Run

GROUP_WARPS = 4
_CHUNK = 16


class Pending:
    """One product of some warps of one warpgroup: its operands as they were at the issue.

    `registers` are the accumulators, `operands` the registers that hold A, if any do. `left` is
    A `[64, depth]`, or None with `left_at`, where A lies in shared memory; `right_at` is where B
    lies. Both are flat offsets into the shared region, `[rows, depth, bytes]`.
    """

    def __init__(
        self,
        product: Product,
        frame: Frame,
        registers: tuple[int, ...],
        operands: frozenset[int],
        warps: Lanes,
        left: Lanes | None,
        left_at: Lanes | None,
        right_at: Lanes,
        scale: bool,
        negations: tuple[bool, bool],
        operation: Async,
    ) -> None:
        self.product = product
        self.frame = frame
        self.registers = registers
        self.operands = operands
        self.warps = warps
        self.left = left
        self.left_at = left_at
        self.right_at = right_at
        self.scale = scale
        self.negations = negations
        self.operation = operation
        self.group = 0
        self.done = False

    def chunks(self) -> Lanes:
        """The 16-byte chunks of shared memory that the product reads, as flat offsets."""
        parts = [at.reshape(-1) for at in (self.left_at, self.right_at) if at is not None]
        return np.unique(np.concatenate(parts) // _CHUNK) * _CHUNK


class WarpgroupProducts(Unit):
    """The products of a batch that somebody still has to wait for."""

    def __init__(self, launch: Launch, batch: Batch) -> None:
        self.launch = launch
        self.batch = batch
        self.committed = np.zeros(batch.geometry.count // WARP, np.int64)
        self.pending: list[Pending] = []
        self.executed: dict[Instruction, Lanes] = {}
        # Warps whose registers have changed since their last `wgmma.fence`.
        self.unfenced = np.ones_like(self.committed, np.bool_)

    def fence(self, run: Run) -> None:
        """`wgmma.fence`: products issued later see the registers as they are now."""
        self.unfenced[self._warps(run)] = False

    def change(self, run: Run) -> None:
        """Some other instruction changes registers of a product."""
        self.unfenced[self._warps(run)] = True

    def issue(self, run: Run, item: Pending) -> None:
        """Notes a product; it is computed now if the schedule says so."""
        item.group = int(self.committed[item.warps[0]])
        counts = self.executed.setdefault(item.operation.site, np.zeros_like(self.committed))
        counts[item.warps] += 1
        if self.unfenced[item.warps].any():
            self.launch.findings.product_without_fence(run, item.operation.site)
        watch = self.launch.watch
        if watch is not None:
            chunks = item.chunks()
            readers = np.searchsorted(run.lane_numbers(), item.warps * WARP)
            chosen = np.repeat(readers, len(chunks))
            place = Place(self.batch.shared, np.tile(chunks, len(readers)), chosen)
            watch.begin_read(run, item.operation, place, _CHUNK)
        self.pending.append(item)
        if self.launch.schedule.plan.copies is Copies.EARLY:
            self._compute(item)

    def commit(self, run: Run) -> None:
        """`wgmma.commit_group`."""
        self.committed[self._warps(run)] += 1

    def wait(self, run: Run, newest: int) -> None:
        """`wgmma.wait_group`: completes all but the `newest` groups of the run's warps."""
        warps = self._warps(run)
        limits = np.zeros_like(self.committed)
        limits[warps] = self.committed[warps] - newest
        self._complete(item for item in self.pending if item.group < limits[item.warps[0]])

    def touch(self, run: Run, registers: frozenset[int]) -> Instruction | None:
        """Some instruction uses registers: products that still change them are computed first.

        Returns the instruction of such a product, if there was one.
        """
        found = None
        for item in self._in_flight(run):
            if registers.intersection(item.registers):
                self._compute_all_before(item)
                found = item.operation.site
        return found

    def reads(self, run: Run, registers: frozenset[int]) -> Instruction | None:
        """A product that may still read A from registers that some instruction changes."""
        for item in self._in_flight(run):
            if registers.intersection(item.operands):
                return item.operation.site
        return None

    def _in_flight(self, run: Run) -> list[Pending]:
        """The products that warps of a run have not waited for."""
        warps = set(self._warps(run).tolist())
        return [
            item
            for item in self.pending
            if item.frame is run.frame and warps.intersection(item.warps.tolist())
        ]

    def finish(self) -> None:
        """Completes everything, as the end of the threads does."""
        self._complete(list(self.pending))
        for site, counts in self.executed.items():
            self._check_whole(site, counts)

    def _check_whole(self, site: Instruction, counts: Lanes) -> None:
        """All four warps of a warpgroup must have executed an instruction equally often."""
        per_block = self.batch.geometry.width // WARP
        for block in np.flatnonzero(counts.reshape(-1, per_block).any(axis=1)):
            own = counts[block * per_block : (block + 1) * per_block]
            for first in range(0, per_block, GROUP_WARPS):
                group = own[first : first + GROUP_WARPS]
                together = len(group) == GROUP_WARPS and (group == group[0]).all()
                if group.any() and not together:
                    self._report_partial(site, int(block) * per_block + first, group)

    def _report_partial(self, site: Instruction, first: int, group: Lanes) -> None:
        there = int(np.count_nonzero(group == group.max()))
        self.launch.findings.partial_warpgroup(self.batch, site, first * WARP, there, GROUP_WARPS)

    def _warps(self, run: Run) -> Lanes:
        return np.unique(run.lane_numbers() // WARP)

    def _complete(self, items: Iterable[Pending]) -> None:
        finished = list(items)
        watch = self.launch.watch
        for item in finished:
            self._compute(item)
            if watch is not None:
                chunks = item.chunks()
                place = Place(self.batch.shared, chunks, None)
                watch.finish_products(self.batch, item.operation, place, _CHUNK, item.warps)
        self.pending = [item for item in self.pending if item not in finished]

    def _compute_all_before(self, last: Pending) -> None:
        for item in self.pending[: self.pending.index(last) + 1]:
            if set(item.warps.tolist()).intersection(last.warps.tolist()):
                self._compute(item)

    def _compute(self, item: Pending) -> None:
        """Computes a product from what memory holds now."""
        if item.done:
            return
        item.done = True
        data = self.batch.shared.data
        product = item.product
        left = item.left
        if item.left_at is not None:
            left = matrix(data[item.left_at], product.first_type)
        right = matrix(data[item.right_at], product.second_type)
        regs = item.frame.registers
        first = item.warps[0] // GROUP_WARPS * GROUP_WARPS * WARP
        lanes = first + np.arange(GROUP_WARPS * WARP)
        total = self.batch.geometry.count
        old = tuple(
            np.broadcast_to(regs[r], (total,))[lanes].reshape(GROUP_WARPS, WARP)
            for r in item.registers
        )
        new = product.compute(old, left, right, item.scale, *item.negations)
        own = (item.warps[:, None] * WARP + np.arange(WARP)).reshape(-1)
        for register, values in zip(item.registers, new, strict=True):
            array = np.broadcast_to(regs[register], (total,)).copy()
            array[own] = values.reshape(-1)[own - first]
            regs[register] = array
