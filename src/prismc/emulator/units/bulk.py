"""Copies by the engine: bulk and tensor copies, their completion by mbarrier or by group.

PTX ISA 9.7.9.25.4 to 9.7.9.25.5. A copy is issued by one thread. It moves bytes between *spans*:
lists of chunks of equal size in one region.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from prismc.emulator.events import Async, Watch
from prismc.emulator.launch import Launch
from prismc.emulator.memory import Place, Region
from prismc.emulator.schedule import Copies
from prismc.emulator.semantics.registry import UNSIGNED, Lanes, bits_of
from prismc.emulator.state.batch import Batch, Unit
from prismc.emulator.state.run import Run
from prismc.emulator.units.mbarriers import MBarriers

# new bytes of a reduction = update(old bytes, copied bytes), both uint8 `[n]`.
Update = Callable[[Lanes, Lanes], Lanes]
WordUpdate = Callable[[Lanes, Lanes, Lanes], Lanes]


def bytewise(update: WordUpdate, type_name: str) -> Update:
    """An update of words as one of their bytes."""
    dtype = UNSIGNED[bits_of(type_name)]

    def apply(old: Lanes, new: Lanes) -> Lanes:
        result: Lanes = update(old.view(dtype), new.view(dtype), new.view(dtype))
        return result.view(np.uint8)

    return apply


class Span(NamedTuple):
    """Chunks of `size` bytes at byte offsets of a region; `there` False: a chunk that is not."""

    region: Region
    offsets: Lanes
    size: int
    there: Lanes | None = None

    def place(self) -> Place:
        """The chunks that are there, as accesses of the one lane of a run."""
        offsets = self.offsets if self.there is None else self.offsets[self.there]
        return Place(self.region, offsets, np.zeros(len(offsets), np.int64))

    def bytes_at(self) -> Lanes:
        """Offsets of all bytes, `[chunks, size]`."""
        at: Lanes = self.offsets[:, None] + np.arange(self.size)
        return at


class Transfer:
    """One copy: from a span to one or more spans (multicast), with an optional reduction.

    `fill` are the bytes of a source chunk that is not there.
    """

    def __init__(
        self,
        source: Span,
        targets: list[Span],
        operation: Async,
        fill: bytes = b"",
        update: Update | None = None,
    ) -> None:
        self.source = source
        self.targets = targets
        self.operation = operation
        self.fill = fill
        self.update = update
        self.moved = False

    def begin(self, watch: Watch | None, run: Run) -> None:
        """Tells the watch that the memory is in use; `run` is the issuing thread."""
        if watch is None:
            return
        watch.begin_read(run, self.operation, self.source.place(), self.source.size)
        for target in self.targets:
            watch.begin_write(run, self.operation, target.place(), target.size)

    def move(self) -> None:
        """Moves the bytes, once."""
        if self.moved:
            return
        self.moved = True
        source = self.source
        content = source.region.data[np.where(_there(source), source.bytes_at(), 0)]
        if source.there is not None:
            absent = np.frombuffer(self.fill, np.uint8)
            content[~source.there] = np.tile(absent, source.size // len(absent))
        flat = content.reshape(-1)
        for target in self.targets:
            where = target.bytes_at().reshape(-1)
            kept = flat
            if target.there is not None:
                chosen = np.repeat(target.there, target.size)
                where, kept = where[chosen], flat[chosen]
            if self.update is not None:
                kept = self.update(target.region.data[where], kept)
            target.region.data[where] = kept


def _there(span: Span) -> Any:
    return True if span.there is None else span.there[:, None]


class Delivery:
    """A copy whose bytes are counted by an mbarrier of each target's block."""

    def __init__(
        self, launch: Launch, batch: Batch, transfer: Transfer, barriers: list[int], count: int
    ) -> None:
        self.launch = launch
        self.batch = batch
        self.transfer = transfer
        self.barriers = barriers
        self.count = count

    def perform(self) -> None:
        """Moves the bytes and completes them at the barriers."""
        batch, transfer = self.batch, self.transfer
        site = transfer.operation.site
        transfer.move()
        watch = self.launch.watch
        for target, offset in zip(transfer.targets, self.barriers, strict=True):
            view = 0
            if watch is not None:
                block = offset // batch.shared.stride
                view = watch.delivered(batch, transfer.operation, target.place(), target.size,
                                       block, offset)  # fmt: skip
            batch.unit(MBarriers).complete(site, offset, self.count, view)
        if watch is not None:
            source = transfer.source
            watch.finish_read(batch, transfer.operation, source.place(), source.size, None)


class BulkGroups(Unit):
    """Copies of a batch that their issuing threads wait for by groups (PTX ISA 9.7.9.25.2.2)."""

    def __init__(self, launch: Launch, batch: Batch) -> None:
        self.launch = launch
        self.batch = batch
        self.committed = np.zeros(batch.geometry.count, np.int64)
        self.pending: list[tuple[int, int, Transfer]] = []
        self.read: list[Transfer] = []

    def issue(self, lane: int, transfer: Transfer) -> None:
        """Notes a copy of a lane; it moves its bytes now if the schedule says so."""
        self.pending.append((lane, int(self.committed[lane]), transfer))
        if self.launch.schedule.plan.copies is Copies.EARLY:
            transfer.move()

    def commit(self, run: Run) -> None:
        """`commit_group`: copies issued so far form a group."""
        self.committed[run.lane_numbers()] += 1

    def wait(self, run: Run, newest: int, *, only_read: bool) -> None:
        """Completes all but the `newest` groups of the run's lanes; or only their reads."""
        limits = {lane: int(self.committed[lane]) - newest for lane in run.lane_numbers().tolist()}
        self._complete(lambda lane, group: group < limits.get(lane, 0), only_read=only_read)

    def finish(self) -> None:
        """Completes everything, as the end of the threads does."""
        self._complete(lambda lane, group: True, only_read=False)

    def _complete(self, wanted: Callable[[int, int], bool], *, only_read: bool) -> None:
        left = []
        for lane, group, transfer in self.pending:
            if not wanted(lane, group):
                left.append((lane, group, transfer))
                continue
            transfer.move()
            self._tell(transfer, lane, only_read=only_read)
            if only_read:
                left.append((lane, group, transfer))
        self.pending = left

    def _tell(self, transfer: Transfer, lane: int, *, only_read: bool) -> None:
        watch = self.launch.watch
        if watch is None:
            return
        if transfer not in self.read:
            self.read.append(transfer)
            place = transfer.source.place()
            lanes = np.full(len(place.offsets), lane)
            watch.finish_read(self.batch, transfer.operation, place, transfer.source.size, lanes)
        if only_read:
            return
        self.read.remove(transfer)
        for target in transfer.targets:
            place = target.place()
            lanes = np.full(len(place.offsets), lane)
            watch.finish_write(self.batch, transfer.operation, place, target.size, lanes)
