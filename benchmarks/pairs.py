"""The kernels that are held against hand-written CUDA."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TARGETS = ("sm_80", "sm_90a")


class Pair(NamedTuple):
    """A kernel of `FOLDER/SOURCE.prism` and its twin, of the same name in `twins/SOURCE.cu`."""

    source: str
    kernel: str
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
    Pair("sgemm_naive", "sgemm_naive"),
    Pair("sgemm_coalesced", "sgemm_coalesced"),
    Pair("sgemm_tiled", "sgemm_tiled_128"),
    Pair("sgemm_vectorised", "sgemm_vectorised_128"),
    Pair("sgemm_warp_tiled", "sgemm_warp_tiled_128"),
    _collective("block_reduce"),
    _collective("block_scan"),
    _collective("block_exchange"),
    _collective("block_histogram"),
    _collective("block_radix_sort"),
    _collective("block_merge_sort"),
)
