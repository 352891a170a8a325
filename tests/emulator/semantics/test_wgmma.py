"""wgmma: descriptors, shared memory layouts, fragments and products.

The layouts are the canonical ones of the PTX ISA (9.7.15.5.1.2.1.3), as it writes them: nested
shapes with strides in elements, a swizzle on top. A small evaluator of such layouts stands in for
the emulator's address arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from emulator.semantics.oracle import encode, value, wrap
from prismc.emulator.semantics import wgmma
from prismc.emulator.semantics.registry import Refused, parse_form

Numbers = npt.NDArray[Any]
Nested = tuple[tuple[int, ...], tuple[int, ...]]

MODE_BITS = {0: 0, 128: 1, 64: 2, 32: 3}
SIZES = {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "s8": 1, "u8": 1}


def descriptor(
    address: int, leading: int = 0, stride: int = 0, swizzle: int = 0, base: int = 0
) -> int:
    def field(number: int) -> int:
        return (number & 0x3FFFF) >> 4

    low = field(address) | field(leading) << 16 | field(stride) << 32
    return low | base << 49 | MODE_BITS[swizzle] << 62


def offset_of(index: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """One mode of a nested layout: the index in digits, the first runs fastest."""
    total = 0
    for size, stride in zip(shape, strides, strict=True):
        total += index % size * stride
        index //= size
    assert index == 0
    return total


def swizzle_bytes(address: int, bits: int) -> int:
    """Swizzle<bits, 4, 3>: address bits 7 and up are added without carry to bits 4 and up."""
    mask = (1 << bits) - 1
    return address ^ (address >> 7 & mask) << 4


def canonical(
    swizzle: int, k_major: bool, size: int, leading: int, stride: int
) -> tuple[Nested, Nested]:
    """The row of the table for a mode: shapes and strides of both modes, in elements."""
    t, big = 16 // size, 1 << 10
    lbo, sbo = leading // size, stride // size
    units = {0: 1, 32: 2, 64: 4, 128: 8}[swizzle]
    if k_major:
        along = (1, lbo) if swizzle == 0 else (1, t)
        return ((8, big), (units * t, sbo)), ((t, big), along)
    if swizzle == 0:
        return ((t, 1, big), (1, t, sbo)), ((8, big), (t, lbo))
    return ((t, units, big), (1, t, lbo)), ((8, big), (units * t, sbo))


def laid_out(
    across: int, along: int, address: int, swizzle: int, k_major: bool, size: int,
    leading: int, stride: int,
) -> int:  # fmt: skip
    """The byte address of one element."""
    first, second = canonical(swizzle, k_major, size, leading, stride)
    elements = offset_of(across, *first) + offset_of(along, *second)
    bits = {0: 0, 32: 1, 64: 2, 128: 3}[swizzle]
    return swizzle_bytes(address + elements * size, bits)


def test_descriptor_fields() -> None:
    found = wgmma.decode_descriptor(descriptor(0x2A480, 0x1230, 0x4560, swizzle=64, base=5))
    assert found == wgmma.Descriptor(
        address=0x2A480, leading=0x1230, stride=0x4560, base=5, swizzle=64
    )
    assert [wgmma.decode_descriptor(descriptor(0, swizzle=mode)).swizzle for mode in MODE_BITS] == [
        16,
        128,
        64,
        32,
    ]


CASES = [
    (name, swizzle, k_major)
    for name, size in SIZES.items()
    for swizzle in MODE_BITS
    for k_major in ((True, False) if size == 2 else (True,))
]


@pytest.mark.parametrize(("name", "swizzle", "k_major"), CASES)
@pytest.mark.parametrize("extent", [8, 136])
def test_addresses_are_the_canonical_layouts(
    name: str, swizzle: int, k_major: bool, extent: int
) -> None:
    size = SIZES[name]
    depth = 32 // size
    pattern = max(swizzle, 16) * 8
    leading, stride = (
        (pattern * 40, pattern) if k_major == (swizzle == 0) else (pattern, pattern * 24)
    )
    bits = descriptor(pattern * 3, leading, stride, swizzle)
    found = wgmma.addresses(wgmma.decode_descriptor(bits), extent, depth, name, k_major)
    want = [
        [
            laid_out(row, k, pattern * 3, swizzle, k_major, size, leading, stride)
            for k in range(depth)
        ]
        for row in range(extent)
    ]
    assert found.tolist() == want
    assert len(np.unique(found)) == found.size


# The examples of the PTX ISA with their exact layouts, T, LBO and SBO (figures 166 to 170).
EXAMPLES: list[tuple[str, int, bool, Nested, Nested, int, int]] = [
    ("tf32", 0, True, ((8, 2), (4, 32)), ((4, 4), (1, 64)), 64 * 4, 32 * 4),
    ("tf32", 32, True, ((8, 2), (8, 64)), ((4, 4), (1, 4)), 16, 64 * 4),
    ("bf16", 0, False, ((8, 1, 2), (1, 8, 64)), ((8, 2), (8, 128)), 128 * 2, 64 * 2),
    ("bf16", 32, False, ((8, 2, 2), (1, 8, 128)), ((8, 2), (16, 256)), 128 * 2, 256 * 2),
    ("bf16", 64, False, ((8, 4, 2), (1, 8, 256)), ((8, 2), (32, 512)), 256 * 2, 512 * 2),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_examples_of_the_isa(example: tuple[str, int, bool, Nested, Nested, int, int]) -> None:
    name, swizzle, k_major, first, second, leading, stride = example
    size = SIZES[name]
    extent, depth = np.prod(first[0]).item(), 32 // size
    bits = descriptor(0, leading, stride, swizzle)
    found = wgmma.addresses(wgmma.decode_descriptor(bits), extent, depth, name, k_major)
    shift = {0: 0, 32: 1, 64: 2, 128: 3}[swizzle]
    for row in range(extent):
        for k in range(depth):
            plain = (offset_of(row, *first) + offset_of(k, *second)) * size
            assert found[row, k] == swizzle_bytes(plain, shift)


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_a_step_along_k_stays_in_the_swizzled_row(swizzle: int) -> None:
    """Advancing the start address by 32 bytes addresses the next 16 elements of each row."""
    start, stride = 4096, swizzle * 8
    whole = wgmma.decode_descriptor(descriptor(start, 0, stride, swizzle))
    wide = wgmma.addresses(whole, 64, swizzle // 2, "bf16")
    for step in range(swizzle // 32):
        moved = wgmma.decode_descriptor(descriptor(start + 32 * step, 0, stride, swizzle))
        part = wgmma.addresses(moved, 64, 16, "bf16")
        assert np.array_equal(part, wide[:, 16 * step : 16 * step + 16])


@pytest.mark.parametrize("base", [1, 3, 7])
def test_a_base_offset_moves_the_pattern(base: int) -> None:
    """A pattern that starts `base` rows of 128 bytes late has its first row unswizzled there."""
    start = 1024 * 5 + 128 * base
    found = wgmma.decode_descriptor(descriptor(start, 0, 1024, 128, base))
    aligned = wgmma.decode_descriptor(descriptor(1024 * 5, 0, 1024, 128))
    here = wgmma.addresses(found, 8, 16, "f16") - start
    there = wgmma.addresses(aligned, 8, 16, "f16") - 1024 * 5
    assert here[0].tolist() == there[0].tolist()


def bind(opcode: str) -> wgmma.Product:
    return wgmma.bind(parse_form(opcode))


def a_place(warp: int, lane: int, i: int, per_register: int) -> tuple[int, int]:
    """Figures 148, 150 and 152: warp w holds rows 16w to 16w + 15 as mma's A fragment."""
    register, part = divmod(i, per_register)
    row = 16 * warp + lane // 4 + 8 * (register & 1)
    return row, lane % 4 * per_register + part + 4 * per_register * (register >> 1)


