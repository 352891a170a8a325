"""What random kernels that mix constructs are made of: programs whose statements run in NumPy, and
the kinds of statements that touch memory in other ways than those of `random_programs`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from checker.sync.random_programs import ARRAYS, THREADS, Effect, Memory, Program

Array = npt.NDArray[np.int32]
Made = tuple[list[str], Effect]
INPUTS = 1024  # elements of X
OUTPUTS = 256  # elements of Z
T = np.arange(THREADS)


class MixMemory(Memory):
    """A run's memory with the whole of X, and Z, which engines store to."""

    def __init__(self, values: Array, number: int) -> None:
        super().__init__(values[:THREADS], number)
        self.inputs = values
        self.outputs = np.zeros(OUTPUTS, np.int32)

    def arguments(self) -> dict[str, Array]:
        """The arrays that a launch takes besides X, as they are before it."""
        return {"Y": np.zeros(THREADS, np.int32), "Z": self.outputs.copy()}

    def results(self) -> dict[str, Array]:
        """What a launch leaves in its arrays when these are its values."""
        return {"Y": self.acc, "Z": self.outputs}


def indented(lines: list[str], by: int = 1) -> list[str]:
    """Lines of a body."""
    return ["    " * by + line for line in lines]


class Touches(Program):
    """Atomic updates, arms, groups in groups, calls, pointers."""

    def _atomic(self) -> Made:
        array = self._array()
        where = self.random.choice(("t * 5 % 16", "t / 2", "127 - t", "0"))

        def effect(memory: Memory) -> None:
            np.add.at(memory.arrays[array], memory.index(where), memory.acc)

        lines = ["group thread[1]:", f"    add[relaxed, block[1]]({array}, {where}, acc)"]
        return lines, effect

    def _one(self) -> Made:
        """One thread of a warp stores."""
        array, view, warp = self._array(), self._name(), self.random.randrange(4)
        place = self.random.randrange(256)
        before = [f"        case {warp}:", "            pass"] if warp in (1, 2) else []
        if warp == 3:
            before = ["        case 2:", "            pass", "        case 1:", "            pass"]
        lines = [
            f"claim {array} as {view} @ thread[1]:",
            "    split warp:",
            *before,
            "        case 1:",
            "            first thread[1]:",
            f"                {view}[{place}] = acc",
        ]

        def effect(memory: Memory) -> None:
            memory.arrays[array][place] = memory.acc[32 * warp]

        return lines, effect

    def _arm(self, warp: int, lines: list[str]) -> list[str]:
        before = [line for _ in range(warp) for line in ("    case 1:", "        pass")]
        return ["split warp:", *before, "    case 1:", *indented(lines, 2)]

    def _warp_stores(self) -> Made:
        array, view, inner, lane = self._array(), *(self._name() for _ in range(3))
        warp, offset = self.random.randrange(4), self.random.choice((0, 32, 100))
        store = [
            f"{lane}: int @ thread[1] = id()",
            f"partition {view} as {inner} @ thread[1] at {lane} + {offset}:",
            f"    {inner}[0] = acc + 11",
        ]
        lines = [f"claim {array} as {view} @ warp[1]:", *indented(self._arm(warp, store))]

        def effect(memory: Memory) -> None:
            own = memory.acc[warp * 32 : warp * 32 + 32]
            memory.arrays[array][offset : offset + 32] = own + 11

        return lines, effect

    def _warp_loads(self) -> Made:
        array, warp = self._array(), self.random.randrange(4)
        where = self.random.choice(("t", "127 - t", "t % 32", "t ^ 5"))

        def effect(memory: Memory) -> None:
            own = slice(warp * 32, warp * 32 + 32)
            memory.acc = memory.acc.copy()
            memory.acc[own] += memory.arrays[array][memory.index(where)[own]]

        return self._arm(warp, [f"acc += {array}[{where}]"]), effect

    def _nested(self) -> Made:
        array = self._array()
        big, small = self.random.choice(((64, 16), (64, 32), (32, 8), (128, 64), (16, 4)))
        g, h, v, u, w, lane, m = (self._name() for _ in range(7))
        loops = self.random.random() < 0.4 and big < 128
        inner = [
            f"{h}: int @ thread[{small}] = id()",
            f"partition {v} as {u} @ thread[{small}] at {h} * {small}:",
            f"    group thread[{small}]:",
            f"        {lane}: int @ thread[1] = id()",
            f"        partition {u} as {w} @ thread[1] at {lane}:",
            f"            {w}[0] = acc",
            f"        acc += {u}[{small - 1} - {lane}]",
            f"acc += {v}[{big - 1} - {m}]",
        ]
        if loops:
            inner = [f"for i{m} in range({g} % 2 + 1):", *indented(inner)]
        lines = [
            f"{g}: int @ thread[{big}] = {'id()' if big < 128 else '0'}",
            f"partition {array} as {v} @ thread[{big}] at {g} * {big}:",
            f"    group thread[{big}]:",
            f"        {m}: int @ thread[1] = id()",
            *indented(inner, 2),
        ]

        def effect(memory: Memory) -> None:
            cells = memory.arrays[array]
            rounds = T // big % 2 + 1 if loops else np.ones(THREADS, int)
            for number in range(int(rounds.max())):
                active = number < rounds
                cells[:THREADS] = np.where(active, memory.acc, cells[:THREADS])
                acc = memory.acc + cells[T ^ (small - 1)]
                acc = acc + cells[T ^ (big - 1)]
                memory.acc = np.where(active, acc, memory.acc).astype(np.int32)

        return lines, effect

    # ---------------------------------------------------------------- calls and pointers

    def _temporaries(self) -> Made:
        twice = self.random.random() < 0.5

        def total(v: Array) -> Array:
            return v[(T + 3) % THREADS] + v[T ^ 64]

        def effect(memory: Memory) -> None:
            acc = total(memory.acc)
            memory.acc = acc + total(memory.acc * 2) if twice else acc

        name = self._name()
        lines = [f"{name}: i32 @ thread[1] = total(acc)"]
        return [*lines, f"acc = {name}" + (" + total(acc * 2)" if twice else "")], effect

    def _move(self) -> Made:
        """Arrays as arguments: two, or one twice."""
        one, two = self.random.sample(ARRAYS, 2)
        if self.random.random() < 0.4:

            def both(memory: Memory) -> None:
                cells = memory.arrays[one]
                memory.acc = memory.acc + cells[T] + cells[127 - T]

            return [f"acc += both({one}, {one})"], both
        where = self.random.choice((0, 64, 128))

        def effect(memory: Memory) -> None:
            memory.arrays[two][T + where] = memory.arrays[one][127 - T]

        return [f"move({one}, {two}, {where})"], effect

    def _pointers(self) -> Made:
        one, two = self.random.sample(ARRAYS, 2)
        p, q, v, i = (self._name() for _ in range(4))
        swaps = self.random.random() < 0.8
        lines = [
            f"{p}: ptr(i32) = {one}",
            f"{q}: ptr(i32) = {two}",
            f"for {i} in range(n):",
            f"    partition {q} as {v} @ thread[1] at t:",
            f"        {v}[0] = {p}[(t + 1) % 128] + acc",
            *([f"    {p}, {q} = {q}, {p}"] if swaps else []),
            f"acc += {p}[t ^ 1]",
        ]

        def effect(memory: Memory) -> None:
            source, target = one, two
            for _ in range(memory.n):
                values = memory.arrays[source][(T + 1) % THREADS] + memory.acc
                memory.arrays[target][:THREADS] = values
                if swaps:
                    source, target = target, source
            memory.acc = memory.acc + memory.arrays[source][T ^ 1]

        return lines, effect

    def _merged(self) -> Made:
        """A pointer that stands for either of two arrays."""
        one, two = self.random.sample(ARRAYS, 2)
        p, v = self._name(), self._name()
        lines = [
            f"{p}: ptr(i32) = {one}",
            "if n > 1:",
            f"    {p} = {two}",
            f"partition {p} as {v} @ thread[1] at 127 - t:",
            f"    {v}[0] = acc",
            f"acc += {self.random.choice((p, one, two))}[t]",
        ]
        read = lines[-1].split()[-1].split("[t]")[0]

        def effect(memory: Memory) -> None:
            target = two if memory.n > 1 else one
            memory.arrays[target][127 - T] = memory.acc
            source = target if read == p else read
            memory.acc = memory.acc + memory.arrays[source][T]

        return lines, effect

    def _vector(self) -> Made:
        array, v = self._array(), self._name()
        lines = [
            f"{v}: vec(i32, 4) @ thread[1] = load_vec[4]({array}, (127 - t) * 4)",
            f"acc += {v}.x - {v}.w",
        ]

        def effect(memory: Memory) -> None:
            cells = memory.arrays[array]
            memory.acc = memory.acc + cells[(127 - T) * 4] - cells[(127 - T) * 4 + 3]

        return lines, effect
