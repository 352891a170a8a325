"""Random kernels whose warps' first threads store through the engine, in front of loops and calls
that have stores, copies and waits of their own."""

from __future__ import annotations

from checker.sync.mixed_touches import Made, MixMemory, T, indented
from checker.sync.random_copies import COPY_FUNCTIONS, Copying
from checker.sync.random_programs import ARRAYS, Memory


class Leading(Copying):
    """A kernel for X[1024], Y[128] and Z[256], built for a target with engines."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.text = self.text.replace(self.name, f"leading_{seed}")
        self.name = f"leading_{seed}"

    def _statement(self, depth: int) -> Made:
        if self.random.random() < 0.4:
            return super()._statement(depth)
        if depth < 2 and self.random.random() < 0.45:
            ways = (self._loop, self._loop, self._left, self._while, self._choice)
            return self.random.choice(ways)(depth)
        kinds = [self._part_store, self._part_store, self._others_elements, self._output]
        if not self._conditions:
            kinds += [self._each_leader, self._each_leader, self._each_leader, self._one_leader]
            kinds += [self._shown, self._shown, self._gathered, self._bulk_part]
        return self.random.choice(kinds)()

    def _each_leader(self) -> Made:
        """Each warp's first thread stores from a part to a part."""
        array, warp, part, to, view, own = self._array(), *(self._name() for _ in range(5))
        first, step = self.random.choice((0, 64)), self.random.choice((64, 128, 256))
        is_turned = self.random.random() < 0.3
        target = f"(3 - {warp})" if is_turned else warp
        lines = [
            f"{warp}: int @ warp[1] = id()",
            f"partition {array} as {part} @ warp[1] at {warp} * {step}, "
            f"zb as {to} @ warp[1] at {target} * 64:",
            "    group warp[1]:",
            f"        claim {part} as async {view} @ thread[1], {to} as {own} @ thread[1]:",
            "            first thread[1]:",
            f"                bulk_store({own}, 0, {view}, {first}, 256)",
        ]

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            for number in range(4):
                start, end = number * step + first, (3 - number if is_turned else number) * 64
                memory.outputs[end : end + 64] = memory.arrays[array][start : start + 64]

        return lines, effect

    def _one_leader(self) -> Made:
        array, view, own = self._array(), self._name(), self._name()
        start, to = self.random.choice((0, 128, 512)), self.random.choice((0, 64, 192))
        store = ["first thread[1]:", f"    bulk_store({own}, {to}, {view}, {start}, 256)"]
        lines = [f"claim {array} as async {view} @ thread[1], zb as {own} @ thread[1]:"]
        lines += indented(self._arm(self.random.randrange(1, 4), store))

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            memory.outputs[to : to + 64] = memory.arrays[array][start : start + 64]

        return lines, effect

    def _shown(self) -> Made:
        """A function with a loop that waits for its own stores."""
        one, two = self.random.sample(ARRAYS, 2)
        times = self.random.choice(("1", "2", "n", "k"))

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            for number in range(int(memory.index(times)[0])):
                memory.arrays[one][T * 2] = memory.acc + number
                memory.outputs[64:192] = memory.arrays[one][:128]
                memory.arrays[two][T * 4] = memory.acc - number
                memory.arrays[one][127 - T] = memory.acc

        return [f"shown({one}, {two}, zb, acc, {times})"], effect

    def _gathered(self) -> Made:
        """A function with a loop whose threads wait for their own copies."""
        array, name = self._array(), self._name()
        start, times = self.random.choice((0, 512)), self.random.choice(("1", "n"))

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            for number in range(int(memory.index(times)[0])):
                copied = memory.inputs[number * 4 : number * 4 + 512]
                memory.arrays[array][start : start + 512] = copied
                memory.acc = memory.acc + memory.arrays[array][T * 4 + start + 1]

        call = f"gathered({array}, X, acc, {start}, {times})"
        return [f"{name}: i32 @ thread[1] = {call}", f"acc = {name}"], effect


LEADER_FUNCTIONS = (
    COPY_FUNCTIONS
    + """\
@requires(block[1], thread[128])
@assume(aligned(z, 16))
def shown(p: ptr(i32), q: ptr(i32), z: ptr(i32), v: i32 @ thread[1], times: int):
    t: int @ thread[1] = id()
    for i in range(times):
        partition p as s @ thread[1] at t * 2:
            s[0] = v + i
        claim p as async d @ thread[1], z as own @ thread[1]:
            first thread[1]:
                bulk_store(own, 64, d, 0, 512)
        partition q as s @ thread[1] at t * 4:
            s[0] = v - i
        partition p as s @ thread[1] at 127 - t:
            s[0] = v

@requires(block[1], thread[128])
def gathered(
    p: ptr(i32), x: ptr(const i32), v: i32 @ thread[1], start: int, times: int
) -> i32 @ thread[1]:
    t: int @ thread[1] = id()
    r: i32 @ thread[1] = v
    for i in range(times):
        partition p as async d @ thread[1] at t * 4 + start:
            group thread[1]:
                cp_async_16(d, 0, x, t * 4 + i * 4)
        r += p[t * 4 + start + 1]
    return r

"""
)
