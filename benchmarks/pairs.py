"""The kernels that are held against hand-written CUDA, and where one is worse, why."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TARGETS = ("sm_80", "sm_90a")


class Pair(NamedTuple):
    """A kernel of `FOLDER/SOURCE.prism` and its twin, of the same name in `twins/SOURCE.cu`.

    `excused` tells why the compiler's side may pass a limit, and what was tried.
    """

    source: str
    kernel: str
    excused: str = ""
    folder: str = "examples"
    targets: tuple[str, ...] = TARGETS

    @property
    def program(self) -> Path:
        return ROOT / self.folder / f"{self.source}.prism"

    @property
    def twin(self) -> Path:
        return ROOT / "benchmarks" / "twins" / f"{self.source}.cu"


def _collective(kernel: str) -> Pair:
    """A kernel that does little but call one function of the standard library."""
    return Pair(kernel, kernel, folder="benchmarks/collectives")


PAIRS = (
    Pair("saxpy", "saxpy"),
    Pair("transpose", "transpose"),
    Pair("batched_transpose", "batched_transpose_f32"),
    Pair("block_sum", "block_sum"),
    Pair(
        "last_block_sum",
        "last_block_sum",
        "14 registers more: the second loop is unrolled further, as its loads may move over one "
        "another; eight blocks fit on a multiprocessor either way.",
    ),
    Pair("row_softmax", "row_softmax"),
    Pair("online_softmax", "online_softmax"),
    Pair("layer_norm", "layer_norm"),
    Pair("histogram", "histogram"),
    Pair("stencil", "stencil"),
    Pair("row_argmax", "row_argmax"),
    Pair("prefix_scan", "prefix_scan"),
    Pair(
        "tf32_matmul",
        "tf32_matmul",
        "7 or 8 registers more for a loop of 14 % fewer instructions. Blocks of one warp: 32 of "
        "them, the most a multiprocessor takes, fit either way. With an assumption that the "
        "thread's index is not negative it is 2 to 4 more and a loop that is longer by up to 8 "
        "instructions.",
    ),
    Pair(
        "bf16_matmul",
        "bf16_matmul",
        "6 to 8 registers more for a loop of 40 % fewer instructions; as many blocks fit on a "
        "multiprocessor. With a lane that is known not to be negative it takes the twin's "
        "registers, and 23 % more instructions in the loop, where addresses are computed then.",
    ),
    Pair(
        "attention",
        "attention",
        "Eight registers more for a loop of 11 % fewer instructions; two blocks fit on a "
        "multiprocessor either way. With a lane that is known not to be negative it takes 16 "
        "registers fewer than the twin, and 16 % more instructions in the loop.",
    ),
    Pair(
        "hopper_matmul",
        "hopper_matmul",
        "36 to 40 instructions more in the loop: its eight descriptors are made of addresses, in "
        "registers of threads for A. Issued by two warps for each scheduler they are hidden: "
        "about 170 cycles of the 512 that a step's products take at the peak rate. Tried: the "
        "warpgroup's number by a shuffle, which is a uniform register (72 instructions); "
        "descriptors as sums of the array's and an offset (87); both (65).",
        targets=("sm_90a",),
    ),
    Pair("sgemm_naive", "sgemm_naive"),
    Pair("sgemm_coalesced", "sgemm_coalesced"),
    Pair("sgemm_tiled", "sgemm_tiled_128"),
    Pair("sgemm_vectorised", "sgemm_vectorised_128"),
    Pair(
        "sgemm_warp_tiled",
        "sgemm_warp_tiled_128",
        "6 registers more on sm_80, for a loop that is shorter by 5 instructions; two blocks fit "
        "on a multiprocessor either way. Tried: where a thread loads from, with and without signs, "
        "in all combinations; 192 registers take 10 instructions more, 200 take 5.",
    ),
    _collective("block_reduce"),
    _collective("block_scan"),
    _collective("block_exchange"),
    _collective("block_histogram"),
    _collective("block_radix_sort"),
    _collective("block_merge_sort"),
)
