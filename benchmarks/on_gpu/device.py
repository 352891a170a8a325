"""A GPU's memory and clock, by NVIDIA's bindings of the driver API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from prismc.driver.gpu.arrays import DeviceArray, dense_strides

FLUSH = 1 << 30  # bytes written before each launch, which drives everything else out of the L2
WARM_UP = 5


class NoDevice(Exception):
    """No GPU can be used; the text says why."""


class Device:
    """The first GPU. Raises NoDevice where there is none."""

    def __init__(self) -> None:
        try:
            from cuda.bindings import driver
        except ImportError:
            raise NoDevice("cuda-bindings is not installed: pip install 'prismc[gpu]'") from None
        self.api: Any = driver
        try:
            self.call("cuInit", 0)
            self.number = self.call("cuDeviceGet", 0)
            self.call("cuCtxSetCurrent", self.call("cuDevicePrimaryCtxRetain", self.number))
        except RuntimeError as error:  # a status, or no driver that could be loaded
            raise NoDevice(str(error).strip()) from error
        self._flush = 0

    def call(self, name: str, *arguments: Any) -> Any:
        """What a function of the driver gives beside its status, which must be 0."""
        status, *results = getattr(self.api, name)(*arguments)
        if int(status) != 0:
            raise RuntimeError(f"{name}: {getattr(status, 'name', status)}")
        return results[0] if len(results) == 1 else tuple(results)

    def description(self) -> dict[str, Any]:
        """What the GPU is, and its driver."""
        attribute = self.api.CUdevice_attribute
        major, minor = (
            self.call("cuDeviceGetAttribute", each, self.number)
            for each in (
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        version = self.call("cuDriverGetVersion")
        name = self.call("cuDeviceGetName", 128, self.number).split(b"\0")[0].decode()
        return {
            "name": name,
            "capability": 10 * int(major) + int(minor),
            "driver": f"{version // 1000}.{version % 1000 // 10}",
        }

    # ------------------------------------------------------------------ memory

    @contextmanager
    def uploaded(self, arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The arguments with arrays on the GPU, for as long as they are used."""
        placed: dict[str, Any] = {}
        try:
            for name, value in arguments.items():
                placed[name] = self._upload(value) if isinstance(value, np.ndarray) else value
            yield placed
        finally:
            for value in placed.values():
                if isinstance(value, DeviceArray):
                    self.call("cuMemFree", value.pointer)

    def _upload(self, array: np.ndarray[Any, Any]) -> DeviceArray:
        content = np.ascontiguousarray(array)
        pointer = int(self.call("cuMemAlloc", max(1, content.nbytes)))
        self.call("cuMemcpyHtoD", pointer, content.ctypes.data, content.nbytes)
        return DeviceArray(
            pointer=pointer,
            dtype=_NAMES[content.dtype.name],
            shape=content.shape,
            strides=dense_strides(content.shape, content.itemsize),
        )

    def download(self, array: DeviceArray, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The content of an array on the GPU, when all launches are over."""
        self.call("cuCtxSynchronize")
        found = np.empty(like.shape, like.dtype)
        self.call("cuMemcpyDtoH", found.ctypes.data, array.pointer, found.nbytes)
        return found

    # ------------------------------------------------------------------ time

    def times(self, run: Callable[[], object], zeroed: list[DeviceArray], runs: int) -> list[float]:
        """Milliseconds of each of `runs` calls, after a few to warm up; what sets `zeroed` to 0
        before each one counts. A call may cost the host as much as the flush before it takes."""
        events = [self._run(run, zeroed) for _ in range(WARM_UP + runs)][WARM_UP:]
        self.call("cuCtxSynchronize")
        return [float(self.call("cuEventElapsedTime", start, end)) for start, end in events]

    def _run(self, run: Callable[[], object], zeroed: list[DeviceArray]) -> tuple[Any, Any]:
        if not self._flush:
            self._flush = int(self.call("cuMemAlloc", FLUSH))
        start, end = (self.call("cuEventCreate", 0) for _ in range(2))
        self.call("cuMemsetD8Async", self._flush, 0, FLUSH, 0)
        self.call("cuEventRecord", start, 0)
        for array in zeroed:
            size = array.itemsize * int(np.prod(array.shape))
            self.call("cuMemsetD8Async", array.pointer, 0, size, 0)
        run()
        self.call("cuEventRecord", end, 0)
        return start, end


_NAMES = {
    "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64", "int32": "i32",
    "uint8": "u8", "uint32": "u32", "uint64": "u64",
}  # fmt: skip
