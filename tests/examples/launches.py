"""Launches of the example programs: arguments of given sizes, and what NumPy makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from prismc.emulator.schedule import Plan
from support.running import Compiled, compile_file, compile_texts

EXAMPLES = Path(__file__).parents[2] / "examples"
Array = np.ndarray[Any, Any]
Random = np.random.Generator


class Launch(NamedTuple):
    """`output` names the array that must hold `expected`, to within `tolerance` of each element.
    `kernel` is the one to launch, where the example has several."""

    blocks: int
    arguments: Mapping[str, Any]
    output: str
    expected: Array
    tolerance: Array
    kernel: str | None = None

    def run(self, program: Compiled, plan: Plan, time_limit: float = 60) -> str:
        """What is wrong with what a launch leaves, or nothing; the limit is in seconds.

        Raises AssertionError when the emulator finds a fault.
        """
        found = program.run(self.blocks, self.arguments, self.kernel, plan, time_limit)
        return self.wrong(found[self.output])

    def wrong(self, found: Array) -> str:
        """What differs most, or nothing."""
        error = np.abs(found.reshape(self.expected.shape) - self.expected) - self.tolerance
        if error.size == 0 or (error <= 0).all():
            return ""
        at = tuple(int(i) for i in np.unravel_index(np.nanargmax(error), error.shape))
        value = found.reshape(error.shape)[at]
        return f"{self.output}{list(at)} is {value}, not {self.expected[at]}"


@cache
def example(name: str, target: str = "") -> Compiled:
    """An example, compiled as it stands."""
    return compile_file(EXAMPLES / f"{name}.prism", target or LAUNCHES[name].target)


@cache
def small_example(name: str, dropped: tuple[int, ...] = ()) -> Compiled:
    """An example with the instance that is quick to compile and to run, where it has several;
    `dropped` numbers planned operations to leave out."""
    path = EXAMPLES / f"{name}.prism"
    text = path.read_text(encoding="utf-8")
    if small := LAUNCHES[name].small:
        assert small[0] in text
        text = text.replace(*small)
    flags = f"--target {LAUNCHES[name].target}"
    return compile_texts({str(path): text}, str(path), flags, dropped)


def _numbers(random: Random, *shape: int) -> Array:
    return random.standard_normal(shape).astype(np.float32)


def saxpy(random: Random, n: int) -> Launch:
    x, y, a = _numbers(random, n), _numbers(random, n), np.float32(2.5)
    exact = np.float64(a) * x + y
    # The product is not rounded: ptxas fuses it with the sum.
    arguments = {"n": n, "a": a, "x": x, "y": y}
    return Launch(-(-n // 256), arguments, "y", exact, np.abs(exact) * 2e-7)


def transpose(random: Random, rows: int, cols: int) -> Launch:
    a = _numbers(random, rows, cols)
    arguments = {"rows": rows, "cols": cols, "A": a.ravel(), "B": np.zeros(a.size, np.float32)}
    blocks = -(-rows // 32) * -(-cols // 32)
    return Launch(blocks, arguments, "B", a.T, np.zeros((cols, rows)))


def block_sum(random: Random, n: int, blocks: int) -> Launch:
    x = _numbers(random, n)
    padded = np.pad(x, (0, -n % (256 * blocks))).reshape(-1, blocks, 256).astype(np.float64)
    arguments = {"n": n, "x": x, "sums": np.zeros(blocks, np.float32)}
    bound = np.abs(padded).sum(axis=(0, 2)) * 1e-6 + 1e-6
    return Launch(blocks, arguments, "sums", padded.sum(axis=(0, 2)), bound)


def row_softmax(random: Random, rows: int, cols: int) -> Launch:
    x = _numbers(random, rows, cols) * 4
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    exact = powers / powers.sum(axis=1, keepdims=True)
    arguments = {"cols": cols, "x": x.ravel(), "y": np.zeros(x.size, np.float32)}
    return Launch(rows, arguments, "y", exact, exact * 1e-4 + 1e-6)


def histogram(random: Random, pieces: int, blocks: int) -> Launch:
    x = random.integers(0, 256, 16 * pieces, np.uint8)
    arguments = {"n": x.size, "x": x, "bins": np.zeros(256, np.uint32)}
    exact = np.bincount(x, minlength=256).astype(np.float64)
    return Launch(blocks, arguments, "bins", exact, np.zeros(256))


def prefix_scan(random: Random, n: int, kind: int) -> Launch:
    """`kind` is 1 for integers, 2 for floats."""
    blocks = -(-n // 4096)
    arguments = {"n": n, "ticket": np.zeros(1, np.uint32), "status": np.zeros(blocks, np.uint64)}
    if kind == 1:
        x = random.integers(0, 1 << 32, n, np.uint32)
        exact = np.cumsum(x, dtype=np.uint32).astype(np.float64)
        arguments |= {"x": x, "y": np.zeros_like(x)}
        return Launch(blocks, arguments, "y", exact, np.zeros(n), "prefix_scan")
    x = _numbers(random, n)
    # An element is added to in its thread, warp, block, and by at most each block before it.
    bound = np.cumsum(np.abs(x), dtype=np.float64) * (40 + blocks) * 2.0**-24
    arguments |= {"x": x, "y": np.zeros_like(x)}
    return Launch(blocks, arguments, "y", np.cumsum(x, dtype=np.float64), bound, "prefix_scan_f32")


def tf32_matmul(random: Random, m: int, n: int, k: int) -> Launch:
    a, b = _numbers(random, m, k), _numbers(random, k, n)
    arguments = {
        "A": a.ravel(), "B": b.ravel(), "C": np.zeros(m * n, np.float32), "M": m, "N": n, "K": k,
    }  # fmt: skip
    # The hardware drops 13 bits of each factor: about 2^-10 of every product.
    bound = (np.abs(a).astype(np.float64) @ np.abs(b)) * 2.0**-9 + 1e-6
    blocks = -(-m // 16) * -(-n // 8)
    return Launch(blocks, arguments, "C", a.astype(np.float64) @ b, bound)


def last_block_sum(random: Random, n: int, blocks: int) -> Launch:
    x = _numbers(random, n)
    arguments = {
        "n": n, "x": x, "sums": np.zeros(blocks, np.float32), "total": np.zeros(1, np.float32),
        "arrivals": np.zeros(1, np.uint32),
    }  # fmt: skip
    exact = x.astype(np.float64).sum(keepdims=True)
    return Launch(blocks, arguments, "total", exact, np.abs(x).sum(keepdims=True) * 1e-6 + 1e-6)


def online_softmax(random: Random, rows: int, quads: int) -> Launch:
    return row_softmax(random, rows, 4 * quads)


def layer_norm(random: Random, rows: int, quads: int) -> Launch:
    cols = 4 * quads
    x, scale, shift = _numbers(random, rows, cols), _numbers(random, cols), _numbers(random, cols)
    wide, eps = x.astype(np.float64), np.float32(1e-3)
    spread = np.sqrt(wide.var(axis=1, keepdims=True) + np.float64(eps))
    exact = (wide - wide.mean(axis=1, keepdims=True)) / spread * scale + shift
    arguments = {
        "cols": cols, "eps": eps, "x": x, "scale": scale, "shift": shift, "y": np.zeros_like(x),
    }  # fmt: skip
    return Launch(rows, arguments, "y", exact, np.full(exact.shape, 2e-5))


def batched_transpose(random: Random, batch: int, rows: int, cols: int) -> Launch:
    a = _numbers(random, batch, rows, cols)
    arguments = {"rows": rows, "cols": cols, "A": a.ravel(), "B": np.zeros(a.size, np.float32)}
    blocks = batch * -(-rows // 32) * -(-cols // 32)
    exact = a.transpose(0, 2, 1).astype(np.float64)
    return Launch(blocks, arguments, "B", exact, np.zeros(exact.shape))


def stencil(random: Random, rows: int, cols: int) -> Launch:
    x = _numbers(random, rows, cols)
    around = np.pad(x.astype(np.float64), 1)
    neighbours = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
    arguments = {
        "rows": rows, "cols": cols, "centre": np.float32(0.5), "side": np.float32(0.125), "x": x,
        "y": np.zeros_like(x),
    }  # fmt: skip
    exact = 0.5 * x + 0.125 * neighbours
    blocks = -(-rows // 16) * -(-cols // 32)
    return Launch(blocks, arguments, "y", exact, np.full(exact.shape, 2e-6))


def row_argmax(random: Random, rows: int, cols: int) -> Launch:
    """Few different values, so that the first of equals matters."""
    x = random.integers(-20, 20, (rows, cols)).astype(np.float32) / 4
    arguments = {"rows": rows, "cols": cols, "x": x, "best": np.zeros(rows, np.int32)}
    return Launch(-(-rows // 8), arguments, "best", x.argmax(axis=1), np.zeros(rows))


def attention(random: Random, heads: int, tiles: int) -> Launch:
    """`tiles` of 64 rows a head."""
    shape = (heads, 64 * tiles, 64)
    q, k, v = (random.standard_normal(shape).astype(np.float16) for _ in range(3))
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / 8
    powers = np.exp(scores - scores.max(axis=2, keepdims=True))
    exact = powers / powers.sum(axis=2, keepdims=True) @ v.astype(np.float64)
    arguments = {"L": 64 * tiles, "Q": q, "K": k, "V": v, "O": np.zeros(shape, np.float32)}
    # Weights are rounded to f16 before they meet V.
    return Launch(heads * tiles, arguments, "O", exact, np.full(shape, 2e-3))


def _sgemm(rows: int, columns: int, step: int = 1) -> Callable[[Random, int, int, int], Launch]:
    """Launches of a kernel of `rows` x `columns` elements a block; n and k count `step`s."""

    def make(random: Random, m: int, n: int, k: int) -> Launch:
        n, k = n * step, k * step
        a, b, c = _numbers(random, m, k), _numbers(random, k, n), _numbers(random, m, n)
        alpha, beta = np.float32(1.5), np.float32(-0.25)
        arguments = {
            "M": m, "N": n, "K": k, "alpha": alpha, "A": a, "B": b, "beta": beta, "C": c,
        }  # fmt: skip
        exact = np.float64(alpha) * (a.astype(np.float64) @ b) + np.float64(beta) * c
        # Each of k sums rounds once, to 2^-24 of what has been added up so far.
        bound = (np.abs(a).astype(np.float64) @ np.abs(b) * (k + 2) + np.abs(c)) * 2.0**-23
        blocks = -(-m // rows) * -(-n // columns)
        return Launch(blocks, arguments, "C", exact, bound + 1e-30)

    return make


def bf16_matmul(random: Random, rows: int, columns: int, depths: int) -> Launch:
    """Sizes in tiles of 64 rows and columns, and in steps of 32."""
    m, n, k = 64 * rows, 64 * columns, 32 * depths
    a = random.standard_normal((m, k)).astype(ml_dtypes.bfloat16)
    b = random.standard_normal((n, k)).astype(ml_dtypes.bfloat16)
    arguments = {"A": a, "B": b, "C": np.zeros((m, n), np.float32), "M": m, "N": n, "K": k}
    exact = [each.astype(np.float64) for each in (a, b)]
    bound = np.abs(exact[0]) @ np.abs(exact[1]).T * 2.0**-20 + 1e-6
    return Launch(rows * columns, arguments, "C", exact[0] @ exact[1].T, bound)


def _hopper_matmul(columns_of_tile: int) -> Callable[..., Launch]:
    """Sizes in tiles of 128 rows, of so many columns, and in steps of 64."""

    def make(random: Random, rows: int, columns: int, depths: int) -> Launch:
        m, n, k = 128 * rows, columns_of_tile * columns, 64 * depths
        a = random.standard_normal((m, k)).astype(ml_dtypes.bfloat16)
        b = random.standard_normal((n, k)).astype(ml_dtypes.bfloat16)
        arguments = {"A": a, "B": b, "C": np.zeros((m, n), np.float32), "M": m, "N": n, "K": k}
        exact = [each.astype(np.float64) for each in (a, b)]
        bound = np.abs(exact[0]) @ np.abs(exact[1]).T * 2.0**-20 + 1e-6
        return Launch(rows * columns, arguments, "C", exact[0] @ exact[1].T, bound)

    return make


class Sizes(NamedTuple):
    """How an example is launched: sizes of interest, and random ones up to `largest`, one or more
    each. `faulty` is a size at which every barrier matters, `faulty_too` one for another kernel.
    `small` puts a smaller instance in the place of the exported one, launched by `make_small`. One
    that `is_slow` is run less often."""

    make: Callable[..., Launch]
    chosen: tuple[tuple[int, ...], ...]
    largest: tuple[int, ...]
    faulty: tuple[int, ...]
    small: tuple[str, str] | None = None
    make_small: Callable[..., Launch] | None = None
    target: str = "sm_80"
    is_slow: bool = False
    faulty_too: tuple[int, ...] = ()

    def launch_small(self, random: Random, *sizes: int) -> Launch:
        """A launch of `small_example`."""
        return (self.make_small or self.make)(random, *sizes)


LAUNCHES: dict[str, Sizes] = {
    "saxpy": Sizes(saxpy, ((1,), (256,), (1000,)), (900,), (256,)),
    "transpose": Sizes(transpose, ((32, 32), (1, 40), (70, 45)), (80, 80), (33, 64)),
    "block_sum": Sizes(block_sum, ((1, 1), (5000, 3)), (3000, 3), (512, 1)),
    "row_softmax": Sizes(row_softmax, ((3, 1), (3, 300)), (3, 700), (1, 300)),
    "histogram": Sizes(histogram, ((0, 1), (1, 2), (700, 2)), (900, 3), (300, 1)),
    "prefix_scan": Sizes(
        prefix_scan,
        ((1, 1), (4096, 1), (13000, 1), (9000, 2)),
        (30000, 2),
        (9000, 1),
        faulty_too=(9000, 2),
    ),
    "tf32_matmul": Sizes(
        tf32_matmul, ((16, 8, 8), (1, 1, 1), (35, 21, 19), (16, 8, 0)), (40, 30, 40), (16, 8, 16)
    ),
    "last_block_sum": Sizes(last_block_sum, ((1, 1), (5000, 7)), (3000, 5), (1500, 3)),
    "online_softmax": Sizes(online_softmax, ((3, 1), (2, 300)), (3, 400), (1, 300)),
    "layer_norm": Sizes(layer_norm, ((3, 1), (2, 300)), (3, 400), (1, 300)),
    "batched_transpose": Sizes(
        batched_transpose, ((1, 32, 32), (3, 1, 40), (2, 70, 45)), (3, 60, 60), (2, 33, 64)
    ),
    "stencil": Sizes(stencil, ((1, 1), (16, 32), (37, 70)), (50, 90), (17, 33)),
    "row_argmax": Sizes(row_argmax, ((1, 1), (19, 77)), (30, 200), (1, 1)),
    "attention": Sizes(attention, ((1, 1), (2, 2)), (2, 3), (1, 3)),
    "sgemm_naive": Sizes(
        _sgemm(32, 32), ((1, 1, 1), (33, 65, 7), (32, 32, 0)), (70, 70, 40), (1, 1, 1)
    ),
    "sgemm_coalesced": Sizes(
        _sgemm(32, 32), ((1, 1, 1), (33, 65, 7), (32, 32, 0)), (70, 70, 40), (1, 1, 1)
    ),
    "sgemm_tiled": Sizes(
        _sgemm(128, 128),
        ((129, 131, 9),),
        (70, 70, 40),
        (32, 32, 16),
        ("[128, 128, 8, 8, 8]", "[32, 32, 8, 4, 4]"),
        _sgemm(32, 32),
    ),
    "sgemm_vectorised": Sizes(
        _sgemm(128, 128, 4),
        ((129, 33, 3),),
        (70, 18, 10),
        (32, 8, 4),
        ("[128, 128, 8, 8, 8]", "[32, 32, 8, 4, 4]"),
        _sgemm(32, 32, 4),
    ),
    "sgemm_warp_tiled": Sizes(
        _sgemm(128, 128, 4),
        ((129, 33, 5),),
        (70, 18, 10),
        (64, 8, 8),
        ("[128, 128, 16, 64, 64, 4, 8, 4]", "[64, 32, 16, 32, 32, 2, 4, 4]"),
        _sgemm(64, 32, 4),
    ),
    "bf16_matmul": Sizes(bf16_matmul, ((1, 1, 1), (2, 1, 5)), (2, 2, 8), (1, 1, 7)),
    "hopper_matmul": Sizes(
        _hopper_matmul(128),
        ((1, 1, 5),),
        (1, 2, 4),
        (1, 1, 4),
        ("[128, 4]", "[8, 2]"),
        _hopper_matmul(8),
        "sm_90a",
        is_slow=True,
    ),
}
