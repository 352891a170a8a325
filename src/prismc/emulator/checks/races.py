"""Data races, uninitialised reads: every access is compared with the ones that may be unordered.

Strong accesses (atomics, volatile, relaxed and stronger ones) do not race with each other where
their scopes include both threads (PTX ISA 8.7, morally strong). A store of the value that is
already there does not count as a race with the store that put it there.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.checks.comparison import Comparison
from prismc.emulator.checks.stores import SilentStores, mark_written
from prismc.emulator.memory import Place
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.scopes import Qualifiers, Scope, Strength
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.run import Run

_READERS = ("readers", "strong readers")


class RaceWatch(Comparison):
    """Watches the accesses that threads make themselves."""

    def read(
        self, run: Run, site: Instruction, place: Place, size: int, qualifiers: Qualifiers
    ) -> None:
        region = place.region
        if not self._is_tracked(region):
            if region.written is not None and not qualifiers.is_copy:
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
        self._note(run.batch, touch.shadow, _READERS[strong], touch.access)

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
            mark_written(region, place.offsets, size)
        if not self._is_tracked(region):
            return
        touch = self._touch(run, site, place, size)
        self.flight.check(run, touch.shadow, touch.access, "overwrites what", writes=True)
        if qualifiers.strength is not Strength.WEAK:
            self._against_writer(run, touch, "overwrites what")
            self._against(run, touch, "readers", "overwrites what")
            self._note(run.batch, touch.shadow, "strong writers", touch.access)
            self.signals.write(run, site, place, qualifiers, updates=False)
            return
        silent = SilentStores(place, values, width)
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
            self._against_other_blocks(run, touch)
        self._note(run.batch, touch.shadow, "strong writers", touch.access)
        if not qualifiers.is_barrier:
            self.signals.update(run, site, place, qualifiers)
