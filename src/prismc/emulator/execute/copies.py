"""`cp.async` and its groups (PTX ISA 9.7.9.25.3); the bulk forms are in `bulk` and `tensor`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from prismc.emulator.decode import Decoded, Decoder
from prismc.emulator.execute.access import packed_source
from prismc.emulator.execute.reach import Reach
from prismc.emulator.findings import Kind
from prismc.emulator.launch import Launch
from prismc.emulator.memory import Place
from prismc.emulator.ptx.tree import Immediate, Instruction, Register
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.code import Step
from prismc.emulator.state.run import Run
from prismc.emulator.units.copies import AsyncArrival, ThreadCopies, ThreadCopy
from prismc.emulator.units.mbarriers import MBarriers

_SIZES = (4, 8, 16)
_KNOWN = frozenset({"async", "ca", "cg", "shared", "shared::cta", "global", "L2::64B", "L2::128B",
                    "L2::256B", "L2::cache_hint"})  # fmt: skip


def open_thread_copy(decoder: Decoder, site: Instruction) -> Decoded:
    """`cp.async` of 4, 8 or 16 bytes a thread, its groups, and its arrival at an mbarrier."""
    form = site.form
    if form.has("commit_group"):
        return Decoded(step=lambda run: run.batch.unit(ThreadCopies).commit(run))
    if form.has("wait_all"):
        return Decoded(step=lambda run: run.batch.unit(ThreadCopies).wait(run, None))
    if form.has("wait_group"):
        newest = _number(decoder, site, 0)
        return Decoded(step=lambda run: run.batch.unit(ThreadCopies).wait(run, newest))
    if form.has("arrive"):
        return Decoded(step=_arrival(decoder, site))
    unknown = [m for m in form.modifiers if m not in _KNOWN]
    if unknown or form.types:
        decoder.refuse(site, f"unknown modifier `.{[*unknown, *form.types][0]}`")
    return Decoded(step=_copy(decoder, site))


def _number(decoder: Decoder, site: Instruction, operand: int) -> int:
    value = site.operands[operand] if len(site.operands) > operand else None
    if not isinstance(value, Immediate) or value.value < 0:
        decoder.refuse(site, "expected a number")
    return value.value


def _copy(decoder: Decoder, site: Instruction) -> Step:
    launch = decoder.launch
    size = _number(decoder, site, 2)
    if size not in _SIZES or (size != 16 and site.form.has("cg")):
        decoder.refuse(site, f"a copy of {size} bytes")
    target = decoder.address(site.operands[0], site)
    source = decoder.address(site.operands[1], site)
    to = Reach(launch, site, "shared", size, size, writes=True)
    fetch = {
        count: Reach(launch, site, "global", count, size, writes=False)
        for count in range(1, size + 1)
    }
    wanted = _wanted_bytes(decoder, site, size)

    def step(run: Run) -> None:
        counts = wanted(run)
        addresses = run.spread(source.packed(run))
        for place in to.places(run, run.spread(target.packed(run))):
            starts = np.full(run.count, -1, np.int64)
            starts[slice(None) if place.chosen is None else place.chosen] = place.offsets
            for count in np.unique(counts).tolist():
                chosen = np.flatnonzero((counts == count) & (starts >= 0))
                for part in _sources(run, fetch, addresses, chosen, count, place):
                    _issue(launch, run, site, size, count, part, place, starts)

    return step


def _sources(
    run: Run, fetch: dict[int, Reach], addresses: Lanes, chosen: Lanes, count: int, target: Place
) -> list[Place]:
    """Where some lanes read `count` bytes from; no bytes come from nowhere."""
    if count == 0 or not len(chosen):
        return [Place(target.region, chosen * 0, chosen)] if len(chosen) else []
    return fetch[count].places(run, addresses[chosen], chosen)


def _issue(
    launch: Launch,
    run: Run,
    site: Instruction,
    size: int,
    count: int,
    source: Place,
    target: Place,
    starts: Lanes,
) -> None:
    """One copy of the lanes that read from one region."""
    copies = run.batch.unit(ThreadCopies)
    chosen = np.arange(run.count) if source.chosen is None else source.chosen
    lanes = run.lane_numbers()[chosen]
    place = Place(target.region, starts[chosen], chosen)
    operation = launch.new_async(site)
    if launch.watch is not None:
        if count:
            launch.watch.begin_read(run, operation, source, count)
        launch.watch.begin_write(run, operation, place, size)
    copies.issue(
        ThreadCopy(
            lanes=lanes,
            target=place,
            source=source.region,
            starts=np.broadcast_to(source.offsets, lanes.shape),
            count=count,
            size=size,
            groups=copies.committed[lanes],
            operation=operation,
        )
    )


def _wanted_bytes(decoder: Decoder, site: Instruction, size: int) -> Callable[[Run], Lanes]:
    """How many bytes each lane reads: `src-size`, or all unless `ignore-src` holds."""
    operand = site.operands[3] if len(site.operands) > 3 else None
    is_policy = site.form.has("L2::cache_hint") and len(site.operands) == 4
    if operand is None or is_policy:
        return lambda run: np.full(run.count, size)
    if isinstance(operand, Register) and decoder.function.registers[operand.number] == "pred":
        ignored = decoder.source(operand, "pred", site)
        return lambda run: np.where(run.spread(packed_source(run, ignored)), 0, size)
    given = decoder.source(operand, "u32", site)

    def wanted(run: Run) -> Lanes:
        counts = run.spread(packed_source(run, given)).astype(np.int64)
        if (counts > size).any():
            decoder.launch.findings.plain(
                Kind.COUNT, run, site, f"reads more than the {size} bytes that it copies",
                "give a source size of at most the copy's size",
            )  # fmt: skip
        return np.minimum(counts, size)

    return wanted


def _arrival(decoder: Decoder, site: Instruction) -> Step:
    """`cp.async.mbarrier.arrive`: without `.noinc` the arrival is expected in addition."""
    launch = decoder.launch
    where = decoder.address(site.operands[0], site)
    shared = any(m.startswith("shared") for m in site.form.modifiers)
    reach = Reach(launch, site, "shared" if shared else "generic", 8, 8, writes=True)
    in_addition = not site.form.has("noinc")

    def step(run: Run) -> None:
        for place in reach.places(run, run.spread(where.packed(run))):
            lanes = run.lane_numbers() if place.chosen is None else run.lane_numbers()[place.chosen]
            for offset in place.offsets.tolist():
                barrier = run.batch.unit(MBarriers).find(run, site, offset)
                if barrier is not None:
                    barrier.pending += in_addition
            launch.defer(AsyncArrival(launch, run.batch, site, lanes, place.offsets))

    return step
