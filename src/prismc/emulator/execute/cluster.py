"""Clusters: their barrier, addresses in other blocks, remote asynchronous stores."""

from __future__ import annotations

import numpy as np

from prismc.emulator.decode import AddressOf, Decoded, Decoder, Source
from prismc.emulator.events import Async
from prismc.emulator.execute.access import packed_source
from prismc.emulator.execute.atomics import update_of
from prismc.emulator.execute.reach import Reach
from prismc.emulator.launch import Launch
from prismc.emulator.memory import RANK_SHIFT, Place
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import UNSIGNED, Lanes, bits_of
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.code import Step
from prismc.emulator.state.run import Run
from prismc.emulator.units.bulk import Update, bytewise
from prismc.emulator.units.clusters import ClusterBarriers, Waiting
from prismc.emulator.units.mbarriers import MBarriers

_BARRIER = frozenset({"cluster", "arrive", "wait", "aligned", "release", "relaxed", "acquire"})
_STORE = frozenset({"async", "weak", "relaxed", "cluster", "shared::cluster", "v2", "v4",
                    "mbarrier::complete_tx::bytes"})  # fmt: skip
_OPERATIONS = frozenset({"add", "min", "max", "inc", "dec", "and", "or", "xor"})


def open_cluster_barrier(decoder: Decoder, site: Instruction) -> Decoded:
    """`barrier.cluster.arrive` and `.wait` (PTX ISA 9.7.13.4)."""
    form = site.form
    unknown = [m for m in form.modifiers if m not in _BARRIER]
    if unknown or form.has("arrive") == form.has("wait"):
        decoder.refuse(site, "expected `barrier.cluster.arrive` or `.wait`")
    following = decoder.following
    relaxed = form.has("relaxed")

    def arrive(run: Run) -> int | None:
        run.batch.unit(ClusterBarriers).arrive(run, site, releases=not relaxed)
        return following

    def wait(run: Run) -> int | None:
        waiting = Waiting(run.frame, following, site, not relaxed)
        return run.batch.unit(ClusterBarriers).wait(run, waiting)

    return Decoded(end=arrive if form.has("arrive") else wait)


def open_map_address(decoder: Decoder, site: Instruction) -> Decoded:
    """`mapa d, a, rank`: the same shared address in another block of the cluster (9.7.9.22)."""
    type_name = site.form.types[0]
    destination = decoder.destination(site.operands[0], site)
    address = decoder.source(site.operands[1], type_name, site)
    rank = decoder.source(site.operands[2], "u32", site)
    dtype = UNSIGNED[bits_of(type_name)]
    own = dtype((1 << RANK_SHIFT) - 1)
    windows = dtype(0) if bits_of(type_name) == 32 else ~dtype((1 << 40) - 1)

    def step(run: Run) -> None:
        if destination is not None:
            base = packed_source(run, address) & (own | windows)
            block = (packed_source(run, rank) + np.uint32(1)).astype(dtype)
            run.write_packed(destination, base | block << dtype(RANK_SHIFT))

    return Decoded(step=step)


def open_rank(decoder: Decoder, site: Instruction) -> Decoded:
    """`getctarank d, a`: the rank of the block that a shared address lies in (9.7.9.23)."""
    destination = decoder.destination(site.operands[0], site)
    address = decoder.source(site.operands[1], site.form.types[0], site)

    def step(run: Run) -> None:
        if destination is not None:
            value = packed_source(run, address).astype(np.uint64)
            ranks = (value >> np.uint64(RANK_SHIFT)).astype(np.int64) & 0xFFFF
            own = run.packed(run.batch.geometry.cluster_rank)
            found = np.where(ranks == 0, own, ranks - 1).astype(np.uint32)
            run.write_packed(destination, found)

    return Decoded(step=step)


class RemoteStore:
    """`st.async` or `red.async` of one lane: a store that an mbarrier counts."""

    def __init__(
        self,
        launch: Launch,
        batch: Batch,
        operation: Async,
        place: Place,
        content: Lanes,
        barrier: int,
        update: Update | None,
    ) -> None:
        self.launch = launch
        self.batch = batch
        self.operation = operation
        self.place = place
        self.content = content
        self.barrier = barrier
        self.update = update

    def perform(self) -> None:
        """Stores, and completes the bytes at the barrier."""
        start, size = int(self.place.offsets[0]), len(self.content)
        data = self.place.region.data
        content = self.content
        if self.update is not None:
            content = self.update(data[start : start + size], content)
        data[start : start + size] = content
        batch, watch, view = self.batch, self.launch.watch, 0
        if watch is not None:
            block = self.barrier // batch.shared.stride
            view = watch.delivered(batch, self.operation, self.place, size, block, self.barrier)
        batch.unit(MBarriers).complete(self.operation.site, self.barrier, size, view)


def open_remote_store(decoder: Decoder, site: Instruction) -> Decoded:
    """`st.async` and `red.async` (PTX ISA 9.7.9.13 and 9.7.13.8)."""
    form = site.form
    reduces = form.name == "red"
    known = _STORE | (_OPERATIONS if reduces else frozenset())
    unknown = [m for m in form.modifiers if m not in known]
    names = [m for m in form.modifiers if m in _OPERATIONS]
    if unknown or len(form.types) != 1 or (reduces and len(names) != 1):
        decoder.refuse(site, "an unknown form of a remote store")
    update = None
    if reduces:
        words = update_of(names[0], form.types[0], flush=False)
        if words is None:
            decoder.refuse(site, f"`.{names[0]}` of .{form.types[0]} is not supported")
        update = bytewise(words, form.types[0])
    values = tuple(
        decoder.source(item, form.types[0], site) for item in decoder.elements(site.operands[1])
    )
    width = bits_of(form.types[0]) // 8
    size = width * len(values)
    target = decoder.address(site.operands[0], site)
    barrier = decoder.address(site.operands[2], site)
    return Decoded(step=_remote_step(decoder, site, target, barrier, values, size, update))


def _remote_step(
    decoder: Decoder,
    site: Instruction,
    target: AddressOf,
    barrier: AddressOf,
    values: tuple[Source, ...],
    size: int,
    update: Update | None,
) -> Step:
    launch = decoder.launch
    to = Reach(launch, site, "shared", size, size, writes=True)
    at = Reach(launch, site, "shared", 8, 8, writes=True)

    def step(run: Run) -> None:
        columns = [run.spread(packed_source(run, value)) for value in values]
        content = np.stack(columns, axis=1).view(np.uint8)
        targets = to.places(run, run.spread(target.packed(run)))
        barriers = at.places(run, run.spread(barrier.packed(run)))
        if not targets or not barriers or len(targets[0].offsets) != len(barriers[0].offsets):
            return
        for k in range(len(targets[0].offsets)):
            chosen = np.array([k if targets[0].chosen is None else int(targets[0].chosen[k])])
            place = Place(targets[0].region, targets[0].offsets[k : k + 1], chosen)
            operation = launch.new_async(site, updates=update is not None)
            if launch.watch is not None:
                launch.watch.begin_write(run, operation, place, size)
            offset = int(barriers[0].offsets[k])
            value = content[int(chosen[0])]
            launch.defer(RemoteStore(launch, run.batch, operation, place, value, offset, update))

    return step
