"""Random kernels in which warps pass memory on from arm to arm, and what they must compute.

A kernel is a list of steps; each is written down as Prism and done in NumPy, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np

WARPS = 4
ARRAYS = ("A", "B", "C")
LOOPS = ("n", "m")


class State:
    """The values of one block: `v` of each thread, and the arrays."""

    def __init__(self) -> None:
        self.v = np.arange(32 * WARPS, dtype=np.int64)
        self.arrays = {name: np.zeros(32, np.int64) for name in ARRAYS}


class Step(NamedTuple):
    """A step as lines of Prism, and as what it does to a state when its loops' counters are k."""

    lines: list[str]
    run: Callable[[State, dict[str, int]], None]


def _indented(lines: list[str], by: int = 1) -> list[str]:
    return ["    " * by + line for line in lines]


def _wrapped(v: Any) -> Any:
    """As 32 bits hold it."""
    return (v + (1 << 31)) % (1 << 32) - (1 << 31)


class Kernel:
    """One random kernel, `text` and `expected(n, m)`."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self.name = f"passes_{seed}"
        steps = [self._fill(array, self._random.randrange(WARPS)) for array in ARRAYS]
        self._steps = [*steps, *self._several(2, ())]
        head = [
            "@requires(grid[1], block[1], warp[4])",
            "@launch(threads = 128)",
            f"kernel {self.name}(Y: ptr(i32), n: int, m: int):",
            "    partition Y as y @ block[1]:",
            "        group block[1]:",
            "            t: int @ thread[1] = id()",
            "            v: i32 @ thread[1] = t",
            *(f"            shared {array}: i32[32]" for array in ARRAYS),
        ]
        body = [line for step in self._steps for line in step.lines]
        tail = ["            partition y as own @ thread[1] at t:", "                own[0] = v"]
        self.text = "\n".join((*head, *_indented(body, 3), *tail)) + "\n"

    def expected(self, n: int, m: int) -> Any:
        """What the kernel leaves in `Y`."""
        state = State()
        for step in self._steps:
            step.run(state, {"n": n, "m": m})
        return state.v.astype(np.int32)

    # ----------------------------------------------------------------------- steps

    def _several(self, depth: int, counters: tuple[str, ...]) -> Iterator[Step]:
        for _ in range(self._random.randint(2, 4)):
            choice = self._random.random()
            if depth and len(counters) < len(LOOPS) and choice < 0.45:
                yield self._loop(depth, counters)
            elif depth and counters and choice < 0.55:
                yield self._choice(depth, counters)
            elif choice < 0.8:
                array, first = self._random.choice(ARRAYS), self._random.randrange(WARPS)
                yield self._fill(array, first)
                second = (first + self._random.randint(1, WARPS - 1)) % WARPS
                yield self._use(array, second)
            elif choice < 0.86:
                yield self._fill_one(self._random.choice(ARRAYS), self._random.randrange(WARPS))
            elif choice < 0.9:
                yield self._use_by_two(self._random.choice(ARRAYS), self._random.randrange(2))
            elif choice < 0.96:
                yield self._use(self._random.choice(ARRAYS), self._random.randrange(WARPS))
            else:
                yield self._use_by_all(self._random.choice(ARRAYS))

    def _loop(self, depth: int, counters: tuple[str, ...]) -> Step:
        count = LOOPS[len(counters)]
        name = f"k{len(counters)}"
        inner = list(self._several(depth - 1, (*counters, name)))
        lines = [f"for {name} in range({count}):"]
        lines += _indented([line for step in inner for line in step.lines])

        def run(state: State, values: dict[str, int]) -> None:
            for number in range(values[count]):
                for step in inner:
                    step.run(state, values | {name: number})

        return Step(lines, run)

    def _choice(self, depth: int, counters: tuple[str, ...]) -> Step:
        inner = list(self._several(depth - 1, counters))
        rest = self._random.randrange(2)
        lines = [f"if {counters[-1]} % 2 == {rest}:"]
        lines += _indented([line for step in inner for line in step.lines])

        def run(state: State, values: dict[str, int]) -> None:
            if values[counters[-1]] % 2 == rest:
                for step in inner:
                    step.run(state, values)

        return Step(lines, run)

    def _arm(self, warp: int, lines: list[str]) -> list[str]:
        before = [line for _ in range(warp) for line in ("    case 1:", "        pass")]
        arm = ["    case 1:", "        l: int @ thread[1] = id()", *_indented(lines, 2)]
        return ["split warp:", *before, *arm]

    def _fill(self, array: str, warp: int) -> Step:
        store = ["partition s as own @ thread[1] at l:", "    own[0] = v + 1"]
        lines = [f"claim {array} as s @ warp[1]:", *_indented(self._arm(warp, store))]

        def run(state: State, values: dict[str, int]) -> None:
            state.arrays[array] = _wrapped(state.v[warp * 32 : warp * 32 + 32] + 1)

        return Step(lines, run)

    def _use(self, array: str, warp: int) -> Step:
        lines = self._arm(warp, [f"v = v * 3 + {array}[31 - l]"])

        def run(state: State, values: dict[str, int]) -> None:
            own = slice(warp * 32, warp * 32 + 32)
            state.v[own] = _wrapped(state.v[own] * 3 + state.arrays[array][::-1])

        return Step(lines, run)

    def _fill_one(self, array: str, warp: int) -> Step:
        """One thread stores one element."""
        before = [line for _ in range(warp) for line in ("        case 1:", "            pass")]
        lines = [
            f"claim {array} as s @ thread[1]:",
            "    split warp:",
            *before,
            "        case 1:",
            "            first thread[1]:",
            f"                s[{warp}] = v",
        ]

        def run(state: State, values: dict[str, int]) -> None:
            state.arrays[array][warp] = state.v[warp * 32]

        return Step(lines, run)

    def _use_by_two(self, array: str, half: int) -> Step:
        """Two warps read."""
        before = ["    case 2:", "        pass"] * half
        lines = ["split warp:", *before, "    case 2:", f"        v += {array}[t % 32] * 2"]

        def run(state: State, values: dict[str, int]) -> None:
            own = slice(half * 64, half * 64 + 64)
            state.v[own] = _wrapped(state.v[own] + 2 * np.tile(state.arrays[array], 2))

        return Step(lines, run)

    def _use_by_all(self, array: str) -> Step:
        def run(state: State, values: dict[str, int]) -> None:
            state.v = _wrapped(state.v + np.roll(np.tile(state.arrays[array], WARPS), -1))

        return Step([f"v += {array}[(t + 1) % 32]"], run)
