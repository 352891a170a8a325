"""`cp.async.bulk`, `cp.reduce.async.bulk` and their tensor forms (PTX ISA 9.7.9.25.4 and .5)."""

from __future__ import annotations

import numpy as np

from prismc.emulator.decode import AddressOf, Decoded, Decoder, Source
from prismc.emulator.events import Async
from prismc.emulator.execute.access import packed_source
from prismc.emulator.execute.atomics import update_of
from prismc.emulator.execute.reach import Reach
from prismc.emulator.findings import Kind
from prismc.emulator.memory import Place
from prismc.emulator.ptx.tree import Address, Immediate, Instruction, Operand, Vector
from prismc.emulator.state.code import Step
from prismc.emulator.state.run import Run
from prismc.emulator.tensors import SIZE as MAP_SIZE
from prismc.emulator.tensors import TensorMap, decode
from prismc.emulator.units.bulk import BulkGroups, Delivery, Span, Transfer, Update, bytewise
from prismc.emulator.units.mbarriers import MBarriers

_CHUNK = 16
_SPACES = {"global": "global", "shared::cta": "shared", "shared::cluster": "shared"}
_RANKS = {f"{rank}d": rank for rank in range(1, 6)}
_COMPLETION = "mbarrier::complete_tx::bytes"
_OPERATIONS = frozenset({"and", "or", "xor", "add", "inc", "dec", "min", "max"})
_KNOWN = frozenset(
    {"async", "bulk", "tensor", "reduce", "tile", "bulk_group", _COMPLETION, "multicast::cluster",
     "L2::cache_hint", "noftz", *_SPACES, *_RANKS, *_OPERATIONS}
)  # fmt: skip


def open_bulk(decoder: Decoder, site: Instruction) -> Decoded:
    """All bulk forms."""
    form = site.form
    if form.has("commit_group"):
        return Decoded(step=lambda run: run.batch.unit(BulkGroups).commit(run))
    if form.has("wait_group"):
        return Decoded(step=_wait(decoder, site))
    if form.has("prefetch"):
        return Decoded()
    unknown = [m for m in form.modifiers if m not in _KNOWN]
    if unknown:
        decoder.refuse(site, f"`.{unknown[0]}` is not supported")
    if form.has("tensor"):
        return Decoded(step=_one_by_one(_TensorCopy(decoder, site)))
    return Decoded(step=_one_by_one(_BulkCopy(decoder, site)))


def _wait(decoder: Decoder, site: Instruction) -> Step:
    count = site.operands[0] if site.operands else None
    if not isinstance(count, Immediate):
        decoder.refuse(site, "expected a number of groups")
    newest, only_read = count.value, site.form.has("read")
    return lambda run: run.batch.unit(BulkGroups).wait(run, newest, only_read=only_read)


def _one_by_one(copy: _Copy) -> Step:
    """Each executing thread issues a copy of its own."""

    def step(run: Run) -> None:
        for lane in run.lane_numbers().tolist():
            mask = np.zeros(run.batch.geometry.count, np.bool_)
            mask[lane] = True
            one = run.only(mask)
            if one is not None:
                copy.issue(one, lane)

    return step


