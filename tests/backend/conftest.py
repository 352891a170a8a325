"""The loaded NVRTC, nvcc where the machine has one, and small modules to compile."""

from __future__ import annotations

import pytest

from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.backend.toolchain.nvcc import Nvcc
from prismc.backend.toolchain.nvrtc import Nvrtc


@pytest.fixture(scope="session")
def nvrtc() -> Nvrtc:
    return Nvrtc()


@pytest.fixture(scope="session")
def nvcc() -> Nvcc:
    try:
        return Nvcc()
    except ToolchainFailure as failure:
        pytest.skip(str(failure))
