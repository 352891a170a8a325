"""Random kernels that mix constructs: what `random_programs` writes, and besides bytes that are
used again, arrays of each group, loops of different lengths side by side, conditions from memory,
ways out of loops, atomic updates, temporaries of functions, pointers that change places, copies
that complete later, pipelines, engines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from checker.sync.mixed_copies import Copies
from checker.sync.mixed_touches import Array, Made, MixMemory, T, Touches, indented
from checker.sync.random_programs import FUNCTIONS, SIZE, THREADS, Effect, Memory, renamed


class Mix(Touches, Copies):
    """A kernel for X[1024], Y[128] and Z[256], built for a target with engines."""

    memory = MixMemory

    def __init__(self, seed: int) -> None:
        self._conditions = 0
        super().__init__(seed)
        self.name = f"mix_{seed}"
        _, _, rest = self.text.partition(FIRST_LINE)
        self.text = HEAD.format(name=self.name) + FIRST_LINE + rest

    def run(self, values: Array, number: int) -> MixMemory:
        """What is in memory after the kernel, for X = values and n = number."""
        memory = self.memory(values, number)
        with np.errstate(over="ignore"):
            for effect in self._effects:
                effect(memory)
        return memory

    def _statement(self, depth: int) -> Made:
        if self.random.random() < 0.35:
            return super()._statement(depth)
        kinds: list[Callable[[], Made]] = [
            self._own,
            self._atomic,
            self._one,
            self._warp_stores,
            self._warp_loads,
            self._temporaries,
            self._move,
            self._pointers,
            self._merged,
            self._nested,
            self._vector,
            self._passing,
        ]
        if depth < 2:
            inner = (self._again, self._while, self._decide, self._left)
            kinds += [lambda one=one: one(depth) for one in inner for _ in range(2)]
        if not self._conditions:  # scopes stand on every path
            kinds += [self._copy, self._copy, self._copy, self._pipeline]
            kinds += [self._bulk_load, self._bulk_store, self._bulk_store]
        return self.random.choice(kinds)()

    def _under(self, count: int, depth: int) -> tuple[list[str], list[Effect]]:
        """Statements that do not run on every path."""
        self._conditions += 1
        found = self._sequence(count, depth)
        self._conditions -= 1
        return found

    def _choice(self, depth: int) -> Made:
        self._conditions += 1
        found = super()._choice(depth)
        self._conditions -= 1
        return found

    # ---------------------------------------------------------------- memory of its own

    def _again(self, depth: int) -> Made:
        """An array whose bytes others use again."""
        array, view = "S" + self._name(), self._name()
        inner, effects = self._sequence(self.random.randint(0, 1), depth + 1)
        shift = self.random.choice((0, 64, 384))
        read = self.random.choice(("127 - t", "t", "t ^ 33", "(t + 7) % 128"))
        before = self.random.choice((False, True))
        lines = [f"shared {array}: i32[{shift + 128}]"]
        lines += [f"partition {array} as {view} @ thread[1] at t + {shift}:"]
        lines += [f"    {view}[0] = acc * 3"]
        load = [f"acc += {array}[({read}) + {shift}]"]
        lines += [*load, *inner] if before else [*inner, *load]

        def effect(memory: Memory) -> None:
            stored = memory.acc * 3
            if before:
                memory.acc = memory.acc + stored[memory.index(read)]
            for each in effects:
                each(memory)
            if not before:
                memory.acc = memory.acc + stored[memory.index(read)]

        return ["group block[1]:", *indented(lines)], effect

    def _own(self) -> Made:
        """Each group has an array, and goes around a loop as often as it likes."""
        size = self.random.choice((2, 4, 8, 16, 32, 64, 128))
        group, array, lane, view, count = (self._name() for _ in range(5))
        trips = self.random.choice((None, f"{group} % 3", "n"))
        turn = self.random.choice((1, size // 2, size - 1))
        if size == 128 and trips is not None:
            trips = "n"
        outside = self.random.random() < 0.5
        lines = [] if size == 128 else [f"{group}: int @ thread[{size}] = id()"]
        declare = f"shared {array}: i32[{size}]"
        if outside:
            lines.append(f"{declare} @ thread[{size}]")
        lines.append(f"group thread[{size}]:")
        if not outside:
            lines.append(f"    {declare}")
        lines.append(f"    {lane}: int @ thread[1] = id()")
        body = [
            f"partition {array} as {view} @ thread[1] at {lane}:",
            f"    {view}[0] = acc - 3",
            f"acc += {array}[{lane} ^ {turn}]",
        ]
        if trips is not None:
            body = [f"for {count} in range({trips}):", *indented(body)]
        lines += indented(body)

        def effect(memory: Memory) -> None:
            most = {None: np.ones(THREADS, int), "n": np.full(THREADS, memory.n)}.get(
                trips, T // size % 3
            )
            for number in range(int(most.max())):
                active = number < most
                stored = memory.acc - 3
                acc = memory.acc + stored[T ^ turn]
                memory.acc = np.where(active, acc, memory.acc).astype(np.int32)

        return lines, effect

    # ---------------------------------------------------------------- control

    def _while(self, depth: int) -> Made:
        array, place, count = self._array(), self.random.randrange(SIZE), self._name()
        inner, effects = self._sequence(self.random.randint(1, 2), depth + 1)
        lines = [f"{count}: int = 0", f"while {count} < {array}[{place}] % 3:", *indented(inner)]
        lines.append(f"    {count} += 1")

        def effect(memory: Memory) -> None:
            number = 0
            while number < _remainder(int(memory.arrays[array][place]), 3):
                for each in effects:
                    each(memory)
                number += 1

        return lines, effect

    def _decide(self, depth: int) -> Made:
        """A condition from memory."""
        one, two = self._array(), self._array()
        place, other = self.random.randrange(256), self.random.randrange(256)
        first, taken = self._under(self.random.randint(1, 2), depth + 1)
        second, left = self._under(self.random.randint(0, 1), depth + 1)

        def effect(memory: Memory) -> None:
            holds = memory.arrays[one][place] % 2 == memory.arrays[two][other] % 2
            for each in taken if holds else left:
                each(memory)

        lines = [f"if ({one}[{place}] & 1) == ({two}[{other}] & 1):", *indented(first)]
        return lines + (["else:", *indented(second)] if second else []), effect

    def _left(self, depth: int) -> Made:
        """A loop with a way out, or to its end."""
        trips = self.random.choice(("n", "3", "2"))
        head, first = self._sequence(self.random.randint(1, 2), depth + 1)
        tail, second = self._under(self.random.randint(1, 2), depth + 1)
        is_break, at = self.random.choice((False, True)), self.random.choice((0, 1))
        counter = "k" + self._name()
        array, place = self._array(), self.random.randrange(128)
        from_memory = self.random.random() < 0.4
        test = f"({array}[{place}] & 3) == {at}" if from_memory else f"{counter} == {at}"
        more, third = ([], []) if self.random.random() < 0.5 else self._under(1, depth + 1)

        def effect(memory: Memory) -> None:
            outer = memory.k
            for number in range(int(trips.replace("n", str(memory.n)))):
                memory.k = number
                for each in first:
                    each(memory)
                holds = (memory.arrays[array][place] & 3) == at if from_memory else number == at
                if holds:
                    for each in third:
                        each(memory)
                    if is_break:
                        break
                    continue
                for each in second:
                    each(memory)
            memory.k = outer

        way = "break" if is_break else "continue"
        lines = [*head, f"if {test}:", *indented([*more, way]), *tail]
        body = ["    " + renamed(line, counter) for line in lines]
        return [f"for {counter} in range({trips}):", *body], effect


def _remainder(value: int, by: int) -> int:
    """As C takes it."""
    return int(np.fmod(value, by))


MIX_FUNCTIONS = (
    """\
