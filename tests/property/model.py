"""What is known at a line of a random program: whose code it is, what may be named there.

The rules of perspectives once more, from the language reference and in as few lines as possible, so
that the compiler is compared with something that is not itself.
"""

from __future__ import annotations

from copy import copy
from math import gcd
from typing import NamedTuple

GRID, BLOCK, LANE = "grid", "block", "thread"
_RANK = {LANE: 0, BLOCK: 1, GRID: 2}
# Sizes of groups whose threads can wait for one another without barriers in shared memory.
_WAITING = (2, 4, 8, 16)


class Perspective(NamedTuple):
    """`level[size]`."""

    level: str
    size: int

    def __str__(self) -> str:
        return f"{self.level}[{self.size}]"

    def covers(self, other: Perspective) -> bool:
        """Whether it is broader than the other or equal to it."""
        if self.level == other.level:
            return self.size % other.size == 0
        return _RANK[self.level] > _RANK[other.level]


ONE_GRID, ONE_BLOCK, ONE_THREAD = Perspective(GRID, 1), Perspective(BLOCK, 1), Perspective(LANE, 1)


class Value(NamedTuple):
    """An int, or an array of four: `kind` is `local`, `loop`, `fixed` (not assigned) or `array`."""

    name: str
    at: Perspective
    kind: str


class Pointer(NamedTuple):
    """A pointer to ints; `extent` elements of it are the own part of whoever sees it."""

    name: str
    at: Perspective
    root: str
    is_const: bool
    extent: int


class Function(NamedTuple):
    """A device function; `bound` is the size of each level."""

    name: str
    bound: dict[str, int]
    parameters: tuple[Value | Pointer, ...]
    result: Perspective

    @property
    def top(self) -> Perspective:
        return code_of(self.bound)


class State:
    """The state at one line. Copies share nothing that is changed later."""

    def __init__(self, bound: dict[str, int], threads: int, base: int) -> None:
        self.bound = bound
        self.threads = threads  # of one unit of the code, where that is not the grid
        self.base = base  # 0: exactly at the start
        self.values: tuple[Value, ...] = ()
        self.pointers: tuple[Pointer, ...] = ()
        self.hidden: tuple[Pointer, ...] = ()
        self.index = ""  # a thread's index in the code's unit
        self.depth = 1
        self.crossed = 0  # constructs between here and the innermost loop
        self.loops = 0
        self.is_certain = True  # nothing around is conditional
        self.has_memory = True
        self.is_kernel = False

    def copy(self) -> State:
        return copy(self)

    @property
    def code(self) -> Perspective:
        return code_of(self.bound)

    @property
    def can_wait(self) -> bool:
        """Whether the threads of the code's unit can have a barrier of their own."""
        code = self.code
        return code.level == BLOCK or code.size % 32 == 0 or code.size in _WAITING

    def entry(self, level: str) -> int:
        return self.bound.get(level, 0)

    def allowed(self, least: int = 1) -> list[Perspective]:
        """What a variable may be declared as: not broader than the code, dividing what is there."""
        found = [Perspective(level, 1) for level in (GRID, BLOCK) if self.entry(level)]
        lanes = self.entry(LANE)
        return found + [Perspective(LANE, n) for n in range(least, lanes + 1) if lanes % n == 0]

    def narrower(self) -> list[Perspective]:
        return [q for q in self.allowed() if q != self.code]

    def inside(self, to: Perspective, base: int) -> State:
        """The state in code that speaks for `to`."""
        found = self.copy()
        levels = [level for level in (GRID, BLOCK, LANE) if _RANK[level] < _RANK[to.level]]
        found.bound = {level: self.bound[level] for level in levels} | {to.level: to.size}
        found.threads = self.threads if to.level == BLOCK else to.size
        found.base = base
        found.depth += 1
        found.crossed += 1
        found.index = ""
        return found

    def group(self, to: Perspective) -> State:
        return self.inside(to, gcd(self.base_of(to.level), to.size))

    def arm(self, to: Perspective, offset: int) -> State:
        return self.inside(to, gcd(self.base_of(to.level), offset))

    def base_of(self, level: str) -> int:
        return self.base if level == self.code.level else 0

    def aligns(self, size: int, offset: int) -> bool:
        """Whether an arm of `size` threads may start at `offset`."""
        return gcd(self.base_of(LANE), offset) % size == 0

    def narrowed(self, views: tuple[Pointer, ...], sources: tuple[Pointer, ...]) -> State:
        """The state in the body of a narrowing."""
        found = self.copy()
        roots = {source.root for source in sources}
        found.hidden = (*self.hidden, *(p for p in self.pointers if p.root in roots))
        found.pointers = (*(p for p in self.pointers if p.root not in roots), *views)
        found.depth += 1
        found.crossed += 1
        return found

    def offers(self, function: Function) -> bool:
        """Whether a function may be called here."""
        return all(
            self.entry(level) and self.entry(level) % size == 0
            for level, size in function.bound.items()
        )


def code_of(bound: dict[str, int]) -> Perspective:
    return next(
        Perspective(level, bound[level]) for level in (GRID, BLOCK, LANE) if bound.get(level)
    )
