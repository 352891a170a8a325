"""Random nests of `group`, `split`, `first` and calls, against a walk over all threads.

What a thread adds up depends on every position that lowering computes: its index in the instance
that speaks, in units of every size, inside arms, groups and callees.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from random import Random

import numpy as np
import pytest

from prismc.hardware.groups import Bound, Level, Perspective
from support.running import Compiled, compile_texts

KERNELS = 24
THREADS = 96
CALLEES = {32: "of_warp", 8: "of_eight", 3: "of_three"}
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 96)

# Each adds its caller's position to what it is given, as `_call` does in Python.
FUNCTIONS = "".join(
    f"""
@requires(thread[{size}])
def {name}(v: int @ thread[1]) -> int @ thread[1]:
    i: int @ thread[1] = id()
    return v * 3 + i & 0xffff
"""
    for size, name in CALLEES.items()
)


class Nest:
    """Writes one kernel's body and keeps what each thread has added up."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.sums = dict.fromkeys(range(THREADS), 1)
        self.names = 0

    def body(self) -> str:
        whole = Bound(grid=0, block=1, thread=THREADS)
        self.block(4, whole, {thread: thread for thread in range(THREADS)}, 0)
        return "\n".join(self.lines)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, bound: Bound, places: Mapping[int, int], nesting: int) -> None:
        """`places` has the threads that run here, with their index in their instance."""
        for _ in range(self.random.randint(1, 3)):
            kinds = [self.unit, self.call]
            if nesting < 4:
                kinds += [self.group, self.split, self.first]
            self.random.choice(kinds)(depth, bound, places, nesting)

    def _add(self, places: Mapping[int, int], value: Mapping[int, int]) -> None:
        for thread in places:
            self.sums[thread] = self.sums[thread] * 3 + value[thread] & 0xFFFF

    def unit(self, depth: int, bound: Bound, places: Mapping[int, int], nesting: int) -> None:
        whole = bound.thread + 1 if bound.block else bound.thread
        fitting = [n for n in SIZES if n < whole and bound.thread % n == 0]
        if not fitting:  # the index of the only unit is no question
            self.line(depth, "sum = sum * 3 & 0xffff")
            self._add(places, dict.fromkeys(places, 0))
            return
        size = self.random.choice(fitting)
        self.names += 1
        self.line(depth, f"x{self.names}: int @ thread[{size}] = id()")
        self.line(depth, f"sum = sum * 3 + x{self.names} & 0xffff")
        self._add(places, {thread: place // size for thread, place in places.items()})

    def call(self, depth: int, bound: Bound, places: Mapping[int, int], nesting: int) -> None:
        fitting = [size for size in CALLEES if bound.thread % size == 0]
        if not fitting:
            return self.unit(depth, bound, places, nesting)
        size = self.random.choice(fitting)
        self.line(depth, f"sum = {CALLEES[size]}(sum)")
        self._add(places, {thread: place % size for thread, place in places.items()})

    def group(self, depth: int, bound: Bound, places: Mapping[int, int], nesting: int) -> None:
        size = self.random.choice([n for n in SIZES if bound.thread % n == 0])
        to = Perspective(Level.THREAD, size)
        self.line(depth, f"group thread[{size}]:")
        inside = {thread: place % size for thread, place in places.items()}
        self.block(depth + 1, bound.group(to), inside, nesting + 1)

    def split(self, depth: int, bound: Bound, places: Mapping[int, int], nesting: int) -> None:
        self.line(depth, "split thread:")
        offset = 0
        for _ in range(self.random.randint(1, 3)):
            fitting = [
                n
                for n in SIZES
                if offset + n <= bound.thread
                and bound.allows_arm(Perspective(Level.THREAD, n), offset)
            ]
            if not fitting:
                break
            size = self.random.choice(fitting)
            self.line(depth + 1, f"case {size}:")
            self._arm(depth + 2, bound, places, nesting, offset, size)
            offset += size

    def first(self, depth: int, bound: Bound, places: Mapping[int, int], nesting: int) -> None:
        fitting = [n for n in SIZES if n <= bound.thread and bound.thread % n == 0]
        size = self.random.choice(fitting)
        self.line(depth, f"first thread[{size}]:")
        self._arm(depth + 1, bound, places, nesting, 0, size)

    def _arm(
        self,
        depth: int,
        bound: Bound,
        places: Mapping[int, int],
        nesting: int,
        offset: int,
        size: int,
    ) -> None:
        inside = {
            thread: place - offset
            for thread, place in places.items()
            if offset <= place < offset + size
        }
        self.block(depth, bound.arm(Perspective(Level.THREAD, size), offset), inside, nesting + 1)


@cache
def nests() -> tuple[tuple[str, dict[int, int]], ...]:
    made = [Nest(seed) for seed in range(KERNELS)]
    return tuple((nest.body(), nest.sums) for nest in made)


@cache
def program() -> Compiled:
    kernels = "".join(
        f"""
@requires(grid[1], block[1], thread[{THREADS}])
@launch(threads = {THREADS})
kernel k{number}(Y: ptr(i32)):
    partition Y as yb @ block[1] at id(block[1]) * {THREADS}:
        group block[1]:
            t: int @ thread[1] = id()
            sum: int @ thread[1] = 1
            group block[1]:
{body}
            partition yb as y @ thread[1] at t:
                y[0] = sum
"""
        for number, (body, _) in enumerate(nests())
    )
    return compile_texts({"groups.prism": FUNCTIONS + kernels}, "groups.prism")


@pytest.mark.parametrize("number", range(KERNELS))
def test_every_thread_adds_up_its_positions(number: int) -> None:
    found = program().run(1, {"Y": np.full(THREADS, -1, np.int32)}, kernel=f"k{number}")["Y"]
    _, sums = nests()[number]
    assert list(found) == [sums[thread] for thread in range(THREADS)]
