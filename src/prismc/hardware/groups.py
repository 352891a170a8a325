"""Perspectives: the ladder thread < block < grid, and the arithmetic on its rungs.

`level[n]` is an aligned set of n units of a level (paper, section 3.2). Levels decide first,
divisibility only at equal level (`docs/language.md`, "Perspectives").
"""

from __future__ import annotations

from enum import IntEnum
from math import gcd
from typing import NamedTuple


class Level(IntEnum):
    """The rungs, narrow to broad. CONSTANT is above all: values known while compiling."""

    THREAD = 0
    BLOCK = 1
    GRID = 2
    CONSTANT = 3


class Perspective(NamedTuple):
    """An aligned group of `size` units of `level`: whose behaviour, or how often a value varies."""

    level: Level
    size: int

    def __str__(self) -> str:
        if self.level is Level.CONSTANT:
            return "constant"
        return f"{self.level.name.lower()}[{self.size}]"

    def is_broader_or_equal(self, other: Perspective) -> bool:
        """Whether `other <= self`: a higher level, or an equal one with other's size dividing."""
        if self.level != other.level:
            return self.level > other.level
        return self.size % other.size == 0

    def is_narrower_or_equal(self, other: Perspective) -> bool:
        """Whether `self <= other`."""
        return other.is_broader_or_equal(self)

    def meet(self, other: Perspective) -> Perspective:
        """The broadest perspective that is not broader than either: how often a mix varies."""
        if self is other:  # most are constants of this module
            return self
        if self.level != other.level:
            return min(self, other, key=lambda p: p.level)
        return Perspective(self.level, gcd(self.size, other.size))


CONSTANT = Perspective(Level.CONSTANT, 1)
THREAD = Perspective(Level.THREAD, 1)
WARP = Perspective(Level.THREAD, 32)
WARPGROUP = Perspective(Level.THREAD, 128)
BLOCK = Perspective(Level.BLOCK, 1)
GRID = Perspective(Level.GRID, 1)

# How many units of the level below a source word counts: `warp[2]` is `thread[64]`.
SPELLINGS: dict[str, Perspective] = {
    "thread": THREAD,
    "warp": WARP,
    "warpgroup": WARPGROUP,
    "block": BLOCK,
    "grid": GRID,
}


class Bound(NamedTuple):
    """What code may narrow to: one size per level, 0 for a level that is not there, and `base`.

    `base` is the alignment of the first unit of the code perspective's level: every start is a
    multiple of it; 0 means the start is exactly 0.
    """

    grid: int
    block: int
    thread: int
    base: int = 0

    def size(self, level: Level) -> int:
        """The entry for `level`; 0 if the bound has none (the level is broader than the code)."""
        return {Level.GRID: self.grid, Level.BLOCK: self.block, Level.THREAD: self.thread}[level]

    @property
    def code(self) -> Perspective:
        """The code perspective: the broadest entry."""
        if self.grid:
            return Perspective(Level.GRID, self.grid)
        if self.block:
            return Perspective(Level.BLOCK, self.block)
        return Perspective(Level.THREAD, self.thread)

    def base_for(self, level: Level) -> int:
        """The base alignment of `level`'s units: after a change of level the start is exact."""
        return self.base if level is self.code.level else 0

    def lacks(self, needed: Bound) -> Level | None:
        """The broadest level at which code with this bound cannot call what has the bound `needed`:
        each of its levels has an entry here that its size divides (paper-notes A27)."""
        for level in (Level.GRID, Level.BLOCK, Level.THREAD):
            size, entry = needed.size(level), self.size(level)
            if size and (entry == 0 or entry % size != 0):
                return level
        return None

    def allows_group(self, to: Perspective) -> bool:
        """Whether `group to:` is legal: n divides the entry of its own level (paper-notes A2)."""
        entry = self.size(to.level)
        return entry != 0 and entry % to.size == 0

    def group(self, to: Perspective) -> Bound:
        """The bound inside `group to:`. Does not judge: ask `allows_group` first."""
        return self._only(to, gcd(self.base_for(to.level), to.size))

    def allows_arm(self, to: Perspective, offset: int) -> bool:
        """Whether a split arm of `to` may start `offset` units in: n | gcd(base, offset) (A5)."""
        base = self.base_for(to.level)
        return gcd(base, offset) % to.size == 0

    def arm(self, to: Perspective, offset: int) -> Bound:
        """The bound inside the split arm `to` that starts at `offset`; judge with `allows_arm`."""
        return self._only(to, gcd(self.base_for(to.level), offset))

    def _only(self, to: Perspective, base: int) -> Bound:
        if to.level is Level.GRID:
            return Bound(to.size, self.block, self.thread, base)
        if to.level is Level.BLOCK:
            return Bound(0, to.size, self.thread, base)
        return Bound(0, 0, to.size, base)
