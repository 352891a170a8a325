"""Cluster barriers in halves: random kernels of two blocks that look into one another's memory, on
the emulator, beside what a thread after the other would compute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from prismc.checker.sync.plan import SyncKind
from prismc.emulator.schedule import adversaries
from support.checking import check_texts
from support.running import Array, compile_texts

BLOCK, BLOCKS = 32, 2
THREADS = BLOCK * BLOCKS
KERNELS = 12  # in one file: one run of the CUDA compiler

HEAD = """\
from std.cluster import load_from

@requires(block[2], thread[32])
def exchanged(x: ptr(i32), v: i32 @ thread[1]) -> i32 @ thread[1]:
    t: int @ thread[1] = id()
    partition x as m @ thread[1] at t:
        m[0] = v
    return x[63 - t]
"""
LOADING_HEAD = "from std.copy import bulk_load\n" + HEAD
KERNEL = """
@requires(grid[1], block[2], thread[32])
@launch(threads = 32, cluster = 2)
kernel NAME(X: ptr(const i32), Y: ptr(i32), Z: ptr(i32), n: int):
    c: int @ block[2] = id()
    partition Y as y @ block[2] at c * 64, Z as z @ block[2] at c * 64:
        group block[2]:
            shared S: i32[32] @ block[1]
            shared T: i32[32] @ block[1]
            rank: int @ block[1] = id()
            all: int @ thread[1] = id()
            v: i32 @ thread[1] = all
            group block[1]:
                t: int @ thread[1] = id()
                partition S as s @ thread[1] at t, T as u @ thread[1] at t:
                    s[0] = t
                    u[0] = 2 * t
BODY            partition y as m @ thread[1] at all:
                m[0] = v
"""


class State:
    """All threads of a cluster, one statement after the other."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.x = np.arange(THREADS, dtype=np.int32) * 7 - 100
        self.v = np.arange(THREADS, dtype=np.int32)
        self.arrays = {
            name: np.tile(np.arange(BLOCK, dtype=np.int32) * by, (BLOCKS, 1))
            for name, by in (("S", 1), ("T", 2))
        }

    @property
    def rows(self) -> np.ndarray:
        return self.v.reshape(BLOCKS, BLOCK)


# What a statement does in an iteration, and "continue" if that ends it.
Run = Callable[[State, int], str]


