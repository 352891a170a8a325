"""`prismc.load` on arrays of a GPU: cuda-bindings as they are, on the driver for the CPU."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import prismc
from host.support import ROOT
from prismc.driver.gpu import device
from prismc.testing import LoadError, RunError

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
    assert "34 passed" in done.stdout


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


def test_doctor_tells_which_ptx_is_written_and_read(driver: Path) -> None:
    environment = os.environ | {
        "LD_LIBRARY_PATH": str(driver), "PRISM_CPU_CUDA": "12.6", "PYTHONPATH": str(ROOT / "src"),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "prismc", "doctor"], env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert "CUDA driver    12.6, 1 GPU, reads PTX 8.5 or less" in done.stdout
    assert ", writes PTX 9." in done.stdout


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


# ------------------------------------------------------------------ what Python's tools see


class Dense:
    """What has its elements in the CPU's memory, and is no array of NumPy."""

    def __array__(self) -> Any:
        return np.ones(700, np.float32)


ODD = """\
const N: int = 1

# Adds up.
#
# Slowly.
@requires(grid[1], block[1], thread[32])
@launch(threads = 32)
@assume(stream % 4 == 0, lambda > 0.5)
kernel odd(stream: i32, lambda: f32, v: vec(f32, 2), y: ptr(f32)):
    i: int @ thread[1] = id()
    partition y as mine @ thread[1] at i:
        mine[0] = f32(stream * N) + lambda + v.y
"""


@pytest.fixture
def odd(tmp_path: Path) -> prismc.testing.Program:
    (tmp_path / "odd.prism").write_text(ODD)
    return prismc.load(tmp_path / "odd.prism", defines={"N": np.int64(2)})


def test_a_kernel_tells_what_it_is(odd: prismc.testing.Program) -> None:
    assert "odd" in dir(odd)
    assert repr(odd).startswith("<Prism program '")
    assert repr(odd).endswith("odd.prism': odd>")
    head = "odd(stream_: i32, lambda_: f32, v: vec(f32, 2), y: ptr(f32))"
    assert repr(odd.odd) == f"<Prism kernel {head}, blocks of 32 threads>"
    assert odd.odd.__name__ == "odd"
    assert odd.odd.__doc__ == (
        f"{head}\n\nAdds up.\n\nSlowly.\n\nBlocks of 32 threads.\n\n"
        "It assumes `stream % 4 == 0`.\n\nIt assumes `lambda > 0.5`."
    )
    # Keywords of Python and the names of options have `_` behind them.
    names = [*inspect.signature(odd.odd).parameters]
    assert names[:4] == ["stream_", "lambda_", "v", "y"]
    assert names[4:] == ["stream", "device", "schedules", "seed", "time_limit"]


def test_arguments_by_name_vectors_and_assumptions(odd: prismc.testing.Program) -> None:
    y = np.zeros(32, np.float32)
    odd.odd[1](stream_=4, lambda_=1.5, v=(0, 0.25), y=y)
    np.testing.assert_array_equal(y, np.full(32, 8 + 1.5 + 0.25, np.float32))
    with pytest.raises(RunError, match="assumes `stream % 4 == 0`: not so with stream_ = 5"):
        odd.odd[1](5, 1.5, (0, 1), y)
    with pytest.raises(RunError, match=r"assumes `lambda > 0\.5`"):
        odd.odd[1](4, np.float32(0.5), (0, 1), y)
    with pytest.raises(RunError, match="`lambda_` is one f32, not 'x'"):
        odd.odd[1](4, "x", (0, 1), y)
    with pytest.raises(RunError, match=r"no value for `lambda_` \(parameters: stream_, lambda_, v"):
        odd.odd[1](4, v=(0, 1), y=y)
    with pytest.raises(RunError, match="`v` is a sequence of 2 f32, not \\(1, 2, 3\\)"):
        odd.odd[1](4, 1.5, (1, 2, 3), y)
    with pytest.raises(RunError, match="`v` is one f32, not 'x'"):
        odd.odd[1](4, 1.5, (1, "x"), y)


@pytest.mark.parametrize(
    ("grid", "says"),
    [
        (0, "a grid of 0 blocks; from 1 to 2147483647 are possible"),
        ((3, 2), "blocks are counted along x"),
        ("3", "'3' is no number of blocks"),
        (2.0, r"2\.0 is no number of blocks"),
        ((), r"\(\) is no number of blocks"),
    ],
)
def test_what_is_no_grid(odd: prismc.testing.Program, grid: Any, says: str) -> None:
    with pytest.raises(RunError, match=f"kernel `odd`: {says}"):
        odd.odd[grid]


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (
            lambda p: p.odd(1, 2.0),
            RunError,
            r"say how many blocks there are: odd\[blocks\]",
        ),
        (lambda p: p.odd[1](1, device="tpu"), RunError, '`device` is "cpu" or "gpu", not \'tpu\''),
        (lambda p: p.odd[1](OnGpu(), device="cpu"), RunError, "`stream_` is on a GPU"),
        (pickle.dumps, TypeError, "a Prism program cannot be pickled or copied: load it in each"),
        (copy.copy, TypeError, "a Prism program cannot be pickled or copied"),
        (lambda p: pickle.dumps(p.odd[1]), TypeError, "a Prism kernel cannot be pickled or copied"),
        (lambda p: p.even, AttributeError, r"no kernel `even` \(kernels: odd\)"),
    ],
)
def test_what_is_wrong_is_told(
    odd: prismc.testing.Program,
    wrong: Callable[[Any], object],
    error: type[Exception],
    says: str,
) -> None:
    with pytest.raises(error, match=says):
        wrong(odd)


