"""The barrier of a cluster (PTX ISA 9.7.13.4, barrier.cluster): all threads arrive, then wait."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prismc.emulator.findings import Kind
from prismc.emulator.launch import Launch
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch, Unit
from prismc.emulator.state.frames import Frame
from prismc.emulator.state.run import Run
from prismc.emulator.waits import CLUSTER


class Waiting(NamedTuple):
    """Lanes that wait for their cluster to go on at `block` of `frame`."""

    frame: Frame
    block: int
    site: Instruction
    acquires: bool


class ClusterBarriers(Unit):
    """The barriers of a batch's clusters; per cluster the view that all arrivals share."""

    def __init__(self, launch: Launch, batch: Batch) -> None:
        self.launch = launch
        self.batch = batch
        geometry = batch.geometry
        self.size = geometry.width * geometry.shape.cluster.volume
        clusters = geometry.count // self.size
        self.arrived = np.zeros(geometry.count, np.bool_)
        self.waiting: dict[Waiting, Lanes] = {}
        self.arriving = [0] * clusters
        self.known = [0] * clusters
        # When, for profiles: the last arrival, and the one that opened the barrier.
        self.last_arrival = np.zeros(clusters, np.int64)
        self.opened_at = np.zeros(clusters, np.int64)

    def arrive(self, run: Run, site: Instruction, *, releases: bool) -> None:
        """The run arrives at its clusters' barriers."""
        mask = run.mask_array()
        if (self.arrived & mask).any():
            self.launch.findings.plain(
                Kind.COUNT, run, site, "arrives at the cluster barrier again without waiting",
                "follow every arrive by a wait",
            )  # fmt: skip
        events = self.launch.events
        rows = mask.reshape(-1, self.size)
        for cluster in np.flatnonzero(rows.any(axis=1)).tolist():
            lanes = cluster * self.size + np.flatnonzero(rows[cluster])
            if releases:
                view = events.release(self.batch, lanes)
                self.arriving[cluster] = events.join(self.arriving[cluster], view)
        self.arrived = self.arrived | mask
        waits = self.launch.waits
        if waits is not None:
            times = waits.latest(self.batch, mask, len(self.known))
            self.last_arrival = np.maximum(self.last_arrival, times)
        self.settle()

    def wait(self, run: Run, waiting: Waiting) -> int | None:
        """The run waits; the next block if all its clusters have opened, else None."""
        mask = run.mask_array()
        closed = self.arrived & mask
        if not closed.any():
            self._go_on(mask, waiting)
            return waiting.block
        known = self.waiting.get(waiting)
        self.waiting[waiting] = closed if known is None else known | closed
        open_ = mask & ~closed
        if open_.any():
            self._go_on(open_, waiting)
            self.batch.push_mixed(waiting.frame, waiting.block, open_)
        return None

    def settle(self) -> None:
        """Opens the barriers at which all threads that are alive have arrived."""
        rows = self.arrived.reshape(-1, self.size)
        alive = self.batch.alive.reshape(-1, self.size)
        opened = np.logical_and(rows.any(axis=1), (rows | ~alive).all(axis=1))
        if not opened.any():
            return
        self.launch.progress += 1
        events = self.launch.events
        for cluster in np.flatnonzero(opened).tolist():
            self.known[cluster] = events.join(self.known[cluster], self.arriving[cluster])
            self.arriving[cluster] = 0
        self.opened_at[opened] = self.last_arrival[opened]
        self.last_arrival[opened] = 0
        lanes = np.repeat(opened, self.size)
        self.arrived = self.arrived & ~lanes
        waiting, self.waiting = self.waiting, {}
        for who, mask in waiting.items():
            free = mask & lanes
            if free.any():
                self._go_on(free, who)
                self.batch.push_mixed(who.frame, who.block, free)
            if (left := mask & ~lanes).any():
                self.waiting[who] = left

    def _go_on(self, mask: Lanes, waiting: Waiting) -> None:
        """Lanes find the barrier open."""
        waits = self.launch.waits
        if waits is not None:
            waits.go_on(self.batch, waiting.site, CLUSTER, mask, self.opened_at)
        self._acquire(mask, waiting)

    def _acquire(self, mask: Lanes, waiting: Waiting) -> None:
        if not waiting.acquires:
            return
        rows = mask.reshape(-1, self.size)
        for cluster in np.flatnonzero(rows.any(axis=1)).tolist():
            lanes = cluster * self.size + np.flatnonzero(rows[cluster])
            self.launch.events.acquire(self.batch, lanes, self.known[cluster])
