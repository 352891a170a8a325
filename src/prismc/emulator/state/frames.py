"""Activations of functions: registers and local addresses, one set for all lanes of a batch.

Every lane has its own slot in every register, so a frame serves all lanes that came the same way:
frames form a tree by call site, made once and kept.
"""

from __future__ import annotations

from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.outline import Outline, Specials

_FRAME_ALIGNMENT = 16


class Frame:
    """One function as called from one place of one parent frame.

    `path` orders blocks for reconvergence: a callee's blocks come where the call stands.
    `base` is where the frame's local variables start in each thread's local memory.
    """

    def __init__(
        self, specials: Specials, outline: Outline, parent: Frame | None, back: int, base: int
    ) -> None:
        self.outline = outline
        self.parent = parent
        self.back = back
        self.base = base
        self.path: tuple[int, ...] = () if parent is None else parent.path_to(back)
        self.outputs: tuple[str, ...] = ()  # the parent's variables for the results
        self.callees: dict[tuple[int, str], Frame] = {}
        self.registers: list[Lanes] = [slot.value(specials, base) for slot in outline.slots]

    @property
    def end(self) -> int:
        """The local address where this frame's variables end."""
        return self.base + self.outline.local_size

    def order(self, block: int) -> tuple[int, ...]:
        """The place of one of the frame's blocks in the reconvergence order."""
        return (*self.path, self.outline.flow.rank[block])

    def path_to(self, back: int) -> tuple[int, ...]:
        """The path of a new callee, called from the block before `back`."""
        return (*self.order(back - 1), len(self.callees))

    def variable(self, name: str) -> int:
        """The local address of one of the frame's variables."""
        return self.base + self.outline.local_offsets[name]

    def callee(self, specials: Specials, outline: Outline, back: int) -> Frame:
        """The frame of a function called from the block before `back`."""
        key = (back, outline.function.name)
        known = self.callees.get(key)
        if known is None:
            base = -(-self.end // _FRAME_ALIGNMENT) * _FRAME_ALIGNMENT
            known = self.callees[key] = Frame(specials, outline, self, back, base)
        return known
