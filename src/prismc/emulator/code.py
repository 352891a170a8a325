"""Decoded functions: steps the machine calls, and the values that registers start with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from prismc.emulator.flow import Flow
from prismc.emulator.frames import constant
from prismc.emulator.ptx.tree import Function, Guard, Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.source.record import Record

if TYPE_CHECKING:
    from prismc.emulator.batch import Batch
    from prismc.emulator.lanes import Run

Step = Callable[["Run"], None]
# What follows a block: the next block for the whole run, or None when the run's lanes were sent
# on (`Batch.push`), wait somewhere, or have exited.
End = Callable[["Run"], "int | None"]
# Which lanes must meet: bool [warps, 32], from the run that arrived.
Members = Callable[["Run"], Lanes]


class Slot(Protocol):
    """A register's first value in a new frame."""

    def value(self, batch: Batch, base: int) -> Lanes: ...


class ConstantSlot(NamedTuple):
    """The same in all frames: zero of a register, a literal, the address of a variable."""

    array: Lanes

    def value(self, batch: Batch, base: int) -> Lanes:
        return self.array


class SpecialSlot(NamedTuple):
    """A special register, in the width that the instruction reads it in."""

    name: str
    dtype: np.dtype[np.generic]

    def value(self, batch: Batch, base: int) -> Lanes:
        return batch.special(self.name).astype(self.dtype)


class LocalSlot(NamedTuple):
    """The address of a local variable, which depends on the frame."""

    offset: int
    dtype: np.dtype[np.generic]

    def value(self, batch: Batch, base: int) -> Lanes:
        return constant(base + self.offset, self.dtype)


class CodeBlock(Record):
    """A basic block: steps one after the other, then its end.

    `members` is set for a meeting: which lanes of each warp must be here before it runs; lanes for
    which `guard` fails pass by. `instructions` are the numbers of those in the block.
    """

    steps: tuple[Step, ...]
    end: End
    members: Members | None
    guard: Guard | None
    site: Instruction | None
    instructions: tuple[int, ...]


class Code(Record):
    """A function, decoded. `local_offsets` are its local variables' and parameters' addresses."""

    name: str
    function: Function
    flow: Flow
    blocks: tuple[CodeBlock, ...]
    slots: tuple[Slot, ...]
    local_offsets: dict[str, int]
    local_size: int
