"""Deadlock: who waits for whom, on what, when nobody can go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prismc.emulator.barriers import Barrier
from prismc.emulator.batch import Batch, Resting
from prismc.emulator.findings import Finding, Kind, thread_id
from prismc.emulator.geometry import WARP
from prismc.emulator.ptx.tree import Instruction

if TYPE_CHECKING:
    from prismc.emulator.machine import Machine


_MEND_LOOP = "make sure that the thread it waits for reaches the store on every path"
_MEND_GRID = "launch no more blocks than run at a time, or wait only for blocks that started before"


def report_deadlock(machine: Machine, batches: list[Batch], unstarted: int) -> None:
    """One finding for each place where threads wait. `unstarted` blocks of the grid wait for room.
    """
    for batch in batches:
        for number, barrier in sorted(batch.barriers.by_id.items()):
            _barrier(machine, batch, number, barrier)
        for resting in batch.resting:
            _loop(machine, batch, resting, unstarted)


def _why(batch: Batch, watched: Instruction | None) -> str:
    """What a turning loop waits for."""
    if watched is None:
        return "a loop never ends"
    wait = batch.mbarriers.waits.get(watched.line)
    if watched.form.name != "mbarrier" or wait is None:
        return "a loop waits for a value that nobody writes any more"
    barrier, asked = wait
    arrived = barrier.expected - barrier.pending
    state = f"phase {barrier.phase} with {arrived} of {barrier.expected} arrivals"
    if barrier.bytes:
        state += f" and {barrier.bytes} bytes pending"
    which = f"parity {asked & 1}" if watched.form.has("parity") else "a phase"
    return f"waits for {which} of an mbarrier that stays in {state}"


def _barrier(machine: Machine, batch: Batch, number: int, barrier: Barrier) -> None:
    """Threads wait at a block barrier for others that never come."""
    width = batch.geometry.width
    for waiting, mask in barrier.parked.items():
        if not machine.findings.is_new(Kind.DEADLOCK, waiting.site, times=int(mask.sum())):
            continue
        lane = int(np.flatnonzero(mask)[0])
        block = lane // width
        warps = batch.alive.reshape(-1, width)[block].reshape(-1, WARP).any(axis=1)
        expected = int(barrier.expected[block]) or WARP * int(warps.sum())
        machine.findings.add(
            Finding(
                kind=Kind.DEADLOCK,
                message=f"barrier {number} waits in generation {int(barrier.generation[block]) + 1}"
                f" with {int(barrier.counted[block])} of {expected} threads",
                help="make every participant arrive as often as the others wait",
                site=waiting.site,
                threads=(thread_id(batch.geometry, lane),),
            )
        )


def _loop(machine: Machine, batch: Batch, resting: Resting, unstarted: int) -> None:
    """Threads turn in a loop that waits for something that never happens."""
    group, spin = resting
    watched = None if spin is None else spin.watched
    site = watched or group.frame.code.blocks[group.block].site
    if not machine.findings.is_new(Kind.DEADLOCK, site, times=group.lanes):
        return
    mask = batch.every_mask if group.mask is None else group.mask
    message, help = _why(batch, watched), _MEND_LOOP
    if unstarted:
        resident = machine.schedule.plan.resident
        message += f", and {unstarted} blocks have not started: {resident} run at a time"
        help = _MEND_GRID
    machine.findings.add(
        Finding(
            kind=Kind.DEADLOCK,
            message=message,
            help=help,
            site=site,
            threads=(thread_id(batch.geometry, int(np.flatnonzero(mask)[0])),),
        )
    )