def d_place(warp: int, lane: int, i: int) -> tuple[int, int]:
    """Figures 149, 151 and 153: four elements of every eight columns."""
    return 16 * warp + lane // 4 + 8 * (i >> 1 & 1), 8 * (i >> 2) + lane % 4 * 2 + (i & 1)


def to_registers(matrix: Numbers, kind: str, bits: int, count: int) -> tuple[Numbers, ...]:
    """Element patterns `[64, columns]` as `count` registers `[4, 32]`."""
    per_register = 32 // bits
    registers = np.zeros((count, 4, 32), dtype=np.uint32)
    for warp, lane, i in np.ndindex(4, 32, count * per_register):
        place = a_place(warp, lane, i, per_register) if kind == "a" else d_place(warp, lane, i)
        shift = i % per_register * bits
        registers[i // per_register, warp, lane] |= np.uint32(int(matrix[place]) << shift)
    return tuple(registers)


def from_registers(registers: tuple[Numbers, ...], columns: int, bits: int) -> Numbers:
    per_register = 32 // bits
    matrix = np.full((64, columns), -1, dtype=np.int64)
    for warp, lane, i in np.ndindex(4, 32, len(registers) * per_register):
        word = int(registers[i // per_register][warp, lane])
        matrix[d_place(warp, lane, i)] = word >> i % per_register * bits & (1 << bits) - 1
    return matrix


def pattern(number: int, name: str) -> int:
    if name in ("s8", "u8", "s32"):
        return wrap(number, 32 if name == "s32" else 8)
    found = int(encode(Fraction(number), name))
    return found << 13 if name == "tf32" else found


def patterns(numbers: Numbers, name: str) -> Numbers:
    return np.vectorize(lambda number: pattern(int(number), name), otypes=[np.int64])(numbers)


def stored(
    memory: Numbers, numbers: Numbers, name: str, placement: tuple[int, int, bool, int, int]
) -> None:
    """Writes a matrix `[extent, depth]` into shared memory by the canonical layout."""
    address, swizzle, k_major, leading, stride = placement
    size = SIZES[name]
    for (row, k), bits in np.ndenumerate(patterns(numbers, name)):
        place = laid_out(row, k, address, swizzle, k_major, size, leading, stride)
        content = int(bits).to_bytes(size, "little")
        memory[place : place + size] = np.frombuffer(content, dtype=np.uint8)


FORMS = [
    ("f32.f16.f16", 16), ("f16.f16.f16", 16), ("f32.bf16.bf16", 16), ("f32.tf32.tf32", 8),
    ("f32.e4m3.e4m3", 32), ("f32.e5m2.e4m3", 32), ("f16.e4m3.e5m2", 32),
    ("s32.s8.s8", 32), ("s32.u8.s8", 32), ("s32.s8.u8", 32), ("s32.u8.u8", 32),
]  # fmt: skip
ACCUMULATOR_BITS = {"f32": 32, "s32": 32, "f16": 16}


def numbers(name: str, seed: int, *shape: int) -> Numbers:
    low = 0 if name == "u8" else -6
    return np.random.default_rng(seed).integers(low, 7, shape)


def result_patterns(totals: Numbers, name: str) -> Numbers:
    table = {int(total): pattern(int(total), name) for total in np.unique(totals)}
    return np.vectorize(table.__getitem__, otypes=[np.int64])(totals)


@pytest.mark.parametrize(("types", "depth"), FORMS)
@pytest.mark.parametrize("columns", [8, 24])
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_products_of_matrices_in_shared_memory(
    types: str, depth: int, columns: int, swizzle: int
) -> None:
    result, first, second = types.split(".")
    product = bind(f"wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.{types}")
    a, b = numbers(first, 1, 64, depth), numbers(second, 2, columns, depth)
    start = np.random.default_rng(3).integers(-9, 10, (64, columns))
    memory = np.zeros(1 << 16, dtype=np.uint8)
    matrices = []
    for address, matrix, name in ((0, a, first), (1 << 15, b, second)):
        leading, stride = (1024, 128) if swizzle == 0 else (0, swizzle * 8)
        stored(memory, matrix, name, (address, swizzle, True, leading, stride))
        found = wgmma.decode_descriptor(descriptor(address, leading, stride, swizzle))
        matrices.append(wgmma.read_matrix(memory.__getitem__, found, len(matrix), depth, name))
        assert np.array_equal(matrices[-1], matrix)
    bits = ACCUMULATOR_BITS[result]
    count = columns // 2 * bits // 32
    registers = to_registers(patterns(start, result), "d", bits, count)
    got = product.compute(registers, *matrices)
    assert len(got) == count
    assert all(each.dtype == np.uint32 and each.shape == (4, 32) for each in got)
    want = result_patterns(a @ b.T + start, result)
    assert np.array_equal(from_registers(got, columns, bits), want)
    fresh = product.compute(registers, *matrices, scale_d=False)
    assert np.array_equal(from_registers(fresh, columns, bits), result_patterns(a @ b.T, result))


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_transposed_matrices_and_negation(name: str, swizzle: int) -> None:
    columns, depth = 64, 16
    product = bind(f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{name}.{name}")
    assert product.can_transpose
    a, b = numbers(name, 4, 64, depth), numbers(name, 5, columns, depth)
    memory = np.zeros(1 << 16, dtype=np.uint8)
    matrices = []
    for address, matrix in ((0, a), (1 << 15, b)):
        leading, stride = (2048, 128) if swizzle == 0 else (swizzle * 16, swizzle * 8)
        if swizzle and leading * (128 // swizzle) > 1 << 15:
            raise AssertionError("matrices overlap")
        stored(memory, matrix, name, (address, swizzle, False, leading, stride))
        found = wgmma.decode_descriptor(descriptor(address, leading, stride, swizzle))
        matrices.append(
            wgmma.read_matrix(memory.__getitem__, found, len(matrix), depth, name, k_major=False)
        )
        assert np.array_equal(matrices[-1], matrix)
    registers = to_registers(np.zeros((64, columns), dtype=np.int64), "d", 32, columns // 2)
    for negate_a, negate_b, sign in ((False, False, 1), (True, False, -1), (True, True, 1)):
        got = product.compute(registers, *matrices, negate_a=negate_a, negate_b=negate_b)
        found_numbers = from_registers(got, columns, 32)
        values = np.vectorize(lambda bits: float(value(int(bits), "f32")))(found_numbers)
        assert np.array_equal(values, sign * (a @ b.T))


@pytest.mark.parametrize(("types", "depth"), FORMS)
def test_a_from_registers(types: str, depth: int) -> None:
    """A one in every position of A, read back as the matrix it stands for."""
    _, first, _ = types.split(".")
    product = bind(f"wgmma.mma_async.sync.aligned.m64n8k{depth}.{types}")
    bits = 8 * SIZES[first]
    places = np.arange(64 * depth).reshape(64, depth)
    digits = [places % 7, places // 7 % 7, places // 49 % 7, places // 343 % 7]
    for digit in digits:
        registers = to_registers(patterns(digit, first), "a", bits, 4)
        assert np.array_equal(product.left(registers), digit)


def test_integer_sums_wrap_or_clamp() -> None:
    a, b = np.full((64, 32), -128.0), np.full((8, 32), -128.0)
    start = to_registers(np.full((64, 8), (1 << 31) - 5), "d", 32, 4)
    total = (1 << 31) - 5 + 32 * 128 * 128
    for tail, want in (("", wrap(total, 32)), (".satfinite", (1 << 31) - 1)):
        product = bind(f"wgmma.mma_async.sync.aligned.m64n8k32{tail}.s32.s8.s8")
        assert (from_registers(product.compute(start, a, b), 8, 32) == want).all()


@pytest.mark.parametrize(
    "form",
    [
        "m64n8k8.f32.f16.f16",
        "m64n12k16.f32.f16.f16",
        "m64n264k16.f32.f16.f16",
        "m64n8k16.f16.bf16.bf16",
        "m64n8k16.f32.f16.bf16",
        "m64n8k32.f32.s8.s8",
        "m64n8k32.s32.s8.e4m3",
        "m32n8k16.f32.f16.f16",
        "m64n8k16.wide.f32.f16.f16",
        "m64n8k8.f32.f32.f32",
    ],
)
def test_forms_that_are_none_are_refused(form: str) -> None:
    with pytest.raises(Refused):
        bind(f"wgmma.mma_async.sync.aligned.{form}")
