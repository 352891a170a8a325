"""Random kernels whose blocks are not made of whole warps, or of a number of threads that nothing
divides: stores, copies, groups, arms of warps, loops that do not run, ways out, early ends."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np

from checker.sync.mixed_touches import Array, indented
from checker.sync.random_programs import renamed

SIZES = (20, 48, 33, 80, 100, 96)
INPUTS = 512
Run = Callable[["Block"], bool]  # whether the kernel has ended
Step = tuple[list[str], Run]


class Block:
    """What a block has in hand: a value a thread, arrays of twice as many elements."""

    def __init__(self, size: int, inputs: Array, number: int) -> None:
        self.t = np.arange(size)
        self.inputs = inputs
        self.acc = inputs[:size].copy()
        self.arrays = {name: np.zeros(2 * size, np.int32) for name in "AB"}
        self.names = {"n": number, "k": 0}

    def index(self, expression: str) -> Array:
        """An expression's values, one a thread."""
        value = eval(expression.replace("/", "//"), {"t": self.t, **self.names})
        return np.broadcast_to(np.asarray(value, np.int32), self.t.shape)


class Kernel:
    """A kernel for X[512] and Y[threads], with `size` threads a block."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.name = f"parts_{seed}"
        self.size = self.random.choice(SIZES)
        self._names = 0
        self._way_out = 0
        size = self.size
        self.own = ("t", f"{size - 1} - t", "t * 2", f"(t + k) % {size}", f"t + {size // 2}")
        self.any = ("0", f"(t + 1) % {size}", "t / 2", f"{2 * size - 1} - t", "t ^ 1", "t / 8 * 8")
        steps = [self._step(0) for _ in range(self.random.randint(3, 6))]
        self._steps = [run for _, run in steps]
        body = [line for lines, _ in steps for line in lines]
        body += ["partition yb as y @ thread[1] at t:", "    y[0] = acc"]
        self.text = HEAD.format(name=self.name, size=size, twice=2 * size)
        self.text += "".join(f"    {line}\n" for line in body)
        self.text += TAIL.format(name=self.name, size=size)

    def run(self, inputs: Array, number: int) -> Array:
        """Y after the kernel."""
        block = Block(self.size, inputs, number)
        with np.errstate(over="ignore"):
            for step in self._steps:
                if step(block):
                    break
        return block.acc

    def _name(self) -> str:
        self._names += 1
        return f"p{self._names}"

    def _step(self, depth: int) -> Step:
        kinds = [self._store, self._load, self._load, self._copy, self._last_warp, self._groups]
        kinds += [self._one, self._bulk, self._warps, self._claimed]
        if self._way_out:  # copies and loads stand on every path
            kinds = [self._store, self._load, self._last_warp, self._groups, self._one, self._warps]
        if depth < 2:
            kinds += [lambda: self._loop(depth), lambda: self._loop(depth)]
            kinds += [lambda: self._choice(depth), lambda: self._left(depth)]
        if depth == 0:
            kinds += [self._early]
        return self.random.choice(kinds)()

    def _several(self, depth: int) -> tuple[list[str], Run]:
        steps = [self._step(depth) for _ in range(self.random.randint(1, 3))]

        def run(block: Block) -> bool:
            return any(step(block) for _, step in steps)

        return [line for lines, _ in steps for line in lines], run

    # ---------------------------------------------------------------- memory

    def _store(self) -> Step:
        array, where, view = self.random.choice("AB"), self.random.choice(self.own), self._name()
        below = self.random.choice((None, "n * 9", "17"))
        store = [f"{view}[0] = acc + 1"]
        if below:
            store = ["group thread[1]:", f"    if t < {below}:", *indented(store, 2)]

        def run(block: Block) -> bool:
            active = block.t < (block.index(below) if below else self.size)
            block.arrays[array][block.index(where)[active]] = block.acc[active] + 1
            return False

        return [f"partition {array} as {view} @ thread[1] at {where}:", *indented(store)], run

    def _load(self) -> Step:
        array, where = self.random.choice("AB"), self.random.choice(self.any)
        where = where if "^" not in where or self.size % 2 == 0 else "t"

        def run(block: Block) -> bool:
            block.acc = block.acc + block.arrays[array][block.index(where)]
            return False

        return [f"acc += {array}[{where}]"], run

    def _copy(self) -> Step:
        array, view = self.random.choice("AB"), self._name()
        where, source = self.random.choice(self.own[:3]), self.random.choice((0, 7, 100))
        from_x = f"X as x{view} @ thread[1] at t + {source}"
        lines = [
            f"partition {array} as async {view} @ thread[1] at {where}, {from_x}:",
            "    group thread[1]:",
            f"        cp_async({view}, x{view}, 4)",
        ]

        def run(block: Block) -> bool:
            block.arrays[array][block.index(where)] = block.inputs[block.t + source]
            return False

        return lines, run

    def _bulk(self) -> Step:
        array, view = self.random.choice("AB"), self._name()
        count, source = self.size // 4 * 4, self.random.choice((0, 4, 256))
        to = self.random.choice((0, self.size // 4 * 4))
        lines = [
            f"claim {array} as async {view} @ thread[1]:",
            "    first thread[1]:",
            f"        bulk_load({view}, {to}, X, {source}, {count * 4})",
        ]

        def run(block: Block) -> bool:
            block.arrays[array][to : to + count] = block.inputs[source : source + count]
            return False

        return lines, run

    def _one(self) -> Step:
        """The first thread stores what all read."""
        array, view = self.random.choice("AB"), self._name()
        place = self.random.randrange(self.size)
        lines = [f"claim {array} as {view} @ thread[1]:", "    first thread[1]:"]
        lines += [f"        {view}[{place}] = acc * 3", f"acc += {array}[{place}]"]

        def run(block: Block) -> bool:
            block.arrays[array][place] = block.acc[0] * np.int32(3)
            block.acc = block.acc + block.arrays[array][place]
            return False

        return lines, run

    # ---------------------------------------------------------------- parts of the block

    def _last_warp(self) -> Step:
        """What is behind the whole warps has an arm of its own."""
        whole, array, view = self.size // 32 * 32, self.random.choice("AB"), self._name()
        rest = self.size - whole
        if not whole or rest < 2:
            return self._load()
        lane, inner, shift = self._name(), self._name(), self.random.randrange(rest)
        lines = [
            f"claim {array} as {view} @ thread[{rest}]:",
            "    split thread:",
            f"        case {whole}:",
            "            pass",
            f"        case {rest}:",
            f"            {lane}: int @ thread[1] = id()",
            f"            partition {view} as {inner} @ thread[1] at {lane}:",
            f"                {inner}[0] = acc * 5",
            f"            acc += {view}[({lane} + {shift}) % {rest}]",
        ]

        def run(block: Block) -> bool:
            block.arrays[array][:rest] = block.acc[whole:] * 5
            block.acc = block.acc.copy()
            block.acc[whole:] += np.roll(block.arrays[array][:rest], -shift)
            return False

        return lines, run

    def _claimed(self) -> Step:
        """The first threads own an array."""
        array, view, lane, inner = self.random.choice("AB"), *(self._name() for _ in range(3))
        count = self.random.choice([each for each in (8, 16, 32, 64) if each <= self.size])
        lines = [
            f"claim {array} as {view} @ thread[{count}]:",
            f"    first thread[{count}]:",
            f"        {lane}: int @ thread[1] = id()",
            f"        partition {view} as {inner} @ thread[1] at {lane} * 2:",
            f"            {inner}[0] = acc - 4",
            f"        acc += {view}[({count} - 1 - {lane}) * 2]",
        ]

        def run(block: Block) -> bool:
            block.arrays[array][: 2 * count : 2] = block.acc[:count] - 4
            block.acc = block.acc.copy()
            block.acc[:count] += block.arrays[array][: 2 * count : 2][::-1]
            return False

        return lines, run

    def _groups(self) -> Step:
        """Groups of threads, each with its part and its number of iterations."""
        sizes = [each for each in (2, 3, 4, 5, 8, 10, 11, 16, 20) if self.size % each == 0]
        size, array = self.random.choice(sizes), self.random.choice("AB")
        group, view, lane, inner, count = (self._name() for _ in range(5))
        turn, trips = self.random.randrange(size), self.random.choice((None, f"{group} % 3", "n"))
        body = [
            f"partition {view} as {inner} @ thread[1] at {lane}:",
            f"    {inner}[0] = acc * 2",
            f"acc += {view}[({lane} + {turn}) % {size}]",
        ]
        if trips:
            body = [f"for {count} in range({trips}):", *indented(body)]
        lines = [
            f"{group}: int @ thread[{size}] = id()",
            f"partition {array} as {view} @ thread[{size}] at {group} * {size}:",
            f"    group thread[{size}]:",
            f"        {lane}: int @ thread[1] = id()",
            *indented(body, 2),
        ]

        def run(block: Block) -> bool:
            number = block.t // size
            most = {None: number * 0 + 1, "n": number * 0 + block.names["n"]}.get(trips, number % 3)
            cells = block.arrays[array]
            for each in range(int(most.max())):
                active = each < most
                cells[: self.size] = np.where(active, block.acc * 2, cells[: self.size])
                turned = cells[number * size + (block.t % size + turn) % size]
                block.acc = np.where(active, block.acc + turned, block.acc).astype(np.int32)
            return False

        return lines, run

    def _warps(self) -> Step:
        """A warp hands values on to the one behind it, the last may be a part."""
        if self.size < 33:
            return self._load()
        array, view, lane, inner = self.random.choice("AB"), *(self._name() for _ in range(3))
        rest = min(self.size - 32, 32)
        lines = [
            f"claim {array} as {view} @ thread[32]:",
            "    split thread:",
            "        case 32:",
            f"            {lane}: int @ thread[1] = id()",
            f"            partition {view} as {inner} @ thread[1] at {lane}:",
            f"                {inner}[0] = acc + 2",
            "split thread:",
            "    case 32:",
            "        pass",
            f"    case {rest}:",
            f"        acc += {array}[63 - t]",
        ]

        def run(block: Block) -> bool:
            block.arrays[array][:32] = block.acc[:32] + 2
            block.acc = block.acc.copy()
            block.acc[32 : 32 + rest] += block.arrays[array][31 - np.arange(rest)]
            return False

        return lines, run

    # ---------------------------------------------------------------- control

    def _loop(self, depth: int) -> Step:
        trips = self.random.choice(("n", "n - 1", "2"))
        inner, step = self._several(depth + 1)
        counter = "k" + self._name()

        def run(block: Block) -> bool:
            outer = block.names["k"]
            for number in range(int(block.index(trips)[0])):
                block.names["k"] = number
                step(block)
            block.names["k"] = outer
            return False

        body = ["    " + renamed(line, counter) for line in inner]
        return [f"for {counter} in range({trips}):", *body], run

    def _choice(self, depth: int) -> Step:
        self._way_out += 1
        (first, one), (second, other) = self._several(depth + 1), self._several(depth + 1)
        self._way_out -= 1
        array, place = self.random.choice("AB"), self.random.randrange(self.size)
        from_memory = self.random.random() < 0.5
        test = f"({array}[{place}] & 1) == 0" if from_memory else "n > 1"

        def run(block: Block) -> bool:
            holds = block.arrays[array][place] & 1 == 0 if from_memory else block.names["n"] > 1
            return one(block) if holds else other(block)

        return [f"if {test}:", *indented(first), "else:", *indented(second)], run

    def _left(self, depth: int) -> Step:
        self._way_out += 1
        (head, first), (tail, second) = self._several(depth + 1), self._several(depth + 1)
        self._way_out -= 1
        at, way = self.random.randrange(3), self.random.choice(("break", "continue"))
        counter = "k" + self._name()

        def run(block: Block) -> bool:
            outer = block.names["k"]
            for number in range(block.names["n"]):
                block.names["k"] = number
                first(block)
                if number == at and way == "break":
                    break
                if number != at:
                    second(block)
            block.names["k"] = outer
            return False

        lines = [*head, f"if {counter} == {at}:", f"    {way}", *tail]
        return [
            f"for {counter} in range(n):",
            *("    " + renamed(line, counter) for line in lines),
        ], run

    def _early(self) -> Step:
        """The kernel may end here: no loads stand behind that."""
        self._way_out += 1
        at, view = self.random.randrange(4), self._name()
        lines = [f"if n == {at}:", f"    partition yb as {view} @ thread[1] at t:"]
        lines += [f"        {view}[0] = acc", "    return"]
        return lines, lambda block: block.names["n"] == at


PART_FUNCTIONS = "from std.copy import bulk_load, cp_async\n\n"
HEAD = """\
@requires(block[1], thread[{size}])
@assume(aligned(X, 16))
def steps_of_{name}(X: ptr(const i32), yb: ptr(i32), n: int):
    k: int = 0
    t: int @ thread[1] = id()
    shared A: i32[{twice}] align 16
    shared B: i32[{twice}] align 16
    acc: i32 @ thread[1] = X[t]
    partition A as a0 @ thread[1] at t * 2, B as b0 @ thread[1] at t * 2:
        a0[0] = 0
        a0[1] = 0
        b0[0] = 0
        b0[1] = 0
"""
TAIL = """\

@requires(grid[1], block[1], thread[{size}])
@launch(threads = {size})
@assume(aligned(X, 16))
kernel {name}(X: ptr(const i32), Y: ptr(i32), n: int):
    b: int @ block[1] = id()
    partition Y as yb @ block[1] at b * {size}:
        group block[1]:
            steps_of_{name}(X, yb, n)

"""