class _Copy:
    """What the bulk forms share: direction, completion, multicast, reduction."""

    def __init__(self, decoder: Decoder, site: Instruction) -> None:
        self.decoder = decoder
        self.launch = decoder.launch
        self.site = site
        form = site.form
        spaces = [m for m in form.modifiers if m in _SPACES]
        if len(spaces) != 2:
            decoder.refuse(site, "expected a destination and a source space")
        self.to, self.source = (_SPACES[space] for space in spaces)
        self.by_barrier = form.has(_COMPLETION)
        if self.by_barrier == form.has("bulk_group"):
            decoder.refuse(site, "expected one completion mechanism")
        self.multicasts = form.has("multicast::cluster")
        self.update = self._reduction()
        self.barrier: AddressOf | None = None
        self.mask: Source | None = None
        least = (2 if form.has("tensor") else 3) + self.by_barrier + self.multicasts
        if len(site.operands) < least:
            decoder.refuse(site, f"{len(site.operands)} operands; it needs {least}")

    def _reduction(self) -> Update | None:
        form, decoder = self.site.form, self.decoder
        names = [m for m in form.modifiers if m in _OPERATIONS]
        if not form.has("reduce"):
            return None
        types = form.types or ("",)
        if len(names) != 1 or not types[0]:
            decoder.refuse(self.site, "expected one operation and one type")
        update = update_of(names[0], types[0], flush=False)
        if update is None:
            decoder.refuse(self.site, f"`.{names[0]}` of .{types[0]} is not supported")
        return bytewise(update, types[0])

    def shared_address(self, run: Run, where: AddressOf, reach: Reach) -> Place | None:
        """Where one thread's shared or global address leads."""
        places = reach.places(run, run.spread(where.packed(run)))
        return places[0] if places else None

    def targets_of_barrier(self, run: Run, offset: int) -> list[int]:
        """The offsets of the same place in all blocks that a multicast names."""
        batch = run.batch
        if not self.multicasts or self.mask is None:
            return [offset]
        stride = batch.shared.stride
        size = self.launch.shape.cluster.volume
        first = offset // stride // size * size
        bits = int(run.spread(packed_source(run, self.mask))[0])
        ranks = [rank for rank in range(size) if bits >> rank & 1]
        if bits >> size:
            self.fault(run, Kind.COUNT, f"multicasts to blocks that a cluster of {size} has not",
                       "name only blocks of the cluster in the mask")  # fmt: skip
        return [(first + rank) * stride + offset % stride for rank in ranks]

    def fault(self, run: Run, kind: Kind, message: str, help: str) -> None:
        self.launch.findings.plain(kind, run, self.site, message, help)

    def complete(
        self, run: Run, lane: int, transfer: Transfer, barrier: int | None, count: int
    ) -> None:
        """Sends the transfer on its way."""
        transfer.begin(self.launch.watch, run)
        if barrier is None:
            run.batch.unit(BulkGroups).issue(lane, transfer)
        else:
            offsets = self.targets_of_barrier(run, barrier)
            self.launch.defer(Delivery(self.launch, run.batch, transfer, offsets, count))

    def _operation(self) -> Async:
        reduces = self.site.form.has("reduce")
        return self.launch.new_async(self.site, in_async_proxy=True, updates=reduces)

    def barrier_offset(self, run: Run) -> int | None:
        """The mbarrier of one thread's copy; None if it is none."""
        if self.barrier is None:
            return None
        place = self.shared_address(run, self.barrier, self._barrier_reach())
        if place is None:
            return None
        offset = int(place.offsets[0])
        return None if run.batch.unit(MBarriers).find(run, self.site, offset) is None else offset

    def _barrier_reach(self) -> Reach:
        return Reach(self.launch, self.site, "shared", 8, 8, writes=True)

    def issue(self, run: Run, lane: int) -> None:
        raise NotImplementedError


class _BulkCopy(_Copy):
    """A copy of contiguous bytes."""

    def __init__(self, decoder: Decoder, site: Instruction) -> None:
        super().__init__(decoder, site)
        operands = list(site.operands)
        self.target = decoder.address(operands.pop(0), site)
        self.origin = decoder.address(operands.pop(0), site)
        self.size = decoder.source(operands.pop(0), "u32", site)
        if self.by_barrier:
            self.barrier = decoder.address(operands.pop(0), site)
        if self.multicasts:
            self.mask = decoder.source(operands.pop(0), "u16", site)

    def issue(self, run: Run, lane: int) -> None:
        size = int(run.spread(packed_source(run, self.size))[0])
        if size % _CHUNK:
            self.fault(run, Kind.ALIGN, f"a bulk copy of {size} bytes, no multiple of {_CHUNK}",
                       f"copy a multiple of {_CHUNK} bytes")  # fmt: skip
        size -= size % _CHUNK
        barrier = self.barrier_offset(run)
        if not size or (self.by_barrier and barrier is None):
            return
        source = self._span(run, self.origin, self.source, size, writes=False)
        target = self._span(run, self.target, self.to, size, writes=True)
        if source is None or target is None:
            return
        starts = [int(target.offsets[0])]
        if self.multicasts:
            starts = self.targets_of_barrier(run, starts[0])
        targets = [
            target._replace(offsets=target.offsets - target.offsets[0] + start) for start in starts
        ]
        operation = self._operation()
        transfer = Transfer(source, targets, operation, update=self.update)
        self.complete(run, lane, transfer, barrier, size)

    def _span(
        self, run: Run, where: AddressOf, space: str, size: int, *, writes: bool
    ) -> Span | None:
        reach = Reach(self.launch, self.site, space, size, _CHUNK, writes=writes)
        place = self.shared_address(run, where, reach)
        if place is None:
            return None
        return Span(place.region, place.offsets[0] + np.arange(0, size, _CHUNK), _CHUNK)


