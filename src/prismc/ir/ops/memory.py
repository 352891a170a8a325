"""Register arrays, shared memory, and accesses through pointers.

A pointer is only ever a base; every access carries its index, in elements of the pointer's type,
as i32 or i64.
"""

from __future__ import annotations

from enum import Enum

from prismc.ir.core import Op, Value


class ArrayAlloc(Op):
    """A register array with undefined elements; the result is a reference to it."""

    spelling = "array.alloc"


class ArrayFill(Op):
    """Every element of an array becomes `value`."""

    spelling = "array.fill"
    array: Value
    value: Value


class ArrayCopy(Op):
    """The elements of `source` into `target`, an array of the same type."""

    spelling = "array.copy"
    target: Value
    source: Value


class ArrayLoad(Op):
    """One element; an index for each dimension."""

    spelling = "array.load"
    array: Value
    indices: tuple[Value, ...]


class ArrayStore(Op):
    """One element; an index for each dimension."""

    spelling = "array.store"
    array: Value
    indices: tuple[Value, ...]
    value: Value


class ArrayHandOver(Op):
    """What the program has written to an array is in its registers here, and what it reads behind
    this is read from them behind this: operations that run on have them in between."""

    spelling = "array.hand_over"
    array: Value


class SubArray(Op):
    """A reference to the sub-array under the leading indices, fewer than there are dimensions."""

    spelling = "array.sub"
    array: Value
    indices: tuple[Value, ...]


class SharedMemory(Op):
    """The start of the kernel's shared memory, as `ptr<u8, shared>`; only in kernels."""

    spelling = "shared.memory"


class SharedView(Op):
    """A typed pointer `bytes` (and `offset`, an i32 of bytes) after `base`, a `ptr<u8, shared>`."""

    spelling = "shared.view"
    base: Value
    offset: Value | None
    bytes: int


class PointerCast(Op):
    """The same address as a pointer that differs in space or adds `const`."""

    spelling = "pointer.cast"
    pointer: Value


class IsShared(Op):
    """Whether a pointer leads to shared memory, rather than to global; a bool."""

    spelling = "pointer.is_shared"
    pointer: Value


class Load(Op):
    """The element at `index`, or, when the result is a vector of the pointer's element type, that
    many elements from `index` on in one aligned access."""

    spelling = "load"
    pointer: Value
    index: Value


class Store(Op):
    """Writes the element at `index`, or a vector of elements from `index` on."""

    spelling = "store"
    pointer: Value
    index: Value
    value: Value


class AddressKind(Enum):
    SHARED = "address.shared"
    GENERIC = "address.generic"


class MapAddress(Op):
    """The generic address of a tensor map, a u64."""

    spelling = "address.map"
    map: Value


class Descriptor(Op):
    """What tells the tensor cores of a matrix in shared memory (PTX ISA, "Matrix Descriptor
    Format"): it starts at element `index`. `code` is the swizzle's; `leading` and `stride` are byte
    offsets. A u64."""

    spelling = "address.descriptor"
    pointer: Value
    index: Value
    code: int
    leading: int
    stride: int


class Address(Op):
    """The address of the element at `index`: a u32 in the shared window, or a generic u64."""

    selector = ("kind", AddressKind)
    kind: AddressKind
    pointer: Value
    index: Value
