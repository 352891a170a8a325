"""CUDA text to PTX for tests, by NVRTC and, where it is installed, by nvcc; each text once."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest

from prismc.backend.cuda_module import CudaModule
from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.backend.toolchain.nvcc import Nvcc
from prismc.backend.toolchain.nvrtc import Nvrtc

KERNELS = Path(__file__).with_name("kernels")


@lru_cache(maxsize=1)
def _nvrtc() -> Nvrtc:
    return Nvrtc()


@lru_cache(maxsize=1)
def _nvcc() -> Nvcc | None:
    try:
        return Nvcc()
    except ToolchainFailure:
        return None


@lru_cache(maxsize=256)
def ptx_of(source: str, target: str = "sm_80", compiler: str = "nvrtc") -> str:
    """The PTX of CUDA text. Skips the test where nvcc is asked for and not installed."""
    chosen = _nvrtc() if compiler == "nvrtc" else _nvcc()
    if chosen is None:
        pytest.skip("nvcc is not installed")
    compilation = chosen.compile(
        CudaModule(name="kernel.cu", text=source, kernels=(), files=("kernel.cu",)), target
    )
    assert compilation.cubin is not None, compilation.log
    assert compilation.ptx is not None
    return compilation.ptx


def kernel_text(name: str) -> str:
    """The CUDA text of one of the test kernels, its include pasted in."""
    text = (KERNELS / f"{name}.cu").read_text(encoding="utf-8")
    header = (KERNELS / "hopper.h").read_text(encoding="utf-8")
    return text.replace('#include "hopper.h"\n', header)
