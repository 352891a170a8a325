"""Integer arithmetic: add, sub, mul, mad, div, rem, abs, neg, min, max, sad, dot products, carries.

PTX ISA 9.0, 9.7.1 (integer arithmetic) and 9.7.2 (extended precision). All of it is exact modulo
2**n; where the ISA leaves a value open (division by zero) the docstring says what is returned.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from prismc.emulator.semantics.lanes import (
    SIGNED,
    Lanes,
    elements,
    elementwise,
    integers,
    is_signed,
    joined,
    required,
    scalar_of,
    signed,
    unsigned,
)
from prismc.emulator.semantics.registry import (
    UNSIGNED,
    Form,
    Operation,
    bits_of,
    dtype_of,
    instruction,
)

_INTEGERS = "s16 u16 s32 u32 s64 u64"
_PAIRS = "s16x2 u16x2"


@instruction("add", types="s32", sources="T T", modifiers="sat cc")
@instruction("add", types="u32 s64 u64", sources="T T", modifiers="cc")
@instruction("add", types="s16 u16", sources="T T")
def add(form: Form) -> Operation:
    """a + b; `.sat` clamps (.s32); `.cc` also returns the carry (9.7.1.1 and 9.7.2.1, add)."""
    if form.has("cc"):
        return add_with_carry
    return _clamped_single(np.add) if form.has("sat") else np.add


@instruction("sub", types="s32", sources="T T", modifiers="sat cc")
@instruction("sub", types="u32 s64 u64", sources="T T", modifiers="cc")
@instruction("sub", types="s16 u16", sources="T T")
def subtract(form: Form) -> Operation:
    """a - b; `.sat` clamps (.s32); `.cc` also returns the borrow (9.7.1.2 and 9.7.2.3, sub)."""
    if form.has("cc"):
        return subtract_with_borrow
    return _clamped_single(np.subtract) if form.has("sat") else np.subtract


@instruction("add", types=_PAIRS, sources="T T")
def add_pairs(form: Form) -> Operation:
    """Sums of halves (9.7.1.1, add)."""
    return elementwise(np.add, form.types[0])


def _clamped_single(operation: Operation) -> Operation:
    """An operation on .s32 whose exact result is clamped to the range of .s32."""

    def clamped(a: Lanes, b: Lanes) -> Lanes:
        return clamp_signed(operation(signed(a).astype(np.int64), signed(b)), 32)

    return clamped


def clamp_signed(values: Lanes, bits: int) -> Lanes:
    """Signed values limited to the range of `bits` bits, as bit patterns of that width."""
    top = 1 << (bits - 1)
    return unsigned(np.clip(values, -top, top - 1).astype(SIGNED[bits]))


def add_with_carry(a: Lanes, b: Lanes, carry: Lanes | bool = False) -> tuple[Lanes, Lanes]:
    """a + b + carry and the carry out (9.7.2, the condition code register)."""
    first = a + b
    total = first + carry
    return total, (first < a) | (total < first)


def subtract_with_borrow(a: Lanes, b: Lanes, borrow: Lanes | bool = False) -> tuple[Lanes, Lanes]:
    """a - b - borrow and the borrow out."""
    first = a - b
    total = first - borrow
    return total, (a < b) | (total > first)


@instruction("addc", types="s32 u32 s64 u64", sources="T T", modifiers="cc")
def add_carry(form: Form) -> Operation:
    """a + b + CC.CF (9.7.2.2, addc)."""
    return add_with_carry if form.has("cc") else lambda a, b, carry: a + b + carry


@instruction("subc", types="s32 u32 s64 u64", sources="T T", modifiers="cc")
def subtract_carry(form: Form) -> Operation:
    """a - (b + CC.CF) (9.7.2.4, subc)."""
    return subtract_with_borrow if form.has("cc") else lambda a, b, borrow: a - b - borrow


def product(type_name: str, mode: str) -> Callable[[Lanes, Lanes], Lanes]:
    """`lo`, `hi` or `wide` of the product of two operands of a type, as bit patterns."""
    if mode == "lo":
        return np.multiply
    if bits_of(type_name) == 64:
        return _high_signed_64 if is_signed(type_name) else _high_64
    wide = _wide_product(type_name)
    if mode == "wide":
        return wide
    bits, dtype = bits_of(type_name), dtype_of(type_name)
    return lambda a, b: (wide(a, b) >> bits).astype(dtype)


def _wide_product(type_name: str) -> Callable[[Lanes, Lanes], Lanes]:
    bits = bits_of(type_name) * 2
    if is_signed(type_name):
        narrow, double = SIGNED[bits // 2], SIGNED[bits]
        return lambda a, b: unsigned(a.view(narrow).astype(double) * b.view(narrow))
    return lambda a, b: a.astype(UNSIGNED[bits]) * b


def _high_64(a: Lanes, b: Lanes) -> Lanes:
    """The upper 64 of the 128 bits of an unsigned product, by 32-bit digits."""
    low = np.uint64(0xFFFFFFFF)
    a_low, a_high, b_low, b_high = a & low, a >> 32, b & low, b >> 32
    middle = a_high * b_low + (a_low * b_low >> 32)
    other = a_low * b_high + (middle & low)
    return a_high * b_high + (middle >> 32) + (other >> 32)


def _high_signed_64(a: Lanes, b: Lanes) -> Lanes:
    """A negative operand counts as itself plus 2**64: what that adds is taken away again."""
    zero = np.uint64(0)
    high = _high_64(a, b)
    return high - np.where(signed(a) < 0, b, zero) - np.where(signed(b) < 0, a, zero)


@instruction("mul", types=_INTEGERS, sources="T T", modifiers="lo hi")
@instruction("mul.wide", types="s16 u16 s32 u32", sources="T T", results="W", modifiers="wide")
def multiply(form: Form) -> Operation:
    """The low or high half of a product, or all of it (9.7.1.3, mul)."""
    return product(form.types[0], required(form, "lo", "hi", "wide"))


@instruction("mad", types="s32", sources="T T T", modifiers="lo hi sat cc")
@instruction("mad", types="u32 s64 u64", sources="T T T", modifiers="lo hi cc")
@instruction("mad", types="s16 u16", sources="T T T", modifiers="lo hi")
@instruction("mad.wide", types="s16 u16 s32 u32", sources="T T W", results="W", modifiers="wide")
def multiply_add(form: Form) -> Operation:
    """a * b + c on the chosen half (9.7.1.4 and 9.7.2.5, mad); `.sat` clamps the sum (.hi.s32)."""
    multiplied = product(form.types[0], required(form, "lo", "hi", "wide"))
    if form.has("cc"):
        return lambda a, b, c: add_with_carry(multiplied(a, b), c)
    if form.has("sat"):
        total = _clamped_single(np.add)
        return lambda a, b, c: total(multiplied(a, b), c)
    return lambda a, b, c: multiplied(a, b) + c


@instruction("madc", types="s32 u32 s64 u64", sources="T T T", modifiers="lo hi cc")
def multiply_add_carry(form: Form) -> Operation:
    """a * b + c + CC.CF on the chosen half (9.7.2.6, madc)."""
    multiplied = product(form.types[0], required(form, "lo", "hi"))
    if form.has("cc"):
        return lambda a, b, c, carry: add_with_carry(multiplied(a, b), c, carry)
    return lambda a, b, c, carry: multiplied(a, b) + c + carry


def _product_24(form: Form) -> Callable[[Lanes, Lanes], Lanes]:
    """Bits 47..16 or 31..0 of the product of the low 24 bits of two registers."""
    shift = 16 if required(form, "lo", "hi") == "hi" else 0

    def low_24(values: Lanes) -> Lanes:
        top = values << 8
        return (signed(top) >> 8 if is_signed(form.types[0]) else top >> 8).astype(np.int64)

    return lambda a, b: (low_24(a) * low_24(b) >> shift).astype(np.uint32)


@instruction("mul24", types="s32 u32", sources="T T", modifiers="lo hi")
def multiply_24(form: Form) -> Operation:
    """Product of 24-bit integers (9.7.1.5, mul24)."""
    return _product_24(form)


@instruction("mad24", types="s32", sources="T T T", modifiers="lo hi sat")
@instruction("mad24", types="u32", sources="T T T", modifiers="lo hi")
def multiply_add_24(form: Form) -> Operation:
    """Product of 24-bit integers plus c; `.sat` clamps the sum (.hi.s32) (9.7.1.6, mad24)."""
    multiplied = _product_24(form)
    total = _clamped_single(np.add) if form.has("sat") else np.add
    return lambda a, b, c: total(multiplied(a, b), c)


@instruction("sad", types=_INTEGERS, sources="T T T")
def absolute_difference(form: Form) -> Operation:
    """c + |a - b| (9.7.1.7, sad)."""
    view = integers(form.types[0])
    return lambda a, b, c: c + np.where(view(a) < view(b), b - a, a - b)


@instruction("div", types=_INTEGERS, sources="T T")
def divide(form: Form) -> Operation:
    """Quotient, rounded to zero (9.7.1.8, div). Division by zero, unspecified, gives all ones."""
    ones = UNSIGNED[bits_of(form.types[0])](-1 % (1 << bits_of(form.types[0])))
    divided = _divide_signed if is_signed(form.types[0]) else np.floor_divide

    def quotient(a: Lanes, b: Lanes) -> Lanes:
        zero = b == 0
        return np.where(zero, ones, divided(a, b | zero))

    return quotient


@instruction("rem", types=_INTEGERS, sources="T T")
def remainder(form: Form) -> Operation:
    """a - b * (a / b), so its sign is a's (9.7.1.9, rem). By zero, unspecified, it is a."""
    divided = _divide_signed if is_signed(form.types[0]) else np.floor_divide

    def rest(a: Lanes, b: Lanes) -> Lanes:
        return a - b * divided(a, b | (b == 0))

    return rest


