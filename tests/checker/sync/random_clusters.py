"""Random kernels of clusters: arrays of each block, which the others read, mirrored ones that all
blocks load together, pipelines through rings of either kind, by all threads or by arms, memory of
the whole cluster, loops, choices, ways out."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import numpy.typing as npt

from checker.sync.mixed_touches import Array, indented
from checker.sync.random_programs import renamed

INPUTS = 4096
CLUSTERS = 2
Run = Callable[["Clusters"], bool]  # whether a loop is left
Step = tuple[list[str], Run]


class Clusters:
    """What the clusters of a launch have in hand: a value a thread, two arrays of a block, an
    array of the cluster. The axes are those of clusters, blocks and elements."""

    def __init__(self, blocks: int, size: int, inputs: Array, number: int) -> None:
        self.u = np.arange(size)
        self.rank = np.arange(blocks)[:, None]
        self.c = np.arange(CLUSTERS)[:, None, None]
        self.inputs = inputs
        self.acc = np.broadcast_to(inputs[self.rank * size + self.u], (CLUSTERS, blocks, size))
        self.arrays = {name: np.zeros((CLUSTERS, blocks, 2 * size), np.int32) for name in "AB"}
        self.z = np.zeros((CLUSTERS, blocks * size), np.int32)
        self.names = {"n": number, "k": 0}

    def index(self, expression: str) -> Array:
        """An expression's values, one a thread."""
        names = {"u": self.u, "rank": self.rank, "c": self.c, **self.names}
        value = eval(expression.replace("/", "//"), names)
        return np.broadcast_to(np.asarray(value, np.int32), self.acc.shape)

    def add(self, values: Array, where: npt.NDArray[np.bool_] | bool = True) -> None:
        """Sums of the threads."""
        self.acc = np.where(where, self.acc + values, self.acc).astype(np.int32)


