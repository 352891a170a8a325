"""Random kernels as text, each with what it computes: line by line, all threads at once."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.int32]
THREADS = 64
SIZE = 256

# Index expressions over the thread `t` and the loop counter `k`; of the first list, no two threads
# have one value in common.
DISTINCT = (
    "t", "63 - t", "t * 4", "t * 3 + 1", "t ^ 21", "t + 64", "t * 5 % 64", "t + 64 * k",
    "(t + k) % 64", "k % 2 * 64 + t", "t / 8 * 16 + t % 8", "t * 2 + n % 2",
)  # fmt: skip
SHARED = ("0", "t / 2", "(t + 1) % 64", "t ^ 1", "t ^ 31", "(t + n) % 64", "k", "t % 32 + k")

Effect = Callable[["Memory"], None]


class Memory:
    """What a run has in hand: one value a thread, two shared arrays, the loop counter, n."""

    def __init__(self, values: Array, number: int) -> None:
        self.acc = values.copy()
        self.arrays = {name: np.arange(SIZE, dtype=np.int32) * 3 for name in "AB"}
        self.k = 0
        self.n = number

    def index(self, expression: str) -> Array:
        names: dict[str, Any] = {"t": np.arange(THREADS), "k": self.k, "n": self.n}
        value = eval(expression.replace("/", "//"), names)
        return np.broadcast_to(np.asarray(value, dtype=np.int32), (THREADS,))


class Program:
    """A kernel's text, and its meaning."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._names = 0
        lines, self._effects = self._sequence(self.random.randint(3, 7), depth=0)
        body = "\n".join("            " + line for line in lines)
        self.text = HEAD + body + TAIL

    def result(self, values: Array, number: int) -> Array:
        """Y after the kernel, for X = values and n = number."""
        memory = Memory(values, number)
        for effect in self._effects:
            effect(memory)
        return memory.acc

    def _sequence(self, count: int, depth: int) -> tuple[list[str], list[Effect]]:
        lines: list[str] = []
        effects: list[Effect] = []
        for _ in range(count):
            more, effect = self._statement(depth)
            lines += more
            effects.append(effect)
        return lines, effects

    def _statement(self, depth: int) -> tuple[list[str], Effect]:
        kinds = [self._store, self._store, self._load, self._load, self._claim, self._warps]
        kinds += [self._call]
        if depth < 2:
            kinds += [lambda: self._loop(depth), lambda: self._choice(depth)]
        return self.random.choice(kinds)()

    def _name(self) -> str:
        self._names += 1
        return f"p{self._names}"

    def _array(self) -> str:
        return self.random.choice("AB")

    def _store(self) -> tuple[list[str], Effect]:
        array, index, view = self._array(), self.random.choice(DISTINCT), self._name()
        below = self.random.choice((None, 32, 5))
        lines = [f"partition {array} as {view} @ thread[1] at {index}:"]
        if below is None:
            lines.append(f"    {view}[0] = acc + 1")
        else:
            lines += ["    group thread[1]:", f"        if t < {below}:"]
            lines.append(f"            {view}[0] = acc + 1")

        def effect(memory: Memory) -> None:
            active = np.arange(THREADS) < (THREADS if below is None else below)
            memory.arrays[array][memory.index(index)[active]] = memory.acc[active] + 1

        return lines, effect

    def _load(self) -> tuple[list[str], Effect]:
        array, index = self._array(), self.random.choice(DISTINCT + SHARED)

        def effect(memory: Memory) -> None:
            memory.acc = memory.acc + memory.arrays[array][memory.index(index)]

        return [f"acc += {array}[{index}]"], effect

    def _claim(self) -> tuple[list[str], Effect]:
        """One warp owns the array and stores in it."""
        array, view, inner = self._array(), self._name(), self._name()
        offset = self.random.choice((0, 32, 70))
        lines = [
            f"claim {array} as {view} @ thread[32]:",
            "    first thread[32]:",
            f"        l{view}: int @ thread[1] = id()",
            f"        partition {view} as {inner} @ thread[1] at l{view} + {offset}:",
            f"            {inner}[0] = acc * 2",
        ]

        def effect(memory: Memory) -> None:
            memory.arrays[array][offset : offset + 32] = memory.acc[:32] * 2

        return lines, effect

    def _warps(self) -> tuple[list[str], Effect]:
        """Each warp stores in its own part and reads from it, in another order."""
        array, view, inner = self._array(), self._name(), self._name()
        turn = self.random.choice((1, 7, 31))
        lines = [
            f"w{view}: int @ thread[32] = id()",
            f"partition {array} as {view} @ thread[32] at w{view} * 32:",
            "    group thread[32]:",
            f"        l{view}: int @ thread[1] = id()",
            f"        partition {view} as {inner} @ thread[1] at l{view}:",
            f"            {inner}[0] = acc - 3",
            f"        acc += {view}[l{view} ^ {turn}]",
        ]

        def effect(memory: Memory) -> None:
            memory.arrays[array][:THREADS] = memory.acc - 3
            memory.acc = memory.acc + memory.arrays[array][np.arange(THREADS) ^ turn]

        return lines, effect

    def _call(self) -> tuple[list[str], Effect]:
        array, shift = self._array(), self.random.choice((0, 64))
        name = self._name()

        def effect(memory: Memory) -> None:
            memory.arrays[array][shift : shift + THREADS] = memory.acc
            memory.acc = memory.arrays[array][shift + THREADS - 1 - np.arange(THREADS)].copy()

        return [
            f"{name}: i32 @ thread[1] = reverse({array}, acc, {shift})",
            f"acc = {name}",
        ], effect

    def _loop(self, depth: int) -> tuple[list[str], Effect]:
        trips = self.random.choice(("n", "3", "2"))
        inside, effects = self._sequence(self.random.randint(1, 3), depth + 1)

        def effect(memory: Memory) -> None:
            outer = memory.k
            for number in range(int(trips.replace("n", str(memory.n)))):
                memory.k = number
                for inner in effects:
                    inner(memory)
            memory.k = outer

        counter = f"k{self._name()}"
        lines = [f"for {counter} in range({trips}):"]
        return lines + ["    " + _renamed(line, counter) for line in inside], effect

    def _choice(self, depth: int) -> tuple[list[str], Effect]:
        first, taken = self._sequence(self.random.randint(1, 2), depth + 1)
        second, other = self._sequence(self.random.randint(1, 2), depth + 1)

        def effect(memory: Memory) -> None:
            for inner in taken if memory.n > 1 else other:
                inner(memory)

        lines = ["if n > 1:", *("    " + line for line in first)]
        return [*lines, "else:", *("    " + line for line in second)], effect


