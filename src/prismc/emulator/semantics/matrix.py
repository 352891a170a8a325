"""mma.sync, ldmatrix, stmatrix, movmatrix: what a warp does with fragments of matrices.

PTX ISA 9.0, 9.7.14.5. Of the float forms the ISA leaves the order and the rounding of the sums open
("at least single precision"): here products are exact, sums are in binary64, and the result is
rounded once. Integer forms are exact; the f64 forms are chains of fused multiply-adds, k ascending.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from prismc.emulator.semantics.floats import MULTIPLY_ADD, arithmetic
from prismc.emulator.semantics.fragments import (
    Registers,
    accumulator,
    accumulator_registers,
    first_matrix,
    numbers,
    second_matrix,
)
from prismc.emulator.semantics.integers import clamp_signed
from prismc.emulator.semantics.lanes import FLOATS, Lanes, elements, joined, signed, unsigned
from prismc.emulator.semantics.registry import Form, Kind, Operation, Refused, instruction


class Shape(NamedTuple):
    """rows x depth times depth x columns."""

    rows: int
    columns: int
    depth: int


_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_COMMON = "sync aligned row col"


def shape_of(form: Form) -> Shape:
    """The shape that the form names. Raises Refused for layouts other than `.row.col`."""
    layouts = [modifier for modifier in form.modifiers if modifier in ("row", "col")]
    found = next(filter(None, map(_SHAPE.fullmatch, form.modifiers)), None)
    if found is None or layouts != ["row", "col"]:
        raise Refused(f"`{form}`: needs a shape and `.row.col`")
    return Shape(*map(int, found.groups()))


def _cross(accumulators: str, factors: str) -> str:
    """Type patterns d.a.b.c: one type for d and c, every pair for a and b."""
    names = factors.split()
    return " ".join(f"{d}.{a}.{b}.{d}" for d in accumulators.split() for a in names for b in names)


class _Family(NamedTuple):
    """Element types of A and B that share shapes."""

    factors: str
    shapes: str


_WORDS = _Family("tf32", "m16n8k4 m16n8k8")
_HALVES = _Family("f16", "m16n8k8 m16n8k16")
_BRAINS = _Family("bf16", "m16n8k8 m16n8k16")
_BYTES = _Family("e4m3 e5m2", "m16n8k16 m16n8k32")
_DOUBLES = _Family("f64", "m8n8k4 m16n8k4 m16n8k8 m16n8k16")
_INTEGERS = _Family("s8 u8", "m8n8k16 m16n8k16 m16n8k32")
_NIBBLES = _Family("s4 u4", "m8n8k32 m16n8k32 m16n8k64")
_BITS = _Family("b1", "m8n8k128 m16n8k128 m16n8k256")


def _multiplies(
    family: _Family, result: str, modifiers: str = "", registers: str = "b32"
) -> Callable[[Callable[[Form], Operation]], Callable[[Form], Operation]]:
    """Registers mma for a family and an accumulator type, whose registers read `registers`."""
    factor = "f64" if family is _DOUBLES else "b32"
    return instruction(
        "mma",
        types=_cross(result, family.factors),
        kind=Kind.WARP,
        sources=f"{factor} {factor} {registers}",
        results=registers,
        modifiers=f"{_COMMON} {family.shapes} {modifiers}",
    )


class _Operands(NamedTuple):
    """The matrices of one mma in every warp, as numbers, and C as patterns."""

    left: Lanes
    right: Lanes
    start: Lanes


def _operands(form: Form, shape: Shape, registers: tuple[Registers, ...]) -> _Operands:
    _, first, second, addend = form.types
    return _Operands(
        numbers(first_matrix(registers[0], first, shape.rows, shape.depth), first),
        numbers(second_matrix(registers[1], second, shape.depth), second).swapaxes(1, 2),
        accumulator(registers[2], addend, shape.rows, shape.columns),
    )


def rounded(total: Lanes, type_name: str) -> Lanes:
    """float64 sums as patterns of an f16 or f32 accumulator."""
    return unsigned(total.astype(FLOATS[type_name]))


@_multiplies(_WORDS, "f32", registers="f32")
@_multiplies(_HALVES, "f32", registers="f32")
@_multiplies(_BRAINS, "f32", registers="f32")
@_multiplies(_BYTES, "f32", registers="f32")
@_multiplies(_HALVES, "f16")
@_multiplies(_BYTES, "f16")
def multiply_floats(form: Form) -> Operation:
    """D = A * B + C in tf32, f16, bf16, e4m3 or e5m2 (9.7.14.5.14, mma)."""
    shape, result = shape_of(form), form.types[0]

    def multiply(active: Lanes, *registers: Registers) -> Registers:
        left, right, start = _operands(form, shape, registers)
        total = left @ right + numbers(start, result)
        return accumulator_registers(rounded(total, result), result)

    return multiply


@_multiplies(_INTEGERS, "s32", "satfinite", registers="s32")
@_multiplies(_NIBBLES, "s32", "satfinite", registers="s32")
def multiply_integers(form: Form) -> Operation:
    """D = A * B + C in 8- or 4-bit integers, modulo 2**32, or clamped with `.satfinite`."""
    shape, clamp = shape_of(form), form.has("satfinite")

    def multiply(active: Lanes, *registers: Registers) -> Registers:
        left, right, start = _operands(form, shape, registers)
        total = (left @ right).astype(np.int64) + signed(start)
        return accumulator_registers(integer_sums(total, clamp), "s32")

    return multiply


def integer_sums(total: Lanes, clamp: bool) -> Lanes:
    """int64 sums as s32 patterns, clamped or modulo 2**32."""
    return clamp_signed(total, 32) if clamp else total.astype(np.uint32)


@_multiplies(_BITS, "s32", "xor and popc", registers="s32")
def multiply_bits(form: Form) -> Operation:
    """D = C + the number of ones in a row of A and, or exclusive or, a column of B."""
    shape = shape_of(form)

    def multiply(active: Lanes, *registers: Registers) -> Registers:
        left, right, start = _operands(form, shape, registers)
        count = left @ right
        if form.has("xor"):
            ones = left.sum(axis=2, keepdims=True) + right.sum(axis=1, keepdims=True)
            count = ones - 2 * count
        return accumulator_registers(integer_sums(count.astype(np.int64) + start, False), "s32")

    return multiply


@_multiplies(_DOUBLES, "f64", "rn rz rm rp", registers="f64")
def multiply_doubles(form: Form) -> Operation:
    """D = A * B + C in f64, every step a fused multiply-add with the form's rounding."""
    shape = shape_of(form)
    rounding = form.one_of("rn", "rz", "rm", "rp", default="rn")
    step = arithmetic(Form("fma", (rounding,), ("f64",)), MULTIPLY_ADD)

    def multiply(active: Lanes, *registers: Registers) -> Registers:
        left, right, total = _operands(form, shape, registers)
        left, right = left.view(np.uint64), np.ascontiguousarray(right).view(np.uint64)
        for place in range(shape.depth):
            total = step(left[:, :, place, None], right[:, place, None, :], total)
        return accumulator_registers(total, "f64")

    return multiply