FIXED = np.zeros(700, np.float32)
FIXED.flags.writeable = False
X = np.ones(700, np.float32)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((700, 2.0, X, FIXED), "`y` is read only, and the kernel may write it"),
        ((700, 2.0, X, X), "`y`, which the kernel may write, shares memory with `x`: pass a copy"),
        ((300, 2.0, X[:300], X[100:400]), "shares memory with `x`"),
        ((700, 2.0, [1.0] * 700, X), r"`x` is an array of f32, not \[1\.0, 1\.0, .*\.\.\.\]$"),
        ((700, 2.0, Dense(), X), "not a Dense: pass a NumPy array, as `numpy.asarray"),
        ((700, 1e300, X, X.copy()), "`a`: 1e\\+300 is no f32"),
        ((700, 10**400, X, X.copy()), "`a`: 10+\\.\\.\\.0+ is no f32"),
        ((700, X, X, X.copy()), "`a` is one f32, not an array"),
    ],
)
def test_arguments_that_do_not_fit(arguments: tuple[Any, ...], says: str) -> None:
    kernel = prismc.load(os.fsencode(ROOT / "examples" / "saxpy.prism")).saxpy
    with pytest.raises(RunError, match=says):
        kernel[3](*arguments)


def test_a_bool_is_no_number_and_a_vector_has_its_length(tmp_path: Path) -> None:
    (tmp_path / "k.prism").write_text(
        "@requires(grid[1], block[1], thread[32])\n"
        "kernel k(on: bool, v: vec(f32, 2), y: ptr(f32)):\n"
        "    i: int @ thread[1] = id()\n"
        "    partition y as mine @ thread[1] at i:\n"
        "        group thread[1]:\n"
        "            if on:\n"
        "                mine[0] = v.x + v.y\n"
    )
    kernel, y = prismc.load(tmp_path / "k.prism").k[1], np.zeros(32, np.float32)
    for number, on in enumerate((True, np.True_, 1, np.ones(1, np.int32))):
        kernel(on, np.array([number, 1]), y)
        assert np.array_equal(y, np.full(32, number + 1.0))
    for on in (2, -1, 0.5, float("nan"), 2**70):
        with pytest.raises(RunError, match=r"`on`: .* is no bool"):
            kernel(on, (1, 2), y)
    for v in (np.array(1.0), 1.0, (1, 2, 3), "12"):
        with pytest.raises(RunError, match="`v` is a sequence of 2 f32, not "):
            kernel(True, v, y)


@pytest.mark.parametrize("how", [{"seed": "a"}, {"time_limit": 0}, {"time_limit": float("nan")}])
def test_options_that_do_not_fit(how: dict[str, Any]) -> None:
    kernel = prismc.load(ROOT / "examples" / "saxpy.prism").saxpy
    with pytest.raises(RunError, match=f"`{next(iter(how))}` is a"):
        kernel[3](700, 2.0, X, X.copy(), **how)


def test_parts_of_an_array_that_share_nothing() -> None:
    kernel = prismc.load(ROOT / "examples" / "saxpy.prism").saxpy
    both = np.arange(1400, dtype=np.float32)
    kernel[3](700, 2.0, both[::2], both[1::2])
    np.testing.assert_array_equal(both[1::2], 3 * both[::2] + 1)


@pytest.mark.parametrize("defines", [{"N": [1]}, {1: 1}, "N=1", [("N", 1, 2)]])
def test_defines_that_can_be_none(defines: Any) -> None:
    with pytest.raises(TypeError, match="`defines` "):
        prismc.load("nowhere.prism", defines=defines)


@pytest.mark.parametrize("listed", [False, True])
def test_imports_from_another_folder(tmp_path: Path, listed: bool) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "rules.prism").write_text(
        "def doubled[T: type](x: T) -> T:\n    return x + x\n"
    )
    (tmp_path / "use.prism").write_text(
        "from rules import doubled\n"
        "@requires(grid[1], block[1], thread[32])\n"
        "kernel twice(x: ptr(f32)):\n"
        "    i: int @ thread[1] = id()\n"
        "    partition x as own @ thread[1] at i:\n"
        "        own[0] = doubled(own[0])\n"
    )
    with pytest.raises(LoadError, match="no module `rules`"):
        prismc.load(tmp_path / "use.prism")
    folder = tmp_path / "lib"
    program = prismc.load(tmp_path / "use.prism", include=[folder] if listed else folder)
    x = np.arange(32, dtype=np.float32)
    program.twice[1](x)
    np.testing.assert_array_equal(x, 2 * np.arange(32))


def test_threads_may_launch_at_once() -> None:
    kernel = prismc.load(ROOT / "examples" / "saxpy.prism").saxpy
    results = [np.ones(700, np.float32) for _ in range(6)]

    def launch(number: int) -> None:
        kernel[3](700, 2.0, np.full(700, number, np.float32), results[number])

    threads = [threading.Thread(target=launch, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [set(each) for each in results] == [{2.0 * n + 1} for n in range(6)]
