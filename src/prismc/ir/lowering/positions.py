"""Where the code stands: the place of a thread (a block) in the instance that speaks.

Perspectives vanish in lowering. What is left of a code perspective is how to compute a thread's
index in its instance from the one hidden value that the function starts with: `group` takes it
modulo the size, a `split` arm subtracts the arm's offset. Nothing is computed before it is asked
for.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from prismc.hardware.groups import Bound, Level, Perspective


class Hidden(Enum):
    """What a function needs to know beside its parameters; the value is the printed name.

    THREAD is the index in the instance of the function's top perspective, or in the block where
    that is a block or more; BLOCK the index among the top's blocks; BLOCKS the number of blocks in
    the grid; BLOCK_THREAD the index in the block, WARPGROUP that of its warpgroup; SHARED the start
    of the function's shared memory; MBARRIERS the start of the kernel's mbarriers, PHASES the
    thread's register of their phases; COMPLETION the shared address of the mbarrier that counts
    bulk loads, EXPECTED how many of their bytes are to come.
    """

    THREAD = "thread"
    BLOCK = "block"
    BLOCKS = "blocks"
    BLOCK_THREAD = "block_thread"
    WARPGROUP = "warpgroup"
    SHARED = "shared"
    MBARRIERS = "mbarriers"
    PHASES = "phases"
    COMPLETION = "completion"
    EXPECTED = "expected"


class Step(NamedTuple):
    """Less `offset`, then modulo `modulo`; 0 leaves either out."""

    offset: int
    modulo: int


class Index(NamedTuple):
    """A hidden value taken through steps.

    `limit` bounds the index from above (exclusively); 0 when there is no known bound.
    """

    hidden: Hidden
    steps: tuple[Step, ...] = ()
    limit: int = 0

    def in_groups(self, size: int) -> Index:
        """The index inside aligned groups of `size`."""
        if self.limit and self.limit <= size:
            return self
        steps = self.steps
        # What is taken modulo `size` next may have had multiples of `size` added or removed.
        while steps and steps[-1].offset % size == 0 and steps[-1].modulo % size == 0:
            steps = steps[:-1]
        return Index(self.hidden, (*steps, Step(0, size)), size)

    def in_arm(self, offset: int, size: int) -> Index:
        """The index inside the units `offset` to `offset + size`."""
        steps = (*self.steps, Step(offset, 0)) if offset else self.steps
        return Index(self.hidden, steps, size)


class Position(NamedTuple):
    """The thread's index in its instance (or block) and the block's among the instance's blocks."""

    thread: Index
    block: Index

    def in_group(self, to: Perspective) -> Position:
        """Inside `group to:`."""
        return self._at(to.level, self._index(to.level).in_groups(to.size))

    def in_arm(self, to: Perspective, offset: int) -> Position:
        """Inside the arm of a `split` that begins at `offset`."""
        return self._at(to.level, self._index(to.level).in_arm(offset, to.size))

    def _index(self, level: Level) -> Index:
        return self.thread if level is Level.THREAD else self.block

    def _at(self, level: Level, index: Index) -> Position:
        if level is Level.THREAD:
            return self._replace(thread=index)
        if level is Level.BLOCK:
            return self._replace(block=index)
        return self


def entry_position(bound: Bound, threads: int) -> Position:
    """The position at the start of a function whose blocks have `threads` threads."""
    code = bound.code
    thread_limit = code.size if code.level is Level.THREAD else threads
    block_limit = code.size if code.level is Level.BLOCK else 0
    return Position(
        thread=Index(Hidden.THREAD, limit=thread_limit),
        block=Index(Hidden.BLOCK, limit=block_limit),
    )
