"""Random kernels as text, each with what it computes: line by line, all threads at once."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.int32]
THREADS = 128
SIZE = 1024
ARRAYS = ("A", "B", "Q[0]", "Q[1]")

# Index expressions over the thread `t` and the loop counter `k`; of the first list, no two threads
# have one value in common.
DISTINCT = (
    "t", "127 - t", "t * 4", "t * 3 + 1", "t ^ 21", "t + 64", "t * 5 % 128", "t + 128 * k",
    "(t + k) % 128", "k % 2 * 128 + t", "t / 8 * 16 + t % 8", "t * 2 + n % 2", "k * n * 32 + t",
)  # fmt: skip
SHARED = (
    "0", "t / 2", "(t + 1) % 128", "t ^ 1", "t ^ 31", "t ^ 64", "(t + n) % 128", "k",
    "t % 32 + k", "t % 64",
)  # fmt: skip

Effect = Callable[["Memory"], None]


class Memory:
    """What a run has in hand: one value a thread, the shared arrays, the loop counter, n."""

    def __init__(self, values: Array, number: int) -> None:
        self.acc = values.copy()
        self.arrays = {name: np.arange(SIZE, dtype=np.int32) * 3 for name in ARRAYS}
        self.k = 0
        self.n = number

    def index(self, expression: str) -> Array:
        names: dict[str, Any] = {"t": np.arange(THREADS), "k": self.k, "n": self.n}
        value = eval(expression.replace("/", "//"), names)
        return np.broadcast_to(np.asarray(value, dtype=np.int32), (THREADS,))


class Program:
    """A kernel's text, and its meaning. With odd seeds threads go through loops by themselves,
    too."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.name = f"mixed_{seed}"
        self._has_steps = bool(seed % 2)
        self._names = 0
        lines, self._effects = self._sequence(self.random.randint(3, 7), depth=0)
        body = "\n".join("            " + line for line in lines)
        self.text = HEAD.format(name=self.name) + body + TAIL

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
        kinds = [self._store, self._store, self._load, self._load, self._claim, self._groups]
        kinds += [self._call, self._arms, self._swap, self._flip]
        kinds += [self._steps, self._steps] if self._has_steps else []
        if depth < 2:
            kinds += [lambda: self._loop(depth), lambda: self._choice(depth)]
        return self.random.choice(kinds)()

    def _name(self) -> str:
        self._names += 1
        return f"p{self._names}"

    def _array(self) -> str:
        return self.random.choice(ARRAYS)

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

    def _steps(self) -> tuple[list[str], Effect]:
        """Each thread goes through elements of its own, in steps of the block or of two."""
        array, view = self._array(), self._name()
        place, step = self.random.choice((0, 64)), self.random.choice((THREADS, 2 * THREADS))
        stop = self.random.choice(("n * 128", "n * 100 + 50", "512"))
        is_read = self.random.choice((False, True))
        element = f"{view}[i{view} - t - {place}]"
        lines = [
            f"partition {array} as {view} @ thread[1] at t + {place}:",
            "    group thread[1]:",
            f"        for i{view} in range(t + {place}, {stop}, {step}):",
            f"            acc += {element}"
            if is_read
            else f"            {element} = acc - i{view}",
        ]

        def effect(memory: Memory) -> None:
            end = int(eval(stop, {"n": memory.n}))
            for first in range(place, end, step):
                own = first + np.arange(THREADS, dtype=np.int32)
                active = own < end
                cells = memory.arrays[array]
                if is_read:
                    memory.acc = memory.acc.copy()
                    memory.acc[active] += cells[own[active]]
                else:
                    cells[own[active]] = (memory.acc - own)[active]

        return lines, effect

    def _groups(self) -> tuple[list[str], Effect]:
        """Each group stores in its own part and reads from it, in another order."""
        array, view, inner = self._array(), self._name(), self._name()
        size = self.random.choice((8, 16, 32, 64))
        turn = self.random.choice((1, size // 2, size - 1))
        lines = [
            f"w{view}: int @ thread[{size}] = id()",
            f"partition {array} as {view} @ thread[{size}] at w{view} * {size}:",
            f"    group thread[{size}]:",
            f"        l{view}: int @ thread[1] = id()",
            f"        partition {view} as {inner} @ thread[1] at l{view}:",
            f"            {inner}[0] = acc - 3",
            f"        acc += {view}[l{view} ^ {turn}]",
        ]

        def effect(memory: Memory) -> None:
            memory.arrays[array][:THREADS] = memory.acc - 3
            memory.acc = memory.acc + memory.arrays[array][np.arange(THREADS) ^ turn]

        return lines, effect

    def _arms(self) -> tuple[list[str], Effect]:
        """Two arms of a split work side by side, each on an array of its own."""
        first, second = self.random.sample(ARRAYS, 2)
        views = [self._name() for _ in range(4)]
        lines = [
            f"claim {first} as {views[0]} @ thread[64], {second} as {views[1]} @ thread[32]:",
            "    split thread:",
            "        case 64:",
            f"            l{views[0]}: int @ thread[1] = id()",
            f"            partition {views[0]} as {views[2]} @ thread[1] at l{views[0]}:",
            f"                {views[2]}[0] = acc + 7",
            f"            acc += {views[0]}[63 - l{views[0]}]",
            "        case 32:",
            f"            l{views[1]}: int @ thread[1] = id()",
            f"            partition {views[1]} as {views[3]} @ thread[1] at l{views[1]} * 2:",
            f"                {views[3]}[0] = acc + 9",
            f"            acc += {views[1]}[l{views[1]} ^ 6]",
        ]

        def effect(memory: Memory) -> None:
            one, two = memory.arrays[first], memory.arrays[second]
            one[:64] = memory.acc[:64] + 7
            two[:64:2] = memory.acc[64:96] + 9
            memory.acc = memory.acc.copy()
            memory.acc[:64] += one[63 - np.arange(64)]
            memory.acc[64:96] += two[np.arange(32) ^ 6]

        return lines, effect

    def _swap(self) -> tuple[list[str], Effect]:
        """A scan step through pointers that change places."""
        calls = self.random.choice((1, 2))
        name = self._name()

        def effect(memory: Memory) -> None:
            for _ in range(calls):
                a = memory.arrays["A"][:THREADS].copy()
                b = memory.arrays["B"]
                b[:THREADS] = a + np.concatenate([np.zeros(1, np.int32), a[:-1]])
                again = b[:THREADS].copy()
                memory.arrays["A"][:THREADS] = again + np.concatenate(
                    [np.zeros(2, np.int32), again[:-2]]
                )
            memory.acc = memory.arrays["A"][THREADS - 1 - np.arange(THREADS)].copy()

        call = f"sums(A, B, {calls})"
        return [f"{name}: i32 @ thread[1] = {call}", f"acc = {name}"], effect

    def _flip(self) -> tuple[list[str], Effect]:
        """A function of a warp, with a barrier of its own, on each warp's part of an array."""
        array, view = self._array(), self._name()
        lines = [
            f"w{view}: int @ thread[32] = id()",
            f"partition {array} as {view} @ thread[32] at w{view} * 32:",
            f"    acc = flip({view}, acc)",
        ]

        def effect(memory: Memory) -> None:
            memory.arrays[array][:THREADS] = memory.acc
            memory.acc = memory.arrays[array][np.arange(THREADS) ^ 31].copy()

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
        return lines + ["    " + renamed(line, counter) for line in inside], effect

    def _choice(self, depth: int) -> tuple[list[str], Effect]:
        first, taken = self._sequence(self.random.randint(1, 2), depth + 1)
        second, other = self._sequence(self.random.randint(1, 2), depth + 1)

        def effect(memory: Memory) -> None:
            for inner in taken if memory.n > 1 else other:
                inner(memory)

        lines = ["if n > 1:", *("    " + line for line in first)]
        return [*lines, "else:", *("    " + line for line in second)], effect


def renamed(line: str, counter: str) -> str:
    """The counter's name in a loop's body (the innermost loop wins)."""
    words = line.replace("(", "( ").replace(")", " )").replace("]", " ]").replace("[", "[ ")
    words = words.replace(":", " :")
    return " ".join(counter if word == "k" else word for word in words.split(" "))


FUNCTIONS = """\
@requires(block[1], thread[128])
def reverse(p: ptr(i32), v: i32 @ thread[1], shift: int) -> i32 @ thread[1]:
    t: int @ thread[1] = id()
    partition p as s @ thread[1] at t + shift:
        s[0] = v
    r: i32 @ thread[1] = p[127 - t + shift]
    return r

@requires(thread[32])
def flip(p: ptr(i32), v: i32 @ thread[1]) -> i32 @ thread[1]:
    l: int @ thread[1] = id()
    partition p as s @ thread[1] at l:
        s[0] = v
    r: i32 @ thread[1] = p[31 - l]
    return r

@requires(block[1], thread[128])
def sums(x: ptr(i32), y: ptr(i32), times: int) -> i32 @ thread[1]:
    t: int @ thread[1] = id()
    for i in range(times):
        stride: int @ block[1] = 1
        while stride < 4:
            partition y as b @ thread[1] at t:
                b[0] = x[t] + (x[t - stride] if t >= stride else 0)
            x, y = y, x
            stride *= 2
    r: i32 @ thread[1] = x[127 - t]
    return r

"""
HEAD = """\
@requires(grid[1], block[1], thread[128])
@launch(threads = 128)
kernel {name}(X: ptr(const i32), Y: ptr(i32), n: int):
    k: int = 0
    partition Y as yb @ block[1] at id(block[1]) * 128:
        group block[1]:
            t: int @ thread[1] = id()
            shared A: i32[1024]
            shared B: i32[1024]
            shared Q: i32[2][1024]
            acc: i32 @ thread[1] = X[t]
            partition A as a0 @ thread[1] at t * 8, B as b0 @ thread[1] at t * 8:
                for i in range(8):
                    a0[i] = (t * 8 + i) * 3
                    b0[i] = (t * 8 + i) * 3
            partition Q[0] as a1 @ thread[1] at t * 8, Q[1] as b1 @ thread[1] at t * 8:
                for i in range(8):
                    a1[i] = (t * 8 + i) * 3
                    b1[i] = (t * 8 + i) * 3
"""
TAIL = """
            partition yb as y @ thread[1] at t:
                y[0] = acc

"""
