"""Random kernels whose paths leave loops between bulk loads and what reads them.

Each statement is written down as Prism and done in NumPy, one after the other. Loads come from one
thread, from the first threads of two warps, or from all; they fill two arrays that the code reads,
overwrites, or leaves alone, in loops with `break` and `continue`.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from textwrap import dedent, indent
from typing import Any

import numpy as np

THREADS = 64
ROWS = 8
TEXTS = """\
from std.copy import bulk_load

@requires(block[1], thread[64])
def loaded(x: ptr(const i32), row: int) -> i32 @ thread[1]:
    shared R: i32[64]
    t: int @ thread[1] = id()
    claim R as async d @ thread[1]:
        first thread[1]:
            bulk_load(d, 0, x, row * 64, 256)
    return R[t ^ 1]

@requires(block[1], thread[64])
def filled(p: ptr(i32), x: ptr(const i32), row: int):
    claim p as async d @ thread[1]:
        first thread[1]:
            bulk_load(d, 0, x, row * 64, 256)

"""
DECLARED = """\
            shared S: i32[64]
            shared T: i32[64]
            t: int @ thread[1] = id()
            w: int @ warp[1] = id()
            sum: i32 @ thread[1] = 0
            partition S as s @ thread[1] at t, T as u @ thread[1] at t:
                s[0] = t
                u[0] = t
"""
# A whole array is filled, in code of the block or of its warps.
OF_BLOCK = (
    """\
claim {array} as async d @ thread[1]:
    first thread[1]:
        bulk_load(d, 0, X, {row} * 64, 256)""",
    """\
claim {array} as async d @ thread[1]:
    split warp:
        case 1:
            pass
        case 1:
            first thread[1]:
                bulk_load(d, 0, X, {row} * 64, 256)""",
    """\
partition {array} as async d @ thread[1] at t * 4:
    group thread[1]:
        if t < 16:
            bulk_load(d, 0, X, {row} * 64 + t * 4, 16)""",
    "filled({array}, X, {row})",
)
OF_WARPS = (
    """\
partition {array} as half @ warp[1] at w * 32:
    group warp[1]:
        claim half as async d @ thread[1]:
            first thread[1]:
                bulk_load(d, 0, X, {row} * 64 + w * 32, 128)""",
)


class State:
    """The values of one block: the sum of each thread, two arrays, and the rows to load."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.sum = np.zeros(THREADS, np.int64)
        self.arrays = {name: np.arange(THREADS, dtype=np.int64) for name in "ST"}


Counters = dict[str, int]
# What a statement does; the loop that it leaves, and how ("" if it goes on).
Run = Callable[[State, Counters], str]


class Kernel:
    """One random kernel, `text` and `expected(rows, n)`."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._lines: list[str] = []
        self._loops = 0
        self.name = f"paths_{seed}"
        self._loads = {"S": OF_BLOCK, "T": self._random.choice((OF_BLOCK, OF_WARPS))}
        self._run = self._block(3, ())
        body = "\n".join(self._lines)
        # What a function leaves unfinished shows when it is called again.
        self._is_called = seed % 3 == 2
        make = self._in_function if self._is_called else self._in_kernel
        self.text = make(body)

    def _in_kernel(self, body: str) -> str:
        return f"""\
@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
@assume(aligned(X, 16))
kernel {self.name}(X: ptr(const i32), Y: ptr(i32), n: int):
    partition Y as yb @ block[1]:
        group block[1]:
{DECLARED}{body}
            partition yb as y @ thread[1] at t:
                y[0] = sum

"""

    def _in_function(self, body: str) -> str:
        return f"""\
@requires(block[1], thread[64])
def of_{self.name}(X: ptr(const i32), n: int) -> i32 @ thread[1]:
{indent(dedent(DECLARED + body), "    ")}
    return sum

@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
@assume(aligned(X, 16))
kernel {self.name}(X: ptr(const i32), Y: ptr(i32), n: int):
    partition Y as yb @ block[1]:
        group block[1]:
            t: int @ thread[1] = id()
            sum: i32 @ thread[1] = 0
            for k in range(2):
                sum = sum * 3 + of_{self.name}(X, n - k)
            partition yb as y @ thread[1] at t:
                y[0] = sum