def _renamed(line: str, counter: str) -> str:
    """The counter's name in a loop's body (the innermost loop wins)."""
    words = line.replace("(", "( ").replace(")", " )").replace("]", " ]").replace("[", "[ ")
    words = words.replace(":", " :")
    return " ".join(counter if word == "k" else word for word in words.split(" "))


HEAD = """\
@requires(block[1], thread[64])
def reverse(p: ptr(i32), v: i32 @ thread[1], shift: int) -> i32 @ thread[1]:
    t: int @ thread[1] = id()
    partition p as s @ thread[1] at t + shift:
        s[0] = v
    r: i32 @ thread[1] = p[63 - t + shift]
    return r

@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
kernel mixed(X: ptr(const i32), Y: ptr(i32), n: int):
    k: int = 0
    partition Y as yb @ block[1] at id(block[1]) * 64:
        group block[1]:
            t: int @ thread[1] = id()
            shared A: i32[256]
            shared B: i32[256]
            acc: i32 @ thread[1] = X[t]
            partition A as a0 @ thread[1] at t * 4, B as b0 @ thread[1] at t * 4:
                for i in range(4):
                    a0[i] = (t * 4 + i) * 3
                    b0[i] = (t * 4 + i) * 3
"""
TAIL = """
            partition yb as y @ thread[1] at t:
                y[0] = acc
"""