_MATRICES = "sync aligned m8n8 x1 x2 x4 trans shared shared::cta"


@instruction(
    "ldmatrix", types="b16", kind=Kind.ROWS_IN, sources="", results="b32", modifiers=_MATRICES
)
def load_matrices(form: Form) -> Operation:
    """Rows of 8x8 matrices of 16-bit elements as fragments (9.7.14.5.15, ldmatrix).

    Lane 4 * group + member gets elements 2 * member and 2 * member + 1 of row `group`, or of
    column `group` with `.trans`.
    """

    def load(rows: Lanes) -> Registers:
        matrices = np.ascontiguousarray(rows).view(np.uint16)
        if form.has("trans"):
            matrices = matrices.swapaxes(2, 3)
        registers = np.ascontiguousarray(matrices).view(np.uint32)
        return tuple(registers.reshape(len(rows), -1, 32).swapaxes(0, 1))

    return load


@instruction(
    "stmatrix", types="b16", kind=Kind.ROWS_OUT, sources="b32", results="", modifiers=_MATRICES
)
def store_matrices(form: Form) -> Operation:
    """Fragments as rows of 8x8 matrices of 16-bit elements (9.7.14.5.16, stmatrix)."""

    def store(registers: Registers) -> Lanes:
        stacked = np.stack(registers, axis=1)
        matrices = elements(stacked, 16).reshape(*stacked.shape[:2], 8, 8)
        if form.has("trans"):
            matrices = matrices.swapaxes(2, 3)
        return np.ascontiguousarray(matrices).view(np.uint8)

    return store


@instruction(
    "movmatrix", types="b16", kind=Kind.WARP, sources="b32", results="b32",
    modifiers="sync aligned m8n8 trans",
)  # fmt: skip
def transpose_matrix(form: Form) -> Operation:
    """An 8x8 matrix of 16-bit elements transposed across the warp (9.7.14.5.17, movmatrix)."""

    def transpose(active: Lanes, registers: Lanes) -> Lanes:
        matrix = elements(registers, 16).reshape(-1, 8, 8)
        return joined(matrix.swapaxes(1, 2).reshape(-1, 32, 2), 32)

    return transpose