class Kernel:
    """A random kernel as text and as what it computes."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self.name = f"k{seed}"
        self._lines: list[str] = []
        self._in_loop = False
        self._run = self._sequence(3, depth=0)
        self.text = KERNEL.replace("NAME", self.name).replace("BODY", "".join(self._lines))

    def result(self, n: int) -> np.ndarray:
        state = State(n)
        self._run(state, 0)
        return state.v

    def _add(self, depth: int, *lines: str) -> None:
        self._lines += [f"{' ' * (12 + 4 * depth)}{line}\n" for line in lines]

    def _sequence(self, length: int, depth: int) -> Run:
        steps = [self._statement(depth) for _ in range(length + self._random.randrange(3))]

        def run(state: State, k: int) -> str:
            for step in steps:
                if step(state, k) == "continue":
                    break
            return ""

        return run

    def _statement(self, depth: int) -> Run:
        kinds = [self._write, self._near, self._far, self._far, self._compute, self._compute]
        if depth < 2:
            kinds += [self._loop, self._when]
        if depth == 0:
            kinds.append(self._call)
        if depth == 1 and self._in_loop:
            kinds.append(self._continue)
        return self._random.choice(kinds)(depth)

    def _group(self, depth: int, *lines: str) -> None:
        self._add(depth, "group block[1]:", "    t: int @ thread[1] = id()")
        self._add(depth + 1, *lines)

    def _write(self, depth: int) -> Run:
        name, by = self._random.choice("ST"), self._random.randrange(1, 5)
        self._group(depth, f"partition {name} as w @ thread[1] at t:", f"    w[0] = v + {by}")

        def run(state: State, k: int) -> str:
            state.arrays[name] = state.rows + np.int32(by)
            return ""

        return run

    def _near(self, depth: int) -> Run:
        name = self._random.choice("ST")
        self._group(depth, f"v += {name}[31 - t]")

        def run(state: State, k: int) -> str:
            state.v = (state.rows + state.arrays[name][:, ::-1]).reshape(-1)
            return ""

        return run

    def _far(self, depth: int) -> Run:
        name, shift = self._random.choice("ST"), self._random.randrange(BLOCK)
        rank = self._random.choice(("1 - rank", "1 - rank", "rank", "0"))
        index = f"(t + {shift}) % 32"
        lines = [f"v += 3 * load_from({name}, {index}, {rank})"]
        if self._random.random() < 0.5:
            lines.append("v = v * 5 + X[all]")
        self._group(depth, *lines)

        def run(state: State, k: int) -> str:
            rows = np.roll(state.arrays[name], -shift, axis=1)
            rows = {"rank": rows, "0": np.tile(rows[:1], (2, 1))}.get(rank, rows[::-1])
            state.v = (state.rows + np.int32(3) * rows).reshape(-1)
            if len(lines) > 1:
                state.v = state.v * np.int32(5) + state.x
            return ""

        return run

    def _compute(self, depth: int) -> Run:
        self._add(depth, "v = v * 3 - X[63 - all]")

        def run(state: State, k: int) -> str:
            state.v = state.v * np.int32(3) - state.x[::-1]
            return ""

        return run

    def _call(self, depth: int) -> Run:
        self._add(depth, "v += exchanged(z, v)")

        def run(state: State, k: int) -> str:
            state.v = state.v + state.v[::-1]
            return ""

        return run

    def _loop(self, depth: int) -> Run:
        self._add(depth, f"for k{depth} in range(n):")
        before, self._in_loop = self._in_loop, True
        body = self._sequence(1, depth + 1)
        self._in_loop = before

        def run(state: State, k: int) -> str:
            for inner in range(state.n):
                body(state, inner)
            return ""

        return run

    def _when(self, depth: int) -> Run:
        least = self._random.randrange(4)
        self._add(depth, f"if n > {least}:")
        before, self._in_loop = self._in_loop, False
        body = self._sequence(1, depth + 1)
        self._in_loop = before

        def run(state: State, k: int) -> str:
            if state.n > least:
                body(state, k)
            return ""

        return run

    def _continue(self, depth: int) -> Run:
        rest = self._random.randrange(2)
        self._add(depth, f"if k{depth - 1} % 2 == {rest}:", "    continue")

        def run(state: State, k: int) -> str:
            return "continue" if k % 2 == rest else ""

        return run


class Loading(Kernel):
    """A random kernel whose blocks' arrays the copy engine fills, too."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.text = self.text.replace("cluster = 2)", "cluster = 2)\n@assume(aligned(X, 16))", 1)
        self.text = self.text.replace("i32[32] @ block[1]\n", "i32[32] @ block[1] align 16\n")

    def _statement(self, depth: int) -> Run:
        if self._random.random() < 0.7:
            return super()._statement(depth)
        name, source = self._random.choice("ST"), self._random.choice(("rank", "(1 - rank)", "0"))
        self._add(depth, "group block[1]:", f"    claim {name} as async d @ thread[1]:")
        self._add(depth + 2, "first thread[1]:", f"    bulk_load(d, 0, X, {source} * 32, 128)")

        def run(state: State, k: int) -> str:
            rows = state.x.reshape(BLOCKS, BLOCK)
            rows = {"rank": rows, "0": np.tile(rows[:1], (2, 1))}.get(source, rows[::-1])
            state.arrays[name] = rows.copy()
            return ""

        return run


