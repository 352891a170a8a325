"""What the tests of host programs share: a driver, and built kernels."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from host.support import ROOT, build
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


@pytest.fixture(scope="session")
def prismc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiler of this checkout as a program."""
    program = tmp_path_factory.mktemp("bin") / "prismc"
    call = "import sys; from prismc.cli.entry import main; sys.exit(main())"
    path = ROOT / "src"
    program.write_text(
        f"#!/bin/sh\nexport PYTHONPATH='{path}'\nexec '{sys.executable}' -c '{call}' \"$@\"\n"
    )
    program.chmod(0o755)
    return program