class _TensorCopy(_Copy):
    """A copy of a box of a tensor."""

    def __init__(self, decoder: Decoder, site: Instruction) -> None:
        super().__init__(decoder, site)
        operands = list(site.operands)
        loads = self.to == "shared"
        first, second = operands.pop(0), operands.pop(0)
        tensor, shared = (second, first) if loads else (first, second)
        self.map_at = decoder.address(tensor, site)
        self.shared_at = decoder.address(shared, site)
        self.coordinates = self._coordinates(tensor)
        if self.by_barrier:
            self.barrier = decoder.address(operands.pop(0), site)
        if self.multicasts:
            self.mask = decoder.source(operands.pop(0), "u16", site)
        self._map_reach = Reach(self.launch, site, "generic", MAP_SIZE, 64, writes=False)

    def _reduction(self) -> Update | None:
        """The map, not the form, has the type of a tensor reduction: see `issue`."""
        return None

    def _coordinates(self, operand: Operand | None) -> tuple[Source, ...]:
        ranks = [_RANKS[m] for m in self.site.form.modifiers if m in _RANKS]
        vector = (
            operand.coordinates[0]
            if isinstance(operand, Address) and operand.coordinates
            else Vector(())
        )
        if len(ranks) != 1 or len(vector.items) != ranks[0]:
            self.decoder.refuse(self.site, "as many coordinates as dimensions are needed")
        return tuple(self.decoder.source(item, "s32", self.site) for item in vector.items)

    def issue(self, run: Run, lane: int) -> None:
        tensor = self._map(run)
        barrier = self.barrier_offset(run)
        if tensor is None or (self.by_barrier and barrier is None):
            return
        point = tuple(
            int(run.spread(packed_source(run, c)).view(np.int32)[0]) for c in self.coordinates
        )
        region = self.launch.layout.memory.at(tensor.address)
        shared = self._shared_starts(run, tensor)
        if region is None or not shared:
            return
        offsets, inside = tensor.elements(point)
        beyond = offsets + tensor.address - region.base
        inside &= (beyond >= 0) & (beyond + tensor.element <= region.size)
        memory = Span(region, beyond, tensor.element, inside)
        boxes = [self._box(run, tensor, start) for start in shared]
        operation = self._operation()
        if self.to == "shared":
            transfer = Transfer(memory, boxes, operation, fill=tensor.filling())
        else:
            transfer = Transfer(boxes[0], [memory], operation, update=self._tensor_update(tensor))
        self.complete(run, lane, transfer, barrier, tensor.box_bytes)

    def _map(self, run: Run) -> TensorMap | None:
        place = self.shared_address(run, self.map_at, self._map_reach)
        if place is None:
            return None
        start = int(place.offsets[0])
        tensor = decode(place.region.data[start : start + MAP_SIZE].tobytes())
        if tensor is None or len(tensor.extents) != len(self.coordinates):
            self.fault(run, Kind.CALL, "the address holds no tensor map of this rank",
                       "pass the map as a `const __grid_constant__` parameter")  # fmt: skip
            return None
        return tensor

    def _shared_starts(self, run: Run, tensor: TensorMap) -> list[int]:
        """Where the box starts in the shared memory of each block."""
        writes = self.to == "shared"
        reach = Reach(self.launch, self.site, "shared", tensor.box_bytes, 128, writes=writes)
        place = self.shared_address(run, self.shared_at, reach)
        if place is None:
            return []
        start = int(place.offsets[0])
        return self.targets_of_barrier(run, start) if self.multicasts else [start]

    def _box(self, run: Run, tensor: TensorMap, start: int) -> Span:
        """The box's elements in shared memory, swizzled by their addresses."""
        stride = run.batch.shared.stride
        base, address = start - start % stride, start % stride
        addresses = address + np.arange(0, tensor.box_bytes, tensor.element)
        within = addresses % tensor.element
        swizzled = tensor.swizzled(addresses - within) + within
        return Span(run.batch.shared, base + swizzled, tensor.element)

    def _tensor_update(self, tensor: TensorMap) -> Update | None:
        names = [m for m in self.site.form.modifiers if m in _OPERATIONS]
        if not names:
            return None
        type_name = f"{'f' if tensor.is_float else 'u'}{8 * tensor.element}"
        update = update_of(names[0], type_name, flush=False)
        if update is None:
            self.decoder.refuse(self.site, f"`.{names[0]}` of .{type_name} is not supported")
        return bytewise(update, type_name)
