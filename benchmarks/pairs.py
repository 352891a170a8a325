"""The kernels that are held against hand-written CUDA, and where one is worse, why."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]


class Pair(NamedTuple):
    """A kernel of `examples/SOURCE.prism` and its twin, of the same name in `twins/SOURCE.cu`.

    `excused` tells why the compiler's side may pass a limit, and what was tried.
    """

    source: str
    kernel: str
    excused: str = ""

    @property
    def program(self) -> Path:
        return ROOT / "examples" / f"{self.source}.prism"

    @property
    def twin(self) -> Path:
        return ROOT / "benchmarks" / "twins" / f"{self.source}.cu"


PAIRS = (
    Pair("sgemm_naive", "sgemm_naive"),
    Pair("sgemm_coalesced", "sgemm_coalesced"),
    Pair("sgemm_tiled", "sgemm_tiled_128"),
    Pair("sgemm_vectorised", "sgemm_vectorised_128"),
    Pair(
        "sgemm_warp_tiled",
        "sgemm_warp_tiled_128",
        "10 to 16 registers more, which ptxas spends on having more loads in flight (the loop is 8 "
        "instructions shorter); two blocks fit on a multiprocessor either way. Offsets of 32 bits "
        "and another form of the guarded loads change nothing.",
    ),
)
