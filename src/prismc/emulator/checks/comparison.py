"""An access compared with the earlier ones that may be unordered with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prismc.emulator.checks.clocks import Clocks
from prismc.emulator.checks.flight import InFlight
from prismc.emulator.checks.readers import Access, Earlier, Table
from prismc.emulator.checks.reports import RaceReports
from prismc.emulator.checks.shadow import LastTable, Shadow
from prismc.emulator.checks.signals import Signals
from prismc.emulator.checks.stores import SilentStores, last_positions, unwritten
from prismc.emulator.events import Watch
from prismc.emulator.launch import Launch
from prismc.emulator.memory import Place, Region
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.run import Run

_NOTHING = np.zeros(1, np.int32)


class Touch(NamedTuple):
    """An access ready for comparison: its shadow, granules, and what its lanes' blocks know."""

    shadow: Shadow
    access: Access
    base: Lanes
    packed: Lanes  # for each granule, which of the place's accesses it belongs to


class Comparison(Watch):
    """What all checks of accesses share: shadows, and the question what came before."""

    def __init__(
        self,
        launch: Launch,
        clocks: Clocks,
        signals: Signals,
        *,
        races: bool,
        uninitialised: bool,
    ) -> None:
        self.launch = launch
        self.clocks = clocks
        self.races = races
        self.uninitialised = uninitialised
        self.signals = signals
        self.reports = RaceReports(launch, signals)
        self.flight = InFlight(self.reports)

    def _is_tracked(self, region: Region) -> bool:
        return self.races and region.space in ("shared", "global") and region.is_shared_state

    def _is_private(self, region: Region) -> bool:
        """Whether only threads of one block reach each place of the region."""
        return region.space == "shared" and self.launch.shape.cluster.volume == 1

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

    def _note(self, batch: Batch, shadow: Shadow, name: str, access: Access) -> None:
        """Remembers accesses in one of the tables of readers."""

        def ordered(earlier: Earlier) -> Lanes:
            lanes = access.lanes[earlier.positions]
            return self.clocks.ordered(batch, lanes, earlier.threads, earlier.stamps)

        base = self.clocks.of(batch).base[access.lanes] if shadow.is_private else _NOTHING
        shadow.table(name).note(access, base, ordered)

    def _against_writer(
        self, run: Run, touch: Touch, doing: str, silent: SilentStores | None = None
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
        silent: SilentStores | None = None,
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

    def _against_other_blocks(self, run: Run, touch: Touch) -> None:
        """Atomics at block scope, which are atomic only for threads of one block, against strong
        writes of other blocks, those of the same instruction included."""
        access, width = touch.access, touch.shadow.width
        blocks = access.threads // width
        table = touch.shadow.tables.get("strong writers")
        for earlier in () if table is None else table.earlier(access, touch.base):
            unordered = self._unordered(run, touch, earlier)
            own = blocks[earlier.positions[unordered]]
            foreign = unordered[earlier.threads[unordered] // width != own]
            if len(foreign):
                self._report(run, touch, earlier, foreign, "updates what", "writes")
        order = np.argsort(access.granules, kind="stable")
        granules, owners = access.granules[order], blocks[order]
        meets = (granules[1:] == granules[:-1]) & (owners[1:] != owners[:-1])
        first = np.flatnonzero(meets)
        if len(first):
            everyone = np.arange(len(first))
            earlier = Earlier(
                order[first + 1],
                access.threads[order[first]],
                np.full(len(first), access.stamp),
                np.full(len(first), access.site),
            )
            self._report(run, touch, earlier, everyone, "updates what", "writes")

    def _against_incomplete(self, run: Run, touch: Touch) -> None:
        """Strong reads of what may still be old, though a flag has said that it is new.

        Strong accesses do not race, but a flag without release or acquire orders nothing.
        """
        table = touch.shadow.tables.get("strong writers")
        if table is None:
            return
        region, width = touch.shadow.region.number, touch.shadow.width
        for earlier in table.earlier(touch.access, touch.base):
            unordered = self._unordered(run, touch, earlier)
            readers = touch.access.threads[earlier.positions[unordered]]
            kept = [
                position
                for position, reader, writer, stamp in zip(
                    unordered.tolist(), readers.tolist(), earlier.threads[unordered].tolist(),
                    earlier.stamps[unordered].tolist(), strict=True,
                )
                if (value := self.signals.passed(reader, writer, region, width, stamp))
                and not value.is_complete
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
            found = found[~self.reports.are_engines(earlier.sites[found])]
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
        self, run: Run, touch: Touch, beaten: Lanes, silent: SilentStores
    ) -> None:
        """Lanes of one instruction that store different values at one place."""
        winners = last_positions(touch.access.granules, beaten)
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

    def _check_written(self, run: Run, site: Instruction, place: Place, size: int) -> None:
        """Reports loads of bytes that nobody has stored to."""
        if self.uninitialised:
            missing = unwritten(place.region, place.offsets, size)
            if len(missing):
                self.reports.uninitialised(run, site, place, missing)
