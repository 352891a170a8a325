"""Run by test_python.py under a driver for the CPU, with NVIDIA's cuda-bindings as they are."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver

import prismc
from prismc.cli.main import run
from prismc.driver.gpu import device
from prismc.driver.gpu.arrays import dense_strides
from prismc.testing import LoadError, RunError
from support.numbers import bf16_bits

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAM = """
@requires(grid[1], block[1], thread[32])
@assume(n % 2 == 0)
kernel scale(n: int, a: bf16, x: ptr(const bf16), y: ptr(f32)):
    i: int @ thread[1] = id()
    partition y as mine @ thread[1] at i:
        group thread[1]:
            if i < n:
                mine[0] = f32(a) * f32(x[i])
"""


SUM = """
@requires(grid[1], block[1], thread[32])
kernel total(v: ptr(const vec(f32, 4)), x: ptr(const f32), y: ptr(f32)):
    i: int @ thread[1] = id()
    partition y as mine @ thread[1] at i:
        group thread[1]:
            mine[0] = v[i].x + x[i]
"""


def call(name: str, *arguments: Any) -> Any:
    status, *results = getattr(driver, name)(*arguments)
    assert int(status) == 0, name
    return results[0] if results else None


call("cuInit", 0)
call("cuCtxSetCurrent", call("cuDevicePrimaryCtxRetain", call("cuDeviceGet", 0)))


class Array:
    """As CuPy's: the CUDA Array Interface, version 3."""

    def __init__(self, content: np.ndarray[Any, Any], **more: Any) -> None:
        self.content = content
        self.pointer = int(call("cuMemAlloc", max(1, content.nbytes)))
        call("cuMemcpyHtoD", self.pointer, content.ctypes.data, content.nbytes)
        self.more = more

    def numpy(self) -> np.ndarray[Any, Any]:
        found = np.empty_like(self.content)
        call("cuMemcpyDtoH", found.ctypes.data, self.pointer, found.nbytes)
        return found

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        fixed = {
            "shape": self.content.shape, "typestr": self.content.dtype.str,
            "data": (self.pointer, False), "version": 3, "strides": None,
        }  # fmt: skip
        return fixed | self.more


class _Managed(ctypes.Structure):
    """DLManagedTensor of dlpack.h, without a deleter."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    )  # fmt: skip


class Tensor(Array):
    """As PyTorch's of bf16: DLPack, and an interface that refuses."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        raise TypeError("bfloat16")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def __dlpack__(self, stream: int | None = None) -> Any:
        self.asked = stream
        code, bits = self.more["type"]
        self.shape = (ctypes.c_int64 * self.content.ndim)(*self.content.shape)
        self.managed = _Managed(
            data=self.pointer - 8, device=(2, 0), ndim=self.content.ndim, code=code, bits=bits,
            lanes=1, shape=ctypes.addressof(self.shape), strides=None, offset=8,
        )  # fmt: skip
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.managed), b"dltensor", None)