def _arguments(n: int) -> dict[str, Array | float]:
    empty = np.zeros(THREADS, np.int32)
    return {"X": State(n).x, "Y": empty, "Z": empty.copy(), "n": n}


def _accepted(seeds: range) -> list[Kernel]:
    """Kernels with loads; refused are those with loads under a condition."""
    kernels = []
    for kernel in map(Loading, seeds):
        texts = {"test.prism": LOADING_HEAD + kernel.text}
        found = check_texts(texts, "test.prism", "--target sm_90").problems
        codes = {each.code for each in found if each.severity.value == "error"}
        assert codes <= {"P0430"}, kernel.text
        kernels += [] if codes else [kernel]
    return kernels


def _try(kernels: list[Kernel], schedules: int) -> Counter[SyncKind]:
    """Run kernels; how many operations of each kind their plans have."""
    text = LOADING_HEAD + "".join(kernel.text for kernel in kernels)
    compiled = compile_texts({"test.prism": text}, "test.prism", "--target sm_90")
    counts: Counter[SyncKind] = Counter()
    for kernel in kernels:
        plan = compiled.checked.plan.instances[kernel.name]
        counts.update(one.kind for one in plan.operations)
        for number, schedule in enumerate(adversaries(schedules)):
            n = (3, 0, 1)[number % 3]
            after = compiled.run(BLOCKS, _arguments(n), kernel.name, schedule)
            assert np.array_equal(after["Y"], kernel.result(n)), kernel.text
    assert counts[SyncKind.CLUSTER_ARRIVE] == counts[SyncKind.CLUSTER_WAIT]
    return counts


@pytest.mark.parametrize("first", [0, KERNELS])
def test_random_kernels_of_clusters(first: int) -> None:
    counts = _try([Kernel(seed) for seed in range(first, first + KERNELS)], 4)
    assert counts[SyncKind.CLUSTER_ARRIVE] >= 3 <= counts[SyncKind.CLUSTER_BARRIER]


SWAP = HEAD + KERNEL.replace("NAME", "swap").replace(
    "BODY",
    """\
            group block[1]:
                t: int @ thread[1] = id()
                v = v * 3 + X[all]
                v += load_from(S, t, 1 - rank)
                v = v * 5 - X[all]
            group block[1]:
                t: int @ thread[1] = id()
                partition S as s @ thread[1] at t:
                    s[0] = v
            v = v * 2 + X[all]
            group block[1]:
                t: int @ thread[1] = id()
                v += load_from(S, t, 1 - rank)
""",
)


def test_no_half_can_be_left_out() -> None:
    """The arrays are filled, looked at, filled anew, and looked at until the end."""
    whole = compile_texts({"test.prism": SWAP}, "test.prism", "--target sm_90")
    operations = whole.checked.plan.instances["swap"].operations
    halves = [SyncKind.CLUSTER_ARRIVE, SyncKind.CLUSTER_WAIT]
    assert [one.kind for one in operations] == 4 * halves
    arguments = _arguments(1)
    for schedule in adversaries(8):
        whole.run(BLOCKS, arguments, plan=schedule, kernel="swap")
    for one in operations:
        flags = "--target sm_90"
        less = compile_texts({"test.prism": SWAP}, "test.prism", flags, (one.number,))
        found = (less.launch(BLOCKS, arguments, "swap", plan) for plan in adversaries(8))
        assert any(result.findings for result in found), one.kind


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(100, 400, 20))
def test_many_random_kernels_of_clusters(first: int) -> None:
    _try([Kernel(seed) for seed in range(first, first + 20)], 8)


def test_random_kernels_of_clusters_that_load() -> None:
    counts = _try(_accepted(range(8)), 3)
    assert counts[SyncKind.MBARRIER_WAIT] >= 3 <= counts[SyncKind.CLUSTER_ARRIVE]


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(100, 300, 20))
def test_many_random_kernels_of_clusters_that_load(first: int) -> None:
    _try(_accepted(range(first, first + 20)), 8)
