"""CUDA text to PTX for tests, by NVRTC and, where it is installed, by nvcc; each text once."""

from __future__ import annotations

import os
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import pytest

from prismc.backend.cuda_module import CudaModule
from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.backend.toolchain.nvcc import Nvcc
from prismc.backend.toolchain.nvrtc import Nvrtc

KERNELS = Path(__file__).with_name("kernels")
# Compiling takes most of these tests' time, and the kernels change seldom.
_KEPT = Path(__file__).parents[2] / ".pytest_cache" / "ptx"


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
    key = "\0".join((chosen.description, target, source))
    kept = _KEPT / f"{sha256(key.encode()).hexdigest()}.ptx"
    if not kept.exists():
        _keep(kept, _compiled(chosen, source, target))
    return kept.read_text(encoding="utf-8")


def _compiled(chosen: Nvrtc | Nvcc, source: str, target: str) -> str:
    compilation = chosen.compile(
        CudaModule(name="kernel.cu", text=source, kernels=(), files=("kernel.cu",)), target
    )
    assert compilation.cubin is not None, compilation.log
    assert compilation.ptx is not None
    return compilation.ptx


def _keep(path: Path, text: str) -> None:
    """Writes a file that other test processes may be writing too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    own = path.with_suffix(f".{os.getpid()}")
    own.write_text(text, encoding="utf-8")
    own.replace(path)


def kernel_text(name: str) -> str:
    """The CUDA text of one of the test kernels, its include pasted in."""
    text = (KERNELS / f"{name}.cu").read_text(encoding="utf-8")
    header = (KERNELS / "hopper.h").read_text(encoding="utf-8")
    return text.replace('#include "hopper.h"\n', header)
