"""Activations of functions: registers and local addresses, one set for all lanes of a batch.

Every lane has its own slot in every register, so a frame serves all lanes that came the same way:
frames form a tree by call site, made once and kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from prismc.emulator.semantics.registry import Lanes

if TYPE_CHECKING:
    from prismc.emulator.batch import Batch
    from prismc.emulator.code import Code


class LocalMemoryExhausted(Exception):
    """Calls nest so deep that a thread's local memory is used up."""


_FRAME_ALIGNMENT = 16


class Frame:
    """One function as called from one place of one parent frame.

    `path` orders blocks for reconvergence: a callee's blocks come where the call stands.
    `base` is where the frame's local variables start in each thread's local memory.
    """

    def __init__(
        self, batch: Batch, code: Code, parent: Frame | None, back: int, base: int
    ) -> None:
        self.batch = batch
        self.code = code
        self.parent = parent
        self.back = back
        self.base = base
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.path: tuple[int, ...] = () if parent is None else parent.path_to(back)
        self.outputs: tuple[str, ...] = ()  # the parent's variables for the results
        self.callees: dict[tuple[int, str], Frame] = {}
        self.registers: list[Lanes] = [slot.value(batch, base) for slot in code.slots]

    @property
    def end(self) -> int:
        """The local address where this frame's variables end."""
        return self.base + self.code.local_size

    def order(self, block: int) -> tuple[int, ...]:
        """The place of one of the frame's blocks in the reconvergence order."""
        return (*self.path, self.code.flow.rank[block])

    def path_to(self, back: int) -> tuple[int, ...]:
        """The path of a new callee, called from the block before `back`."""
        return (*self.order(back - 1), len(self.callees))

    def variable(self, name: str) -> int:
        """The local address of one of the frame's variables."""
        return self.base + self.code.local_offsets[name]

    def callee(self, batch: Batch, code: Code, back: int) -> Frame:
        """The frame of `code` called from the block before `back`."""
        key = (back, code.name)
        if key not in self.callees:
            base = -(-self.end // _FRAME_ALIGNMENT) * _FRAME_ALIGNMENT
            self.callees[key] = Frame(batch, code, self, back, base)
            batch.local_memory(self.callees[key].end)
        return self.callees[key]


def constant(value: int, dtype: np.dtype[np.generic]) -> Lanes:
    """An array `[1]` of an unsigned dtype, the value taken modulo its size; bool for predicates."""
    if dtype.kind == "b":
        return np.array([bool(value)])
    return np.array([value & ((1 << 8 * dtype.itemsize) - 1)], dtype)
