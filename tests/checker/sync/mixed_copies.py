"""Kinds of statements of random kernels that complete later: copies of threads, pipelines, bulk
loads and stores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from checker.sync.mixed_touches import THREADS, Made, MixMemory, T, indented
from checker.sync.random_programs import Memory, Program


class Copies(Program):
    """Copies, pipelines, engines."""

    def _copy(self) -> Made:
        places = ("t * 4", "(127 - t) * 4", "t * 4 + 512")
        return self._copied(places, (None, "n * 40", "5"))

    def _copied(
        self, places: Sequence[str], bounds: Sequence[str | None], bytes_: Sequence[str | None] = ()
    ) -> Made:
        """Threads below one of the `bounds` copy four elements each, to one of the `places`; of
        some `bytes_`, what is not read is filled with zeros."""
        array, view, where = self._array(), self._name(), self.random.choice(places)
        source, below = self.random.choice((0, 4, 256)), self.random.choice(bounds)
        size = self.random.choice(bytes_) if bytes_ else None
        given = f"{view}, 0, X, t * 4 + {source}"
        copy = f"cp_async_16_filled({given}, {size})" if size else f"cp_async_16({given})"
        inner = [copy] if below is None else [f"if t < {below}:", "    " + copy]
        lines = [
            f"partition {array} as async {view} @ thread[1] at {where}:",
            "    group thread[1]:",
            *indented(inner, 2),
        ]

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            most = THREADS if below is None else int(eval(below, {"n": memory.n}))
            active = T[most > T]
            read = memory.index(size or "16")[active] // 4
            to = memory.index(where)[active]
            for lane in range(4):
                values = memory.inputs[active * 4 + source + lane]
                memory.arrays[array][to + lane] = np.where(lane < read, values, 0)

        return lines, effect

    def _pipeline(self) -> Made:
        slots = self.random.choice((2, 3, 4))
        ring, slot, view, i = (self._name() for _ in range(4))
        ring = "R" + ring
        store = self.random.random() < 0.4
        array, other = self._array(), self._name()
        lines = [
            f"shared {ring}: i32[{slots}][512]",
            f"pipeline {i} in range(n) through {ring} as {slot}:",
            "    produce:",
            f"        partition {slot} as async {view} @ thread[1] at t * 4:",
            "            group thread[1]:",
            f"                cp_async_16({view}, 0, X, (t + {i}) * 4)",
            "    consume:",
            f"        acc += {slot}[511 - t]",
        ]
        if store:
            lines += [
                f"        partition {array} as {other} @ thread[1] at 127 - t:",
                f"            {other}[0] = acc",
                f"        acc += {array}[t]",
            ]

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            for number in range(memory.n):
                memory.acc = memory.acc + memory.inputs[511 - T + number * 4]
                if store:
                    memory.arrays[array][127 - T] = memory.acc
                    memory.acc = memory.acc + memory.arrays[array][T]

        return ["group block[1]:", *indented(lines)], effect

    def _passing(self) -> Made:
        """One warp fills slots, two use them."""
        slots = self.random.choice((2, 3))
        ring, slot, view, own, lane, i = (self._name() for _ in range(6))
        ring = "R" + ring
        lines = [
            f"shared {ring}: i32[{slots}][32]",
            f"pipeline {i} in range(n) through {ring} as {slot}:",
            "    produce:",
            f"        claim {slot} as {view} @ warp[1]:",
            "            split warp:",
            "                case 2:",
            "                    pass",
            "                case 1:",
            f"                    {lane}: int @ thread[1] = id()",
            f"                    partition {view} as {own} @ thread[1] at {lane}:",
            f"                        {own}[0] = X[{i} * 32 + {lane}]",
            "    consume:",
            "        split warp:",
            "            case 2:",
            f"                acc += {slot}[31 - t % 32]",
        ]

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            for number in range(memory.n):
                memory.acc = memory.acc.copy()
                memory.acc[:64] += memory.inputs[number * 32 + 31 - T[:64] % 32]

        return ["group block[1]:", *indented(lines)], effect

    def _bulk_load(self) -> Made:
        array, view = self._array(), self._name()
        to, source = self.random.choice((0, 64)), self.random.choice((0, 128))
        below = self.random.choice(("", "if n > 1:"))
        load = f"bulk_load({view}, {to}, X, {source}, 512)"
        inner = [below, "    " + load] if below else [load]
        lines = [
            f"claim {array} as async {view} @ thread[1]:",
            "    first thread[1]:",
            *indented(inner, 2),
        ]

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            if not below or memory.n > 1:
                memory.arrays[array][to : to + 128] = memory.inputs[source : source + 128]

        return lines, effect

    def _bulk_store(self) -> Made:
        array, view, z = self._array(), self._name(), self._name()
        to, source = self.random.choice((0, 64, 128)), self.random.choice((0, 128))
        lines = [
            f"claim {array} as async {view} @ thread[1], zb as {z} @ thread[1]:",
            "    first thread[1]:",
            f"        bulk_store({z}, {to}, {view}, {source}, 512)",
        ]

        def effect(memory: Memory) -> None:
            assert isinstance(memory, MixMemory)
            memory.outputs[to : to + 128] = memory.arrays[array][source : source + 128]

        return lines, effect
