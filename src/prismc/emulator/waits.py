"""How long warps wait for each other, for profiles: in steps of a clock of each warp's own.

A warp's clock advances by one for each instruction that it issues, whatever the others do. A
barrier lets its warps go on at the time of the last arrival, which becomes the time of all of them.
So the steps waited are what the work between barriers differs by; they do not depend on the
machine's schedule, and turns of a loop that asks for a phase count as waiting. Copies take no time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prismc.emulator.geometry import WARP
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.code import Step
from prismc.emulator.state.run import Run

BLOCK, CLUSTER, MBARRIER = "block barrier", "cluster barrier", "mbarrier"
WARP_BARRIER, GROUP = "warp barrier", "asynchronous group"
_NOT_YET = -1


class Waited(NamedTuple):
    """Waits at one instruction by warp of the block, summed over blocks, int64 `[warps]`."""

    kind: str
    times: Lanes
    steps: Lanes


class Waits:
    """All waits of a launch, and the clocks of the warps that run, `[warps]` for each batch."""

    def __init__(self) -> None:
        self.at: dict[Instruction, Waited] = {}
        self._clocks: dict[int, Lanes] = {}
        # When warps began to ask for a phase that is not complete, by batch and instruction.
        self._begun: dict[tuple[int, Instruction], Lanes] = {}

    def _clock(self, batch: Batch) -> Lanes:
        known = self._clocks.get(id(batch))
        if known is None:
            known = self._clocks[id(batch)] = np.zeros(batch.geometry.count // WARP, np.int64)
        return known

    def forget(self, batch: Batch) -> None:
        """The batch has ended."""
        self._clocks.pop(id(batch), None)
        self._begun = {key: begun for key, begun in self._begun.items() if key[0] != id(batch)}

    def issue(self, run: Run, instructions: int) -> None:
        """The warps of a run issue instructions."""
        self._clock(run.batch)[_warps(run.mask_array())] += instructions

    def latest(self, batch: Batch, lanes: Lanes, groups: int) -> Lanes:
        """The latest clock of lanes (bool `[lanes]`) in each of `groups` equal parts of a batch;
        0 where there is none."""
        there = _warps(lanes)
        times: Lanes = np.where(there, self._clock(batch), 0).reshape(groups, -1).max(axis=1)
        return times

    def together(self, run: Run, site: Instruction) -> None:
        """Whole blocks, the run, meet at a barrier."""
        blocks = len(run.batch.geometry.blocks)
        mask = run.mask_array()
        self.go_on(run.batch, site, BLOCK, mask, self.latest(run.batch, mask, blocks))

    def go_on(self, batch: Batch, site: Instruction, kind: str, lanes: Lanes, times: Lanes) -> None:
        """Lanes that waited go on; `times` of the last arrival, for equal parts of the batch."""
        warps = np.flatnonzero(_warps(lanes))
        clock = self._clock(batch)
        until = np.repeat(times, len(clock) // len(times))[warps]
        self._note(batch, site, kind, warps, np.maximum(until - clock[warps], 0))
        clock[warps] = np.maximum(clock[warps], until)

    def asks_in_vain(self, batch: Batch, site: Instruction, lanes: Lanes) -> None:
        """Lanes (numbers) ask for a phase that is not complete."""
        key = (id(batch), site)
        begun = self._begun.get(key)
        if begun is None:
            begun = self._begun[key] = np.full(batch.geometry.count // WARP, _NOT_YET)
        warps = np.unique(lanes // WARP)
        new = warps[begun[warps] == _NOT_YET]
        begun[new] = self._clock(batch)[new]

    def phase_complete(self, batch: Batch, site: Instruction, lanes: Lanes, time: int) -> None:
        """Lanes (numbers) find a phase complete whose last arrival was at `time`."""
        warps = np.unique(lanes // WARP)
        clock = self._clock(batch)
        start = clock[warps]
        begun = self._begun.get((id(batch), site))
        if begun is not None:
            start = np.where(begun[warps] == _NOT_YET, start, begun[warps])
            begun[warps] = _NOT_YET
        self._note(batch, site, MBARRIER, warps, np.maximum(time - start, 0))
        clock[warps] = np.maximum(start, time)

    def counted(self, site: Instruction, kind: str, step: Step) -> Step:
        """A step that counts as a wait, though nobody is waited for as long as it takes."""

        def counting(run: Run) -> None:
            warps = np.flatnonzero(_warps(run.mask_array()))
            self._note(run.batch, site, kind, warps, np.zeros(len(warps), np.int64))
            step(run)

        return counting

    def _note(self, batch: Batch, site: Instruction, kind: str, warps: Lanes, steps: Lanes) -> None:
        per_block = batch.geometry.width // WARP
        known = self.at.get(site)
        if known is None:
            nothing = np.zeros(per_block, np.int64)
            known = self.at[site] = Waited(kind, nothing, nothing.copy())
        np.add.at(known.times, warps % per_block, 1)
        np.add.at(known.steps, warps % per_block, steps)


def kind_of_wait(site: Instruction) -> str | None:
    """The kind of an instruction that waits but takes no steps; None for any other."""
    form = site.form
    if form.has("wait_group") or form.has("wait_all"):
        return GROUP
    return WARP_BARRIER if form.name in ("bar", "barrier") and form.has("warp") else None


def _warps(lanes: Lanes) -> Lanes:
    """Which warps have some of the lanes, bool `[warps]`."""
    there: Lanes = np.logical_or.reduce(lanes.reshape(-1, WARP), axis=1)
    return there
