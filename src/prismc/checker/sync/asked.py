"""What a prover is asked: can two accesses touch one element? With the program's own expressions,
where evaluating them for all threads has left a doubt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from prismc.checker.sync.definitions import Definitions
from prismc.checker.types import typed
from prismc.source.record import Record


class World(Record):
    """The function around the accesses: `threads` of one instance, of a block `block_threads`.
    `bodies` are those of expression functions, by symbol."""

    prover: Prover
    definitions: Definitions
    bodies: Mapping[str, typed.Body]
    threads: int
    block_threads: int


class Guard(Record):
    """A condition that holds (or, not `holds`, does not) where the code is; one that `is_assumed`
    holds always, and keeps no access from being made."""

    condition: typed.Expression
    holds: bool
    loops: tuple[int, ...]
    is_assumed: bool = False


class Asked(Record):
    """One access: `lanes` elements from `index` on, through `views` (outermost first, with the
    loops around each), by some of the threads in the set `threads`."""

    world: World
    index: typed.Expression
    views: tuple[tuple[typed.View, tuple[int, ...]], ...]
    guards: tuple[Guard, ...]
    loops: tuple[int, ...]
    lanes: int
    threads: int


class Question(Record):
    """Two accesses of different threads, or of different blocks (`of_blocks`).

    In `ended` loops each is in any iteration of its own. The later one lies `least` to `most`
    iterations of the loop `around` behind the earlier one, `most` 0 meaning any number more.
    """

    earlier: Asked
    later: Asked
    width: int
    around: int | None = None
    least: int = 0
    most: int = 0
    ended: frozenset[int] = frozenset()
    of_blocks: bool = False


class Prover(Protocol):
    def never_meet(self, question: Question) -> bool:
        """Whether it is proved that the two never touch one element."""


def is_proved(question: Question) -> bool:
    """Ask the prover that the accesses come with."""
    return question.earlier.world.prover.never_meet(question)
