"""mma and its kin: every fragment position by one-hot matrices, and exact sums.

The positions are the formulas of the PTX ISA (9.7.14.5.2 to 9.7.14.5.13), written out shape by
shape as the ISA does: element i of lane l is at this row and column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from emulator.semantics import oracle
from emulator.semantics.harness import bound
from emulator.semantics.oracle import encode, value, wrap
from emulator.semantics.test_floats import fused_bits
from prismc.emulator.semantics.registry import Kind, Refused

Position = Callable[[int, int, int], tuple[int, int]]
# Element patterns as uint64 and small integers as int64, `[warps, rows, columns]`.
Patterns = npt.NDArray[Any]
Numbers = npt.NDArray[Any]


class Layout(NamedTuple):
    """How many elements a lane holds of A, B and C, and where: (group, member, i) -> (row, col)."""

    a: tuple[int, Position]
    b: tuple[int, Position]
    c: tuple[int, Position]


C16: tuple[int, Position] = (4, lambda g, m, i: (g + (8 if i >= 2 else 0), m * 2 + (i & 1)))
C8: tuple[int, Position] = (2, lambda g, m, i: (g, m * 2 + i))

WORD_K4 = Layout(
    (2, lambda g, m, i: (g + 8 * i, m)),
    (1, lambda g, m, i: (m, g)),
    C16,
)
WORD_K8 = Layout(
    (4, lambda g, m, i: (g if i in (0, 2) else g + 8, m if i in (0, 1) else m + 4)),
    (2, lambda g, m, i: (m if i == 0 else m + 4, g)),
    C16,
)
HALF_K8 = Layout(
    (4, lambda g, m, i: (g if i < 2 else g + 8, m * 2 + (i & 1))),
    (2, lambda g, m, i: (m * 2 + i, g)),
    C16,
)
HALF_K16 = Layout(
    (
        8,
        lambda g, m, i: (
            g if i < 2 or 4 <= i < 6 else g + 8,
            m * 2 + (i & 1) + (8 if i >= 4 else 0),
        ),
    ),
    (4, lambda g, m, i: (m * 2 + (i & 1) + (8 if i >= 2 else 0), g)),
    C16,
)
DOUBLE_K16 = Layout(
    (8, lambda g, m, i: (g if i % 2 == 0 else g + 8, i * 2 + m if i % 2 == 0 else i * 2 - 2 + m)),
    (4, lambda g, m, i: (m + i * 4, g)),
    C16,
)
SMALL_DOUBLE = Layout((1, lambda g, m, i: (g, m)), (1, lambda g, m, i: (m, g)), C8)
SMALL_BYTE = Layout(
    (4, lambda g, m, i: (g, m * 4 + i)),
    (4, lambda g, m, i: (m * 4 + i, g)),
    C8,
)
BYTE_K16 = Layout(
    (8, lambda g, m, i: (g if i < 4 else g + 8, m * 4 + (i & 3))),
    (4, lambda g, m, i: (m * 4 + i, g)),
    C16,
)
BYTE_K32 = Layout(
    (
        16,
        lambda g, m, i: (
            g if i < 4 or 8 <= i < 12 else g + 8,
            m * 4 + (i & 3) + (16 if i >= 8 else 0),
        ),
    ),
    (8, lambda g, m, i: (m * 4 + (i & 3) + (16 if i >= 4 else 0), g)),
    C16,
)
SMALL_NIBBLE = Layout(
    (8, lambda g, m, i: (g, m * 8 + i)),
    (8, lambda g, m, i: (m * 8 + i, g)),
    C8,
)
NIBBLE_K32 = Layout(
    (16, lambda g, m, i: (g if i < 8 else g + 8, m * 8 + (i & 7))),
    (8, lambda g, m, i: (m * 8 + (i & 7), g)),
    C16,
)
NIBBLE_K64 = Layout(
    (
        32,
        lambda g, m, i: (
            g if i < 8 or 16 <= i < 24 else g + 8,
            m * 8 + (i & 7) + (32 if i >= 16 else 0),
        ),
    ),
    (16, lambda g, m, i: (m * 8 + (i & 7) + (32 if i >= 8 else 0), g)),
    C16,
)
SMALL_BIT = Layout(
    (32, lambda g, m, i: (g, m * 32 + i)),
    (32, lambda g, m, i: (m * 32 + i, g)),
    C8,
)
BIT_K128 = Layout(
    (64, lambda g, m, i: (g if i < 32 else g + 8, m * 32 + (i & 31))),
    (32, lambda g, m, i: (m * 32 + i, g)),
    C16,
)
BIT_K256 = Layout(
    (
        128,
        lambda g, m, i: (
            g if i < 32 or 64 <= i < 96 else g + 8,
            m * 32 + (i & 31) + (128 if i >= 64 else 0),
        ),
    ),
    (64, lambda g, m, i: (m * 32 + (i & 31) + (128 if i >= 32 else 0), g)),
    C16,
)

LAYOUTS: dict[tuple[int, str], Layout] = {
    (32, "m16n8k4"): WORD_K4,
    (32, "m16n8k8"): WORD_K8,
    (16, "m16n8k8"): HALF_K8,
    (16, "m16n8k16"): HALF_K16,
    (64, "m8n8k4"): SMALL_DOUBLE,
    (64, "m16n8k4"): WORD_K4,
    (64, "m16n8k8"): WORD_K8,
    (64, "m16n8k16"): DOUBLE_K16,
    (8, "m8n8k16"): SMALL_BYTE,
    (8, "m16n8k16"): BYTE_K16,
    (8, "m16n8k32"): BYTE_K32,
    (4, "m8n8k32"): SMALL_NIBBLE,
    (4, "m16n8k32"): NIBBLE_K32,
    (4, "m16n8k64"): NIBBLE_K64,
    (1, "m8n8k128"): SMALL_BIT,
    (1, "m16n8k128"): BIT_K128,
    (1, "m16n8k256"): BIT_K256,
}
BITS = {"tf32": 32, "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8}
BITS |= {"s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}


class Case(NamedTuple):
    """One form: its shape text and the types of D and C, A, B, and what follows the types."""

    shape: str
    d: str
    a: str
    b: str
    tail: str = ""

    @property
    def opcode(self) -> str:
        types = f"{self.d}.{self.a}.{self.b}.{self.d}"
        return f"mma.sync.aligned.{self.shape}.row.col.{types}{self.tail}"

    @property
    def layout(self) -> Layout:
        return LAYOUTS[BITS[self.a], self.shape]

    @property
    def size(self) -> tuple[int, int, int]:
        rows, rest = self.shape.removeprefix("m").split("n")
        columns, depth = rest.split("k")
        return int(rows), int(columns), int(depth)


FLOATS = [Case(shape, "f32", "tf32", "tf32") for shape in ("m16n8k4", "m16n8k8")]
FLOATS += [
    Case(shape, result, name, name)
    for shape in ("m16n8k8", "m16n8k16")
    for name, result in (("f16", "f32"), ("f16", "f16"), ("bf16", "f32"))
]
FLOATS += [
    Case(shape, result, a, b)
    for shape in ("m16n8k16", "m16n8k32")
    for a in ("e4m3", "e5m2")
    for b in ("e4m3", "e5m2")
    for result in ("f16", "f32")
]
DOUBLES = [Case(s, "f64", "f64", "f64") for s in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16")]
INTEGERS = [
    Case(shape, "s32", a, b, tail)
    for shapes, names in (
        (("m8n8k16", "m16n8k16", "m16n8k32"), ("s8", "u8")),
        (("m8n8k32", "m16n8k32", "m16n8k64"), ("s4", "u4")),
    )
    for shape in shapes
    for a in names
    for b in names
    for tail in ("", ".satfinite")
]
ONE_BIT = [
    Case(shape, "s32", "b1", "b1", tail)
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256")
    for tail in (".and.popc", ".xor.popc")
]
ALL = FLOATS + DOUBLES + INTEGERS + ONE_BIT


def pattern(number: int, type_name: str) -> int:
    """The bits of a small integer in an element type."""
    if type_name in oracle.LAYOUTS:
        found = int(encode(Fraction(number), type_name))
        return found << 13 if type_name == "tf32" else found
    return wrap(number, BITS[type_name])


def places(where: tuple[int, Position]) -> tuple[Patterns, Patterns]:
    """Rows and columns `[32, count]` of the elements that each lane holds."""
    count, position = where
    found = np.array(
        [[position(lane >> 2, lane % 4, i) for i in range(count)] for lane in range(32)]
    )
    return found[..., 0], found[..., 1]


def pack(matrices: Patterns, where: tuple[int, Position], bits: int) -> tuple[Patterns, ...]:
    """Registers `[warps, 32]` of `[warps, rows, columns]` element patterns, by the formula."""
    width = max(32, bits)
    rows, columns = places(where)
    held = matrices[:, rows, columns].reshape(len(matrices), 32, -1, width // bits)
    shifts = np.arange(width // bits, dtype=np.uint64) * np.uint64(bits)
    words = np.bitwise_or.reduce(held.astype(np.uint64) << shifts, axis=-1)
    return tuple(words[..., place].astype(f"u{width // 8}") for place in range(words.shape[-1]))


def unpack(registers: Sequence[Patterns], where: tuple[int, Position], bits: int) -> Patterns:
    width = max(32, bits)
    rows, columns = places(where)
    words = np.stack(registers, axis=-1).astype(np.uint64)[..., None]
    shifts = np.arange(width // bits, dtype=np.uint64) * np.uint64(bits)
    held = words >> shifts & np.uint64((1 << bits) - 1)
    matrices = np.full((len(words), rows.max() + 1, columns.max() + 1), 0xBAD, dtype=np.uint64)
    matrices[:, rows, columns] = held.reshape(len(words), 32, -1)
    return matrices


def multiply(case: Case, a: Patterns, b: Patterns, c: Patterns) -> Patterns:
    """D of every warp, from `[warps, rows, columns]` element patterns."""
    _, row, operation = bound(case.opcode)
    assert row.kind is Kind.WARP
    layout = case.layout
    with np.errstate(all="ignore"):
        registers = operation(
            np.ones((len(a), 32), dtype=bool),
            pack(a, layout.a, BITS[case.a]),
            pack(b, layout.b, BITS[case.b]),
            pack(c, layout.c, BITS[case.d]),
        )
    assert all(each.shape == (len(a), 32) for each in registers)
    assert all(each.dtype.itemsize == max(4, BITS[case.d] // 8) for each in registers)
    return unpack(registers, layout.c, BITS[case.d])


def looked_up(numbers: Numbers, bits_of: Callable[[int], int]) -> Patterns:
    """`bits_of` each number: a table for a small range, else one by one."""
    least, most = int(numbers.min()), int(numbers.max())
    if most - least > 1 << 16:
        return np.vectorize(lambda number: bits_of(int(number)), otypes=[np.uint64])(numbers)
    table = [bits_of(number) for number in range(least, most + 1)]
    return np.array(table, dtype=np.uint64)[numbers - least]


def patterns(numbers: Numbers, type_name: str) -> Patterns:
    """Small integers as element patterns."""
    return looked_up(numbers, lambda number: pattern(number, type_name))


def small(type_name: str, seed: int, *shape: int) -> Numbers:
    """Integers that every element type holds exactly."""
    generator = np.random.default_rng(seed)
    low, high = {"b": (0, 2), "u": (0, 9)}.get(type_name[0], (-7, 8))
    return generator.integers(0 if type_name == "b1" else low, high, shape)


def results(case: Case, totals: Numbers) -> Patterns:
    """Exact sums as the accumulator holds them."""
    return looked_up(totals, lambda total: result_bits(case, Fraction(total)))


def result_bits(case: Case, total: Fraction) -> int:
    if case.d != "s32":
        return int(encode(total, case.d))
    limit = (1 << 31) - 1
    exact = int(total)
    return wrap(min(max(exact, -limit - 1), limit) if case.tail == ".satfinite" else exact, 32)


def product(case: Case, a: Numbers, b: Numbers) -> Numbers:
    if "xor" in case.tail:
        return (a[..., :, :, None] != b[..., None, :, :]).sum(axis=-2)
    return a @ b


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.opcode)
def test_small_integers_are_exact(case: Case) -> None:
    rows, columns, depth = case.size
    a, b = small(case.a, 1, 3, rows, depth), small(case.b, 2, 3, depth, columns)
    c = small("s32", 3, 3, rows, columns)
    got = multiply(case, patterns(a, case.a), patterns(b, case.b), patterns(c, case.d))
    assert np.array_equal(got, results(case, product(case, a, b) + c))


SHAPES = [FLOATS[0], FLOATS[1], *FLOATS[2:8], FLOATS[8], FLOATS[16], *DOUBLES]
SHAPES += [case for case in INTEGERS if case.a == case.b and case.a[0] == "s" and not case.tail]
SHAPES += [case for case in ONE_BIT if "and" in case.tail]


def hot_blocks(rows: int, columns: int) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """Every position of a matrix: its row, its column, and matrices with a one there alone."""
    for start in range(0, rows * columns, 256):
        position = np.arange(start, min(start + 256, rows * columns))
        ones = np.zeros((len(position), rows, columns), dtype=np.int64)
        row, column = position // columns, position % columns
        ones[np.arange(len(position)), row, column] = 1
        yield row, column, ones


def zeros(*shape: int) -> Patterns:
    return np.zeros(shape, dtype=np.uint64)


@pytest.mark.parametrize("case", SHAPES, ids=lambda case: case.opcode)
def test_a_one_in_every_position(case: Case) -> None:
    """A one at (r, k) of A copies row k of B into row r; at (k, n) of B column k of A; C adds."""
    rows, columns, depth = case.size
    b, a = small(case.b, 4, depth, columns), small(case.a, 5, rows, depth)
    for row, k, ones in hot_blocks(rows, depth):
        warps = np.arange(len(ones))
        every_b = np.broadcast_to(patterns(b, case.b), (len(ones), *b.shape))
        got = multiply(case, patterns(ones, case.a), every_b, zeros(len(ones), rows, columns))
        want = np.zeros(got.shape, dtype=np.int64)
        want[warps, row] = b[k]
        assert np.array_equal(got, results(case, want))
    for k, column, ones in hot_blocks(depth, columns):
        warps = np.arange(len(ones))
        every_a = np.broadcast_to(patterns(a, case.a), (len(ones), *a.shape))
        got = multiply(case, every_a, patterns(ones, case.b), zeros(len(ones), rows, columns))
        want = np.zeros(got.shape, dtype=np.int64)
        want[warps, :, column] = a[:, k].T
        assert np.array_equal(got, results(case, want))
    for _, _, ones in hot_blocks(rows, columns):
        marked = patterns(5 * ones, case.d)
        nothing = zeros(len(ones), rows, depth), zeros(len(ones), depth, columns)
        assert np.array_equal(multiply(case, *nothing, marked), marked)


ROUNDED = [case for case in FLOATS if case.a == case.b]


def random_patterns(type_name: str, seed: int, *shape: int) -> Patterns:
    def make(number: float) -> int:
        found = int(encode(Fraction(number), type_name))
        return found << 13 if type_name == "tf32" else found

    numbers = np.random.default_rng(seed).standard_normal(shape)
    return np.vectorize(make, otypes=[np.uint64])(numbers)


def number_of(bits: int, type_name: str) -> Fraction:
    found = value(bits >> 13 if type_name == "tf32" else bits, type_name)
    assert isinstance(found, Fraction)
    return found


def random_operands(case: Case) -> list[Patterns]:
    rows, columns, depth = case.size
    return [
        random_patterns(case.a, 6, rows, depth),
        random_patterns(case.b, 7, depth, columns),
        random_patterns(case.d, 8, rows, columns),
    ]


@pytest.mark.parametrize("case", ROUNDED, ids=lambda case: case.opcode)
def test_sums_are_rounded_once(case: Case) -> None:
    """Random numbers: the result is nearest to the exact sum, as near as binary64 can tell."""
    a, b, c = random_operands(case)
    (result,) = multiply(case, a[None], b[None], c[None])
    layout = oracle.LAYOUTS[case.d]
    for row, column in np.ndindex(result.shape):
        factors = zip(a[row].tolist(), b[:, column].tolist(), strict=True)
        products = [number_of(x, case.a) * number_of(y, case.b) for x, y in factors]
        products.append(number_of(int(c[row, column]), case.d))
        exact, size = sum(products), sum(map(abs, products))
        got = number_of(int(result[row, column]), case.d)
        last = max(oracle.binade(abs(exact)), 1 - layout.bias) - layout.fraction
        assert abs(got - exact) <= oracle.power(last) / 2 + size * oracle.power(-50)


def test_the_lower_bits_of_a_tf32_do_not_count() -> None:
    case = FLOATS[1]
    rows, columns, depth = case.size
    a, b = small("tf32", 1, 1, rows, depth), small("tf32", 2, 1, depth, columns)
    dirt = np.random.default_rng(3)
    dirty_a = patterns(a, "tf32") | dirt.integers(0, 1 << 13, a.shape, dtype=np.uint64)
    dirty_b = patterns(b, "tf32") | dirt.integers(0, 1 << 13, b.shape, dtype=np.uint64)
    start = np.zeros((1, rows, columns), dtype=np.uint64)
    assert np.array_equal(multiply(case, dirty_a, dirty_b, start), results(case, a @ b))


@pytest.mark.parametrize("tail", ["", ".satfinite"])
def test_integer_sums_wrap_or_clamp(tail: str) -> None:
    case = Case("m16n8k32", "s32", "s8", "s8", tail)
    rows, columns, depth = case.size
    a = np.full((1, rows, depth), -128)
    b = np.tile([127, -128], (1, depth, columns // 2))
    limits = np.array([(1 << 31) - 1, -(1 << 31), 0, 520191 - (1 << 31), (1 << 31) - 524289])
    c = limits[np.add.outer(np.arange(rows), np.arange(columns)) % 5][None]
    got = multiply(case, patterns(a, "s8"), patterns(b, "s8"), patterns(c, "s32"))
    assert np.array_equal(got, results(case, a @ b + c))


@pytest.mark.parametrize("rounding", ["", ".rn", ".rz", ".rm", ".rp"])
@pytest.mark.parametrize("shape", ["m8n8k4", "m16n8k16"])
def test_doubles_are_chains_of_fused_steps(shape: str, rounding: str) -> None:
    case = Case(shape, "f64", "f64", "f64", rounding)
    a, b, c = random_operands(case)
    (result,) = multiply(case, a[None], b[None], c[None])
    for row, column in np.ndindex(result.shape):
        total: int | str = int(c[row, column])
        for x, y in zip(a[row].tolist(), b[:, column].tolist(), strict=True):
            total = fused_bits(x, y, int(total), "f64", rounding[1:] or "rn")
        assert result[row, column] == total


@pytest.mark.parametrize(
    "opcode",
    [
        "mma.sync.aligned.m16n8k8.row.row.f32.tf32.tf32.f32",
        "mma.sync.aligned.m16n8k8.col.row.f32.tf32.tf32.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
        "mma.sync.aligned.row.col.f32.tf32.tf32.f32",
    ],
)
def test_forms_that_are_none_are_refused(opcode: str) -> None:
    with pytest.raises(Refused):
        bound(opcode)


def test_a_fragment_of_the_wrong_size_is_refused() -> None:
    operation = bound(FLOATS[1].opcode)[2]
    register = np.zeros((1, 32), dtype=np.uint32)
    with pytest.raises(Refused, match="registers"):
        operation(np.ones((1, 32), dtype=bool), (register,) * 2, (register,) * 2, (register,) * 4)


# ldmatrix and its kin: lane t holds elements 2 * (t % 4) and the next of row t / 4.


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("space", [".shared", ".shared::cta", ""])
def test_ldmatrix(count: int, trans: str, space: str) -> None:
    """Every element carries its matrix, row and column."""
    warps = 3
    _, row, operation = bound(f"ldmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16")
    assert row.kind is Kind.ROWS_IN
    rows = np.arange(warps * count * 64, dtype=np.uint16).reshape(warps, count, 8, 8)
    registers = operation(rows.view(np.uint8))
    assert len(registers) == count
    for index, register in enumerate(registers):
        assert register.dtype == np.uint32
        assert register.shape == (warps, 32)
        for warp in range(warps):
            for lane in range(32):
                line, first = lane // 4, lane % 4 * 2
                parts = [int(register[warp, lane]) >> shift & 0xFFFF for shift in (0, 16)]
                tile = rows[warp, index]
                if trans:
                    assert parts == [tile[first, line], tile[first + 1, line]]
                else:
                    assert parts == [tile[line, first], tile[line, first + 1]]


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("space", [".shared", ".shared::cta", ""])
def test_stmatrix_undoes_ldmatrix(count: int, trans: str, space: str) -> None:
    _, row, store = bound(f"stmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16")
    assert row.kind is Kind.ROWS_OUT
    load = bound(f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16")[2]
    rows = np.random.default_rng(3).integers(0, 256, (5, count, 8, 16), dtype=np.uint8)
    stored = store(load(rows))
    assert stored.dtype == np.uint8
    assert np.array_equal(stored, rows)


def test_movmatrix() -> None:
    operation = bound("movmatrix.sync.aligned.m8n8.trans.b16")[2]
    where: tuple[int, Position] = (2, lambda g, m, i: (g, 2 * m + i))
    tiles = np.arange(128, dtype=np.uint64).reshape(2, 8, 8)
    (register,) = pack(tiles, where, 16)
    result = operation(np.ones((2, 32), dtype=bool), register)
    assert np.array_equal(unpack([result], where, 16), tiles.swapaxes(1, 2))
