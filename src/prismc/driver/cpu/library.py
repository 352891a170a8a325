"""A CUDA driver library for machines without a GPU, compiled where it is used."""

from __future__ import annotations

import sys
from pathlib import Path

from prismc.backend.toolchain.packing import compile_shared_library

NAME = "libcuda.so.1"  # what programs open

_SOURCE = Path(__file__).with_name("libcuda.c")


def compile_driver(device: str) -> bytes:
    """The library; programs see one device of that name (`sm_90a`). Raises ToolchainFailure."""
    definitions = {"PYTHON": sys.executable, "DEVICE": device}
    return compile_shared_library(_SOURCE, definitions)
