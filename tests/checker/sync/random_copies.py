"""Random kernels whose asynchronous copies fill parts of arrays: halves, strides, rows that the
counter of a loop chooses, with and without conditions, in arms and in functions that leave them on
their way; threads use their own elements, or those of others."""

from __future__ import annotations

from checker.sync.mixed_touches import Made, MixMemory, T, indented
from checker.sync.random_mixes import MIX_FUNCTIONS, Mix
from checker.sync.random_programs import Memory

# Where a thread's four elements begin: no two threads have one in common.
PLACES = (
    "t * 4", "(127 - t) * 4", "t * 4 + 512", "(t ^ 33) * 4 + 512", "t * 8", "t * 8 + 4",
    "k % 2 * 512 + t * 4", "512 - k % 2 * 512 + t * 4", "n % 2 * 512 + t * 4",
    "k % 3 * 256 + t * 4",
)  # fmt: skip
WORDS = ((1, 0), (1, 512), (8, 3), (2, 1))


class Copying(Mix):
    """A kernel for X[1024], Y[128] and Z[256], built for a target with engines."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.text = self.text.replace(self.name, f"copies_{seed}")
        self.name = f"copies_{seed}"

    def _statement(self, depth: int) -> Made:
        if self.random.random() < 0.25:
            return super()._statement(depth)
        kinds = [self._own_elements, self._others_elements, self._part_store, self._part_store]
        if not self._conditions:
            kinds += [self._part, self._part, self._part, self._part, self._words, self._warp_part]
            kinds += [self._started, self._filled_by_call, self._bulk_part, self._output]
        if depth < 2 and self.random.random() < 0.3:
            return self._loop(depth) if self.random.random() < 0.6 else self._left(depth)
        return self.random.choice(kinds)()

    # ---------------------------------------------------------------- copies

    def _part(self) -> Made:
        bounds, bytes_ = (None, None, "32", "n * 40"), (None, None, "t % 5 * 4", "n % 3 * 8")
        return self._copied(PLACES, bounds, bytes_)

    def _words(self) -> Made:
        """Copies of four bytes, by a function."""
        array, (by, start) = self._array(), self.random.choice(WORDS)

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            memory.arrays[array][T * by + start] = memory.inputs[T * 2]

        return [f"words({array}, X, {start}, {by})"], effect

    def _warp_part(self) -> Made:
        """One warp fills a part."""
        array, view, own, lane = self._array(), *(self._name() for _ in range(3))
        warp, offset = self.random.randrange(4), self.random.choice((0, 128, 512))
        copy = [
            f"{lane}: int @ thread[1] = id()",
            f"partition {view} as async {own} @ thread[1] at {lane} * 4 + {offset}:",
            "    group thread[1]:",
            f"        cp_async_16({own}, 0, X, {lane} * 4)",
        ]
        if self.random.random() < 0.4:
            copy.append(f"acc += {view}[({lane} ^ 1) * 4 + {offset}]")
        reads = len(copy) > 4
        lines = [f"claim {array} as {view} @ warp[1]:", *indented(self._arm(warp, copy))]

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            cells = memory.arrays[array]
            cells[offset : offset + 128] = memory.inputs[:128]
            if reads:
                memory.acc = memory.acc.copy()
                memory.acc[warp * 32 : warp * 32 + 32] += cells[(T[:32] ^ 1) * 4 + offset]

        return lines, effect

    def _started(self) -> Made:
        """A function leaves a copy on its way."""
        array, at = self._array(), self.random.choice(("0", "256", "512", "k % 2 * 512"))

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            start = int(memory.index(at)[0])
            memory.arrays[array][start : start + 512] = memory.inputs[:512]

        return [f"started({array}, X, {at})"], effect

    def _filled_by_call(self) -> Made:
        """A function copies in its caller's scope."""
        array, view = self._array(), self._name()
        places = self.random.sample((0, 512), self.random.randint(1, 2))
        lines = [f"async {array} as {view}:"]
        lines += [f"    filled({view}, X, {at})" for at in places]

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            for at in places:
                memory.arrays[array][at : at + 512] = memory.inputs[:512]

        return lines, effect

    def _bulk_part(self) -> Made:
        array, view, z = self._array(), self._name(), self._name()
        to, source = (
            self.random.choice((0, 64, 192)),
            self.random.choice((0, 128, 512, 900)),
        )
        lines = [
            f"claim {array} as async {view} @ thread[1], zb as {z} @ thread[1]:",
            "    first thread[1]:",
            f"        bulk_store({z}, {to}, {view}, {source}, 256)",
        ]

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            memory.outputs[to : to + 64] = memory.arrays[array][source : source + 64]

        return lines, effect

    # ---------------------------------------------------------------- what threads do

    def _output(self) -> Made:
        """Threads touch what engines store to."""
        view, at, reads = self._name(), self.random.choice((0, 64, 128)), self.random.random() < 0.5
        lines = [f"partition zb as {view} @ thread[1] at t + {at}:", f"    {view}[0] = acc"]

        def store(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            memory.outputs[T + at] = memory.acc

        def load(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            memory.acc = memory.acc + memory.outputs[127 - T + at]

        return ([f"acc += zb[127 - t + {at}]"], load) if reads else (lines, store)

    def _own_elements(self) -> Made:
        """Each thread reads where it may have copied to."""
        return self._read(f"{self.random.choice(PLACES)} + {self.random.randrange(4)}")

    def _others_elements(self) -> Made:
        return self._read(
            self.random.choice(("511 - t", "1023 - t", "t * 4 + 6 & 1023", "k % 2 * 512 + 511 - t"))
        )

    def _read(self, where: str) -> Made:
        array = self._array()

        def effect(memory: Memory) -> None:
            memory.acc = memory.acc + memory.arrays[array][memory.index(where)]

        return [f"acc += {array}[{where}]"], effect

    def _part_store(self) -> Made:
        array, view, where = self._array(), self._name(), self.random.choice(PLACES)
        lines = [f"partition {array} as {view} @ thread[1] at {where}:", f"    {view}[1] = acc"]

        def effect(memory: Memory) -> None:
            memory.arrays[array][memory.index(where) + 1] = memory.acc

        return lines, effect


COPY_FUNCTIONS = (
    MIX_FUNCTIONS.replace("cp_async_16\n", "cp_async, cp_async_16, cp_async_16_filled\n")
    + """\
@requires(block[1], thread[128])
def started(p: ptr(i32), x: ptr(const i32), start: int):
    t: int @ thread[1] = id()
    partition p as async d @ thread[1] at t * 4 + start:
        group thread[1]:
            cp_async_16(d, 0, x, t * 4)

@requires(block[1], thread[128])
def words(p: ptr(i32), x: ptr(const i32), start: int, each: int):
    t: int @ thread[1] = id()
    partition p as async d @ thread[1] at t * each + start, x as from_x @ thread[1] at t * 2:
        group thread[1]:
            cp_async(d, from_x, 4)

@requires(block[1], thread[128])
def filled(d: async ptr(i32), x: ptr(const i32), start: int):
    t: int @ thread[1] = id()
    partition d as own @ thread[1] at t * 4 + start:
        group thread[1]:
            cp_async_16(own, 0, x, t * 4)

"""
)
