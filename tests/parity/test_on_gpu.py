"""`make gpu` without a GPU: the word it skips with, its pages, and its way on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

from on_gpu.__main__ import main  # noqa: E402
from on_gpu.cases import CASES, Case  # noqa: E402
from on_gpu.libraries import _OPERATIONS, _tensor  # noqa: E402
from on_gpu.measure import Measurement, _is_for  # noqa: E402
from on_gpu.report import draw, markdown, shares  # noqa: E402

from examples.launches import LAUNCHES, Launch  # noqa: E402
from prismc.driver.cpu.library import NAME, compile_driver  # noqa: E402
from prismc.driver.gpu.arrays import DeviceArray  # noqa: E402

ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join(str(ROOT / each) for each in ("src", "benchmarks", "tests")),
    "PRISM_CPU_DEVICE": "sm_90a",
}


def _run(*command: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT, env=ENVIRONMENT | more, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_every_example_is_measured() -> None:
    names = [case.name for case in CASES]
    assert sorted(names) == sorted(LAUNCHES)
    assert {name for operations in _OPERATIONS.values() for name in operations} <= set(names)


def test_without_a_gpu_it_says_so_and_ends_well() -> None:
    done = _run("-m", "on_gpu", LD_LIBRARY_PATH="")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("skipped, no GPU can be used: ")


def test_few_runs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--runs", "3"])
    assert "a median of fewer than 20 launches says little" in capsys.readouterr().err


def _on_cpu_driver(folder: Path, names: str) -> dict[str, Any]:
    pytest.importorskip("cuda.bindings")
    (folder / NAME).write_bytes(compile_driver("sm_80"))
    script = str(Path(__file__).with_name("on_cpu_driver.py"))
    done = _run(script, str(folder), names, LD_LIBRARY_PATH=str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads((folder / "results.json").read_text()))


def test_the_whole_way_on_the_driver_for_the_cpu(tmp_path: Path) -> None:
    record = _on_cpu_driver(tmp_path, "saxpy,prefix_scan,histogram,tf32_matmul")
    assert record["left_out"] == {}
    assert [one["name"] for one in record["results"] if one["wrong"]] == []
    saxpy, scan, _, product = record["results"]
    assert saxpy["sizes"] == [1000]
    assert saxpy["blocks"] == 4
    assert saxpy["ms"] == pytest.approx(2.45)
    assert saxpy["speed"] == pytest.approx(12 * 1000 / 1e9 / 2.45e-3)
    assert product["unit"] == "TFLOP/s"
    assert list(scan["others"]) == list(product["others"]) == ["PyTorch"]
    assert record["versions"]["torch"] == "9.9"
    assert record["device"]["capability"] == 90
    page = (tmp_path / "results.md").read_text()
    assert "| `prefix_scan` | 9000 x 2 | 2.450 (" in page
    assert "![Speed beside the best library](results.svg)" in page
    assert "<svg" in (tmp_path / "results.svg").read_text()


@pytest.mark.nightly
def test_all_examples_on_the_driver_for_the_cpu(tmp_path: Path) -> None:
    record = _on_cpu_driver(tmp_path, "")
    assert record["left_out"] == {}
    assert [one["name"] for one in record["results"] if one["wrong"]] == []
    assert len(record["results"]) == len(CASES)


def test_code_for_one_architecture_is_left_out_on_others() -> None:
    assert [_is_for("sm_90a", capability) for capability in (80, 90, 100)] == [False, True, False]
    assert [_is_for("sm_80", capability) for capability in (75, 80, 90)] == [False, True, True]


def test_speeds_are_of_bytes_or_operations() -> None:
    by_name = {case.name: case for case in CASES}
    saxpy = by_name["saxpy"]
    assert saxpy.speed(saxpy.launch((1000,)), 1.0) == pytest.approx(0.012)
    product = by_name["sgemm_naive"]
    assert product.speed(product.launch((32, 64, 16)), 0.5) == pytest.approx(
        2 * 32 * 64 * 16 / 1e12 / 0.5e-3
    )
    attention = by_name["attention"]
    assert attention.work(attention.launch((2, 1))) == 4 * 2 * 64 * 64 * 64


def test_a_wrong_value_is_told() -> None:
    launch = Launch(1, {}, "y", np.zeros(3), np.full(3, 0.5))
    assert launch.wrong(np.array([0.0, 2.0, 0.4])) == "y[1] is 2.0, not 0.0"


def test_a_failure_loses_nothing_of_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(self: Measurement, case: Case) -> None:
        if case.name == "transpose":
            raise MemoryError("1 GiB\nand more")
        self.results.append(RECORD["results"][0] | {"name": case.name})

    monkeypatch.setattr(Measurement, "_measure", measured)
    measurement = Measurement(MagicMock(), {}, 20)
    lines = list(measurement.run(CASES[:3], 90))
    assert [line.split(":")[0] for line in lines] == [case.name for case in CASES[:3]]
    assert lines[1] == "transpose: MemoryError: 1 GiB"
    assert measurement.failed == {"transpose": "MemoryError: 1 GiB"}
    assert len(measurement.results) == 2
    assert not measurement.is_right


def test_a_library_that_cannot_do_it_is_left_out() -> None:
    def times(run: Callable[[], object], zeroed: list[Any], runs: int) -> list[float]:
        run()
        return [1.0, 2.0, 3.0]

    device, cupy = MagicMock(times=times), MagicMock()
    torch = MagicMock(as_tensor=MagicMock(side_effect=TypeError("no such type")))
    cupy.bincount.side_effect = ValueError
    measurement = Measurement(device, {"torch": torch, "cupy": cupy}, 20)
    x = DeviceArray(pointer=64, dtype="u8", shape=(4,), strides=(1,))
    by_name = {case.name: case for case in CASES}
    found = measurement._others(by_name["block_sum"], {"n": 4, "x": x})
    assert found == {"CuPy": {"ms": 2.0, "spread": [pytest.approx(0.4), pytest.approx(3.6)]}}
    assert measurement._others(by_name["histogram"], {"n": 4, "x": x}) == {}
    assert measurement.left_out == {
        "block_sum by PyTorch": "TypeError: no such type",
        "histogram by PyTorch": "TypeError: no such type",
        "histogram by CuPy": "ValueError",
    }


def test_torch_gets_unsigned_integers_as_signed_ones() -> None:
    torch = MagicMock()
    taken = [
        _tensor(torch, DeviceArray(pointer=64, dtype=name, shape=(4,), strides=(1,)))
        for name in ("u32", "u64", "u8", "f32")
    ]
    assert len(taken) == 4
    interfaces = [call.args[0].__cuda_array_interface__ for call in torch.as_tensor.mock_calls]
    assert [each["typestr"] for each in interfaces] == ["<i4", "<i8", "|u1", "<f4"]


RECORD: dict[str, Any] = {
    "format": "prismc-gpu/1",
    "device": {"name": "A GPU", "capability": 90, "driver": "13.0"},
    "versions": {"Python": "3.12.0", "torch": "2.9"},
    "runs": 30,
    "results": [
        {
            "name": "saxpy", "sizes": [1 << 28], "blocks": 9, "ms": 0.8, "spread": [0.79, 0.82],
            "speed": 4026.5, "unit": "GB/s", "wrong": "",
            "others": {
                "PyTorch": {"ms": 0.84, "spread": [0.83, 0.85]},
                "CuPy": {"ms": 0.76, "spread": [0.75, 0.8]},
            },
        },
        {
            "name": "stencil", "sizes": [64, 32], "blocks": 9, "ms": 0.5, "spread": [0.4, 0.6],
            "speed": 1.0, "unit": "GB/s", "wrong": "y[0] is 1.0, not 2.0", "others": {},
        },
    ],
    "left_out": {"hopper_matmul": "it is for sm_90a"},
    "failed": {"row_argmax": "RuntimeError: cuLaunchKernel: an error"},
}  # fmt: skip
PAGE = """\
# Examples on A GPU

