"""Random kernels whose warps pass memory on: no fault under any schedule, and the right values."""

from __future__ import annotations

import numpy as np
import pytest

from checker.sync.random_arms import WARPS, Kernel
from prismc.checker.sync.plan import SyncKind
from prismc.emulator.schedule import adversaries
from support.running import compile_texts

PARTS, KERNELS = 4, 4
TRIPS = ((3, 2), (0, 1), (2, 5))


@pytest.mark.parametrize("part", range(PARTS))
def test_values_and_no_faults(part: int) -> None:
    kernels = [Kernel(part * KERNELS + number) for number in range(KERNELS)]
    text = "\n".join(kernel.text for kernel in kernels)
    compiled = compile_texts({"main.prism": text}, "main.prism")
    plans = compiled.checked.plan.instances.values()
    kinds = {operation.kind for plan in plans for operation in plan.operations}
    assert kinds >= {SyncKind.MBARRIER_WAIT, SyncKind.NAMED_WAIT, SyncKind.BLOCK_BARRIER}
    for kernel in kernels:
        for (n, m), plan in zip(TRIPS, adversaries(6)[::2], strict=True):
            arguments = {"Y": np.zeros(32 * WARPS, np.int32), "n": n, "m": m}
            found = compiled.run(1, arguments, kernel.name, plan)
            assert np.array_equal(found["Y"], kernel.expected(n, m)), kernel.text
