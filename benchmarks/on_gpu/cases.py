"""What is launched: every example at a size for timing, and what each costs at least."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from examples.launches import EXAMPLES, LAUNCHES, Launch

BLOCKS = 8 * 132  # a few for each multiprocessor of the largest GPUs
NUMBERS = 1 << 28  # of a vector: 1 GiB of f32, far above any L2
SIDE = 8192


def _products(launch: Launch) -> float:
    """The floating-point operations of a matrix product."""
    return 2.0 * launch.arguments["M"] * launch.arguments["N"] * launch.arguments["K"]


def _attention(launch: Launch) -> float:
    heads, length, width = launch.arguments["Q"].shape
    return 4.0 * heads * length * length * width


def _moved(launch: Launch) -> float:
    """The bytes of all arrays, each of which is read or written once."""
    return float(sum(each.nbytes for each in launch.arguments.values() if _is_array(each)))


def _with_output_twice(launch: Launch) -> float:
    """The same where the output is read and written."""
    return _moved(launch) + launch.arguments[launch.output].nbytes


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


class Case(NamedTuple):
    """An example at `sizes`, as `launches.py` counts them. `work` is in `unit` times 10^-9 (GB) or
    10^-12 (TFLOP); `zeroed` names what has to be 0 before each launch."""

    name: str
    sizes: tuple[int, ...]
    work: Callable[[Launch], float] = _moved
    unit: str = "GB/s"
    zeroed: tuple[str, ...] = ()

    @property
    def program(self) -> Path:
        return EXAMPLES / f"{self.name}.prism"

    @property
    def target(self) -> str:
        """The least target that the example is for."""
        return LAUNCHES[self.name].target

    def launch(self, sizes: tuple[int, ...]) -> Launch:
        """Random arguments and what NumPy makes of them, the same ones each time."""
        return LAUNCHES[self.name].make(np.random.default_rng(len(self.name)), *sizes)

    def ragged(self) -> tuple[int, ...]:
        """Sizes that no tile divides, where the example takes such."""
        return LAUNCHES[self.name].chosen[-1]

    def speed(self, launch: Launch, milliseconds: float) -> float:
        """The work in a second, in the case's unit."""
        scale = 1e9 if self.unit == "GB/s" else 1e12
        return self.work(launch) / scale / (milliseconds / 1e3)


def _product(name: str, *sizes: int) -> Case:
    return Case(name, sizes, _products, "TFLOP/s")


CASES = (
    Case("saxpy", (NUMBERS,), _with_output_twice),
    Case("transpose", (2 * SIDE, 2 * SIDE)),
    Case("batched_transpose", (8, SIDE, SIDE // 2)),
    Case("block_sum", (NUMBERS, BLOCKS)),
    Case("last_block_sum", (NUMBERS, BLOCKS)),
    Case("prefix_scan", (NUMBERS, 2), zeroed=("ticket", "status")),
    Case("row_softmax", (SIDE, SIDE)),
    Case("online_softmax", (SIDE, SIDE // 4)),
    Case("layer_norm", (SIDE, SIDE // 4)),
    Case("row_argmax", (SIDE, SIDE)),
    Case("histogram", (NUMBERS // 16, BLOCKS), zeroed=("bins",)),
    Case("stencil", (SIDE, SIDE)),
    _product("tf32_matmul", 4096, 4096, 4096),
    _product("sgemm_naive", 4096, 4096, 4096),
    _product("sgemm_coalesced", 4096, 4096, 4096),
    _product("sgemm_tiled", 4096, 4096, 4096),
    _product("sgemm_vectorised", 4096, 1024, 1024),
    _product("sgemm_warp_tiled", 4096, 1024, 1024),
    _product("bf16_matmul", 64, 64, 128),
    _product("hopper_matmul", 32, 32, 64),
    Case("attention", (32, 64), _attention, "TFLOP/s"),
)
