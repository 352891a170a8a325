"""Views of register arrays: as signed integers, as floats, as packed elements.

A register array holds unsigned bit patterns (`registry`). A view costs nothing and computes
nothing; only `bf16`, which NumPy has no type for, is widened to `float32`, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from prismc.emulator.semantics.registry import UNSIGNED, Form, Operation, Refused, bits_of

# A register array. NumPy's stubs lose an array's type at the first operator, so that a checker
# could only be told what it cannot know: the name is for the reader.
Lanes: TypeAlias = Any

SIGNED = MappingProxyType({8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64})
FLOATS = MappingProxyType({"f16": np.float16, "f32": np.float32, "f64": np.float64})


def required(form: Form, *modifiers: str) -> str:
    """The one of `modifiers` that the form carries. Raises Refused when it carries none."""
    found = form.one_of(*modifiers)
    if not found:
        raise Refused(f"`{form}`: needs one of {', '.join(f'`.{each}`' for each in modifiers)}")
    return found


def signed(values: Lanes) -> Lanes:
    """The same bits as two's complement integers."""
    return values.view(SIGNED[values.itemsize * 8])


def unsigned(values: Lanes) -> Lanes:
    """The bit patterns of integers or floats of any width."""
    return values.view(UNSIGNED[values.itemsize * 8])


def is_signed(type_name: str) -> bool:
    return type_name.startswith("s")


def integers(type_name: str) -> Callable[[Lanes], Lanes]:
    """How to see a register of an integer or bit type: as signed for `.sN`, else as it is."""
    return signed if is_signed(type_name) else _same


def _same(values: Lanes) -> Lanes:
    return values


def widen_bf16(bits: Lanes) -> Lanes:
    """bf16 bit patterns as float32 values; a bf16 is the upper half of a binary32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def floats(type_name: str) -> Callable[[Lanes], Lanes]:
    """How to see a register of a scalar float type as numbers of an IEEE type that holds it."""
    if type_name == "bf16":
        return widen_bf16
    dtype = FLOATS[type_name]
    return lambda bits: bits.view(dtype)


def elements(values: Lanes, bits: int) -> Lanes:
    """`[...]` registers as `[..., n]` elements of `bits` bits, the lowest bits first."""
    whole = np.ascontiguousarray(values)
    return whole.reshape(*whole.shape, 1).view(UNSIGNED[bits])


def joined(parts: Lanes, bits: int) -> Lanes:
    """`[..., n]` elements as `[...]` registers of `bits` bits: undoes `elements`."""
    return np.ascontiguousarray(parts).view(UNSIGNED[bits])[..., 0]


def scalar_of(type_name: str) -> str:
    """The element type of a packed type: `f16` for `f16x2`; a scalar type is its own."""
    return type_name.partition("x")[0]


def elementwise(operation: Operation, type_name: str) -> Operation:
    """`operation` on scalars of `type_name`, or on each element of a packed `type_name`.

    A predicate or other argument that is not packed must not be passed.
    """
    element = scalar_of(type_name)
    if element == type_name:
        return operation
    whole, part = bits_of(type_name), bits_of(element)

    def packed(*sources: Lanes) -> Lanes:
        return joined(operation(*(elements(source, part) for source in sources)), whole)

    return packed


def constant(value: int, bits: int) -> np.unsignedinteger[Any]:
    """`value` modulo 2**bits as a NumPy scalar of that width."""
    return UNSIGNED[bits](value & (1 << bits) - 1)
