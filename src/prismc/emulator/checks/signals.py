"""Release and acquire between threads: through strong accesses and fences (PTX ISA 8.7 to 8.9).

A strong write carries what its thread released: what it knows, for `.release`; what it knew at its
last fence, for weaker ones. Who reads that value acquires it: at once with `.acquire`, at its next
fence otherwise. Both sides count only up to the scope of the access and of the fence. An atomic
update passes on what the value it replaced had carried (release sequences).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prismc.emulator.checks.clocks import Clocks, Knowledge
from prismc.emulator.geometry import WARP
from prismc.emulator.memory import Place
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.scopes import Qualifiers, Scope
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.run import Run

_LEVELS = (Scope.CTA, Scope.CLUSTER, Scope.GPU)
# Values that nobody released are remembered for better reports, if few lanes write at once.
_FEW = 1024


class Signal(NamedTuple):
    """What a strong write left: by scope the view it carries, its thread, its instruction, when.

    `spread` is the scope that includes all threads whose updates the value came through.
    """

    views: dict[Scope, int]
    thread: int
    site: Instruction
    spread: Scope
    stamp: int


class Handover(NamedTuple):
    """A value passed between two blocks: where, when it was written, by which instructions, which
    side did its part."""

    region: int
    stamp: int
    writer: Instruction
    reader: Instruction
    released: bool
    acquired: bool

    @property
    def is_complete(self) -> bool:
        """Whether both sides did their part."""
        return self.released and self.acquired


class Fences:
    """The last fence of a scope of each lane of a batch: when, and what the lane knew."""

    def __init__(self, known: Knowledge) -> None:
        count = len(known.base)
        self.stamp = np.zeros(count, np.int32)
        self.base = np.zeros(count, np.int32)
        self.warp_base = np.zeros(count, np.int32)
        self.view = np.zeros(count, np.int32)
        self.rows: dict[int, Lanes] = {}  # where bases do not tell all
        self.made = np.zeros(count, np.int32)  # the view of the fence, once somebody asked

    def note(self, known: Knowledge, lanes: Lanes, now: int) -> None:
        self.stamp[lanes] = now
        self.base[lanes] = known.base[lanes]
        self.warp_base[lanes] = known.warp_base[lanes]
        self.view[lanes] = known.view[lanes]
        self.made[lanes] = 0
        if known.pairs is not None or known.engines is not None:
            for lane in lanes.tolist():
                self.rows[lane] = known.row(lane)


class Signals:
    """All releases and acquires of a launch."""

    def __init__(self, clocks: Clocks) -> None:
        self.clocks = clocks
        self._found: dict[tuple[int, int], Signal] = {}
        self._fences: dict[tuple[int, Scope], Fences] = {}
        self._pending: dict[tuple[int, Scope], dict[int, list[tuple[int, int]]]] = {}
        self.handovers: dict[tuple[int, int], Handover] = {}

    # Fences

    def fence(self, run: Run, scope: Scope) -> None:
        """A fence: later strong writes release what came before; what was read is acquired."""
        batch = run.batch
        known = self.clocks.of(batch)
        lanes = run.lane_numbers()
        now = self.clocks.tick()
        for level in _LEVELS:
            if level <= scope:
                self._acquire_pending(batch, known, level, lanes)
        for level in _LEVELS:
            if level <= scope:
                key = (id(batch), level)
                if key not in self._fences:
                    self._fences[key] = Fences(known)
                self._fences[key].note(known, lanes, now)

    def _acquire_pending(self, batch: Batch, known: Knowledge, level: Scope, lanes: Lanes) -> None:
        waiting = self._pending.get((id(batch), level))
        if not waiting:
            return
        for lane in lanes.tolist():
            for view, other in waiting.pop(lane, ()):
                self.clocks.learn(known, np.array([lane]), view)
                self._mark_acquired(known, lane, other)

    # Strong accesses

    def read(self, run: Run, site: Instruction, place: Place, qualifiers: Qualifiers) -> None:
        """Lanes read values; what the values carry reaches them."""
        if not self._found:
            return
        known = self.clocks.of(run.batch)
        region = place.region.number
        lanes = _lanes(run, place)
        offsets = np.broadcast_to(place.offsets, lanes.shape)
        for lane, offset in zip(lanes.tolist(), offsets.tolist(), strict=True):
            signal = self._found.get((region, offset))
            if signal is not None:
                self._receive(run.batch, known, lane, site, signal, region, qualifiers)

    def write(
        self, run: Run, site: Instruction, place: Place, qualifiers: Qualifiers, *, updates: bool
    ) -> None:
        """Lanes write values; `updates`: atomically, so that what was carried is passed on."""
        batch = run.batch
        known = self.clocks.of(batch)
        releases = qualifiers.strength.releases
        fences = [self._fences.get((id(batch), level)) for level in _LEVELS]
        lanes = _lanes(run, place)
        if not releases and not any(fences) and not self._found and len(lanes) > _FEW:
            return
        if releases:
            self.clocks.tick()
        region = place.region.number
        offsets = np.broadcast_to(place.offsets, lanes.shape)
        for lane, offset in zip(lanes.tolist(), offsets.tolist(), strict=True):
            key = (region, offset)
            views = self._released(known, lane, qualifiers, fences)
            old = self._found.get(key)
            own, spread = int(known.thread_number[lane]), Scope.CTA
            if updates and old is not None:
                for level, view in old.views.items():
                    views[level] = self.clocks.views.join(views.get(level, 0), view)
                width = known.row_width
                spread = max(old.spread, self._needed(batch, own // width, old.thread // width))
            if views or old is not None or len(lanes) <= _FEW:
                self._found[key] = Signal(views, own, site, spread, self.clocks.now)
        # What these threads write from here on was not meant by the value.
        self.clocks.tick()

    def update(self, run: Run, site: Instruction, place: Place, qualifiers: Qualifiers) -> None:
        """Lanes read and write values atomically, in lane order."""
        batch = run.batch
        known = self.clocks.of(batch)
        lanes = _lanes(run, place)
        fenced = any((id(batch), level) in self._fences for level in _LEVELS)
        if len(lanes) > _FEW and not (fenced or self._found or qualifiers.strength.releases):
            return
        chosen = np.arange(len(lanes)) if place.chosen is None else place.chosen
        offsets = np.broadcast_to(place.offsets, lanes.shape)
        region = place.region.number
        for k in range(len(lanes)):
            one = Place(place.region, offsets[k : k + 1], chosen[k : k + 1])
            signal = self._found.get((region, int(offsets[k])))
            if signal is not None:
                self._receive(batch, known, int(lanes[k]), site, signal, region, qualifiers)
            self.write(run, site, one, qualifiers, updates=True)

    def _released(
        self,
        known: Knowledge,
        lane: int,
        qualifiers: Qualifiers,
        fences: list[Fences | None],
    ) -> dict[Scope, int]:
        """By scope, the view that a write by this lane carries."""
        found: dict[Scope, int] = {}
        now = 0
        for level, fence in zip(_LEVELS, fences, strict=True):
            if level > qualifiers.scope:
                break
            if qualifiers.strength.releases:
                others = int(known.view[lane])
                now = now or self._view(known, lane, known.row(lane), self.clocks.now, others)
                found[level] = now
            elif fence is not None and fence.stamp[lane]:
                found[level] = self._fence_view(known, lane, fence)
        return found

    def _fence_view(self, known: Knowledge, lane: int, fence: Fences) -> int:
        if not fence.made[lane]:
            row = fence.rows.get(lane)
            if row is None:
                row = np.zeros(known.row_width, np.int32)
                row[: known.width] = fence.base[lane]
                first = lane % known.width // WARP * WARP
                warp = row[first : first + WARP]
                np.maximum(warp, fence.warp_base[lane], out=warp)
            own, others = int(fence.stamp[lane]), int(fence.view[lane])
            fence.made[lane] = self._view(known, lane, row, own, others)
        return int(fence.made[lane])

    def _view(self, known: Knowledge, lane: int, row: Lanes, own: int, others: int) -> int:
        """A numbered view: the lane's block by `row`, itself by `own`, other blocks."""
        row[lane % known.width] = own
        block = int(known.thread_number[lane]) // known.row_width
        number = self.clocks.views.add({block: row})
        return self.clocks.views.join(number, others)

    def _receive(
        self,
        batch: Batch,
        known: Knowledge,
        lane: int,
        site: Instruction,
        signal: Signal,
        region: int,
        qualifiers: Qualifiers,
    ) -> None:
        own = int(known.thread_number[lane])
        if signal.thread == own and signal.spread is Scope.CTA:
            return
        width = known.row_width
        need = max(signal.spread, self._needed(batch, own // width, signal.thread // width))
        view = signal.views.get(need, 0)
        reaches = qualifiers.scope >= need
        acquires = qualifiers.strength.acquires and reaches
        key = (own // width, signal.thread // width)
        self.handovers[key] = Handover(region, signal.stamp, signal.site, site, view > 0, acquires)
        if not view or not reaches:
            return
        if acquires:
            self.clocks.learn(known, np.array([lane]), view)
            return
        waiting = self._pending.setdefault((id(batch), need), {})
        waiting.setdefault(lane, []).append((view, signal.thread))

    def _mark_acquired(self, known: Knowledge, lane: int, other: int) -> None:
        width = known.row_width
        key = (int(known.thread_number[lane]) // width, other // width)
        if key in self.handovers:
            self.handovers[key] = self.handovers[key]._replace(acquired=True)

    def _needed(self, batch: Batch, block: int, other: int) -> Scope:
        """The scope that includes threads of both blocks."""
        if block == other:
            return Scope.CTA
        if batch.geometry.same_cluster(block, other):
            return Scope.CLUSTER
        return Scope.GPU

    def passed(
        self, reader: int, writer: int, region: int, width: int, stamp: int
    ) -> Handover | None:
        """The value that the writer's block has, after its write of `stamp`, passed to the reader's
        in another array than `region`; None if there is none.
        """
        handover = self.handovers.get((reader // width, writer // width))
        if handover is None or handover.region == region or handover.stamp < stamp:
            return None
        return handover

    def forget(self, batch: Batch) -> None:
        """The batch has ended."""
        for level in _LEVELS:
            self._fences.pop((id(batch), level), None)
            self._pending.pop((id(batch), level), None)


def _lanes(run: Run, place: Place) -> Lanes:
    lanes = run.lane_numbers()
    return lanes if place.chosen is None else lanes[place.chosen]
