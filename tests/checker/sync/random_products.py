"""Random kernels of products of warpgroups: rings of one to four slots that the copy engine, copies
of threads or stores fill, by all threads or by arms; one or two products a step, and what is done
with sums between them."""

from __future__ import annotations

from random import Random

import numpy as np

from checker.sync.mixed_touches import indented
from support.running import Array

ROWS, COLUMNS, STEP = 64, 8, 64  # of a tile of A, of a tile of B, and both tiles' depth


class Kernel:
    """A kernel C = A @ B.T for `steps` tiles along K, by `threads` threads a block."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.name = f"products_{seed}"
        self.slots = self.random.randint(1, 4)
        self.way = self.random.choice(("maps", "maps", "copies"))
        self.has_arms = self.way == "maps" and self.random.random() < 0.6
        self.threads = 256 if self.has_arms else 128
        self.is_loop = self.random.random() < 0.3  # a loop through a single slot
        self.scale = self.random.choice((None, 2, 3))  # sums are changed after each step
        self.twice = self.random.random() < 0.4  # each step's tiles are multiplied again
        self.uses_tile = self.random.random() < 0.4  # threads read the tile, too
        self.text = self._text()

    def expected(self, a: Array, b: Array) -> Array:
        """What is in C, float32[64, 8]."""
        total = np.zeros((ROWS, COLUMNS), np.float32)
        for k in range(0, a.shape[1], STEP):
            left, right = (each[:, k : k + STEP].astype(np.float32) for each in (a, b))
            total += left @ right.T * (2 if self.twice else 1)
            if self.scale:
                total = total * np.float32(0.5) + np.float32(self.scale)
            if self.uses_tile:
                total += right[0, 0]
        return total

    def _text(self) -> str:
        slots = "" if self.is_loop else f"[{self.slots}]"
        a, b = ("A_s", "B_s") if self.is_loop else ("a", "b")
        fill, use = self._filled(a, b), self._used(a, b)
        if self.is_loop:
            body = ["for k in range(0, K, 64):", *indented([*fill, *use])]
        else:
            body = ["pipeline k in range(0, K, 64) through A_s as a, B_s as b:"]
            body += ["    produce:", *indented(fill, 2), "    consume:", *indented(use, 2)]
        store = [
            "static for j in range(1):",
            "    static for i in range(4):",
            "        c[i / 2 * 64 + j * 8 + i % 2] = acc[j * 4 + i]",
        ]
        body += ["t: int @ thread[1] = id()"]
        place = "(t / 32 * 16 + t % 32 / 4) * 8 + t % 4 * 2"
        body += [f"partition C_b as c @ thread[1] at {place}:", *indented(self._arms(store))]
        return HEAD.format(
            name=self.name,
            threads=self.threads,
            sources=MAPS if self.way == "maps" else POINTERS,
            assumed="K % 64 == 0"
            + ("" if self.way == "maps" else ", aligned(A, 16), aligned(B, 16)"),
            slots=slots,
        ) + "".join(f"            {line}\n" for line in body)

    def _arms(self, lines: list[str]) -> list[str]:
        if not self.has_arms:
            return lines
        return [
            "split warpgroup:",
            "    case 1:",
            *indented(lines, 2),
            "    case 1:",
            "        pass",
        ]

    def _filled(self, a: str, b: str) -> list[str]:
        if self.way == "copies":
            return [
                "l: int @ thread[1] = id()",
                f"partition {a} as async a1 @ thread[1] at l / 8 * 64 + l % 8 * 8, "
                f"{b} as async b1 @ thread[1] at l / 8 * 64 + l % 8 * 8:",
                "    group thread[1]:",
                "        for r in range(4):",
                "            cp_async_16(a1, r * 1024, A, (l / 8 + r * 16) * K + k + l % 8 * 8)",
                "        if l < 64:",
                "            cp_async_16(b1, 0, B, l / 8 * K + k + l % 8 * 8)",
            ]
        loads = ["first thread[1]:", "    tma_load(a1, A, k, 0)", "    tma_load(b1, B, k, 0)"]
        if self.has_arms:
            before = ["split warpgroup:", "    case 1:", "        pass", "    case 1:"]
            loads = [*before, *indented(loads, 2)]
        return [
            f"claim {a} as async a1 @ thread[1], {b} as async b1 @ thread[1]:",
            *indented(loads),
        ]

    def _used(self, a: str, b: str) -> list[str]:
        product = [
            "async acc as d:",
            "    static for kk in range(0, 64, 16):",
            f"        wgmma_k16(d, {a}, kk, {b}, kk, true)",
        ]
        lines = [*product, *(product if self.twice else [])]
        lines = (
            ["group warpgroup[1]:", *indented(lines)]
            if self.has_arms
            else ["group thread[128]:", *indented(lines)]
        )
        if self.scale:
            lines += ["static for i in range(4):", f"    acc[i] = acc[i] * 0.5 + {self.scale}.0"]
        if self.uses_tile:
            lines += [
                f"first_one: f32 @ thread[1] = f32({b}[0])",
                "static for i in range(4):",
                "    acc[i] += first_one",
            ]
        return self._arms(lines)


MAPS = "A: tensor_map(f16[64, 64], swizzle128), B: tensor_map(f16[8, 64], swizzle128)"
POINTERS = "A: ptr(const f16), B: ptr(const f16)"
PRODUCT_FUNCTIONS = """\
from std.copy import cp_async_16, tma_load
from std.wgmma import wgmma_k16

"""
HEAD = """\
@requires(grid[1], block[1], thread[{threads}])
@launch(threads = {threads})
@assume({assumed})
kernel {name}({sources}, C: ptr(f32), K: int):
    partition C as C_b @ block[1]:
        group block[1]:
            shared A_s: f16{slots}[64 * 64] layout swizzle128
            shared B_s: f16{slots}[8 * 64] layout swizzle128
            acc: f32[4] @ thread[1] = 0
"""
