"""wgmma.mma_async: descriptors, the layouts of matrices in shared memory, and the product.

PTX ISA 9.0, 9.7.15.5. This is the arithmetic alone: when the copy engine's proxy reads and when the
registers change is the machine's business. One warpgroup at a time: `bind` gives the operation of a
form, `addresses` where a matrix of it lies, and the caller brings the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from prismc.emulator.semantics.fragments import (
    Registers,
    accumulator,
    accumulator_registers,
    first_matrix,
    numbers,
)
from prismc.emulator.semantics.lanes import Lanes, signed
from prismc.emulator.semantics.matrix import integer_sums, rounded
from prismc.emulator.semantics.registry import UNSIGNED, Form, Refused, bits_of
from prismc.source.record import Value

ROWS = 64
# Bytes of 16-byte units that a swizzling permutes, by the descriptor's mode.
_SWIZZLES = {0: 16, 1: 128, 2: 64, 3: 32}


class Descriptor(Value):
    """A matrix in shared memory (9.7.15.5.1.2.2); all fields in bytes.

    `leading` and `stride` are the two byte offsets of the canonical layouts. `swizzle` is the width
    of the swizzled row, 16 for none. `base` is the offset of the swizzle pattern, in rows of 128.
    """

    address: int
    leading: int
    stride: int
    base: int
    swizzle: int


def decode_descriptor(bits: int) -> Descriptor:
    """A 64-bit matrix descriptor taken apart."""

    def field(low: int) -> int:
        return (bits >> low & 0x3FFF) << 4

    return Descriptor(
        address=field(0),
        leading=field(16),
        stride=field(32),
        base=bits >> 49 & 7,
        swizzle=_SWIZZLES[bits >> 62 & 3],
    )


def addresses(
    descriptor: Descriptor, extent: int, depth: int, type_name: str, k_major: bool = True
) -> Lanes:
    """Where each element `[extent, depth]` starts in shared memory, as int64 byte addresses.

    `extent` counts rows of A or columns of B, `depth` is k. The canonical layouts
    (9.7.15.5.1.2.1.3) in units of 16 bytes, then the swizzle on the address bits.
    """
    size = bits_of(type_name) // 8
    across, along = np.arange(extent)[:, None], np.arange(depth)[None, :]
    layout = _k_major if k_major else _mn_major
    return _swizzled(descriptor, descriptor.address + layout(descriptor, across, along, size))


def _k_major(descriptor: Descriptor, across: Lanes, along: Lanes, size: int) -> Lanes:
    """Rows of the swizzle's width, eight at a time; k runs along a row."""
    unit, rest = divmod(along * size, 16)
    step = 16 if descriptor.swizzle > 16 else descriptor.leading
    rows = across % 8 * descriptor.swizzle + across // 8 * descriptor.stride
    return rows + unit * step + rest


def _mn_major(descriptor: Descriptor, across: Lanes, along: Lanes, size: int) -> Lanes:
    """Rows of the swizzle's width, eight at a time; the row or column of the matrix runs along."""
    width = descriptor.swizzle
    block, rest = divmod(across * size, width)
    of_block, of_eight = (
        (descriptor.leading, descriptor.stride)
        if width > 16
        else (descriptor.stride, descriptor.leading)
    )
    return block * of_block + rest + along % 8 * width + along // 8 * of_eight


def _swizzled(descriptor: Descriptor, address: Lanes) -> Lanes:
    """Exclusive or of the 16-byte unit's number with the number of its row of 128 bytes."""
    units = descriptor.swizzle // 16 - 1
    row = (address >> 7) - descriptor.base
    return address ^ (row & units) << 4


class Product(Value):
    """A bound form: D = A * B + D of shape 64 x columns x depth.

    `compute(registers, a, b, scale_d, negate_a, negate_b)` returns the new accumulator registers.
    `registers` are the accumulators `[4, 32]`; `a` is `[64, depth]` and `b` `[columns, depth]`, as
    `read_matrix` brings them from memory or `left` from registers. Without `scale_d` D starts at 0.
    """

    columns: int
    depth: int
    result: str
    first_type: str
    second_type: str
    clamp: bool

    @property
    def can_transpose(self) -> bool:
        """Whether A and B may lie MN-major: 16-bit types only."""
        return bits_of(self.first_type) == 16

    def left(self, registers: Registers) -> Lanes:
        """A `[64, depth]` from four registers `[4, 32]`."""
        parts = first_matrix(registers, self.first_type, 16, self.depth)
        return numbers(parts, self.first_type).reshape(ROWS, self.depth)

    def compute(
        self,
        registers: Registers,
        a: Lanes,
        b: Lanes,
        scale_d: bool = True,
        negate_a: bool = False,
        negate_b: bool = False,
    ) -> Registers:
        """The accumulator registers after the product."""
        product = a @ b.T
        if negate_a != negate_b:
            product = -product
        product = product.reshape(4, 16, self.columns)
        start = accumulator(registers, self.result, 16, self.columns)
        if self.result == "s32":
            total = product.astype(np.int64) + (signed(start) if scale_d else 0)
            return accumulator_registers(integer_sums(total, self.clamp), "s32")
        total = product + (numbers(start, self.result) if scale_d else 0.0)
        return accumulator_registers(rounded(total, self.result), self.result)


def matrix(content: Lanes, type_name: str) -> Lanes:
    """Elements as float64 from their bytes, uint8 `[extent, depth, size]`."""
    parts = np.ascontiguousarray(content).view(UNSIGNED[bits_of(type_name)])
    return numbers(parts[..., 0], type_name)


def read_matrix(
    read: Callable[[Lanes], Lanes],
    descriptor: Descriptor,
    extent: int,
    depth: int,
    type_name: str,
    k_major: bool = True,
) -> Lanes:
    """The matrix `[extent, depth]`; `read` takes byte addresses to uint8 of the same shape."""
    starts = addresses(descriptor, extent, depth, type_name, k_major)
    return matrix(read(starts[..., None] + np.arange(bits_of(type_name) // 8)), type_name)


_SHAPE = re.compile(r"m64n(\d+)k(\d+)")
_DEPTH = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}
_RESULTS = {"f16": ("f16", "f32"), "e4m3": ("f16", "f32"), "e5m2": ("f16", "f32")}
_KNOWN = frozenset({"mma_async", "sync", "aligned", "satfinite"})


def bind(form: Form) -> Product:
    """The product that a `wgmma.mma_async` form asks for. Raises Refused for what it is not."""
    shapes = [found for found in map(_SHAPE.fullmatch, form.modifiers) if found]
    unknown = [each for each in form.modifiers if each not in _KNOWN and not _SHAPE.fullmatch(each)]
    if len(shapes) != 1 or len(form.types) != 3 or unknown:
        raise Refused(f"`{form}`: not a known form of wgmma.mma_async")
    result, first, second = form.types
    columns, depth = map(int, shapes[0].groups())
    integral = first in ("s8", "u8")
    results = ("s32",) if integral else _RESULTS.get(first, ("f32",))
    same = first == second or (bits_of(first) == 8 and (second in ("s8", "u8")) == integral)
    fits = columns % 8 == 0 and 8 <= columns <= 256 and depth == _DEPTH.get(first)
    if not (fits and same and result in results and second in _DEPTH):
        raise Refused(f"`{form}`: no such shape and types")
    return Product(
        columns=columns,
        depth=depth,
        result=result,
        first_type=first,
        second_type=second,
        clamp=form.has("satfinite"),
    )
