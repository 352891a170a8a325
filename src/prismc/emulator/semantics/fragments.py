"""How the elements of a matrix lie in the registers of a warp, and what element types they have.

PTX ISA 9.0, 9.7.14.5 (fragments of mma) and 9.7.15.5.1.1 (of wgmma). Every layout there is one
pattern: lane = 4 * group + member, with eight groups of four. A register holds `p` elements.

* A: register 2 * kh + rh holds row `group + 8 * rh`, columns `4 * p * kh + p * member + j`.
* B: register kh holds rows `4 * p * kh + p * member + j` of column `group`.
* C, D: of each block of eight columns, element 2 * rh + j is row `group + 8 * rh`, column
  `2 * member + j`.

So a fragment becomes a matrix by naming these digits as axes and putting them in order. Whole
registers are moved, not elements: the elements of one stay side by side in a row of A and of the
transposed B.
"""

from __future__ import annotations

import numpy as np

from prismc.emulator.semantics.formats import FORMATS, widen
from prismc.emulator.semantics.lanes import Lanes, is_signed, signed
from prismc.emulator.semantics.registry import UNSIGNED, Refused, bits_of

Registers = tuple[Lanes, ...]


def _stacked(registers: Registers, count: int) -> Lanes:
    """`count` registers `[warps, 32]` as one array. Raises Refused when they are not `count`."""
    if len(registers) != count:
        raise Refused(f"a fragment of {len(registers)} registers where {count} are needed")
    return np.stack(registers)


def _cut(words: Lanes, type_name: str) -> Lanes:
    """Registers `[..., n]` as their elements `[..., n * p]`; types below a byte one a byte."""
    bits = bits_of(type_name)
    if bits >= 8:
        return np.ascontiguousarray(words).view(UNSIGNED[bits])
    octets = np.ascontiguousarray(words).view(np.uint8)
    if bits == 1:
        return np.unpackbits(octets, axis=-1, bitorder="little")
    nibbles = np.stack((octets & np.uint8(15), octets >> np.uint8(4)), axis=-1)
    return nibbles.reshape(*octets.shape[:-1], -1)


def numbers(parts: Lanes, type_name: str) -> Lanes:
    """Element patterns as float64; every element type fits exactly."""
    if type_name in FORMATS:
        return widen(parts, type_name)
    if type_name == "s4":
        return ((parts ^ np.uint8(8)).view(np.int8) - np.int8(8)).astype(np.float64)
    return (signed(parts) if is_signed(type_name) else parts).astype(np.float64)


def per_register(type_name: str) -> int:
    """Elements in a register of 32 bits, or in one of 64 for f64."""
    return max(32, bits_of(type_name)) // bits_of(type_name)


def first_matrix(registers: Registers, type_name: str, rows: int, depth: int) -> Lanes:
    """A `[warps, rows, depth]` as element patterns; `rows` is 8 or 16."""
    halves, blocks = rows // 8, depth // (4 * per_register(type_name))
    digits = _stacked(registers, blocks * halves).reshape(blocks, halves, -1, 8, 4)
    words = digits.transpose(2, 1, 3, 0, 4).reshape(-1, rows, blocks * 4)
    return _cut(words, type_name)


def second_matrix(registers: Registers, type_name: str, depth: int) -> Lanes:
    """B transposed, `[warps, 8, depth]`, as element patterns."""
    blocks = depth // (4 * per_register(type_name))
    digits = _stacked(registers, blocks).reshape(blocks, -1, 8, 4)
    return _cut(digits.transpose(1, 2, 0, 3).reshape(-1, 8, blocks * 4), type_name)


def accumulator(registers: Registers, type_name: str, rows: int, columns: int) -> Lanes:
    """C `[warps, rows, columns]` as element patterns; `columns` is a multiple of 8."""
    halves, blocks, words = rows // 8, columns // 8, _words_a_pair(type_name)
    stacked = _stacked(registers, blocks * halves * words)
    digits = stacked.reshape(blocks, halves, words, -1, 8, 4).transpose(3, 1, 4, 0, 5, 2)
    return _cut(digits.reshape(-1, rows, blocks * 4 * words), type_name)


def accumulator_registers(matrix: Lanes, type_name: str) -> Registers:
    """The registers `[warps, 32]` that hold `matrix`: undoes `accumulator`."""
    warps, rows, columns = matrix.shape
    halves, blocks, words = rows // 8, columns // 8, _words_a_pair(type_name)
    whole = np.ascontiguousarray(matrix).view(UNSIGNED[max(32, bits_of(type_name))])
    digits = whole.reshape(warps, halves, 8, blocks, 4, words).transpose(3, 1, 5, 0, 2, 4)
    return tuple(digits.reshape(blocks * halves * words, warps, 32))


def _words_a_pair(type_name: str) -> int:
    """Registers that two neighbouring elements of an accumulator take."""
    return 2 if bits_of(type_name) >= 32 else 1