from std.atomic import add
from std.copy import bulk_load, bulk_store, cp_async_16

"""
    + FUNCTIONS
    + """\
@requires(block[1], thread[128])
def total(v: i32 @ thread[1]) -> i32 @ thread[1]:
    t: int @ thread[1] = id()
    shared temp: i32[128]
    partition temp as s @ thread[1] at t:
        s[0] = v
    r: i32 @ thread[1] = temp[(t + 3) % 128] + temp[t ^ 64]
    return r

@requires(block[1], thread[128])
def move(x: ptr(const i32), y: ptr(i32), shift: int):
    t: int @ thread[1] = id()
    partition y as s @ thread[1] at t + shift:
        s[0] = x[127 - t]

@requires(block[1], thread[128])
def both(x: ptr(const i32), y: ptr(const i32)) -> i32 @ thread[1]:
    t: int @ thread[1] = id()
    return x[t] + y[127 - t]

"""
)
HEAD = """\
@requires(grid[1], block[1], thread[128])
@launch(threads = 128)
@assume(aligned(X, 16), aligned(Z, 16))
kernel {name}(X: ptr(const i32), Y: ptr(i32), Z: ptr(i32), n: int):
    k: int = 0
    partition Y as yb @ block[1] at id(block[1]) * 128, Z as zb @ block[1] at id(block[1]) * 256:
        group block[1]:
            t: int @ thread[1] = id()
            shared A: i32[1024]
            shared B: i32[1024]
            shared Q: i32[2][1024]
"""
FIRST_LINE = "            acc: i32 @ thread[1] = X[t]\n"