def _divide_signed(a: Lanes, b: Lanes) -> Lanes:
    """By magnitudes, so that the least number has one too; the quotient wraps."""
    quotient = _magnitude(a) // _magnitude(b)
    return np.where(signed(a ^ b) < 0, -quotient, quotient)


def _magnitude(values: Lanes) -> Lanes:
    return unsigned(np.abs(signed(values)))


@instruction("abs", types="s16 s32 s64", sources="T")
def absolute(form: Form) -> Operation:
    """|a|; the least number is its own (9.7.1.10, abs)."""
    return _magnitude


@instruction("neg", types="s16 s32 s64", sources="T")
def negate(form: Form) -> Operation:
    """-a, modulo 2**n (9.7.1.11, neg)."""
    return np.negative


@instruction("min", types="s32 s16x2", sources="T T", modifiers="relu")
@instruction("min", types="s16 u16 u32 s64 u64 u16x2", sources="T T")
def minimum(form: Form) -> Operation:
    """The lesser; `.relu` clamps a negative one to 0 (9.7.1.12, min)."""
    return _chosen(form, np.minimum)


@instruction("max", types="s32 s16x2", sources="T T", modifiers="relu")
@instruction("max", types="s16 u16 u32 s64 u64 u16x2", sources="T T")
def maximum(form: Form) -> Operation:
    """The greater; `.relu` clamps a negative one to 0 (9.7.1.13, max)."""
    return _chosen(form, np.maximum)


