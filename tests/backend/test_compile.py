"""Real compilations: what both compilers give, and that they give it again."""

from __future__ import annotations

import _ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from backend.support import cuda, line_of, sources
from prismc.backend.errors import CompilerUnusable
from prismc.backend.toolchain.build import compile_targets
from prismc.backend.toolchain.compilation import Compiler, ToolchainFailure
from prismc.backend.toolchain.nvcc import Nvcc
from prismc.backend.toolchain.nvrtc import Nvrtc
from prismc.diagnostics.sink import Sink
from prismc.source.resources import stdlib_folder

STORE = (
    (10, 'extern "C" __global__ void __launch_bounds__(128, 1) k(float *p) {'),
    (
        11,
        "  p[threadIdx.x] = 1.0f; __syncthreads();\n}",
    ),
)


@pytest.fixture(params=["nvrtc", "nvcc"])
def compiler(request: pytest.FixtureRequest) -> Compiler:
    found: Compiler = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a", "sm_120"])
def test_targets_give_ptx_and_cubin(nvrtc: Nvrtc, target: str) -> None:
    sink = Sink()
    (binary,) = compile_targets([(cuda(*STORE), target)], nvrtc, sources(), sink)
    assert not sink.problems()
    assert binary is not None
    assert f".target {target}" in binary.ptx
    assert binary.cubin[:4] == b"\x7fELF"
    (report,) = binary.reports
    assert (report.kernel, report.target, report.spill_stores) == ("k", target, 0)
    assert 0 < report.registers < 64
    assert report.barriers.full == 1


def test_the_same_bytes_again(compiler: Compiler) -> None:
    first, second = (compiler.compile(cuda(*STORE), "sm_90a") for _ in range(2))
    assert first.ptx == second.ptx
    assert first.cubin == second.cubin
    assert first.log == second.log
    assert "Compile time" not in first.log


def test_nvcc_names_nothing_after_its_temporary_folder(nvcc: Nvcc) -> None:
    """`__syncwarp` is a function of nvcc's headers, which debug strings name after a hash."""
    module = cuda(STORE[0], (11, "  __syncwarp(0xf); p[threadIdx.x] = 1.0f;\n}"))
    first, second = (nvcc.compile(module, "sm_80") for _ in range(2))
    assert first.ptx == second.ptx
    assert first.cubin == second.cubin


def test_ptx_does_not_depend_on_the_folder(
    compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = compiler.compile(cuda(*STORE), "sm_80").ptx
    monkeypatch.chdir(tmp_path)
    assert compiler.compile(cuda(*STORE), "sm_80").ptx == here
    assert here is not None
    assert '"dir/vec.prism"' in here


@pytest.mark.parametrize(
    "name", ["./v.prism", "../v w.prism", "/abs/v.prism", 'q"\\.prism', "d/vé.prism", "<stdin>"]
)
def test_awkward_file_names(compiler: Compiler, name: str) -> None:
    sink = Sink()
    module = cuda(*STORE, name=name)
    (binary,) = compile_targets([(module, "sm_90")], compiler, sources(name), sink)
    assert not sink.problems()
    assert binary is not None
    assert str(Path.cwd()) not in binary.ptx


def test_library_files_have_the_same_name_everywhere(compiler: Compiler) -> None:
    name = str(stdlib_folder() / "math.prism")
    sink = Sink()
    module = cuda(*STORE, (12, "int broken = ;"), name=name)
    assert '#line 10 "std/math.prism"' in module.text
    assert compile_targets([(module, "sm_80")], compiler, sources(name), sink) == (None,)
    assert sink.problems()[0].at == line_of(12, name)


def test_several_targets_keep_their_order(nvrtc: Nvrtc) -> None:
    sink = Sink()
    targets = ["sm_90a", "sm_80", "sm_120"]
    work = [(cuda(*STORE), target) for target in targets]
    binaries = compile_targets(work, nvrtc, sources(), sink)
    assert [binary.target for binary in binaries if binary] == targets


def test_an_unknown_target_is_no_fault_of_the_program(compiler: Compiler) -> None:
    sink = Sink()
    assert compile_targets([(cuda(*STORE), "sm_42")], compiler, sources(), sink) == (None,)
    (problem,) = sink.problems()
    assert isinstance(problem, CompilerUnusable)
    assert "sm_42" in problem.shown_message()
    assert problem.shown_help()


def test_a_library_that_does_not_load(tmp_path: Path) -> None:
    broken = tmp_path / "libnvrtc.so.13"
    broken.write_bytes(b"not a library")
    with pytest.raises(ToolchainFailure, match="does not load as NVRTC"):
        Nvrtc(broken)


def test_a_library_that_is_something_else() -> None:
    with pytest.raises(ToolchainFailure, match="nvrtcGetErrorString"):
        Nvrtc(Path(_ctypes.__file__))


def test_an_nvcc_that_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(ToolchainFailure, match="does not start"):
        Nvcc(tmp_path / "nvcc")


def test_nvcc_leaves_no_temporary_files(
    nvcc: Nvcc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    nvcc.compile(cuda(*STORE), "sm_80")
    with pytest.raises(ToolchainFailure):
        nvcc.compile(cuda(*STORE), "sm_42")
    assert os.listdir(tmp_path) == []


def test_checking_a_program_loads_no_compiler() -> None:
    """`errors` is imported by the catalog on every `prismc explain`: it must stay light."""
    code = "import sys, prismc.backend.errors; print('ctypes' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert run.stdout.strip() == "False"
