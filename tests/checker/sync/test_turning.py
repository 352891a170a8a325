"""Variables that a loop turns through a few values: random kernels on the emulator, beside what a
statement after the other would compute."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from prismc.emulator.schedule import adversaries
from support.running import compile_texts

THREADS = 64
KERNELS = 16  # in one file: one run of the CUDA compiler
PARTS = 4

KERNEL = """
@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
kernel NAME(X: ptr(const i32), Y: ptr(i32), n: int):
    partition Y as yb @ block[1]:
        group block[1]:
            t: int @ thread[1] = id()
            shared S: i32[256]
            v: i32 @ thread[1] = t
            for k in range(4):
                partition S as s @ thread[1] at k * 64 + t:
                    s[0] = t * k
BODY            partition yb as y @ thread[1] at t:
                y[0] = v
"""

# How a variable turns: its first value, the assignment, what that makes of a value, and which part
# of the array a value names.
TURNS: tuple[tuple[str, str, Callable[[int], int], str, Callable[[int], int]], ...] = (
    ("0", "p = 1 - p", lambda p: 1 - p, "p", lambda p: p),
    ("1", "p ^= 1", lambda p: p ^ 1, "p + 2", lambda p: p + 2),
    ("0", "p = (p + 1) % 3", lambda p: (p + 1) % 3, "p", lambda p: p),
    ("3", "p = (p + 3) % 4", lambda p: (p + 3) % 4, "p", lambda p: p),
    ("5", "p = 7 - p", lambda p: 7 - p, "p - 2", lambda p: p - 2),
    ("0", "p = p + 1", lambda p: p + 1, "p % 2", lambda p: p % 2),
)


class State:
    """The threads of a block, and the parts of their array."""

    def __init__(self) -> None:
        self.v = np.arange(THREADS, dtype=np.int32)
        self.parts = np.arange(THREADS, dtype=np.int32) * np.arange(PARTS, dtype=np.int32)[:, None]
        self.p = 0


# What a statement does in an iteration, and "continue" if that ends it.
Run = Callable[[State, int], str]


class Kernel:
    """A random kernel as text and as what it computes."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self.name = f"k{seed}"
        first, turn, following, part, place = self._random.choice(TURNS)
        self._turn, self._following, self._part, self._place = turn, following, part, place
        self._first = int(first)
        self._lines = [f"{' ' * 12}p: int @ block[1] = {first}\n"]
        self._add(0, "for i in range(n):")
        steps: list[Callable[[], Run] | None] = [
            self._statement() for _ in range(self._random.randrange(2, 5))
        ]
        steps.insert(self._random.randrange(len(steps) + 1), None)
        self._steps = [self._made(step) for step in steps]
        self.text = KERNEL.replace("NAME", self.name).replace("BODY", "".join(self._lines))

    def result(self, n: int) -> np.ndarray:
        state = State()
        state.p = self._first
        for i in range(n):
            for step in self._steps:
                if step(state, i) == "continue":
                    break
        return state.v

    def _add(self, depth: int, *lines: str) -> None:
        self._lines += [f"{' ' * (12 + 4 * depth)}{line}\n" for line in lines]

    def _statement(self) -> Callable[[], Run]:
        kinds = [self._write, self._write, self._read, self._read, self._compute]
        return self._random.choice(
            [*kinds, self._continue] if self._random.random() < 0.3 else kinds
        )

    def _made(self, step: Callable[[], Run] | None) -> Run:
        if step is not None:
            return step()
        self._add(1, self._turn)

        def run(state: State, i: int) -> str:
            state.p = self._following(state.p)
            return ""

        return run

    def _write(self) -> Run:
        self._add(
            1, f"partition S as s @ thread[1] at ({self._part}) * 64 + t:", "    s[0] = v + i"
        )

        def run(state: State, i: int) -> str:
            state.parts[self._place(state.p)] = state.v + np.int32(i)
            return ""

        return run

    def _read(self) -> Run:
        self._add(1, f"v += S[({self._part}) * 64 + 63 - t]")

        def run(state: State, i: int) -> str:
            state.v = state.v + state.parts[self._place(state.p)][::-1]
            return ""

        return run

    def _compute(self) -> Run:
        self._add(1, "v = v * 3 + 1")

        def run(state: State, i: int) -> str:
            state.v = state.v * np.int32(3) + np.int32(1)
            return ""

        return run

    def _continue(self) -> Run:
        rest = self._random.randrange(3)
        self._add(1, f"if i % 3 == {rest}:", "    continue")

        def run(state: State, i: int) -> str:
            return "continue" if i % 3 == rest else ""

        return run


def _try(seeds: range, schedules: int) -> None:
    kernels = [Kernel(seed) for seed in seeds]
    text = "".join(kernel.text for kernel in kernels)
    compiled = compile_texts({"test.prism": text}, "test.prism")
    for kernel in kernels:
        for number, schedule in enumerate(adversaries(schedules)):
            n = (5, 0, 2, 9)[number % 4]
            zeros = np.zeros(THREADS, np.int32)
            after = compiled.run(1, {"X": zeros, "Y": zeros, "n": n}, kernel.name, schedule)
            assert np.array_equal(after["Y"], kernel.result(n)), kernel.text


def test_random_kernels_that_turn() -> None:
    _try(range(KERNELS), 6)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(100, 500, 20))
def test_many_random_kernels_that_turn(first: int) -> None:
    _try(range(first, first + 20), 12)