class Recorder:
    """The bindings, with what is asked of streams and launches written down."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    def __getattr__(self, name: str) -> Any:
        function = getattr(driver, name)
        if name == "cuStreamSynchronize":
            return lambda stream: (self.calls.append(("wait", stream)), function(0))[1]
        if name == "cuLaunchKernel":
            return self._launch
        return function

    def _launch(self, *arguments: Any) -> Any:
        self.calls.append(("launch", arguments[8]))
        return driver.cuLaunchKernel(*arguments[:8], 0, *arguments[9:])


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    recorder = Recorder()
    monkeypatch.setattr(device, "_bindings", lambda: recorder)
    return recorder.calls


def saxpy() -> Any:
    return prismc.load(str(EXAMPLES / "saxpy.prism")).saxpy


X = np.arange(700, dtype=np.float32)


def arrays(**more: Any) -> tuple[Array, Array]:
    return Array(X, **more), Array(np.ones_like(X), **more)


def test_results_are_those_of_the_kernel() -> None:
    x, y = arrays()
    kernel = saxpy()
    for _ in range(2):
        kernel[3](700, 2.5, x, y=y)
    np.testing.assert_allclose(y.numpy(), 5 * X + 1)


@pytest.mark.parametrize("told", [None, 1, 2, 77])
def test_the_stream_is_that_of_the_arrays(calls: list[tuple[str, int]], told: int | None) -> None:
    saxpy()[3](700, 2.5, *arrays(stream=told))
    assert calls == [("launch", told or 0)]


class Stream:
    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self.handle)


class TorchStream:
    cuda_stream = 9


class CupyStream:
    ptr = 9


@pytest.mark.parametrize("given", [9, Stream(9), TorchStream(), CupyStream()])
def test_a_stream_that_is_given(calls: list[tuple[str, int]], given: object) -> None:
    x, y = Array(X, stream=5), Array(X, stream=9)
    saxpy()[3](700, 2.5, x, y, stream=given)
    assert calls == [("wait", 5), ("launch", 9)]


def test_arrays_of_two_streams_need_one_to_be_given() -> None:
    with pytest.raises(RunError, match=r"of several streams.*`stream=`: `x` 5, `y` 9"):
        saxpy()[3](700, 2.5, Array(X, stream=5), Array(X, stream=9))
    with pytest.raises(RunError, match="`stream` is no CUDA stream: 'x'"):
        saxpy()[3](700, 2.5, *arrays(), stream="x")
    with pytest.raises(RunError, match="`x` tells stream 0"):
        saxpy()[3](700, 2.5, *arrays(stream=0))


@pytest.mark.parametrize(
    ("x", "says"),
    [
        (lambda: X, "`x` is not on the GPU"),
        (lambda: Array(X.astype(np.int32)), "`x` is an array of f32, not of i32"),
        (lambda: Array(X, typestr="<c8"), "`x` is an array of <c8"),
        (lambda: Array(X, typestr=">f4"), "`x` is an array of big-endian numbers"),
        (lambda: Array(X, mask=Array(X)), "`x` has a mask"),
        (lambda: Array(X, data=(0, False)), "`x` has no memory: its address is 0"),
        (lambda: Array(X, strides=(8,)), "`x` has gaps between its elements"),
        (lambda: Array(X, data=(4098, False)), "`x` is not aligned to its elements of 4 bytes"),
    ],
)
def test_arguments_are_named(x: Any, says: str) -> None:
    with pytest.raises(RunError, match=says):
        saxpy()[3](700, 2.5, x(), Array(X))


def test_other_refusals() -> None:
    kernel = saxpy()
    with pytest.raises(RunError, match="`y` is read only"):
        kernel[3](700, 2.5, Array(X), Array(X, data=(4096, True)))
    with pytest.raises(RunError, match="no value for `y`"):
        kernel[3](700, 2.5, Array(X))
    with pytest.raises(RunError, match="`n`: 2147483648 is no i32"):
        kernel[3](1 << 31, 2.5, *arrays())
    with pytest.raises(RunError, match="`a` is one f32"):
        kernel[3](700, "a", *arrays())
    with pytest.raises(RunError, match="5 arguments for 4 parameters"):
        kernel[3](700, 2.5, *arrays(), 1)


def test_what_is_written_shares_no_memory() -> None:
    """Kernels take their pointers for `__restrict__`, whoever owns the memory."""
    x = Array(X)
    for start, length in ((0, 700), (4 * 699, 1), (4, 300)):
        y = Array(X[:length], data=(x.pointer + start, False))
        with pytest.raises(RunError, match="`y`, which the kernel may write, shares memory with"):
            saxpy()[3](700, 2.5, x, y)
    both = Array(np.concatenate([X, X]))
    behind = Array(X, data=(both.pointer + X.nbytes, False))
    saxpy()[3](700, 2.5, Array(X, data=(both.pointer, False)), behind)
    np.testing.assert_array_equal(both.numpy()[700:], 2.5 * X + X)
    nowhere = Array(X[:0], data=(x.pointer, False))
    saxpy()[1](0, 2.5, nowhere, x)


def test_two_that_are_read_may_share_memory(tmp_path: Path) -> None:
    (tmp_path / "sum.prism").write_text(SUM)
    kernel, x, y = prismc.load(tmp_path / "sum.prism").total, Array(X[:128]), Array(X[:32])
    kernel[1](x, Array(X[:32], data=(x.pointer + 16, False)), y)
    np.testing.assert_array_equal(y.numpy(), X[:128:4] + X[4:36])
    with pytest.raises(RunError, match="`y`, which the kernel may write, shares memory with `v`"):
        kernel[1](x, Array(X[:32]), Array(X[:32], data=(x.pointer + 4, False)))


def test_dlpack_and_bf16(tmp_path: Path) -> None:
    (tmp_path / "s.prism").write_text(PROGRAM)
    kernel = prismc.load(str(tmp_path / "s.prism")).scale
    bits = bf16_bits(X[:64])
    x, y = Tensor(bits, type=(4, 16)), Array(np.zeros(64, np.float32))
    kernel[2](64, 1.5, x, y, stream=0)
    assert x.asked == 1
    np.testing.assert_array_equal(y.numpy(), 1.5 * (bits.astype(np.uint32) << 16).view(np.float32))
    with pytest.raises(RunError, match="`x` is an array of bf16, not of f16"):
        kernel[2](64, 1.5, Tensor(bits, type=(2, 16)), y)
    with pytest.raises(RunError, match="of a type that Prism does not have"):
        kernel[2](64, 1.5, Tensor(bits, type=(5, 64)), y)
    with pytest.raises(RunError, match="assumes `n % 2 == 0`"):
        kernel[2](63, 1.5, x, y)


def test_defines_and_targets(tmp_path: Path) -> None:
    text = "const N: int = 1\nconst HALF: bool = false\n" + PROGRAM.replace(
        "f32(a) *", "(0.5 if HALF else 1.0) * f32(N) *"
    )
    (tmp_path / "s.prism").write_text(text)
    path = str(tmp_path / "s.prism")
    bits = bf16_bits(X[:64])
    y = Array(np.zeros(64, np.float32))
    chosen = prismc.load(path, target="sm_80", defines={"N": 6, "HALF": True})
    chosen.scale[2](64, 1.0, Tensor(bits, type=(4, 16)), y)
    np.testing.assert_array_equal(y.numpy()[:9], 3 * X[:9])
    with pytest.raises(LoadError, match="no target `sm_1`"):
        prismc.load(path, target="sm_1")


def test_faults_of_the_driver_are_told() -> None:
    x = Array(X)
    with pytest.raises(RunError, match="cuLaunchKernel: CUDA_ERROR_LAUNCH_FAILED"):
        saxpy()[5](1200, 2.5, x, Array(np.ones(1200, np.float32)))


def test_strides() -> None:
    assert dense_strides((2, 3, 4), 2) == (24, 8, 2)
    assert os.environ["LD_LIBRARY_PATH"]


VECTORS = """
@requires(grid[1], block[1], thread[32])
@assume(aligned(y, 256), n < 100)
kernel fill(n: int, v: vec(f32, 2), x: ptr(const vec(f32, 4)), y: ptr(f32)):
    i: int @ thread[1] = id()
    partition y as mine @ thread[1] at i:
        group thread[1]:
            if i < n:
                mine[0] = x[i].w * v.y
