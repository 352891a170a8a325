"""Bits: counting, finding, fields, masks, logic, shifts, permuting bytes.

PTX ISA 9.0, 9.7.1.14 to 9.7.1.22 (bit counts and fields), 9.7.8 (logic and shift), 9.7.9.7 (prmt).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from prismc.emulator.semantics.lanes import (
    Lanes,
    elements,
    is_signed,
    joined,
    required,
    signed,
    unsigned,
)
from prismc.emulator.semantics.registry import UNSIGNED, Form, Operation, bits_of, instruction


def _smear(values: Lanes) -> Lanes:
    """Sets every bit below the highest set one."""
    distance = 1
    while distance < values.itemsize * 8:
        values = values | values >> distance
        distance *= 2
    return values


@instruction("popc", types="b32 b64", results="u32")
def count_ones(form: Form) -> Operation:
    """Number of one bits (9.7.1.14, popc)."""
    return lambda a: np.bitwise_count(a).astype(np.uint32)


@instruction("clz", types="b32 b64", results="u32")
def count_leading_zeros(form: Form) -> Operation:
    """Number of zero bits above the highest one (9.7.1.15, clz)."""
    return lambda a: np.bitwise_count(~_smear(a)).astype(np.uint32)


@instruction("bfind", types="u32 u64 s32 s64", results="u32", modifiers="shiftamt")
def find_leading(form: Form) -> Operation:
    """Position of the highest non-sign bit, all ones if none (9.7.1.16, bfind).

    `.shiftamt`: how far that bit is from the top.
    """
    top = bits_of(form.types[0]) - 1
    with_sign, from_top = is_signed(form.types[0]), form.has("shiftamt")

    def position(a: Lanes) -> Lanes:
        value = a ^ unsigned(signed(a) >> top) if with_sign else a
        found = np.bitwise_count(_smear(value)).astype(np.uint32) - np.uint32(1)
        return np.where(value == 0, found, top - found) if from_top else found

    return position


@instruction("fns", types="b32", sources="b32 b32 s32", results="b32")
def find_nth(form: Form) -> Operation:
    """Position of the n-th set bit from a base bit, up or down; all ones if none (9.7.1.17, fns).

    A base above 31, undefined, finds nothing.
    """

    def position(mask: Lanes, base: Lanes, offset: Lanes) -> Lanes:
        start, count = base.astype(np.int64), signed(offset).astype(np.int64)
        place = np.arange(32)
        is_set = (mask[..., None] >> place.astype(np.uint32) & np.uint32(1)).astype(bool)
        upward = is_set & (place >= start[..., None])
        downward = is_set & (place <= start[..., None])
        rank_up = upward.cumsum(axis=-1)
        rank_down = downward[..., ::-1].cumsum(axis=-1)[..., ::-1]
        wanted = count[..., None]
        hit = np.where(wanted > 0, upward & (rank_up == wanted), downward & (rank_down == -wanted))
        hit = np.where(wanted == 0, is_set & (place == start[..., None]), hit)
        hit &= start[..., None] <= 31
        return np.where(hit.any(axis=-1), hit.argmax(axis=-1), 0xFFFFFFFF).astype(np.uint32)

    return position


_REVERSED = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], dtype=np.uint8)


@instruction("brev", types="b32 b64")
def reverse(form: Form) -> Operation:
    """The bits in reverse order (9.7.1.18, brev)."""
    dtype = UNSIGNED[bits_of(form.types[0])]

    def reversed_bits(a: Lanes) -> Lanes:
        return _REVERSED[a.byteswap().view(np.uint8)].view(dtype)

    return reversed_bits


def _field_mask(length: Lanes, bits: int) -> Lanes:
    """`length` ones, at most `bits`; NumPy shifts by the width and more to 0."""
    one = UNSIGNED[bits](1)
    return (one << length.astype(UNSIGNED[bits])) - one


@instruction("bfe", types="u32 u64 s32 s64", sources="T u32 u32")
def extract_field(form: Form) -> Operation:
    """The bits from a position on, extended as the type says (9.7.1.19, bfe)."""
    bits, with_sign = bits_of(form.types[0]), is_signed(form.types[0])
    dtype = UNSIGNED[bits]

    def extract(a: Lanes, position: Lanes, length: Lanes) -> Lanes:
        position, length = position & 0xFF, length & 0xFF
        mask = _field_mask(np.minimum(length, bits - np.minimum(position, bits)), bits)
        field = a >> position.astype(dtype) & mask
        if not with_sign:
            return field
        last = np.minimum(position + length - (length > 0), bits - 1).astype(dtype)
        negative = (a >> last & dtype(1) != 0) & (length > 0)
        return np.where(negative, field | ~mask, field)

    return extract


@instruction("bfi", types="b32 b64", sources="T T u32 u32")
def insert_field(form: Form) -> Operation:
    """b with the low bits of a at a position (9.7.1.20, bfi)."""
    bits = bits_of(form.types[0])
    dtype = UNSIGNED[bits]

    def insert(a: Lanes, b: Lanes, position: Lanes, length: Lanes) -> Lanes:
        place = (position & 0xFF).astype(dtype)
        mask = _field_mask(length & 0xFF, bits) << place
        return (b & ~mask) | (a << place & mask)

    return insert


def _clamps(form: Form) -> bool:
    return required(form, "clamp", "wrap") == "clamp"


@instruction("szext", types="u32 s32", sources="T u32", modifiers="clamp wrap")
def extend(form: Form) -> Operation:
    """The low n bits, extended as the type says (9.7.1.21, szext).

    From n = 32 on, `.clamp` gives a itself and `.wrap` takes n modulo 32.
    """
    with_sign, clamp = is_signed(form.types[0]), _clamps(form)

    def extended(a: Lanes, count: Lanes) -> Lanes:
        width = count & 31
        mask = _field_mask(width, 32)
        value = a & mask
        if with_sign:
            top = a >> (width - (width > 0)) & np.uint32(1)
            value = np.where((top != 0) & (width > 0), value | ~mask, value)
        return np.where(count >= 32, a, value) if clamp else value

    return extended


@instruction("bmsk", types="b32", sources="u32 u32", modifiers="clamp wrap")
def make_mask(form: Form) -> Operation:
    """A mask of b ones from bit a on (9.7.1.22, bmsk).

    `.clamp` takes positions and widths above 32 for 32, `.wrap` takes both modulo 32.
    """
    if _clamps(form):
        return lambda a, b: _field_mask(b, 32) << a
    return lambda a, b: _field_mask(b & 31, 32) << (a & 31)


_WORDS = "b16 b32 b64"


@instruction("and", types=f"pred {_WORDS}", sources="T T")
def bit_and(form: Form) -> Operation:
    """a & b (9.7.8.1, and)."""
    return np.bitwise_and


@instruction("or", types=f"pred {_WORDS}", sources="T T")
def bit_or(form: Form) -> Operation:
    """a | b (9.7.8.2, or)."""
    return np.bitwise_or


@instruction("xor", types=f"pred {_WORDS}", sources="T T")
def bit_xor(form: Form) -> Operation:
    """a ^ b (9.7.8.3, xor)."""
    return np.bitwise_xor


@instruction("not", types=f"pred {_WORDS}")
def bit_not(form: Form) -> Operation:
    """~a (9.7.8.4, not)."""
    return np.invert


@instruction("cnot", types=_WORDS)
def logical_not(form: Form) -> Operation:
    """1 if a is 0, else 0 (9.7.8.5, cnot)."""
    return lambda a: (a == 0).astype(a.dtype)


@instruction("lop3", types="b32", sources="T T T b32")
def logic_three(form: Form) -> Operation:
    """The bit function of three operands that a table of eight bits gives (9.7.8.6, lop3)."""
    return _look_up


@instruction("lop3.or", types="b32", sources="T T T b32 pred", results="T pred", modifiers="or")
@instruction("lop3.and", types="b32", sources="T T T b32 pred", results="T pred", modifiers="and")
def logic_three_predicate(form: Form) -> Operation:
    """lop3 whose result, compared with 0, is combined with a predicate (9.7.8.6, lop3)."""
    combine = np.logical_or if form.has("or") else np.logical_and

    def logic(a: Lanes, b: Lanes, c: Lanes, table: Lanes, q: Lanes) -> tuple[Lanes, Lanes]:
        result = _look_up(a, b, c, table)
        return result, combine(result != 0, q)

    return logic


def _look_up(a: Lanes, b: Lanes, c: Lanes, table: Lanes) -> Lanes:
    """The table is an immediate, so one entry stands for all lanes."""
    return _function_of(int(table.flat[0]) & 0xFF)(a, b, c)


@lru_cache(maxsize=256)
def _function_of(table: int) -> Operation:
    """The function of a lop3 table: the halves of the table, chosen by a.

    Bit 4a + 2b + c of the table is the value for that a, b and c.
    """
    if_zero, if_one = _function_of_two(table & 0xF), _function_of_two(table >> 4)
    if table & 0xF == table >> 4:
        return lambda a, b, c: if_zero(b, c) | (a & np.uint32(0))
    if (table ^ table >> 4) & 0xF == 0xF:
        return lambda a, b, c: a ^ if_zero(b, c)
    if table & 0xF == 0:
        return lambda a, b, c: a & if_one(b, c)
    if table >> 4 == 0xF:
        return lambda a, b, c: a | if_zero(b, c)
    return lambda a, b, c: (a & if_one(b, c)) | (~a & if_zero(b, c))


def _function_of_two(table: int) -> Operation:
    """The function of b and c whose value at 2b + c is that bit of the table."""
    zero, ones = np.uint32(0), np.uint32(0xFFFFFFFF)
    functions: tuple[Operation, ...] = (
        lambda b, c: zero,
        lambda b, c: ~(b | c),
        lambda b, c: ~b & c,
        lambda b, c: ~b,
        lambda b, c: b & ~c,
        lambda b, c: ~c,
        np.bitwise_xor,
        lambda b, c: ~(b & c),
        np.bitwise_and,
        lambda b, c: ~(b ^ c),
        lambda b, c: c,
        lambda b, c: ~b | c,
        lambda b, c: b,
        lambda b, c: b | ~c,
        np.bitwise_or,
        lambda b, c: ones,
    )
    return functions[table]


@instruction("shf.l", types="b32", sources="T T u32", modifiers="l clamp wrap")
@instruction("shf.r", types="b32", sources="T T u32", modifiers="r clamp wrap")
def funnel_shift(form: Form) -> Operation:
    """32 bits of the 64-bit value {b, a}, shifted left or right (9.7.8.7, shf)."""
    left, clamp = form.has("l"), _clamps(form)

    def shift(a: Lanes, b: Lanes, count: Lanes) -> Lanes:
        amount = (np.minimum(count, 32) if clamp else count & 31).astype(np.uint64)
        both = a | b.astype(np.uint64) << 32
        shifted = both << amount >> 32 if left else both >> amount
        return shifted.astype(np.uint32)

    return shift


@instruction("shl", types=_WORDS, sources="T u32")
def shift_left(form: Form) -> Operation:
    """a << b; from the width on 0 (9.7.8.8, shl)."""
    return _shift(form, np.left_shift)


@instruction("shr", types=f"{_WORDS} u16 u32 u64", sources="T u32")
def shift_right(form: Form) -> Operation:
    """a >> b, filled with 0 (9.7.8.9, shr)."""
    return _shift(form, np.right_shift)


@instruction("shr", types="s16 s32 s64", sources="T u32")
def shift_right_signed(form: Form) -> Operation:
    """a >> b, filled with the sign (9.7.8.9, shr)."""
    top = bits_of(form.types[0]) - 1
    dtype = signed(np.zeros(1, UNSIGNED[top + 1])).dtype

    def shift(a: Lanes, count: Lanes) -> Lanes:
        return unsigned(signed(a) >> np.minimum(count, top).astype(dtype))

    return shift


def _shift(form: Form, operation: Operation) -> Operation:
    width = bits_of(form.types[0])
    if width == 32:
        return operation  # NumPy gives 0 for a shift by the width or more
    dtype = UNSIGNED[width]
    return lambda a, count: operation(a, np.minimum(count, width).astype(dtype))


# Which of the eight bytes goes where, lowest first, for each value of the control's low two bits.
_PERMUTATIONS = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}


@instruction("prmt", types="b32", sources="T T T", modifiers="f4e b4e rc8 ecl ecr rc16")
def permute(form: Form) -> Operation:
    """Four of the eight bytes of {b, a}, chosen by c (9.7.9.7, prmt).

    Without a mode each selector of four bits has a byte number and asks, in its top bit, for the
    byte's sign instead. With a mode the low two bits of c choose a row of `_PERMUTATIONS`.
    """
    mode = form.one_of(*_PERMUTATIONS)
    table = np.array(_PERMUTATIONS[mode], dtype=np.uint64) if mode else None

    def permuted(a: Lanes, b: Lanes, control: Lanes) -> Lanes:
        if table is None and control.size == 1:
            return _permuted_alike(a, b, int(control.flat[0]))
        both = (a | b.astype(np.uint64) << 32)[..., None]
        if table is not None:
            selectors = table[control & 3]
        else:
            selectors = control[..., None].astype(np.uint64) >> (np.arange(4, dtype=np.uint64) * 4)
        chosen = (both >> ((selectors & 7) * 8)).astype(np.uint8)
        if table is None:
            sign = unsigned(signed(chosen) >> 7)
            chosen = np.where(selectors & 8 != 0, sign, chosen)
        return joined(chosen, 32)

    return permuted


def _permuted_alike(a: Lanes, b: Lanes, control: int) -> Lanes:
    """prmt with one control for all lanes: one copy a byte."""
    sources = (elements(a, 8), elements(b, 8))
    result = np.empty((*np.broadcast_shapes(a.shape, b.shape), 4), dtype=np.uint8)
    for place in range(4):
        selector = control >> 4 * place & 0xF
        chosen = sources[selector >> 2 & 1][..., selector & 3]
        result[..., place] = unsigned(signed(chosen) >> 7) if selector & 8 else chosen
    return joined(result, 32)
