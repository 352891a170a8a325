"""Projection of arms: code whose arms meet only at split barriers, once for each class of warps.

`for k: split: case 4: A; case 1: B` becomes `if first four warps: for k: A; else: for k: B`. Each
class of warps then runs a loop of its own, without the tests and the registers of the others'
arms (`docs/language.md`, "Lowering").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from prismc.checker.types import typed
from prismc.checker.types.walk import bodies_of
from prismc.hardware.groups import Level
from prismc.hardware.primitives import WARP_THREADS


class Class(NamedTuple):
    """The threads [start, end) of the code, whole warps."""

    start: int
    end: int

    def holds(self, arm: typed.Arm) -> bool:
        """Whether all of these threads take the arm."""
        return arm.offset <= self.start and self.end <= arm.offset + arm.to.size

    def meets(self, arm: typed.Arm) -> bool:
        """Whether some of these threads take the arm."""
        return arm.offset < self.end and self.start < arm.offset + arm.to.size


def classes_of(statements: Iterable[typed.Statement], threads: int) -> tuple[Class, ...]:
    """The classes of the `threads` threads of the code of statements, by the arms of its splits."""
    ends = {end for end in _ends(statements) if end < threads and end % WARP_THREADS == 0}
    cuts = [0, *sorted(ends - {0}), threads]
    return tuple(Class(start, end) for start, end in pairwise(cuts))


def _ends(statements: Iterable[typed.Statement]) -> Iterator[int]:
    """Where arms begin and end that stand in the code of the statements itself."""
    for statement in statements:
        if isinstance(statement, typed.Split):
            for arm in statement.arms:
                if arm.to.level is Level.THREAD:
                    yield from (arm.offset, arm.offset + arm.to.size)
        elif not isinstance(statement, typed.Group) or statement.to.level is not Level.THREAD:
            for body in bodies_of(statement):
                yield from _ends(body)
