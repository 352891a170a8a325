"""What the tests of host programs share: a driver, and built kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from host.support import build
from prismc.driver.cpu.library import NAME, compile_driver

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a CUDA driver with an sm_80."""
    folder = tmp_path_factory.mktemp("driver")
    (folder / NAME).write_bytes(compile_driver("sm_80"))
    return folder


@pytest.fixture(scope="session")
def saxpy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with saxpy's object, header and record for two targets."""
    folder = tmp_path_factory.mktemp("saxpy")
    build(EXAMPLES / "saxpy.prism", folder, targets=("sm_80", "sm_90a"))
    return folder
