"""How the elements of a matrix lie in the registers of a warp, and what element types they have.

PTX ISA 9.0, 9.7.14.5 (fragments of mma) and 9.7.15.5.1.1 (of wgmma). Every layout there is one
pattern: lane = 4 * group + member, with eight groups of four. A register holds `p` elements.

* A: register 2 * kh + rh holds row `group + 8 * rh`, columns `4 * p * kh + p * member + j`.
* B: register kh holds rows `4 * p * kh + p * member + j` of column `group`.
* C, D: of each block of eight columns, element 2 * rh + j is row `group + 8 * rh`, column
  `2 * member + j`.

So a fragment becomes a matrix by naming these digits as axes and putting them in order.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.semantics.formats import FORMATS, widen
from prismc.emulator.semantics.lanes import Lanes, elements, is_signed, joined, signed
from prismc.emulator.semantics.registry import Refused, bits_of

Registers = tuple[Lanes, ...]


def parts_of(registers: Registers, type_name: str, count: int) -> Lanes:
    """The elements of `count` registers `[warps, 32]` as patterns `[registers, warps, 32, p]`.

    Types below a byte come one a byte. Raises Refused when the registers are not `count`.
    """
    if len(registers) != count:
        raise Refused(f"a fragment of {len(registers)} registers where {count} are needed")
    stacked = np.stack(registers)
    bits = bits_of(type_name)
    if bits == 1:
        return np.unpackbits(elements(stacked, 8), axis=-1, bitorder="little")
    if bits == 4:
        pairs = elements(stacked, 8)
        nibbles = np.stack((pairs & np.uint8(15), pairs >> np.uint8(4)), axis=-1)
        return nibbles.reshape(*pairs.shape[:-1], -1)
    return elements(stacked, bits)


def numbers(parts: Lanes, type_name: str) -> Lanes:
    """Element patterns as float64; every element type fits exactly."""
    if type_name in FORMATS:
        return widen(parts, type_name)
    if type_name == "s4":
        return ((parts ^ np.uint8(8)).view(np.int8) - np.int8(8)).astype(np.float64)
    return (signed(parts) if is_signed(type_name) else parts).astype(np.float64)


def per_register(type_name: str) -> int:
    return max(32, bits_of(type_name)) // bits_of(type_name)


def first_matrix(registers: Registers, type_name: str, rows: int, depth: int) -> Lanes:
    """A `[warps, rows, depth]` as element patterns; `rows` is 8 or 16."""
    halves, width = rows // 8, 4 * per_register(type_name)
    blocks = depth // width
    parts = parts_of(registers, type_name, blocks * halves)
    digits = parts.reshape(blocks, halves, -1, 8, 4, width // 4)
    return digits.transpose(2, 1, 3, 0, 4, 5).reshape(-1, rows, depth)


def second_matrix(registers: Registers, type_name: str, depth: int) -> Lanes:
    """B `[warps, depth, 8]` as element patterns."""
    width = 4 * per_register(type_name)
    blocks = depth // width
    parts = parts_of(registers, type_name, blocks)
    digits = parts.reshape(blocks, -1, 8, 4, width // 4)
    return digits.transpose(1, 0, 3, 4, 2).reshape(-1, depth, 8)


def accumulator(registers: Registers, type_name: str, rows: int, columns: int) -> Lanes:
    """C `[warps, rows, columns]` as element patterns; `columns` is a multiple of 8."""
    halves, blocks, pair = rows // 8, columns // 8, min(2, per_register(type_name))
    parts = parts_of(registers, type_name, blocks * halves * 2 // pair)
    digits = parts.reshape(blocks, halves, 2 // pair, -1, 8, 4, pair)
    return digits.transpose(3, 1, 4, 0, 5, 2, 6).reshape(-1, rows, columns)


def accumulator_registers(matrix: Lanes, type_name: str) -> Registers:
    """The registers `[warps, 32]` that hold `matrix`: undoes `accumulator`."""
    _, rows, columns = matrix.shape
    halves, blocks, pair = rows // 8, columns // 8, min(2, per_register(type_name))
    digits = matrix.reshape(-1, halves, 8, blocks, 4, 2 // pair, pair)
    parts = digits.transpose(3, 1, 5, 0, 2, 4, 6)
    whole = joined(parts, bits_of(type_name) * pair)
    return tuple(whole.reshape(blocks * halves * 2 // pair, -1, 32))
