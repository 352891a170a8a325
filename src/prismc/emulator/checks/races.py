"""Data races, uninitialised reads: every access is compared with the ones that may be unordered.

Strong accesses (atomics, volatile, relaxed and stronger ones) do not race with each other where
their scopes include both threads (PTX ISA 8.7, morally strong). A store of the value that is
already there does not count as a race with the store that put it there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prismc.emulator.checks.clocks import TENSOR_CORES, Clocks
from prismc.emulator.checks.flight import InFlight
from prismc.emulator.checks.reports import RaceReports
from prismc.emulator.checks.shadow import Access, Earlier, LastTable, Shadow, Table
from prismc.emulator.checks.signals import Signals
from prismc.emulator.events import Async, Watch
from prismc.emulator.geometry import WARP
from prismc.emulator.memory import Place, Region
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.scopes import Qualifiers, Scope, Strength
from prismc.emulator.semantics.registry import UNSIGNED, Lanes

if TYPE_CHECKING:
    from prismc.emulator.batch import Batch
    from prismc.emulator.lanes import Run
    from prismc.emulator.machine import Machine

_NOTHING = np.zeros(1, np.int32)
_ONES = {1: 0x01, 2: 0x0101, 4: 0x01010101, 8: 0x0101010101010101}


class Touch(NamedTuple):
    """An access ready for comparison: its shadow, granules, and what its lanes' blocks know."""

    shadow: Shadow
    access: Access
    base: Lanes
    packed: Lanes  # for each granule, which of the place's accesses it belongs to