"""

    def expected(self, rows: Any, n: int) -> Any:
        """What the kernel leaves in `Y`."""
        total = np.zeros(THREADS, np.int64)
        for number in (n, n - 1) if self._is_called else (n,):
            state = State(rows.astype(np.int64))
            self._run(state, {"n": number})
            total = total * 3 + state.sum
        return total.astype(np.int32)

    # ----------------------------------------------------------------------- statements

    def _add(self, depth: int, *lines: str) -> None:
        self._lines += ["    " * depth + line for line in lines]

    def _block(self, depth: int, loops: tuple[str, ...]) -> Run:
        runs = [self._statement(depth, loops) for _ in range(self._random.randint(2, 4))]

        def run(state: State, counters: Counters) -> str:
            for each in runs:
                how = each(state, counters)
                if how:
                    return how
            return ""

        return run

    def _statement(self, depth: int, loops: tuple[str, ...]) -> Run:
        choice = self._random.random()
        if len(loops) < 3 and choice < 0.3:
            return self._loop(depth, loops)
        if loops and choice < 0.45:
            return self._leave(depth, loops)
        if choice < 0.7:
            return self._load(depth, loops)
        return self._touch(depth)

    def _loop(self, depth: int, loops: tuple[str, ...]) -> Run:
        self._loops += 1
        name = f"k{self._loops}"
        if self._random.random() < 0.2:
            return self._while(depth, loops, f"w{self._loops}")
        count = self._random.choice(("n", "2", "3"))
        self._add(depth, f"for {name} in range({count}):")
        body = self._block(depth + 1, (*loops, name))

        def run(state: State, counters: Counters) -> str:
            for number in range(counters["n"] if count == "n" else int(count)):
                if body(state, counters | {name: number}) == "break":
                    break
            return ""

        return run

    def _while(self, depth: int, loops: tuple[str, ...], name: str) -> Run:
        """A loop whose condition reads an array; it ends after three iterations at most."""
        array, element = self._random.choice("ST"), self._random.randrange(THREADS)
        self._add(depth, f"{name}: int = 0", f"while {name} < 3 and {array}[{element}] % 4 != 1:")
        self._add(depth + 1, f"{name} += 1")
        body = self._block(depth + 1, (*loops, name))

        def run(state: State, counters: Counters) -> str:
            number = 0
            while number < 3 and np.fmod(state.arrays[array][element], 4) != 1:
                number += 1
                if body(state, counters | {name: number}) == "break":
                    break
            return ""

        return run

    def _leave(self, depth: int, loops: tuple[str, ...]) -> Run:
        # From a `continue` there may be no place for a barrier in front of a `while`'s condition.
        ways = ("break",) if loops[-1].startswith("w") else ("break", "continue")
        how, name = self._random.choice(ways), self._random.choice(loops)
        rest = self._random.randrange(3)
        self._add(depth, f"if {name} % 3 == {rest}:")
        inner = self._touch(depth + 1) if self._random.random() < 0.5 else None
        self._add(depth + 1, how)

        def run(state: State, counters: Counters) -> str:
            if counters[name] % 3 != rest:
                return ""
            if inner is not None:
                inner(state, counters)
            return how

        return run

    def _load(self, depth: int, loops: tuple[str, ...]) -> Run:
        array, start = self._random.choice("ST"), self._random.randrange(ROWS)
        name = self._random.choice(loops) if loops else ""
        row = f"(({name} + {start}) % {ROWS})" if name else str(start)
        is_call = self._random.random() < 0.2
        if is_call:
            self._add(depth, f"sum += loaded(X, {row})")
        else:
            text = self._random.choice(self._loads[array]).format(array=array, row=row)
            self._add(depth, *text.split("\n"))

        def run(state: State, counters: Counters) -> str:
            values = state.rows[(counters.get(name, 0) + start) % ROWS]
            if is_call:
                state.sum += values[np.arange(THREADS) ^ 1]
            else:
                state.arrays[array] = values.copy()
            return ""

        return run

    def _touch(self, depth: int) -> Run:
        array, reads = self._random.choice("ST"), self._random.random() < 0.7
        if reads:
            self._add(depth, f"sum += {array}[63 - t]")
        else:
            self._add(depth, f"partition {array} as own @ thread[1] at t:", "    own[0] = sum + t")

        def run(state: State, counters: Counters) -> str:
            if reads:
                state.sum += state.arrays[array][::-1]
            else:
                state.arrays[array] = state.sum + np.arange(THREADS)
            return ""

        return run
