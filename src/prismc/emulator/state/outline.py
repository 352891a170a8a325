"""What a frame needs to know of its function: its registers' first values, its local variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from prismc.emulator.flow import Flow
from prismc.emulator.ptx.tree import Function, Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.source.record import Record

# The value of a special register, `[lanes]` or `[1]`, by its name.
Specials = Callable[[str], Lanes]


class Slot(Protocol):
    """A register's first value in a new frame, whose local variables start at `base`."""

    def value(self, specials: Specials, base: int) -> Lanes: ...


class ConstantSlot(NamedTuple):
    """The same in all frames: zero of a register, a literal, the address of a variable."""

    array: Lanes

    def value(self, specials: Specials, base: int) -> Lanes:
        return self.array


class SpecialSlot(NamedTuple):
    """A special register, in the width that the instruction reads it in."""

    name: str
    dtype: np.dtype[np.generic]

    def value(self, specials: Specials, base: int) -> Lanes:
        return specials(self.name).astype(self.dtype)


class LocalSlot(NamedTuple):
    """The address of a local variable, which depends on the frame."""

    offset: int
    dtype: np.dtype[np.generic]

    def value(self, specials: Specials, base: int) -> Lanes:
        return constant(base + self.offset, self.dtype)


class Outline(Record):
    """A decoded function without its steps. `issued` is the number of instructions in each block;
    `local_offsets` are local variables' and parameters' addresses, `local_size` is where they end.
    """

    function: Function
    flow: Flow
    issued: tuple[int, ...]
    slots: tuple[Slot, ...]
    local_offsets: dict[str, int]
    local_size: int

    def site(self, block: int) -> Instruction | None:
        """The first instruction of a block; None in the empty block that returns."""
        body, first = self.function.body or (), self.flow.blocks[block].first
        return body[first] if first < len(body) else None


def constant(value: int, dtype: np.dtype[np.generic]) -> Lanes:
    """An array `[1]` of an unsigned dtype, the value taken modulo its size; bool for predicates."""
    if dtype.kind == "b":
        return np.array([bool(value)])
    return np.array([value & ((1 << 8 * dtype.itemsize) - 1)], dtype)
