"""Accesses of asynchronous operations: from issue to completion they own their memory."""

from __future__ import annotations

import numpy as np

from prismc.emulator.checks.clocks import TENSOR_CORES
from prismc.emulator.checks.races import RaceWatch
from prismc.emulator.checks.readers import Access
from prismc.emulator.checks.shadow import Shadow
from prismc.emulator.checks.stores import mark_written
from prismc.emulator.events import Async
from prismc.emulator.geometry import WARP
from prismc.emulator.memory import Place
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.run import Run


class EngineWatch(RaceWatch):
    """Watches also what asynchronous operations do."""

    def begin_write(self, run: Run, operation: Async, place: Place, size: int) -> None:
        if not self._is_tracked(place.region):
            return
        touch = self._touch(run, operation.site, place, size)
        self.flight.check(run, touch.shadow, touch.access, "overwrites what", writes=True)
        self._against_writer(run, touch, "overwrites what")
        if operation.updates:
            self._against(run, touch, "readers", "updates what")
            return
        for name in ("readers", "strong readers", "strong writers"):
            self._against(run, touch, name, "overwrites what")
            if operation.in_async_proxy:
                self._against_unfenced(run, touch, touch.shadow.tables.get(name), "reads")
        if operation.in_async_proxy:
            self._against_unfenced(run, touch, touch.shadow.writer, "writes")
        self.flight.begin(operation, touch.shadow, touch.access, writes=True)

    def finish_write(
        self, batch: Batch, operation: Async, place: Place, size: int, lanes: Lanes
    ) -> None:
        if place.region.written is not None:
            mark_written(place.region, place.offsets, size)
        if not self._is_tracked(place.region):
            return
        shadow, access, _ = self._access(batch, operation.site, place.region, place.offsets, size,
                                         lanes)  # fmt: skip
        self._note_done(batch, operation, shadow, access)

    def _note_done(self, batch: Batch, operation: Async, shadow: Shadow, access: Access) -> None:
        """An operation's writes are an ordinary thread's from here on, or atomic ones."""
        if operation.updates:
            self._note(batch, shadow, "strong writers", access.once())
            return
        self.flight.end(operation, shadow, access, writes=True)
        shadow.writer.note(access)

    def delivered(
        self, batch: Batch, operation: Async, place: Place, size: int, block: int, barrier: int
    ) -> int:
        known = self.clocks.of(batch)
        if place.region.written is not None:
            mark_written(place.region, place.offsets, size)
        engine = known.width + barrier // 8 % TENSOR_CORES
        if self._is_tracked(place.region):
            lanes = np.zeros(len(place.offsets), np.int64)
            shadow, access, _ = self._access(
                batch, operation.site, place.region, place.offsets, size, lanes
            )
            number = int(known.block_numbers[block]) * known.row_width + engine
            threads = np.full(len(access.granules), number)
            self._note_done(batch, operation, shadow, access._replace(threads=threads))
        row = np.zeros(known.row_width, np.int32)
        row[engine] = self.clocks.tick()
        return self.clocks.views.add({int(known.block_numbers[block]): row})

    def begin_read(self, run: Run, operation: Async, place: Place, size: int) -> None:
        if place.region.written is not None:
            self._check_written(run, operation.site, place, size)
        if not self._is_tracked(place.region):
            return
        touch = self._touch(run, operation.site, place, size)
        self.flight.check(run, touch.shadow, touch.access, "reads what", writes=False)
        self._against_writer(run, touch, "reads what")
        self._against(run, touch, "strong writers", "reads what")
        if operation.in_async_proxy:
            self._against_unfenced(run, touch, touch.shadow.writer, "writes")
            self.flight.begin(operation, touch.shadow, touch.access, writes=False)
        else:
            self._note(run.batch, touch.shadow, "readers", touch.access.once())
            self.flight.begin_copy(operation, touch.shadow, touch.access)

    def finish_read(
        self, batch: Batch, operation: Async, place: Place, size: int, lanes: Lanes | None
    ) -> None:
        if not self._is_tracked(place.region):
            return
        someone = np.zeros(len(place.offsets), np.int64) if lanes is None else lanes
        shadow, access, _ = self._access(
            batch, operation.site, place.region, place.offsets, size, someone
        )
        if operation.in_async_proxy:
            self.flight.end(operation, shadow, access, writes=False)
        else:
            self.flight.end_copy(shadow, access)
        if lanes is not None:
            self._note(batch, shadow, "readers", access.once())

    def threads_exit(self, run: Run) -> None:
        """Shared memory ends with its block (PTX ISA, "State spaces"): what other blocks and
        engines do to it must have come before."""
        batch = run.batch
        shadow = batch.shared.shadow
        is_alone = batch.geometry.shape.cluster.volume == 1
        if shadow is None or (is_alone and not shadow.is_marked):
            return
        lanes = run.lane_numbers()
        places = batch.geometry.place[lanes]
        dead = np.flatnonzero(~batch.living_blocks())
        for place in np.intersect1d(places, dead):
            lane = int(lanes[places == place][0])
            self.flight.check_end(run, shadow, int(place), lane)
            if not is_alone:
                self._against_foreign(run, shadow, int(place), lane)

    def _against_foreign(self, run: Run, shadow: Shadow, place: int, lane: int) -> None:
        """Reports accesses by other blocks that nothing orders before the end of a lane's block."""
        batch = run.batch
        known = self.clocks.of(batch)
        per_block = batch.shared.stride >> shadow.shift
        own = slice(place * per_block, (place + 1) * per_block)
        for threads, stamps, sites in shadow.accesses(own):
            foreign = np.flatnonzero(
                (threads >= 0)
                & (threads // known.row_width != known.block_numbers[place])
                & (threads % known.row_width < known.width)
            )
            lanes = np.full(len(foreign), lane)
            ordered = self.clocks.ordered(batch, lanes, threads[foreign], stamps[foreign])
            late = foreign[~ordered]
            if len(late):
                offset = (place * per_block + int(late[0])) << shadow.shift
                self.reports.outlived(run, batch.shared, offset, int(sites[late[0]]), len(late))

    def finish_products(
        self, batch: Batch, operation: Async, place: Place, size: int, warps: Lanes
    ) -> None:
        if not self._is_tracked(place.region):
            return
        known = self.clocks.of(batch)
        now = self.clocks.now
        per_block = known.width // WARP
        for warp in warps.tolist():
            lanes = np.full(len(place.offsets), warp * WARP)
            shadow, access, _ = self._access(
                batch, operation.site, place.region, place.offsets, size, lanes
            )
            self.flight.end(operation, shadow, access, writes=False)
            core = TENSOR_CORES + warp % per_block % TENSOR_CORES
            block = int(known.block_numbers[warp // per_block])
            number = block * known.row_width + known.width + core
            # Whoever learns of the product learns it from the warp, and all that the warp knows.
            engine = access._replace(threads=np.full(len(access.granules), number))
            self._note(batch, shadow, "readers", engine.once())
            own = warp * WARP + np.arange(WARP)
            known.engine_matrix()[own, core] = now + 1
        self.clocks.tick()
