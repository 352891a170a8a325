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


def _collective(kernel: str, excused: str = "") -> Pair:
    """A kernel that does little but call one function of the standard library."""
    return Pair(kernel, kernel, excused, folder="benchmarks/collectives")


_ADDRESSES_OF_B = (
    "the loop has 87 or 88 instructions for 71. An address of B takes two there; in the twin one, "
    "since C's offset is worked out behind the loop, as the tile's and the thread's in it. "
    "Computing that offset behind the loop alone (87), the column as one value (86), the sum "
    "before C is partitioned (86), and one offset by row and column (87, with 48 registers for "
    "56) were tried in the example; together they give 71 in the generated text, which "
    "`sink-values` does not reach, as the thread's row and column are read before the loop, too."
)
_ONE_MORE = (
    "46 instructions for 45 on sm_80, one more: the twin's thread index has no sign, Prism's `int` "
    "has one. `t & 31` for `t % 32` in the library was tried (46 as well), and helps `block_scan`."
)


PAIRS = (
    Pair("saxpy", "saxpy"),
    Pair("transpose", "transpose"),
    Pair("batched_transpose", "batched_transpose_f32"),
    Pair("block_sum", "block_sum"),
    Pair("last_block_sum", "last_block_sum"),
    Pair("row_softmax", "row_softmax"),
    Pair("online_softmax", "online_softmax"),
    Pair("layer_norm", "layer_norm"),
    Pair("histogram", "histogram"),
    Pair("stencil", "stencil"),
    Pair("row_argmax", "row_argmax"),
    Pair("prefix_scan", "prefix_scan"),
    Pair("prefix_scan", "prefix_scan_f32"),
    Pair("tf32_matmul", "tf32_matmul"),
    Pair("bf16_matmul", "bf16_matmul"),
    Pair("attention", "attention"),
    Pair("hopper_matmul", "hopper_matmul", targets=("sm_90a",)),
    Pair("sgemm_naive", "sgemm_naive", _ADDRESSES_OF_B),
    Pair("sgemm_coalesced", "sgemm_coalesced", _ADDRESSES_OF_B),
    Pair("sgemm_tiled", "sgemm_tiled_128"),
    Pair("sgemm_vectorised", "sgemm_vectorised_128"),
    Pair("sgemm_warp_tiled", "sgemm_warp_tiled_128"),
    _collective("block_reduce", _ONE_MORE),
    _collective("block_scan"),
    _collective("block_exchange"),
    _collective("block_histogram"),
    _collective("block_radix_sort"),
    _collective("block_merge_sort"),
)
