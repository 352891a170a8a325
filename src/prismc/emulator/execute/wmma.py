"""`wmma`: matrices in fragments whose layout is nobody's business (PTX ISA 9.7.14.4).

The ISA leaves open which lane holds which element, so the machine has its own layout: elements run
row by row through a lane's slots, then through the lanes, and over again where a fragment has more
room than the matrix has elements.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from prismc.emulator.decode import AddressOf, Decoded, Decoder, Source
from prismc.emulator.execute.access import packed_source
from prismc.emulator.execute.reach import Reach
from prismc.emulator.geometry import WARP
from prismc.emulator.ptx.tree import Instruction, Operand
from prismc.emulator.scopes import Qualifiers
from prismc.emulator.semantics.fragments import numbers
from prismc.emulator.semantics.lanes import signed
from prismc.emulator.semantics.matrix import integer_sums, rounded
from prismc.emulator.semantics.registry import UNSIGNED, Lanes, bits_of
from prismc.emulator.state.code import Step
from prismc.emulator.state.run import Run
from prismc.emulator.units.meetings import whole_warp

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_KNOWN = frozenset(
    {"load", "store", "mma", "sync", "aligned", "row", "col", "a", "b", "c", "d", "global",
     "shared", "shared::cta", "satfinite", "rn"}
)  # fmt: skip
_INPUTS = frozenset({"f16", "bf16", "tf32", "s8", "u8", "f64"})


class Extent(NamedTuple):
    """Rows and columns of a matrix."""

    rows: int
    columns: int

    @property
    def size(self) -> int:
        return self.rows * self.columns


def open_wmma(decoder: Decoder, site: Instruction) -> Decoded:
    """`wmma.load`, `wmma.mma` and `wmma.store`."""
    form = site.form
    unknown = [m for m in form.modifiers if m not in _KNOWN and not _SHAPE.fullmatch(m)]
    if unknown or len(_shapes(site)) != 1:
        decoder.refuse(site, f"unknown modifier `.{(unknown or ['?'])[0]}`")
    if form.has("mma"):
        return Decoded(step=_multiply(decoder, site), members=whole_warp)
    return Decoded(step=_Transfer(decoder, site).step, members=whole_warp)


def _shapes(site: Instruction) -> list[tuple[int, int, int]]:
    found = map(_SHAPE.fullmatch, site.form.modifiers)
    return [(int(m[1]), int(m[2]), int(m[3])) for m in found if m]


def _extent(site: Instruction, which: str) -> Extent:
    (m, n, k) = _shapes(site)[0]
    return {"a": Extent(m, k), "b": Extent(k, n)}.get(which, Extent(m, n))


class _Transfer:
    """A load or store of a fragment, slot by slot."""

    def __init__(self, decoder: Decoder, site: Instruction) -> None:
        form = site.form
        self.site = site
        self.launch = decoder.launch
        self.stores = form.has("store")
        which = next((m for m in form.modifiers if m in ("a", "b", "c", "d")), "")
        if not which or len(form.types) != 1 or len(site.operands) < 2:
            decoder.refuse(site, "expected a matrix, one type and an address")
        self.extent = _extent(site, which)
        self.by_rows = form.has("row")
        self.width = bits_of(form.types[0]) // 8
        fragment, address = site.operands[:2]
        if self.stores:
            fragment, address = address, fragment
        self.registers = decoder.destinations(fragment, site)
        self.where: AddressOf = decoder.address(address, site)
        self.stride = self._stride(decoder, site.operands[2:])
        self.per_register = max(1, 4 // self.width)
        self.slots = len(self.registers) * self.per_register
        if self.slots * WARP % self.extent.size:
            decoder.refuse(site, f"a fragment of {len(self.registers)} registers")
        shared = any(m.startswith("shared") for m in form.modifiers)
        space = "shared" if shared else "global" if form.has("global") else "generic"
        self.reach = Reach(self.launch, site, space, self.width, self.width, writes=self.stores)
        self.qualifiers = Qualifiers(space=space)

    def _stride(self, decoder: Decoder, operands: tuple[Operand | None, ...]) -> Source | None:
        return decoder.source(operands[0], "u32", self.site) if operands else None

    def step(self, run: Run) -> None:
        """All slots of the executing lanes."""
        start = run.spread(self.where.packed(run))
        stride = self._strides(run)
        lane = run.lane_numbers() % WARP
        words = [np.zeros(run.count, np.uint64) for _ in self.registers]
        for slot in range(self.slots):
            element = (lane * self.slots + slot) % self.extent.size
            row, column = np.divmod(element, self.extent.columns)
            index = row * stride + column if self.by_rows else column * stride + row
            number, part = divmod(slot, self.per_register)
            shift = np.uint64(8 * self.width * part)
            if self.stores:
                self._store(run, start + index * self.width, number, shift)
            else:
                values = self._load(run, start + index * self.width)
                words[number] |= values.astype(np.uint64) << shift
        if not self.stores:
            for register, word in zip(self.registers, words, strict=True):
                if register is not None:
                    dtype = run.regs[register].dtype
                    run.write_packed(register, word.astype(dtype))

    def _strides(self, run: Run) -> Lanes:
        if self.stride is None:
            whole = self.extent.columns if self.by_rows else self.extent.rows
            return np.full(run.count, whole, np.int64)
        return run.spread(packed_source(run, self.stride)).astype(np.int64)

    def _load(self, run: Run, addresses: Lanes) -> Lanes:
        values = np.zeros(run.count, UNSIGNED[8 * self.width])
        for place in self.reach.places(run, addresses):
            if self.launch.watch is not None:
                self.launch.watch.read(run, self.site, place, self.width, self.qualifiers)
            found = place.region.view(self.width)[place.offsets // self.width]
            values[slice(None) if place.chosen is None else place.chosen] = found
        return values

    def _store(self, run: Run, addresses: Lanes, register: int, shift: np.uint64) -> None:
        self.launch.progress += 1
        number = self.registers[register]
        if number is None:
            return
        word = run.spread(run.packed(run.regs[number])).astype(np.uint64) >> shift
        values = word.astype(UNSIGNED[8 * self.width])
        for place in self.reach.places(run, addresses):
            if self.launch.watch is not None:
                self.launch.watch.write(
                    run, self.site, place, self.width, self.qualifiers, [values], self.width
                )
            chosen = slice(None) if place.chosen is None else place.chosen
            place.region.view(self.width)[place.offsets // self.width] = values[chosen]


def _multiply(decoder: Decoder, site: Instruction) -> Step:
    """D = A * B + C; the products are exact, the sum is rounded once."""
    form = site.form
    types = form.types
    result, first = types[0], types[1] if len(types) == 4 else "f16"
    if len(types) not in (2, 4) or first not in _INPUTS or len(site.operands) != 4:
        decoder.refuse(site, "these types are not supported")
    second, addend = (types[2], types[3]) if len(types) == 4 else ("f16", types[1])
    operands = [decoder.destinations(operand, site) for operand in site.operands]
    if any(register is None for operand in operands for register in operand):
        decoder.refuse(site, "a fragment has all its registers")
    fragments = [tuple(r for r in operand if r is not None) for operand in operands]
    d, a, b, c = fragments
    clamp = form.has("satfinite")

    def step(run: Run) -> None:
        warps = run.warps()
        left = numbers(_matrix(run, a, first, _extent(site, "a"), warps), first)
        right = numbers(_matrix(run, b, second, _extent(site, "b"), warps), second)
        start = _matrix(run, c, addend, _extent(site, "c"), warps)
        product = left @ right
        if result == "s32":
            total = product.astype(np.int64) + signed(start)
            _spread(run, d, integer_sums(total, clamp), result, warps)
        elif result == "f64":
            total = product + numbers(start, addend)
            _spread(run, d, total.view(np.uint64), result, warps)
        else:
            total = product + numbers(start, addend)
            _spread(run, d, rounded(total, result), result, warps)

    return step


def _matrix(
    run: Run, registers: tuple[int, ...], type_name: str, extent: Extent, warps: Lanes | None
) -> Lanes:
    """The elements of a fragment, `[warps, rows, columns]`."""
    words = np.stack([run.by_warp(run.regs[r], warps) for r in registers], axis=2)
    parts = np.ascontiguousarray(words).view(UNSIGNED[bits_of(type_name)])
    flat = parts.reshape(len(words), -1)[:, : extent.size]
    return flat.reshape(len(words), extent.rows, extent.columns)


def _spread(
    run: Run, registers: tuple[int, ...], matrix: Lanes, type_name: str, warps: Lanes | None
) -> None:
    """Writes a matrix into a fragment."""
    dtype = UNSIGNED[bits_of(type_name)]
    flat = matrix.astype(dtype, copy=False).reshape(len(matrix), -1)
    room = len(registers) * WARP * max(1, 4 // flat.dtype.itemsize)
    filled = np.ascontiguousarray(np.tile(flat, (1, room // flat.shape[1])))
    words = filled.view(run.regs[registers[0]].dtype).reshape(len(matrix), WARP, -1)
    for k, register in enumerate(registers):
        run.write_by_warp(register, words[:, :, k], warps)
