"""Kernels in Python tests: `prismc.testing`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import prismc
from prismc.emulator.findings import Kind
from prismc.testing import KernelFault, LoadError, RunError, load

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_matrix_product() -> None:
    random = np.random.default_rng(1)
    a = random.standard_normal((40, 24)).astype(np.float32)
    b = random.standard_normal((24, 33)).astype(np.float32)
    c = np.zeros((40, 33), np.float32)
    program = load(str(EXAMPLES / "tf32_matmul.prism"))
    program.tf32_matmul[3 * 5](a, b, c, 40, 33, 24, schedules=3)
    np.testing.assert_allclose(c, a @ b, atol=2e-2)


def test_a_fault_is_raised() -> None:
    x = np.ones(1000, np.float32)
    y = np.zeros(999, np.float32)
    with pytest.raises(KernelFault, match=r"y \[999\]") as caught:
        load(str(EXAMPLES / "saxpy.prism")).saxpy[4](1000, 2.0, x, y)
    assert {finding.kind for finding in caught.value.findings} == {Kind.BOUNDS}
    assert not y.any()


def test_arguments_are_checked() -> None:
    x = np.ones(10)
    with pytest.raises(RunError, match="float64"):
        load(str(EXAMPLES / "saxpy.prism")).saxpy[1](10, 2.0, x, x)


def test_a_program_that_does_not_compile(tmp_path: Path) -> None:
    file = tmp_path / "bad.prism"
    file.write_text("kernel k(:\n", encoding="utf-8")
    with pytest.raises(LoadError, match="P01"):
        load(str(file))


def test_the_package_offers_it_and_pays_for_it_only_then() -> None:
    program = "import sys, prismc; assert 'numpy' not in sys.modules; print(prismc.load.__module__)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "prismc.testing\n"
    with pytest.raises(AttributeError, match="no attribute 'loads'"):
        getattr(prismc, "loads")  # noqa: B009
