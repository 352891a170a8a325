"""The example programs: what they compute, under several schedules, and the barriers they end with.

The emulator runs the PTX that ships and reports races, reads of what nobody wrote, and accesses out
of bounds; sizes are chosen ragged so that every guard matters.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from prismc.emulator.schedule import Order, Plan
from support.running import Compiled, compile_file

EXAMPLES = Path(__file__).parents[2] / "examples"
SCHEDULES = {
    "together": Plan(),
    "reversed": Plan(order=Order.REVERSED, high_blocks_first=True),
    "random": Plan(order=Order.RANDOM, seed=3),
}
# Synchronising instructions in each kernel's PTX, which are the plan's: none is dropped or doubled.
BARRIERS = {
    "saxpy": {},
    "transpose": {"bar.sync": 1},
    "block_sum": {"bar.sync": 1},
    "row_softmax": {"bar.sync": 3},
    "tf32_matmul": {"bar.warp.sync": 2},
}

schedules = pytest.mark.parametrize("plan", SCHEDULES.values(), ids=SCHEDULES)


@cache
def example(name: str, target: str = "sm_80") -> Compiled:
    return compile_file(EXAMPLES / f"{name}.prism", target)


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def test_every_example_is_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.prism")} == set(BARRIERS)


@pytest.mark.parametrize("name", BARRIERS)
def test_barriers_are_those_of_the_plan(name: str) -> None:
    lines = [line.split()[0] for line in example(name).ptx.splitlines() if line.startswith("\tbar")]
    assert {each.rstrip(";"): lines.count(each) for each in lines} == BARRIERS[name]


@schedules
@pytest.mark.parametrize("n", [1, 256, 1000])
def test_saxpy(n: int, plan: Plan) -> None:
    x, y, a = numbers(n), numbers(n) + 1, np.float32(2.5)
    blocks = -(-n // 256)
    found = example("saxpy").run(blocks, {"n": n, "a": a, "x": x, "y": y}, plan=plan)["y"]
    # The product is not rounded: ptxas fuses it with the sum.
    exact = np.float64(a) * x + y
    assert np.allclose(found, exact, rtol=2e-7, atol=0)


@schedules
@pytest.mark.parametrize("shape", [(32, 32), (1, 40), (70, 45)])
def test_transpose(shape: tuple[int, int], plan: Plan) -> None:
    rows, cols = shape
    a = numbers(rows, cols)
    arguments = {"rows": rows, "cols": cols, "A": a.ravel(), "B": np.zeros(a.size, np.float32)}
    blocks = -(-rows // 32) * -(-cols // 32)
    found = example("transpose").run(blocks, arguments, plan=plan)["B"]
    assert (found.reshape(cols, rows) == a.T).all()


@schedules
@pytest.mark.parametrize(("n", "blocks"), [(1, 1), (5000, 3)])
def test_block_sum(n: int, blocks: int, plan: Plan) -> None:
    x = numbers(n)
    arguments = {"n": n, "x": x, "sums": np.zeros(blocks, np.float32)}
    found = example("block_sum").run(blocks, arguments, plan=plan)["sums"]
    threads = 256 * blocks
    padded = np.pad(x, (0, -n % threads)).reshape(-1, blocks, 256)
    assert np.allclose(found, padded.sum(axis=(0, 2), dtype=np.float64), rtol=1e-4, atol=1e-4)


@schedules
@pytest.mark.parametrize("cols", [1, 300])
def test_row_softmax(cols: int, plan: Plan) -> None:
    x = numbers(3, cols) * 4
    arguments = {"cols": cols, "x": x.ravel(), "y": np.zeros(x.size, np.float32)}
    found = example("row_softmax").run(3, arguments, plan=plan)["y"].reshape(3, cols)
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    assert np.allclose(found, powers / powers.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-6)


@schedules
@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("shape", [(16, 8, 8), (1, 1, 1), (35, 21, 19), (16, 8, 0)])
def test_tf32_matmul(shape: tuple[int, int, int], target: str, plan: Plan) -> None:
    m, n, k = shape
    a, b = numbers(m, k), numbers(k, n)
    arguments = {
        "A": a.ravel(), "B": b.ravel(), "C": np.zeros(m * n, np.float32), "M": m, "N": n, "K": k,
    }  # fmt: skip
    program = example("tf32_matmul", target)
    assert "mma.sync.aligned.m16n8k8" in program.ptx
    blocks = -(-m // 16) * -(-n // 8)
    found = program.run(blocks, arguments, plan=plan)["C"].reshape(m, n)
    # The hardware drops 13 bits of each factor: about 2^-10 of every product.
    bound = (np.abs(a) @ np.abs(b)) * 2.0**-9 + 1e-6
    assert (np.abs(found - a @ b) <= bound).all()
