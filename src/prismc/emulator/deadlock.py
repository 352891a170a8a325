"""Deadlock: who waits for whom, on what, when nobody can go on."""

from __future__ import annotations

import numpy as np

from prismc.emulator.findings import Finding, Kind, thread_id
from prismc.emulator.geometry import WARP
from prismc.emulator.launch import Launch
from prismc.emulator.phases import BEFORE_ALL
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.barrier import Barrier
from prismc.emulator.state.batch import Batch, Resting
from prismc.emulator.units.barriers import BlockBarriers
from prismc.emulator.units.mbarriers import MBarriers

_MEND_LOOP = "make sure that the thread it waits for reaches the store on every path"
_MEND_MBARRIER = "make all arrivals and copies that the phase counts happen on every path"
_MEND_GRID = "launch no more blocks than run at a time, or wait only for blocks that started before"


def report_deadlock(launch: Launch, batches: list[Batch], unstarted: int) -> None:
    """One finding for each place where threads wait. `unstarted` blocks wait for room."""
    for batch in batches:
        for number, barrier in sorted(batch.unit(BlockBarriers).by_id.items()):
            _barrier(launch, batch, number, barrier)
        for resting in batch.resting:
            _loop(launch, batch, resting, unstarted)


def _why(batch: Batch, watched: Instruction | None) -> str:
    """What a turning loop waits for."""
    if watched is None:
        return "a loop never ends"
    wait = batch.unit(MBarriers).waits.get(watched.line)
    if watched.form.name != "mbarrier" or wait is None:
        return "a loop waits for a value that nobody writes any more"
    barrier, asked = wait
    which = f"parity {asked & 1}" if watched.form.has("parity") else "a phase"
    return f"waits for {which} of an mbarrier that stays in {barrier.state()}"


def _phase(launch: Launch, batch: Batch, watched: Instruction, lanes: Lanes) -> None:
    """A wait for a phase that cannot come, because the parity is the other one."""
    wait = batch.unit(MBarriers).waits.get(watched.line)
    if wait is None or not watched.form.has("parity"):
        return
    barrier, asked = wait
    width = batch.geometry.width
    own = lanes[lanes // width == barrier.place]
    if not len(own):
        return
    lane = int(own[0])
    before = barrier.phase - 1
    seen = int(barrier.waits.seen[lane % width])
    if before > BEFORE_ALL and seen < before:
        why = f"phase {before} is complete, and this thread has not waited for it"
    elif _nothing_begins(batch, barrier.place):
        why = "every thread waits for a first phase, and none can begin"
    else:
        return
    if not launch.findings.is_new(Kind.PHASE, watched):
        return
    launch.findings.add(
        Finding(
            kind=Kind.PHASE,
            message=f"a wait for parity {asked & 1}, phase {barrier.phase}, never passes: {why}; "
            f"the mbarrier is in {barrier.state()}",
            help="wait for phase n with parity n % 2; for a slot that starts out free the first "
            "wait has parity 1",
            site=watched,
            threads=(thread_id(batch.geometry, lane),),
        )
    )


def _nothing_begins(batch: Batch, place: int) -> bool:
    """Whether threads of a block wait at several mbarriers, at none of which anything happened."""
    waited = {
        id(barrier): barrier
        for barrier, _ in batch.unit(MBarriers).waits.values()
        if barrier.place == place
    }
    untouched = [b for b in waited.values() if b.phase == 0 and b.pending == b.expected]
    return len(waited) > 1 and len(untouched) == len(waited)


def _barrier(launch: Launch, batch: Batch, number: int, barrier: Barrier) -> None:
    """Threads wait at a block barrier for others that never come."""
    width = batch.geometry.width
    for waiting, mask in barrier.parked.items():
        if not launch.findings.is_new(Kind.DEADLOCK, waiting.site, times=int(mask.sum())):
            continue
        lane = int(np.flatnonzero(mask)[0])
        block = lane // width
        warps = batch.alive.reshape(-1, width)[block].reshape(-1, WARP).any(axis=1)
        expected = int(barrier.expected[block]) or WARP * int(warps.sum())
        launch.findings.add(
            Finding(
                kind=Kind.DEADLOCK,
                message=f"barrier {number} waits in generation {int(barrier.generation[block]) + 1}"
                f" with {int(barrier.counted[block])} of {expected} threads",
                help="make every participant arrive as often as the others wait",
                site=waiting.site,
                threads=(thread_id(batch.geometry, lane),),
            )
        )


def _loop(launch: Launch, batch: Batch, resting: Resting, unstarted: int) -> None:
    """Threads turn in a loop that waits for something that never happens."""
    group, spin = resting
    watched = None if spin is None else spin.watched
    site = watched or group.frame.outline.site(group.block)
    mask = batch.every_mask if group.mask is None else group.mask
    if watched is not None and watched.form.name == "mbarrier":
        _phase(launch, batch, watched, np.flatnonzero(mask))
    if not launch.findings.is_new(Kind.DEADLOCK, site, times=group.lanes):
        return
    is_phase = watched is not None and watched.form.name == "mbarrier"
    message, help = _why(batch, watched), _MEND_MBARRIER if is_phase else _MEND_LOOP
    if unstarted:
        resident = launch.schedule.plan.resident
        blocks = "1 block has" if unstarted == 1 else f"{unstarted} blocks have"
        message += f", and {blocks} not started: {resident} run at a time"
        help = _MEND_GRID
    launch.findings.add(
        Finding(
            kind=Kind.DEADLOCK,
            message=message,
            help=help,
            site=site,
            threads=(thread_id(batch.geometry, int(np.flatnonzero(mask)[0])),),
        )
    )