"""


def test_vectors_and_addresses(tmp_path: Path) -> None:
    (tmp_path / "fill.prism").write_text(VECTORS)
    kernel = prismc.load(tmp_path / "fill.prism").fill
    x, y = Array(np.arange(128, dtype=np.float32)), Array(np.zeros(32, np.float32))
    kernel[1](32, (1, 2), x, y)
    np.testing.assert_array_equal(y.numpy(), 2 * np.arange(3, 128, 4, dtype=np.float32))
    with pytest.raises(RunError, match=r"assumes `aligned\(y, 256\)`: .*y = 0x[0-9a-f]+04$"):
        kernel[1](32, (1, 2), x, Array(np.zeros(32, np.float32), data=(y.pointer + 4, False)))
    with pytest.raises(RunError, match="`x` is not aligned to its elements of 16 bytes"):
        kernel[1](32, (1, 2), Array(X, data=(x.pointer + 8, False)), y)


TWO_PHASES = """
@requires(grid[1], block[1], thread[128])
@launch(threads = 128, cooperative = true)
kernel k(a: ptr(i32)):
    b: int @ block[1] = id()
    partition a as mine @ block[1] at b:
        group block[1]:
            claim mine as m @ thread[1]:
                first thread[1]:
                    m[0] = b
"""


def test_a_cooperative_grid_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """Field fault A12. The driver for the CPU has two multiprocessors for 2048 threads each."""
    (tmp_path / "k.prism").write_text(TWO_PHASES)
    kernel = prismc.load(tmp_path / "k.prism").k
    a = Array(np.full(33, -1, np.int32))
    kernel[32](a)
    np.testing.assert_array_equal(a.numpy(), [*range(32), -1])
    with pytest.raises(RunError, match=r"32 blocks are resident on this device at once, .* 33"):
        kernel[33](a)


class Elsewhere(Array):
    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 1)


class Devices:
    """The bindings, as if there were a second GPU."""

    def __init__(self) -> None:
        self.current = int(driver.cuCtxGetCurrent()[1])
        self.set: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(driver, name)

    def cuDeviceGet(self, number: int) -> Any:
        return driver.CUresult.CUDA_SUCCESS, number

    def cuDevicePrimaryCtxRetain(self, number: int) -> Any:
        return driver.CUresult.CUDA_SUCCESS, self.current + number

    def cuCtxGetCurrent(self) -> Any:
        return driver.CUresult.CUDA_SUCCESS, self.current + (self.set[-1:] == [self.current + 1])

    def cuCtxSetCurrent(self, context: Any) -> Any:
        self.set.append(int(context))
        return (driver.CUresult.CUDA_SUCCESS,)


def test_a_launch_goes_to_the_gpu_of_its_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = Devices()
    monkeypatch.setattr(device, "_bindings", lambda: devices)
    y = Elsewhere(np.ones_like(X))
    kernel = saxpy()
    kernel[3](700, 2.5, Array(X), y)
    assert devices.set == [devices.current + 1, devices.current]
    kernel[3](700, 2.5, *arrays())
    assert len(devices.set) == 2
    np.testing.assert_allclose(y.numpy(), 2.5 * X + 1)
    with pytest.raises(RunError, match="on several GPUs: `x` on 0, `y` on 1"):
        kernel[3](700, 2.5, Tensor(X, type=(2, 32)), y)


def test_threads_load_a_program_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []

    class Counting(Recorder):
        def __getattr__(self, name: str) -> Any:
            if name == "cuModuleLoadData":
                loads.append(1)
            return getattr(driver, name)

    monkeypatch.setattr(device, "_bindings", Counting)
    kernel = saxpy()
    pairs = [arrays() for _ in range(4)]
    context = driver.cuCtxGetCurrent()[1]

    def launch(number: int) -> None:
        call("cuCtxSetCurrent", context)
        kernel[3](700, float(number), *pairs[number])

    threads = [threading.Thread(target=launch, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, (_, y) in enumerate(pairs):
        np.testing.assert_allclose(y.numpy(), number * X + 1)
    assert len(loads) == 2  # machine code, which this driver refuses, and PTX


def test_a_driver_older_than_the_ptx_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Field fault E02: the version of the driver and that of the PTX."""

    class Old(Recorder):
        def __getattr__(self, name: str) -> Any:
            if name == "cuModuleLoadData":
                return lambda content: (driver.CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION, None)
            if name == "cuDriverGetVersion":
                return lambda: (driver.CUresult.CUDA_SUCCESS, 11020)
            return getattr(driver, name)

    monkeypatch.setattr(device, "_bindings", Old)
    says = r"the driver \(CUDA 11\.2\) does not know PTX \d\.\d, and .*\(prismc on the CPU, sm_90\)"
    with pytest.raises(RunError, match=says):
        saxpy()[3](700, 2.5, *arrays())


