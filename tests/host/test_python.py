"""`prismc.load` on arrays of a GPU: cuda-bindings as they are, on the driver for the CPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import prismc
from host.support import ROOT
from prismc.driver.gpu import device
from prismc.testing import RunError

CHILD = Path(__file__).with_name("on_gpu.py")


def test_launches_on_a_gpu(driver: Path, tmp_path: Path) -> None:
    """A process of its own: a driver is loaded once and for all."""
    pytest.importorskip("cuda.bindings")
    environment = os.environ | {"LD_LIBRARY_PATH": str(driver), "PRISM_CPU_DEVICE": "sm_90a"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CHILD)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "21 passed" in done.stdout


def test_tests_run_on_a_gpu(driver: Path, tmp_path: Path) -> None:
    """`prismc test --device gpu`, with a driver and without one."""
    pytest.importorskip("cuda.bindings")
    text = (ROOT / "examples" / "bf16_matmul.prism").read_text()
    wrong = text.replace("assert near(C, ", "C[5, 6] = 100.0\n    assert near(C, ")
    (tmp_path / "good.prism").write_text(text)
    (tmp_path / "wrong.prism").write_text(wrong)
    call = "import sys; from prismc.cli.entry import main; sys.exit(main())"
    command = [sys.executable, "-c", call, "test", "--device", "gpu"]
    for path, code, says in (
        (str(driver), 1, "1 of 4096 elements differ, first [5, 6]: found 100.0"),
        ("", 2, "no GPU can be used: "),
    ):
        environment = os.environ | {"LD_LIBRARY_PATH": path, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert says in done.stdout + done.stderr
        assert ("1 passed, 1 failed" in done.stdout) == (code == 1)


class OnGpu:
    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {"shape": (4,), "typestr": "<f4", "data": (4096, False)}


def test_without_bindings_or_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = prismc.load(str(ROOT / "examples" / "saxpy.prism")).saxpy
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(RunError, match=r"cuda-bindings is not installed: pip install 'prismc\[gpu"):
        kernel[1](4, 2.0, OnGpu(), OnGpu())

    class Nothing:
        def cuInit(self, flags: int) -> None:
            raise RuntimeError("libcuda.so.1: cannot open")

    monkeypatch.setattr(device, "_bindings", Nothing)
    with pytest.raises(RunError, match=r"no GPU can be used: libcuda\.so\.1: cannot open"):
        kernel[1](4, 2.0, OnGpu(), OnGpu())


def test_a_stream_is_for_a_gpu() -> None:
    kernel = prismc.load(str(ROOT / "examples" / "saxpy.prism")).saxpy
    x = np.ones(4, np.float32)
    with pytest.raises(RunError, match="`stream` is for arrays of a GPU"):
        kernel[1](4, 2.0, x, x.copy(), stream=3)
