"""A product by clusters of Hopper: tiles that two blocks share, on the PTX machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from prismc.checker.sync.plan import SyncKind
from prismc.driver.running import from_bf16, to_bf16
from prismc.emulator.schedule import adversaries
from support.running import Compiled, compile_texts

PROGRAM = Path(__file__).with_name("cluster_matmul.prism").read_text(encoding="utf-8")
SMALL = "--target sm_90a -D BN=64 -D STAGES=2 -D GROUP_M=1"


def compiled(dropped: tuple[int, ...] = ()) -> Compiled:
    return compile_texts({"main.prism": PROGRAM}, "main.prism", SMALL, dropped)


def test_the_plan() -> None:
    operations = compiled().checked.plan.instances["hgemm"].operations
    kinds = [operation.kind for operation in operations]
    assert kinds.count(SyncKind.CLUSTER_BARRIER) == 2  # behind the initialisation, at the end
    assert kinds[-1] is SyncKind.CLUSTER_BARRIER
    assert SyncKind.BLOCK_BARRIER not in kinds
    arrivals = [one for one in operations if one.kind is SyncKind.MBARRIER_ARRIVE]
    plan = compiled().checked.plan
    assert arrivals
    assert all(plan.mbarriers[one.barrier].blocks == 2 for one in arrivals)


def product(program: Compiled, m: int, n: int, k: int, plans: int) -> None:
    random = np.random.default_rng(7)
    a, b = (to_bf16(random.standard_normal(shape)) for shape in ((m, k), (n, k)))
    wanted = from_bf16(a) @ from_bf16(b).T
    for plan in adversaries(plans):
        given = {"A": a, "B": b, "C": np.zeros((m, n), np.uint16), "M": m, "N": n, "K": k}
        found = from_bf16(program.run(2, given, plan=plan)["C"])
        assert np.abs(found - wanted).max() < 0.02 * np.abs(wanted).max()


def test_a_product() -> None:
    product(compiled(), 256, 64, 192, plans=1)


@pytest.mark.nightly
def test_products_under_schedules() -> None:
    product(compiled(), 512, 64, 256, plans=4)


@pytest.mark.nightly
def test_no_operation_is_too_many() -> None:
    for number in compiled().checked.plan.numbers():
        with pytest.raises(AssertionError):
            product(compiled((number,)), 512, 64, 256, plans=4)