class Kernel:
    """A kernel for X[4096], and Y and Z with an element for each thread."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.name = f"clusters_{seed}"
        self.blocks = self.random.choice((2, 2, 4))
        self.size = self.random.choice((32, 64, 96))
        self._names = 0
        self._conditions = 0
        steps = [self._step(0) for _ in range(self.random.randint(3, 6))]
        self._runs = [run for _, run in steps]
        self.text = HEAD.format(
            name=self.name,
            blocks=self.blocks,
            size=self.size,
            twice=2 * self.size,
            all=self.blocks * self.size,
        )
        body = [line for lines, _ in steps for line in lines]
        self.text += "".join(f"            {line}\n" for line in [*body, *TAIL])

    def run(self, inputs: Array, number: int) -> Clusters:
        """What is in hand after the kernel."""
        made = Clusters(self.blocks, self.size, inputs, number)
        with np.errstate(over="ignore"):
            for run in self._runs:
                run(made)
        return made

    def _step(self, depth: int) -> Step:
        kinds = [self._store, self._store, self._load, self._remote, self._remote, self._remote]
        kinds += [self._whole, self._function, self._turned]
        if not self._conditions:  # loads and copies stand on every path
            kinds += [self._mirrored, self._own_load, self._bulk_store]
            kinds += [self._pipeline] * (3 if depth == 0 else 1)
        if depth < 2:
            kinds += [lambda: self._loop(depth), lambda: self._choice(depth)]
        return self.random.choice(kinds)()

    def _several(self, depth: int) -> Step:
        steps = [self._step(depth) for _ in range(self.random.randint(1, 3))]

        def run(made: Clusters) -> bool:
            return any(step(made) for _, step in steps)

        return [line for lines, _ in steps for line in lines], run

    def _name(self) -> str:
        self._names += 1
        return f"p{self._names}"

    def _place(self) -> str:
        last, size = self.size - 1, self.size
        places = ("u", f"{last} - u", f"(u + 1) % {size}", f"u + {size}", "0", "u / 2 + k % 2")
        return self.random.choice(places)

    # ---------------------------------------------------------------- memory of a block

    def _store(self) -> Step:
        array, view = self.random.choice("AB"), self._name()
        place = self.random.choice(("u", f"u + {self.size}", "u * 2", f"{self.size - 1} - u"))
        lines = [f"partition {array} as {view} @ thread[1] at {place}:", f"    {view}[0] = acc + 1"]

        def run(made: Clusters) -> bool:
            np.put_along_axis(made.arrays[array], made.index(place), made.acc + 1, 2)
            return False

        return ["group block[1]:", *indented(lines)], run

    def _load(self) -> Step:
        array, place = self.random.choice("AB"), self._place()

        def run(made: Clusters) -> bool:
            made.add(np.take_along_axis(made.arrays[array], made.index(place), 2))
            return False

        return ["group block[1]:", f"    acc += {array}[{place}]"], run

    def _remote(self) -> Step:
        """Threads read another block's array, or those of one block alone."""
        array, place = self.random.choice("AB"), self._place()
        count = self.blocks
        ranks = (f"(rank + 1) % {count}", f"{count - 1} - rank", "0", f"(rank + n) % {count}")
        rank = self.random.choice((*ranks, "rank", f"(u + k) % {count}"))
        alone = self.random.choice((None, None, self.random.randrange(count)))
        lines = [f"acc += load_from({array}, {place}, {rank})"]
        if alone is not None:
            lines = [f"if rank == {alone}:", *indented(lines)]

        def run(made: Clusters) -> bool:
            found = made.arrays[array][made.c, made.index(rank), made.index(place)]
            made.add(found, alone is None or made.rank == alone)
            return False

        return ["group block[1]:", *indented(lines)], run

    def _turned(self) -> Step:
        """A function of the block."""
        array = self.random.choice("AB")

        def run(made: Clusters) -> bool:
            made.arrays[array][:, :, : self.size] = made.acc
            made.acc = made.acc[:, :, ::-1]
            return False

        return ["group block[1]:", f"    acc = turned_{self.name}({array}, acc)"], run

    def _own_load(self) -> Step:
        """Each block's engine fills its array."""
        array, view, at = self.random.choice("AB"), self._name(), self.random.choice((0, 1))
        lines = [f"claim {array} as async {view} @ thread[1]:", "    first thread[1]:"]
        load = f"bulk_load({view}, {at * self.size}, X, (c + rank) * 16, {self.size * 4})"

        def run(made: Clusters) -> bool:
            part = slice(at * self.size, (at + 1) * self.size)
            made.arrays[array][:, :, part] = made.inputs[(made.c + made.rank) * 16 + made.u]
            return False

        return ["group block[1]:", *indented([*lines, "        " + load])], run

    # ---------------------------------------------------------------- memory of the cluster

    def _whole(self) -> Step:
        """Threads store to what is the cluster's, or read there."""
        view, last = self._name(), self.blocks * self.size - 1
        t, reads = f"(rank * {self.size} + u)", self.random.random() < 0.6

        def load(made: Clusters) -> bool:
            made.add(made.z[:, ::-1].reshape(made.acc.shape))
            return False

        def store(made: Clusters) -> bool:
            made.z = (made.acc * 3).reshape(made.z.shape)
            return False

        if reads:
            return ["group block[1]:", f"    acc += z[{last} - {t}]"], load
        return [f"partition z as {view} @ thread[1] at t:", f"    {view}[0] = acc * 3"], store

    def _function(self) -> Step:
        """A function of the cluster."""

        def run(made: Clusters) -> bool:
            made.z = made.acc.reshape(made.z.shape)
            made.acc = made.z[:, ::-1].reshape(made.acc.shape)
            return False

        return [f"acc = exchanged_{self.name}(z, acc)"], run

    def _bulk_store(self) -> Step:
        """Each block's engine stores from its array to its part of the cluster's."""
        array, view, part, own = self.random.choice("AB"), *(self._name() for _ in range(3))
        source = self.random.choice((0, self.size))
        lines = [
            f"partition z as {part} @ block[1] at rank * {self.size}:",
            "    group block[1]:",
            f"        claim {array} as async {view} @ thread[1], {part} as {own} @ thread[1]:",
            "            first thread[1]:",
            f"                bulk_store({own}, 0, {view}, {source}, {self.size * 4})",
        ]

        def run(made: Clusters) -> bool:
            stored = made.arrays[array][:, :, source : source + self.size]
            made.z = stored.reshape(made.z.shape)
            return False

        return lines, run

    def _mirrored(self) -> Step:
        """All blocks load an array that each has a copy of; something may stand before its use."""
        array, total = "M" + self._name(), self.blocks * 16
        between, run_between = self._several(2) if self.random.random() < 0.5 else NOTHING
        lines = [
            f"shared {array}: i32[{total}]",
            *self._part_loads(array, "c * 8", 0),
            *between,
            "group block[1]:",
            f"    acc += {array}[u * 3 % {total}]",
        ]

        def run(made: Clusters) -> bool:
            run_between(made)
            made.add(made.inputs[made.c * 8 + made.index(f"u * 3 % {total}")])
            return False

        return [f"group block[{self.blocks}]:", *indented(lines)], run

    def _part_loads(self, memory: str, source: str, warps: int) -> list[str]:
        """Each block loads a part for all of them, from `source` on; a warp behind `warps` does."""
        view, part = self._name(), self._name()
        load = self._by_one(warps, f"bulk_load({view}, 0, X, {source} + rank * 16, 64)")
        return [
            f"partition {memory} as {part} @ block[1] at rank * 16:",
            "    group block[1]:",
            f"        claim {part} as async {view} @ thread[1]:",
            *indented(load, 3),
        ]

    def _own_loads(self, memory: str, source: str, warps: int) -> list[str]:
        """Each block loads as many elements for itself."""
        view, size = self._name(), self.blocks * 64
        load = self._by_one(warps, f"bulk_load({view}, 0, X, {source}, {size})")
        return [
            "group block[1]:",
            f"    claim {memory} as async {view} @ thread[1]:",
            *indented(load, 2),
        ]

    def _by_one(self, warps: int, line: str) -> list[str]:
        lines = ["first thread[1]:", f"    {line}"]
        if not warps:
            return lines
        return [
            "split warp:", f"    case {warps}:", "        pass", "    case 1:", *indented(lines, 2)
        ]  # fmt: skip

    # ---------------------------------------------------------------- pipelines

    def _pipeline(self) -> Step:
        """A ring that each block fills for itself, or all together, by a warp or by all."""
        i, slot, ring = self._name(), self._name(), "R" + self._name()
        slots, total = self.random.randint(1, 4), self.blocks * 16
        is_mirrored, reads_others = self.random.random() < 0.6, self.random.random() < 0.3
        warps = self.size // 32 - 1 if self.random.random() < 0.6 else 0  # that use the slots
        if is_mirrored:
            fill = self._part_loads(slot, f"c * 8 + {i} * 4", warps)
        else:
            fill = self._own_loads(slot, f"(c + rank) * 16 + {i} * 4", warps)
        use = [f"acc += {slot}[u * 3 % {total}] * ({i} + 1)"]
        if reads_others:
            use.append(f"acc += load_from(A, u, ({i} + rank) % {self.blocks})")
        if warps:
            use = ["split warp:", f"    case {warps}:", *indented(use, 2)]
        lines = [
            f"shared {ring}: i32[{slots}][{total}]" + ("" if is_mirrored else " @ block[1]"),
            f"pipeline {i} in range(n) through {ring} as {slot}:",
            "    produce:",
            *indented(fill, 2),
            "    consume:",
            "        group block[1]:",
            *indented(use, 3),
        ]

        def run(made: Clusters) -> bool:
            active = made.u < 32 * warps if warps else True
            first = made.c * 8 if is_mirrored else (made.c + made.rank) * 16
            for number in range(made.names["n"]):
                found = made.inputs[first + number * 4 + made.index(f"u * 3 % {total}")]
                made.add(found * np.int32(number + 1), active)
                if reads_others:
                    ranks = made.index(f"({number} + rank) % {self.blocks}")
                    made.add(made.arrays["A"][made.c, ranks, made.index("u")], active)
            return False

        return [f"group block[{self.blocks}]:", *indented(lines)], run

    # ---------------------------------------------------------------- control

    def _loop(self, depth: int) -> Step:
        """A loop, to its end or with a way out."""
        trips, at = self.random.choice(("n", "n - 1", "2")), self.random.choice((None, 0, 1))
        way = self.random.choice(("break", "continue"))
        head, first = self._several(depth + 1)
        self._conditions += 1
        tail, second = NOTHING if at is None else self._several(depth + 1)
        self._conditions -= 1
        counter = "k" + self._name()
        lines = [*head, *([] if at is None else [f"if {counter} == {at}:", f"    {way}"]), *tail]

        def run(made: Clusters) -> bool:
            outer = made.names["k"]
            for number in range(int(made.index(trips).flat[0])):
                made.names["k"] = number
                first(made)
                if number == at and way == "break":
                    break
                if at is not None and number != at:
                    second(made)
            made.names["k"] = outer
            return False

        body = ["    " + renamed(line, counter) for line in lines]
        return [f"for {counter} in range({trips}):", *body], run

    def _choice(self, depth: int) -> Step:
        self._conditions += 1
        (first, one), (second, other) = self._several(depth + 1), self._several(depth + 1)
        self._conditions -= 1

        def run(made: Clusters) -> bool:
            return one(made) if made.names["n"] > 1 else other(made)

        return ["if n > 1:", *indented(first), "else:", *indented(second)], run