def _chosen(form: Form, choose: Operation) -> Operation:
    view = integers(scalar_of(form.types[0]))
    if form.has("relu"):
        return elementwise(
            lambda a, b: unsigned(np.maximum(choose(view(a), view(b)), 0)), form.types[0]
        )
    return elementwise(lambda a, b: unsigned(choose(view(a), view(b))), form.types[0])


def _parts(values: Lanes, type_name: str, bits: int) -> Lanes:
    """The elements of a 32-bit register as int64, extended as the type says."""
    return integers(type_name)(elements(values, bits)).astype(np.int64)


_SIGNS = ("u32", "s32")
_DOT_TYPES = " ".join(f"{a}.{b}" for a in _SIGNS for b in _SIGNS)


@instruction("dp4a", types=_DOT_TYPES, sources="T0 T1 b32", results="b32")
def dot_bytes(form: Form) -> Operation:
    """c plus the dot product of four bytes with four bytes (9.7.1.23, dp4a)."""
    first, second = form.types

    def dot(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        return c + (_parts(a, first, 8) * _parts(b, second, 8)).sum(axis=-1).astype(np.uint32)

    return dot


@instruction("dp2a", types=_DOT_TYPES, sources="T0 T1 b32", results="b32", modifiers="lo hi")
def dot_halves(form: Form) -> Operation:
    """c plus the dot product of two halves with the low or high bytes (9.7.1.24, dp2a)."""
    first, second = form.types
    chosen = slice(2, 4) if required(form, "lo", "hi") == "hi" else slice(0, 2)

    def dot(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        products = _parts(a, first, 16) * _parts(b, second, 8)[..., chosen]
        return c + products.sum(axis=-1).astype(np.uint32)

    return dot


_VIDEO_TYPES = " ".join(f"{d}.{a}.{b}" for d in _SIGNS for a in _SIGNS for b in _SIGNS)


@instruction("vabsdiff2", types=_VIDEO_TYPES, sources="T1 T2 T0", modifiers="add")
@instruction("vabsdiff4", types=_VIDEO_TYPES, sources="T1 T2 T0", modifiers="add")
def absolute_differences(form: Form) -> Operation:
    """|a - b| of each half or byte, or c plus their sum (9.7.18.2, SIMD video instructions).

    Of these instructions compilers still write only these, without selectors and masks.
    """
    bits = 16 if form.name == "vabsdiff2" else 8
    _, first, second = form.types

    def differences(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        found = np.abs(_parts(a, first, bits) - _parts(b, second, bits))
        if form.has("add"):
            return c + found.sum(axis=-1).astype(np.uint32)
        return joined(found.astype(UNSIGNED[bits]), 32) | (c & np.uint32(0))

    return differences
