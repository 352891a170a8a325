"""Whole CUDA kernels: right values, no finding on any schedule, and every seeded fault found."""

from __future__ import annotations

import numpy as np
import pytest

from emulator.compilers import kernel_text, ptx_of
from emulator.kernel_cases import Fault, Kernel, Launch
from emulator.launches import KERNELS
from emulator.more_launches import MORE_KERNELS
from prismc.emulator.api import RunResult
from prismc.emulator.findings import Kind
from prismc.emulator.report import text_of
from prismc.emulator.schedule import adversaries
from support.numbers import random_for

SCHEDULES = 8
EVERY = (*KERNELS, *MORE_KERNELS)


def _check_values(result: RunResult, launch: Launch) -> None:
    for position, expected in launch.expected.items():
        found = result.array(position)
        if launch.tolerance:
            np.testing.assert_allclose(found, expected, rtol=launch.tolerance, atol=1e-5)
        else:
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
@pytest.mark.parametrize("kernel", EVERY, ids=lambda kernel: kernel.name)
def test_right_and_clean(kernel: Kernel, compiler: str) -> None:
    text = kernel.defines + kernel_text(kernel.text_name)
    ptx = ptx_of(text, kernel.target, compiler)
    launch = kernel.make(random_for(kernel.name))
    for plan in adversaries(SCHEDULES if compiler == "nvrtc" else 2):
        result = launch.run(ptx, plan)
        assert not result.findings, text_of(result)
        _check_values(result, launch)


@pytest.mark.parametrize(
    ("kernel", "fault"),
    [
        pytest.param(kernel, fault, id=f"{kernel.name}-{number}")
        for kernel in EVERY
        for number, fault in enumerate(kernel.faults)
    ],
)
def test_seeded_fault_is_found(kernel: Kernel, fault: Fault) -> None:
    text = kernel.defines + fault.apply(kernel_text(kernel.text_name))
    ptx = ptx_of(text, kernel.target)
    launch = kernel.make(random_for(kernel.name))
    found: set[Kind] = set()
    for plan in adversaries(3):
        found |= {finding.kind for finding in launch.run(ptx, plan).findings}
        if found & set(fault.kinds):
            return
    raise AssertionError(found)