NOTHING: Step = ([], lambda made: False)
CLUSTER_FUNCTIONS = """\
from std.cluster import load_from
from std.copy import bulk_load, bulk_store

"""
HEAD = """\
@requires(block[1], thread[{size}])
def turned_{name}(p: ptr(i32), v: i32 @ thread[1]) -> i32 @ thread[1]:
    u: int @ thread[1] = id()
    partition p as s @ thread[1] at u:
        s[0] = v
    return p[{size} - 1 - u]

@requires(block[{blocks}], thread[{size}])
def exchanged_{name}(p: ptr(i32), v: i32 @ thread[1]) -> i32 @ thread[1]:
    t: int @ thread[1] = id()
    partition p as s @ thread[1] at t:
        s[0] = v
    return p[{all} - 1 - t]

@requires(grid[1], block[{blocks}], thread[{size}])
@launch(threads = {size}, cluster = {blocks})
@assume(aligned(X, 16), aligned(Z, 16))
kernel {name}(X: ptr(const i32), Y: ptr(i32), Z: ptr(i32), n: int):
    k: int = 0
    c: int @ block[{blocks}] = id()
    partition Y as yb @ block[{blocks}] at c * {all}, Z as z @ block[{blocks}] at c * {all}:
        group block[{blocks}]:
            t: int @ thread[1] = id()
            rank: int @ block[1] = id()
            u: int @ thread[1] = t - rank * {size}
            shared A: i32[{twice}] @ block[1]
            shared B: i32[{twice}] @ block[1]
            acc: i32 @ thread[1] = X[t]
            group block[1]:
                partition A as a0 @ thread[1] at u * 2, B as b0 @ thread[1] at u * 2:
                    a0[0] = 0
                    a0[1] = 0
                    b0[0] = 0
                    b0[1] = 0
"""
TAIL = ("partition yb as y @ thread[1] at t:", "    y[0] = acc")
