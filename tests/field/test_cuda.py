"""Field faults in CUDA: the faulty form is found for what it is, the good one clean and right."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from emulator.compilers import KERNELS, ptx_of
from emulator.launches import Launch
from field.cases import CASES, Case, Fault
from prismc.emulator.api import Checks, RunResult, run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.host import LaunchError
from prismc.emulator.report import text_of
from prismc.emulator.schedule import Order, Plan, adversaries

FOLDER = Path(__file__).with_name("cuda")
SCHEDULES = {"nvrtc": 8, "nvcc": 2}

compilers = pytest.mark.parametrize("compiler", SCHEDULES)


def _ptx(case: Case, defines: str, compiler: str) -> str:
    words = f"{case.defines} {defines}".split()
    head = "".join(f"#define {word.replace('=', ' ')}\n" for word in words)
    return ptx_of(head + _pasted((FOLDER / f"{case.file}.cu").read_text()), case.target, compiler)


def _pasted(text: str) -> str:
    """A kernel's text with its headers in place."""

    def header(match: re.Match[str]) -> str:
        paths = (folder / match[1] for folder in (FOLDER, KERNELS))
        return _pasted(next(path for path in paths if path.exists()).read_text())

    return re.sub(r'^#include "(\w+\.h)"\n', header, text, flags=re.MULTILINE)


def _case(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def _run(case: Case, ptx: str, launch: Launch, plan: Plan) -> RunResult:
    return launch.run(ptx, plan, Checks(races=case.races))


@compilers
@pytest.mark.parametrize(
    ("case", "number"),
    [
        pytest.param(case, number, id=f"{case.name}-{number}")
        for case in CASES
        for number in range(len(case.good))
    ],
)
def test_good_form_is_right_and_clean(case: Case, number: int, compiler: str) -> None:
    ptx, launch = _ptx(case, "", compiler), case.good[number]()
    for plan in adversaries(SCHEDULES[compiler]):
        result = _run(case, ptx, launch, plan)
        assert not result.findings, text_of(result)
        for position, expected in launch.expected.items():
            np.testing.assert_array_equal(result.array(position), expected)


@compilers
@pytest.mark.parametrize(
    ("case", "fault"),
    [
        pytest.param(case, fault, id=f"{case.name}-{number}")
        for case in CASES
        for number, fault in enumerate(case.faults)
    ],
)
def test_faulty_form_is_found(case: Case, fault: Fault, compiler: str) -> None:
    ptx, launch = _ptx(case, fault.defines, compiler), (fault.launch or case.good[0])()
    results = [_run(case, ptx, launch, plan) for plan in adversaries(3 if fault.always else 8)]
    for kind, words in fault.found.items():
        seen = [
            any(finding.kind is kind and words in finding.message for finding in result.findings)
            for result in results
        ]
        assert all(seen) if fault.always else any(seen), text_of(results[seen.index(False)])


@pytest.mark.parametrize("order", [Order.TOGETHER, Order.REVERSED, Order.RANDOM])
def test_a_grid_barrier_needs_all_blocks_to_run(order: Order) -> None:
    case = _case("A12")
    ptx, launch = _ptx(case, "", "nvrtc"), case.good[0]()
    assert not _run(case, ptx, launch, Plan(order=order, resident=4)).findings
    (finding,) = _run(case, ptx, launch, Plan(order=order, resident=3)).findings
    assert finding.kind is Kind.DEADLOCK
    assert "1 block has not started: 3 run at a time" in finding.message


@pytest.mark.parametrize(("defines", "written", "read"), [("FAULT=1", 1, 8), ("", 2, 2)])
def test_a_tile_without_its_pad_costs_passes(defines: str, written: int, read: int) -> None:
    launch = _case("C06").good[0]()
    ptx = _ptx(_case("C06"), defines, "nvrtc")
    result = run_ptx(ptx, None, launch.grid, launch.block, launch.args, profile=True)
    assert result.profile is not None
    # 8 warps write two rows each, and read two columns.
    assert result.profile.totals()[1].passes == 8 * (written + read)


@compilers
def test_more_shared_memory_than_the_gpu_has(compiler: str) -> None:
    case = _case("C01")
    launch = case.good[-1]()
    more = replace(launch, dynamic_shared=launch.dynamic_shared + 1)
    with pytest.raises(LaunchError) as refused:
        _run(case, _ptx(case, "", compiler), more, Plan())
    for words in ("232449 bytes", "`flag` 4", "`bytes` 232433", "232448 on sm_90"):
        assert words in str(refused.value)


def test_every_kernel_has_a_case() -> None:
    assert {path.stem for path in FOLDER.glob("*.cu")} == {case.file for case in CASES}
