"""Random kernels that move boxes of two tensor maps: over one another, apart, out of the tensor, by
several threads, in loops, functions and pipelines, among everything that `random_copies` writes."""

from __future__ import annotations

import numpy as np

from checker.sync.mixed_touches import Array, Made, MixMemory, T, indented
from checker.sync.random_copies import COPY_FUNCTIONS, Copying
from checker.sync.random_programs import Memory

SHAPE = (24, 48)  # of the tensor of each map
BOXES = {"M": (8, 16), "N": (4, 32)}  # rows, columns: 128 elements each
COLUMNS = ("0", "0", "16", "8", "32", "40", "k % 2 * 16", "n % 3 * 16", "k / 2 * 16")
ROWS = ("0", "0", "8", "4", "16", "20", "k * 8", "k % 2 * 8", "n * 4", "k % 3 * 4")
PARTS = (0, 128, 512, 640)  # where in an array a box lies


class TensorMemory(MixMemory):
    """A run's memory with what the maps describe."""

    def __init__(self, values: Array, number: int) -> None:
        super().__init__(values, number)
        rows, columns = SHAPE
        first = values[: rows * columns // 2]
        self.maps = {
            name: np.resize(first * by, SHAPE).astype(np.int32) for name, by in (("M", 5), ("N", 7))
        }

    def arguments(self) -> dict[str, Array]:
        return super().arguments() | {name: each.copy() for name, each in self.maps.items()}

    def results(self) -> dict[str, Array]:
        return super().results() | self.maps

    def place(self, expression: str) -> int:
        """A coordinate, alike for all threads."""
        return int(self.index(expression)[0])

    def box(self, name: str, column: int, row: int) -> Array:
        """A box's 128 elements; zeros stand for what lies outside."""
        height, width = BOXES[name]
        found = np.zeros((height, width), np.int32)
        inside = self.maps[name][row : row + height, column : column + width]
        found[: inside.shape[0], : inside.shape[1]] = inside
        return found.ravel()

    def put(self, name: str, column: int, row: int, values: Array) -> None:
        """A box takes 128 elements; those outside are dropped."""
        height, width = BOXES[name]
        inside = self.maps[name][row : row + height, column : column + width]
        inside[...] = values.reshape(height, width)[: inside.shape[0], : inside.shape[1]]


class Boxes(Copying):
    """A kernel for X[1024], Y[128], Z[256] and the maps M and N."""

    memory = TensorMemory

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.text = self.text.replace(self.name, f"boxes_{seed}").replace(" Z: ptr(i32)", MAPS, 1)
        self.text = self.text.replace("[1024]\n", "[1024] align 128\n")
        for each in (128, 256):  # code that knows no other block is for a single one
            self.text = self.text.replace(f" at id(block[1]) * {each}", "", 1)
        self.name = f"boxes_{seed}"

    def _statement(self, depth: int) -> Made:
        if self._conditions or self.random.random() < 0.45:
            return super()._statement(depth)
        kinds = [self._box_load, self._box_load, self._box_store, self._box_store, self._box_arm]
        kinds += [self._box_call, self._changed, self._each_warp, self._ring]
        return self.random.choice(kinds)()

    def _place(self) -> tuple[str, str, str]:
        name = self.random.choice("MMN")
        return name, self.random.choice(COLUMNS), self.random.choice(ROWS)

    def _box_load(self) -> Made:
        array, view, (name, x, y) = self._array(), self._name(), self._place()
        at, below = self.random.choice(PARTS), self.random.choice((None, None, "n > 1"))
        load = [f"tma_load({view}, {name}, {x}, {y})"]
        lines = [f"claim {array} as async {view} @ thread[1] at {at}:", "    first thread[1]:"]
        lines += indented([f"if {below}:", *indented(load)] if below else load, 2)

        def effect(memory: Memory) -> None:
            assert isinstance(memory, TensorMemory)
            if below is None or memory.n > 1:
                found = memory.box(name, memory.place(x), memory.place(y))
                memory.arrays[array][at : at + 128] = found

        return lines, effect

    def _box_store(self) -> Made:
        array, view, (name, x, y) = self._array(), self._name(), self._place()
        at, below = self.random.choice(PARTS), self.random.choice((None, None, "n > 1"))
        store = [f"tma_store({name}, {x}, {y}, {view}, {at})"]
        lines = [f"claim {array} as async {view} @ thread[1]:", "    first thread[1]:"]
        lines += indented([f"if {below}:", *indented(store)] if below else store, 2)

        def effect(memory: Memory) -> None:
            assert isinstance(memory, TensorMemory)
            if below is None or memory.n > 1:
                values = memory.arrays[array][at : at + 128]
                memory.put(name, memory.place(x), memory.place(y), values)

        return lines, effect

    def _box_arm(self) -> Made:
        """A warp's first thread loads or stores."""
        array, view, (name, x, y) = self._array(), self._name(), self._place()
        warp, loads = self.random.randrange(4), self.random.random() < 0.5
        move = f"tma_load({view}, {name}, {x}, {y})"
        move = move if loads else f"tma_store({name}, {x}, {y}, {view}, 0)"
        inner = self._arm(warp, ["first thread[1]:", f"    {move}"])
        lines = [f"claim {array} as async {view} @ thread[1]:", *indented(inner)]

        def effect(memory: Memory) -> None:
            assert isinstance(memory, TensorMemory)
            column, row = memory.place(x), memory.place(y)
            if loads:
                memory.arrays[array][:128] = memory.box(name, column, row)
            else:
                memory.put(name, column, row, memory.arrays[array][:128])

        return lines, effect

    def _each_warp(self) -> Made:
        """Each warp stores a box of its own, or loads one."""
        array, view, part, warp = self._array(), *(self._name() for _ in range(3))
        name, loads = self.random.choice("MN"), self.random.random() < 0.4
        x, y = self.random.choice((("0", "{w} * 8"), ("{w} * 16", "8"), ("8", "(3 - {w}) * 8")))
        if name == "N":
            x, y = self.random.choice((("16", "{w} * 4"), ("0", "(3 - {w}) * 4 + 2")))
        x, y = x.format(w=warp), y.format(w=warp)
        move = f"tma_load({view}, {name}, {x}, {y})"
        move = move if loads else f"tma_store({name}, {x}, {y}, {view}, 0)"
        lines = [
            f"{warp}: int @ warp[1] = id()",
            f"partition {array} as {part} @ warp[1] at {warp} * 128:",
            "    group warp[1]:",
            f"        claim {part} as async {view} @ thread[1]:",
            "            first thread[1]:",
            f"                {move}",
        ]

        def effect(memory: Memory) -> None:
            assert isinstance(memory, TensorMemory)
            for number in range(4):
                column, row = (int(eval(each, {warp: number})) for each in (x, y))
                own = memory.arrays[array][number * 128 : number * 128 + 128]
                if loads:
                    own[:] = memory.box(name, column, row)
                else:
                    memory.put(name, column, row, own)

        return lines, effect

    def _box_call(self) -> Made:
        """A function of the block moves a box."""
        array, loads = self._array(), self.random.random() < 0.5
        _, x, y = self._place()

        def effect(memory: Memory) -> None:
            assert isinstance(memory, TensorMemory)
            column, row = memory.place(x), memory.place(y)
            if loads:
                memory.arrays[array][:128] = memory.box("M", column, row)
            else:
                memory.put("M", column, row, memory.arrays[array][:128])

        return [f"{'fetched' if loads else 'stored'}({array}, M, {x}, {y})"], effect

    def _changed(self) -> Made:
        """A function changes a box where it is."""
        _, x, y = self._place()

        def effect(memory: Memory) -> None:
            assert isinstance(memory, TensorMemory)
            column, row = memory.place(x), memory.place(y)
            memory.put("M", column, row, memory.box("M", column, row)[127 - T] * 3 + 1)

        return [f"changed(M, {x}, {y})"], effect

    def _ring(self) -> Made:
        """A pipeline of boxes; it may store to where it or the other map loads from."""
        slots, name = self.random.choice((2, 3)), self.random.choice("MN")
        ring, i, slot, view, array, own, out = (self._name() for _ in range(7))
        ring, array = "R" + ring, "S" + array
        to = self.random.choice((None, "M", "N"))
        x, height = self.random.choice((0, 16)), BOXES[name][0]
        to_x, to_y = self.random.choice((0, 16)), self.random.choice((0, 4))
        lines = [
            f"shared {ring}: i32[{slots}][128] align 128",
            *([f"shared {array}: i32[128] align 128"] if to else []),
            f"pipeline {i} in range(n) through {ring} as {slot}:",
            "    produce:",
            f"        claim {slot} as async {view} @ thread[1]:",
            "            first thread[1]:",
            f"                tma_load({view}, {name}, {x}, {i} * {height})",
            "    consume:",
            f"        acc += {slot}[127 - t]",
        ]
        if to:
            row = f"{i} * {BOXES[to][0]} + {to_y}" if to != name else f"{i} * {height}"
            to_x = x if to == name else to_x
            lines += [
                f"        partition {array} as {own} @ thread[1] at t:",
                f"            {own}[0] = acc + 3",
                f"        claim {array} as async {out} @ thread[1]:",
                "            first thread[1]:",
                f"                tma_store({to}, {to_x}, {row}, {out}, 0)",
            ]

        def effect(memory: Memory) -> None:
            assert isinstance(memory, TensorMemory)
            for number in range(memory.n):
                memory.acc = memory.acc + memory.box(name, x, number * height)[127 - T]
                if to:
                    memory.put(to, to_x, int(eval(row, {i: number})), memory.acc + 3)

        return ["group block[1]:", *indented(lines)], effect


MAPS = " Z: ptr(i32), M: tensor_map(i32[8, 16]), N: tensor_map(i32[4, 32])"
BOX_FUNCTIONS = (
    COPY_FUNCTIONS.replace("bulk_store,", "bulk_store, tma_load, tma_store,")
    + """\
@requires(block[1], thread[128])
def fetched(p: ptr(i32), m: tensor_map(i32[8, 16]), x: int, y: int):
    claim p as async d @ thread[1]:
        first thread[1]:
            tma_load(d, m, x, y)

@requires(block[1], thread[128])
def stored(p: ptr(i32), m: tensor_map(i32[8, 16]), x: int, y: int):
    claim p as async d @ thread[1]:
        first thread[1]:
            tma_store(m, x, y, d, 0)

@requires(block[1], thread[128])
def changed(m: tensor_map(i32[8, 16]), x: int, y: int):
    shared S: i32[128] align 128
    t: int @ thread[1] = id()
    claim S as async d @ thread[1]:
        first thread[1]:
            tma_load(d, m, x, y)
    v: i32 @ thread[1] = S[127 - t] * 3 + 1
    partition S as s @ thread[1] at t:
        s[0] = v
    claim S as async d @ thread[1]:
        first thread[1]:
            tma_store(m, x, y, d, 0)

"""
)