COPY = """
@requires(grid[1], block[1], thread[32])
kernel copy_{0}(x: ptr(const {0}), y: ptr({0})):
    i: int @ thread[1] = id()
    partition y as mine @ thread[1] at i:
        group thread[1]:
            mine[0] = x[i]

test "{0}":
    x := random({0}, 32, 1)
    y := zeros({0}, 32)
    launch(copy_{0}, blocks = 1)(x, y)
    assert y == x
"""
TYPES = "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 tf32 f32 f64".split()


def test_tests_have_arrays_of_all_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "copies.prism").write_text("".join(map(COPY.format, TYPES)))
    assert run(["test", "--device", "gpu", str(tmp_path)]) == 0
    assert f"{len(TYPES)} passed" in capsys.readouterr().out


# ------------------------------------------------------------------ modules that a build made


def built(folder: Path, *targets: str) -> Any:
    options = [word for target in targets for word in ("--target", target)]
    source = str(EXAMPLES / "saxpy.prism")
    assert run(["build", source, "-o", f"{folder}/", "--emit", "python", *options]) == 0
    spec = importlib.util.spec_from_file_location("built_saxpy", folder / "saxpy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.saxpy


def test_a_built_module_launches(tmp_path: Path, calls: list[tuple[str, int]]) -> None:
    kernel = built(tmp_path, "sm_80", "sm_90")
    x, y = arrays(stream=5)
    kernel(700, 2.5, x, y=y, grid=3)
    kernel(700, 2.5, x, y, grid=3, stream=9, device="gpu")
    np.testing.assert_allclose(y.numpy(), 5 * X + 1)
    assert calls == [("launch", 5), ("wait", 5), ("launch", 9)]
    with pytest.raises(RunError, match="`y` is an array of f32, not of i32"):
        kernel(700, 2.5, x, Array(X.astype(np.int32)), grid=3)
    with pytest.raises(RunError, match='`x` is on a GPU, and the launch is for `device="cpu"`'):
        kernel(700, 2.5, x, y, grid=3, device="cpu")


def test_the_image_is_the_best_for_the_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    class Trying(Recorder):
        def __getattr__(self, name: str) -> Any:
            if name == "cuModuleLoadData":
                return self._load
            return getattr(driver, name)

        def _load(self, content: bytes) -> Any:
            text = content.decode(errors="replace")
            target = text.partition(".target ")[2].partition("\n")[0]
            tried.append(target if content.startswith(b"//") else "machine code")
            return driver.cuModuleLoadData(content)

    monkeypatch.setattr(device, "_bindings", Trying)
    kernel = built(tmp_path, "sm_80", "sm_90a", "sm_100a", "sm_86", "sm_90")
    x, y = arrays()
    kernel(700, 2.5, x, y, grid=3)
    np.testing.assert_allclose(y.numpy(), 2.5 * X + 1)
    # The device is an sm_90: its own code first, then PTX of the nearest number.
    assert tried == ["machine code", "machine code", "sm_90"]


def test_a_missing_target_is_told_with_the_device(tmp_path: Path) -> None:
    kernel = built(tmp_path, "sm_100a", "sm_120")
    says = r"`saxpy` was built for sm_100a, sm_120, which the device \(.*, sm_90\) does not run; "
    with pytest.raises(RunError, match=f"{says}build with --target sm_90"):
        kernel(700, 2.5, *arrays(), grid=3)