Compute capability 9.0, driver for CUDA 13.0; Python 3.12.0, torch 2.9. Medians of 30 launches \
with random data, after warm-up; the L2 is overwritten before each. In parentheses the time \
between which eight of ten lie.

| example | sizes | ms | speed | others | ms | Prism's time over theirs |
|---|---|---:|---:|---|---:|---:|
| `saxpy` | 268435456 | 0.800 (0.790 to 0.820) | 4.03e+03 GB/s | PyTorch | \
0.840 (0.830 to 0.850) | 0.95 |
|  |  |  |  | CuPy | 0.760 (0.750 to 0.800) | 1.05 |
| `stencil` | 64 x 32 | 0.500 (0.400 to 0.600) | 1 GB/s |  |  |  |

## Wrong values

- `stencil`: y[0] is 1.0, not 2.0

## Failed

- row_argmax: RuntimeError: cuLaunchKernel: an error

## Left out

- hopper_matmul: it is for sm_90a

![Speed beside the best library](results.svg)
"""


def test_the_page_of_a_record() -> None:
    assert markdown(RECORD, "results.svg") == PAGE
    assert shares(RECORD) == {"saxpy": pytest.approx(0.95)}


def test_pages_are_made_of_an_earlier_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tmp_path / "given.json"
    given.write_text(json.dumps(RECORD))
    for folder in ("one", "two"):
        assert main(["--report", str(given), "--output", str(tmp_path / folder)]) == 0
    assert capsys.readouterr().out == 2 * (PAGE + "\n")
    plots = [(tmp_path / folder / "results.svg").read_bytes() for folder in ("one", "two")]
    assert plots[0] == plots[1]
    assert b"speed in % of the fastest library" in plots[0] or b"<path" in plots[0]


def test_without_libraries_nothing_is_drawn(tmp_path: Path) -> None:
    alone = RECORD | {"results": RECORD["results"][1:]}
    assert not draw(alone, tmp_path / "results.svg")
    assert "![" not in markdown(alone)