class RaceWatch(Watch):
    """Watches all accesses of a launch."""

    def __init__(
        self,
        machine: Machine,
        clocks: Clocks,
        signals: Signals,
        *,
        races: bool,
        uninitialised: bool,
    ) -> None:
        self.machine = machine
        self.clocks = clocks
        self.races = races
        self.uninitialised = uninitialised
        self.signals = signals
        self.reports = RaceReports(machine, signals)
        self.flight = InFlight(self.reports)

    # What the machine tells

    def read(
        self, run: Run, site: Instruction, place: Place, size: int, qualifiers: Qualifiers
    ) -> None:
        region = place.region
        if not self._is_tracked(region):
            if region.written is not None:
                self._check_written(run, site, place, size)
            return
        touch = self._touch(run, site, place, size)
        self.flight.check(run, touch.shadow, touch.access, "reads what", writes=False)
        strong = qualifiers.strength is not Strength.WEAK
        writer = touch.shadow.writer
        words = writer.word[touch.access.granules]
        # Granules with a writer are initialised; the others may be by atomics or the copy engine.
        if region.written is not None and not words.all():
            self._check_written(run, site, place, size)
        for earlier in writer.earlier_of(words, touch.access, touch.base):
            self._judge(run, touch, earlier, "reads what", "writes")
        if not strong:
            self._against(run, touch, "strong writers", "reads what")
        else:
            if self.signals.handovers:
                self._against_incomplete(run, touch)
            self.signals.read(run, site, place, qualifiers)
        touch.shadow.table("strong readers" if strong else "readers").note(touch.access)

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
        region = place.region
        if region.written is not None:
            _mark_written(region, place.offsets, size)
        if not self._is_tracked(region):
            return
        touch = self._touch(run, site, place, size)
        self.flight.check(run, touch.shadow, touch.access, "overwrites what", writes=True)
        if qualifiers.strength is not Strength.WEAK:
            self._against_writer(run, touch, "overwrites what")
            self._against(run, touch, "readers", "overwrites what")
            touch.shadow.table("strong writers").note(touch.access)
            self.signals.write(run, site, place, qualifiers, updates=False)
            return
        silent = _SilentStores(place, values, width)
        self._against_writer(run, touch, "overwrites what", silent)
        for name in ("readers", "strong readers", "strong writers"):
            self._against(run, touch, name, "overwrites what")
        beaten = np.flatnonzero(touch.shadow.writer.note(touch.access))
        if len(beaten):
            self._same_instruction(run, touch, beaten, silent)

    def atomic(
        self,
        run: Run,
        site: Instruction,
        place: Place,
        size: int,
        qualifiers: Qualifiers,
    ) -> None:
        region = place.region
        if region.written is not None:
            self._check_written(run, site, place, size)
        if not self._is_tracked(region):
            return
        touch = self._touch(run, site, place, size)
        self.flight.check(run, touch.shadow, touch.access, "updates what", writes=True)
        self._against_writer(run, touch, "updates what")
        self._against(run, touch, "readers", "updates what")
        if qualifiers.scope is Scope.CTA and region.space == "global":
            self._against(run, touch, "strong writers", "updates what")
        touch.shadow.table("strong writers").note(touch.access)
        self.signals.update(run, site, place, qualifiers)

    # Asynchronous operations

    def begin_write(self, run: Run, operation: Async, place: Place, size: int) -> None:
        if not self._is_tracked(place.region):
            return
        touch = self._touch(run, operation.site, place, size)
        self.flight.check(run, touch.shadow, touch.access, "overwrites what", writes=True)
        self._against_writer(run, touch, "overwrites what")
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
            _mark_written(place.region, place.offsets, size)
        if not self._is_tracked(place.region):
            return
        shadow, access, _ = self._access(batch, operation.site, place.region, place.offsets, size,
                                         lanes)  # fmt: skip
        self.flight.end(operation, shadow, access, writes=True)
        shadow.writer.note(access)

    def delivered(
        self, batch: Batch, operation: Async, place: Place, size: int, block: int, barrier: int
    ) -> int:
        known = self.clocks.of(batch)
        if place.region.written is not None:
            _mark_written(place.region, place.offsets, size)
        engine = known.width + barrier // 8 % TENSOR_CORES
        if self._is_tracked(place.region):
            lanes = np.zeros(len(place.offsets), np.int64)
            shadow, access, _ = self._access(
                batch, operation.site, place.region, place.offsets, size, lanes
            )
            self.flight.end(operation, shadow, access, writes=True)
            number = int(known.block_numbers[block]) * known.row_width + engine
            shadow.writer.note(access._replace(threads=np.full(len(access.granules), number)))
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

    def finish_read(
        self, batch: Batch, operation: Async, place: Place, size: int, lanes: Lanes | None
    ) -> None:
        if not self._is_tracked(place.region):
            return
        someone = np.zeros(len(place.offsets), np.int64) if lanes is None else lanes
        shadow, access, _ = self._access(
            batch, operation.site, place.region, place.offsets, size, someone
        )
        self.flight.end(operation, shadow, access, writes=False)
        if lanes is not None:
            shadow.table("readers").note(access)

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
            shadow.table("readers").note(
                access._replace(threads=np.full(len(access.granules), number))
            )
            own = warp * WARP + np.arange(WARP)
            known.engine_matrix()[own, core] = now + 1
        self.clocks.tick()

    # Comparison

    def _is_tracked(self, region: Region) -> bool:
        return self.races and region.space in ("shared", "global") and region.is_shared_state

    def _is_private(self, region: Region) -> bool:
        """Whether only threads of one block reach each place of the region."""
        return region.space == "shared" and self.machine.shape.cluster.volume == 1

    def _touch(self, run: Run, site: Instruction, place: Place, size: int) -> Touch:
        lanes = run.lane_numbers() if place.chosen is None else run.lane_numbers()[place.chosen]
        shadow, access, packed = self._access(
            run.batch, site, place.region, place.offsets, size, lanes
        )
        known = self.clocks.of(run.batch)
        base = known.base[access.lanes] if shadow.is_private else _NOTHING
        return Touch(shadow, access, base, packed)

    def _access(
        self,
        batch: Batch,
        site: Instruction,
        region: Region,
        offsets: Lanes,
        size: int,
        lanes: Lanes,
    ) -> tuple[Shadow, Access, Lanes]:
        """The region's shadow, the access by granules, and for each granule whose lane's it is."""
        known = self.clocks.of(batch)
        shadow: Shadow | None = region.shadow
        if shadow is None:
            shadow = region.shadow = Shadow(
                region, known.row_width, is_private=self._is_private(region)
            )
        shadow.refine(size)
        index = np.broadcast_to(offsets >> shadow.shift, lanes.shape)
        packed = np.arange(len(lanes))
        words = max(1, size >> shadow.shift)
        if words > 1:
            index = (index[:, None] + np.arange(words)).reshape(-1)
            lanes, packed = np.repeat(lanes, words), np.repeat(packed, words)
        number = self.reports.number(site)
        threads = known.thread_number[lanes]
        return shadow, Access(index, lanes, threads, self.clocks.now, number), packed

    def _against_writer(
        self, run: Run, touch: Touch, doing: str, silent: _SilentStores | None = None
    ) -> None:
        for earlier in touch.shadow.writer.earlier(touch.access, touch.base):
            self._judge(run, touch, earlier, doing, "writes", silent)

    def _judge(
        self,
        run: Run,
        touch: Touch,
        earlier: Earlier,
        doing: str,
        role: str,
        silent: _SilentStores | None = None,
    ) -> None:
        """Reports those of the earlier accesses that nothing orders with the present ones."""
        unordered = self._unordered(run, touch, earlier)
        if len(unordered) and silent is not None:
            unordered = unordered[silent.changes(touch.packed[earlier.positions[unordered]])]
        if len(unordered):
            self._report(run, touch, earlier, unordered, doing, role)

    def _against(self, run: Run, touch: Touch, name: str, doing: str) -> None:
        table = touch.shadow.tables.get(name)
        if table is None:
            return
        role = "writes" if name == "strong writers" else "reads"
        for earlier in table.earlier(touch.access, touch.base):
            self._judge(run, touch, earlier, doing, role)

    def _against_incomplete(self, run: Run, touch: Touch) -> None:
        """Strong reads of what may still be old, though a flag has said that it is new.

        Strong accesses do not race, but a flag without release or acquire orders nothing.
        """
        table = touch.shadow.tables.get("strong writers")
        if table is None:
            return
        region = touch.shadow.region.number
        for earlier in table.earlier(touch.access, touch.base):
            unordered = self._unordered(run, touch, earlier)
            readers = touch.access.threads[earlier.positions[unordered]]
            kept = [
                position
                for position, reader, writer in zip(
                    unordered.tolist(), readers.tolist(), earlier.threads[unordered].tolist(),
                    strict=True,
                )
                if self.signals.is_incomplete(reader, writer, region, touch.shadow.width)
            ]  # fmt: skip
            if kept:
                self._report(run, touch, earlier, np.array(kept), "reads what", "writes")

    def _against_unfenced(
        self, run: Run, touch: Touch, table: LastTable | Table | None, role: str
    ) -> None:
        """Ordinary accesses that the copy engine's proxy does not see for want of a fence."""
        if table is None:
            return
        everything = np.zeros(len(touch.access.granules), np.int32)
        for earlier in table.earlier(touch.access, everything):
            lanes = touch.access.lanes[earlier.positions]
            ordered = self.clocks.ordered(run.batch, lanes, earlier.threads, earlier.stamps)
            unfenced = self.clocks.unfenced(run.batch, lanes, earlier.threads, earlier.stamps)
            found = np.flatnonzero(ordered & unfenced)
            if len(found):
                granule = 1 << touch.shadow.shift
                self.reports.unfenced(
                    run, touch.shadow.region, touch.access, granule, earlier, found, role
                )

    def _report(
        self, run: Run, touch: Touch, earlier: Earlier, unordered: Lanes, doing: str, role: str
    ) -> None:
        shadow = touch.shadow
        granule = 1 << shadow.shift
        self.reports.race(
            run, shadow.region, touch.access, granule, earlier, unordered, doing, role
        )

    def _unordered(self, run: Run, touch: Touch, earlier: Earlier) -> Lanes:
        """Positions in `earlier` of accesses that did not happen before."""
        lanes = touch.access.lanes[earlier.positions]
        ordered = self.clocks.ordered(run.batch, lanes, earlier.threads, earlier.stamps)
        return np.flatnonzero(~ordered)

    def _same_instruction(
        self, run: Run, touch: Touch, beaten: Lanes, silent: _SilentStores
    ) -> None:
        """Lanes of one instruction that store different values at one place."""
        winners = _last_positions(touch.access.granules, beaten)
        different = beaten[silent.differ(touch.packed[beaten], touch.packed[winners])]
        if not len(different):
            return
        threads = touch.shadow.writer.threads_at(touch.access.granules[different])
        count = len(different)
        earlier = Earlier(
            different,
            threads,
            np.full(count, touch.access.stamp),
            np.full(count, touch.access.site),
        )
        self._report(run, touch, earlier, np.arange(count), "overwrites what", "writes")

    # Uninitialised bytes

    def _check_written(self, run: Run, site: Instruction, place: Place, size: int) -> None:
        region = place.region
        if not self.uninitialised or region.written is None:
            return
        width = min(size, 8)
        marks = region.written.view(UNSIGNED[8 * width])
        index = place.offsets >> (width.bit_length() - 1)
        missing = np.zeros(len(index), np.bool_)
        for k in range(size // width):
            missing |= marks[index + k] != _ONES[width]
        if missing.any():
            self.reports.uninitialised(run, site, place, np.flatnonzero(missing))


def _mark_written(region: Region, offsets: Lanes, size: int) -> None:
    """Notes that the bytes have been stored to."""
    if region.written is None:
        return
    width = min(size, 8)
    marks = region.written.view(UNSIGNED[8 * width])
    index = offsets >> (width.bit_length() - 1)
    for k in range(size // width):
        marks[index + k] = _ONES[width]


class _SilentStores:
    """Which stores of an instruction change nothing, or agree with each other."""

    def __init__(self, place: Place, values: list[Lanes], width: int) -> None:
        self.place = place
        self.values = values
        self.width = width

    def _value(self, element: int, packed: Lanes) -> Lanes:
        values = self.values[element]
        if len(values) == 1:
            return np.broadcast_to(values, packed.shape)
        chosen = packed if self.place.chosen is None else self.place.chosen[packed]
        return values[chosen]

    def changes(self, packed: Lanes) -> Lanes:
        """Which of the place's accesses store something other than what is there."""
        view = self.place.region.view(self.width)
        offsets = self.place.offsets
        offsets = offsets if len(offsets) == 1 else offsets[packed]
        index = offsets >> (self.width.bit_length() - 1)
        different = np.zeros(len(packed), np.bool_)
        for element in range(len(self.values)):
            different |= view[index + element] != self._value(element, packed)
        return different

    def differ(self, packed: Lanes, others: Lanes) -> Lanes:
        """Which of some accesses store something else than the accesses beside them."""
        different = np.zeros(len(packed), np.bool_)
        for element in range(len(self.values)):
            different |= self._value(element, packed) != self._value(element, others)
        return different


def _last_positions(index: Lanes, positions: Lanes) -> Lanes:
    """For granules at some positions: where the same granule stands last in `index`."""
    granules, from_end = np.unique(index[::-1], return_index=True)
    last: Lanes = len(index) - 1 - from_end
    return last[np.searchsorted(granules, index[positions])]
