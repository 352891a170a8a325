"""Kernels launched on a GPU through the CUDA driver API, by NVIDIA's cuda-bindings."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Mapping
from typing import Any

from prismc.driver.gpu.arrays import DeviceArray, describe, device_of, is_on_gpu, stream_of
from prismc.driver.gpu.images import Device, Images, newer_ptx
from prismc.driver.kernels import Kernel, Parameter, RunError
from prismc.driver.running import (
    require_assumed,
    require_names,
    require_own_memory,
    scalar_argument,
    vector_argument,
)
from prismc.hardware.primitives import PORTABLE_CLUSTER

_MISSING = "no GPU can be used: {why}"
# What drivers answer to PTX of a version that they do not know.
_REFUSED_PTX = ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "CUDA_ERROR_INVALID_PTX")
_SWIZZLES = {"none": "NONE", "32": "32B", "64": "64B", "128": "128B"}
_MAP_TYPES = {
    "u8": "UINT8", "i8": "UINT8", "f8e4m3": "UINT8", "f8e5m2": "UINT8", "u16": "UINT16",
    "i16": "UINT16", "u32": "UINT32", "i32": "INT32", "u64": "UINT64", "i64": "INT64",
    "f16": "FLOAT16", "f32": "FLOAT32", "f64": "FLOAT64", "bf16": "BFLOAT16", "tf32": "TFLOAT32",
}  # fmt: skip


class Gpu:
    """The driver API of the process, and the kernels of one program on its devices. Several threads
    may launch at once."""

    def __init__(self, images: Images) -> None:
        """Starts the driver. Raises RunError where there is no GPU, or no cuda-bindings."""
        self.api = _bindings()
        self._images = images
        # By context: handles of one mean nothing in another.
        self._functions: dict[int, dict[str, tuple[Any, Kernel]]] = {}
        self._loading = threading.Lock()
        try:
            self.call("cuInit", 0)
            self._enter(None)
        except RuntimeError as error:  # cuda-bindings finds no libcuda
            raise RunError(_MISSING.format(why=str(error).strip())) from error

    def call(self, name: str, *arguments: Any) -> Any:
        """What a function of the driver gives beside its status. Raises RunError."""
        status, *results = getattr(self.api, name)(*arguments)
        if int(status) != 0:
            raise RunError(f"{name}: {getattr(status, 'name', status)}")
        return results[0] if len(results) == 1 else tuple(results)

    def _enter(self, number: int | None) -> tuple[int, int]:
        """Make a device's own context current, unless the current one is of that device; without a
        number, only where there is none. The context, and the one that was current before."""
        before = int(self.call("cuCtxGetCurrent"))
        if before and (number is None or int(self.call("cuCtxGetDevice")) == number):
            return before, before
        device = self.call("cuDeviceGet", number or 0)
        context = self.call("cuDevicePrimaryCtxRetain", device)
        self.call("cuCtxSetCurrent", context)
        return int(context), before or int(context)

    def device(self) -> Device:
        """The device of the current context."""
        number = self.call("cuCtxGetDevice")
        attribute = self.api.CUdevice_attribute
        major, minor = (
            int(self.call("cuDeviceGetAttribute", each, number))
            for each in (
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        name = self.call("cuDeviceGetName", 128, number).split(b"\0")[0].decode(errors="replace")
        cuda = int(self.call("cuDriverGetVersion"))
        return Device(name=name, capability=10 * major + minor, cuda=cuda)

    def function(self, name: str) -> tuple[Any, Kernel]:
        """A kernel, loaded into the current context, with its dynamic shared memory allowed."""
        with self._loading:
            context = int(self.call("cuCtxGetCurrent"))
            if context not in self._functions:
                self._functions[context] = self._loaded()
            return self._functions[context][name]

    def _loaded(self) -> dict[str, tuple[Any, Kernel]]:
        """The kernels of the best image that the driver takes."""
        module, kernels = self._load(self.device())
        functions: dict[str, tuple[Any, Kernel]] = {}
        attributes = self.api.CUfunction_attribute
        most = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        wide = attributes.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
        for kernel in kernels:
            function = self.call("cuModuleGetFunction", module, kernel.name.encode())
            functions[kernel.name] = (function, kernel)
            if kernel.dynamic_shared:
                self.call("cuFuncSetAttribute", function, most, kernel.dynamic_shared)
            if kernel.cluster > PORTABLE_CLUSTER:
                self.call("cuFuncSetAttribute", function, wide, 1)
        return functions

    def _load(self, device: Device) -> tuple[Any, tuple[Kernel, ...]]:
        refusal = ""
        for each in self._images(device):
            # PTX is a string of C.
            status, module = self.api.cuModuleLoadData(each.image.content + b"\0")
            if int(status) == 0:
                return module, each.kernels
            version, reason = each.image.ptx_version, getattr(status, "name", str(status))
            is_newer = version and reason in _REFUSED_PTX
            refusal = newer_ptx(version, device) if is_newer else f"cuModuleLoadData: {reason}"
        raise RunError(refusal)

    def launch(self, name: str, blocks: int, given: Mapping[str, Any], stream: Any = None) -> None:
        """Launch a kernel on a stream; it may still run on return. Raises RunError.

        It runs on the device of its arrays, where they tell it, or else on the current one.
        """
        context, before = self._enter(device_of(given))
        try:
            self._launch(name, blocks, given, stream)
        finally:
            if context != before:
                self.call("cuCtxSetCurrent", before)

    def _launch(self, name: str, blocks: int, given: Mapping[str, Any], stream: Any) -> None:
        function, kernel = self.function(name)
        require_names(kernel, given)
        chosen = None if stream is None else stream_of(stream)
        arrays = {
            p.name: self._array(p, given[p.name], chosen)
            for p in kernel.parameters
            if p.kind == "array"
        }
        packed = [
            self._packed(p, arrays[p.name] if p.kind == "array" else given[p.name])
            for p in kernel.parameters
        ]
        require_own_memory(kernel, {name: array.place for name, array in arrays.items()})
        require_assumed(kernel, given, {name: array.pointer for name, array in arrays.items()})
        handle = self._stream(arrays, given) if chosen is None else chosen
        self._wait(arrays, handle)
        self.start(function, kernel, blocks, packed, handle)

    def start(
        self,
        function: Any,
        kernel: Kernel,
        blocks: int,
        packed: list[tuple[int, Any]],
        stream: int = 0,
    ) -> None:
        """Launch with parameters that lie at addresses."""
        addresses = (ctypes.c_void_p * max(1, len(packed)))(*(place for place, _ in packed))
        shape = (blocks, 1, 1, kernel.threads, 1, 1, kernel.dynamic_shared, stream)
        parameters = ctypes.addressof(addresses)
        if kernel.cooperative:
            self._require_resident(function, kernel, blocks)
            self.call("cuLaunchCooperativeKernel", function, *shape, parameters)
        else:
            self.call("cuLaunchKernel", function, *shape, parameters, 0)

    def _require_resident(self, function: Any, kernel: Kernel, blocks: int) -> None:
        """All blocks of a cooperative launch run at once. Raises RunError where they cannot."""
        attribute = self.api.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
        places = int(self.call("cuDeviceGetAttribute", attribute, self.call("cuCtxGetDevice")))
        name = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        most = places * int(self.call(name, function, kernel.threads, kernel.dynamic_shared))
        if blocks > most:
            raise RunError(
                f"kernel `{kernel.name}` is cooperative: {most} blocks are resident on this device "
                f"at once, and the grid has {blocks}"
            )

    def _array(self, parameter: Parameter, value: Any, stream: int | None) -> DeviceArray:
        name = parameter.name
        if not is_on_gpu(value):
            raise RunError(f"`{name}` is not on the GPU, other arrays are: {type(value).__name__}")
        array = describe(name, value, stream)
        accepted = {parameter.dtype}
        if parameter.dtype == "tf32":
            accepted.add("f32")
        if parameter.dtype.startswith("f8"):
            accepted.add("u8")
        if array.dtype not in accepted:
            raise RunError(f"`{name}` is an array of {parameter.dtype}, not of {array.dtype}")
        if not array.pointer and 0 not in array.shape:
            raise RunError(f"`{name}` has no memory: its address is 0")
        if array.is_readonly and not parameter.is_const:
            raise RunError(f"`{name}` is read only, and the kernel may write it")
        if parameter.box and len(array.shape) != len(parameter.box):
            raise RunError(
                f"`{name}` is a tensor map of {len(parameter.box)} dimensions, the array has "
                f"{len(array.shape)}"
            )
        if not parameter.box and not array.is_contiguous:
            raise RunError(f"`{name}` has gaps between its elements: pass a contiguous copy")
        alignment = max(parameter.alignment, array.itemsize)
        if array.pointer % alignment:
            raise RunError(f"`{name}` is not aligned to its elements of {alignment} bytes")
        return array

    def _stream(self, arrays: Mapping[str, DeviceArray], given: Mapping[str, Any]) -> int:
        """The stream that the arrays are used on. Raises RunError where that is not one."""
        known = {name: array.stream for name, array in arrays.items() if array.stream is not None}
        torch = sys.modules.get("torch")
        for name in arrays:
            if torch is not None and isinstance(given[name], torch.Tensor):
                known[name] = torch.cuda.current_stream(given[name].device).cuda_stream
        if len(set(known.values())) > 1:
            listed = ", ".join(f"`{name}` {number}" for name, number in known.items())
            raise RunError(f"the arrays are of several streams, say which by `stream=`: {listed}")
        return next(iter(known.values()), 0)

    def _wait(self, arrays: Mapping[str, DeviceArray], stream: int) -> None:
        """Wait for what other streams still do to the arrays (CUDA Array Interface, version 3)."""
        others = {array.stream for array in arrays.values()} - {None, stream}
        for other in sorted(each for each in others if each is not None):
            self.call("cuStreamSynchronize", other)

    def _packed(self, parameter: Parameter, value: Any) -> tuple[int, Any]:
        """A parameter's address, and what must live as long as it is used."""
        if isinstance(value, DeviceArray) and parameter.box:
            tensor_map = self.tensor_map(parameter, value)
            return int(tensor_map.getPtr()), tensor_map
        if isinstance(value, DeviceArray):
            pointer = ctypes.c_uint64(value.pointer)
            return ctypes.addressof(pointer), pointer
        if parameter.kind == "vector":
            content = vector_argument(parameter, value)
        else:
            content = scalar_argument(parameter, value).tobytes()
        buffer = ctypes.create_string_buffer(content, len(content))
        return ctypes.addressof(buffer), buffer

    def tensor_map(self, parameter: Parameter, array: DeviceArray) -> Any:
        """The map of an array for a parameter; the driver counts dimensions from the innermost."""
        api = self.api
        rank = len(array.shape)
        if array.strides[-1] != array.itemsize:
            raise RunError(f"`{parameter.name}` has gaps in its innermost dimension")
        kind = f"CU_TENSOR_MAP_DATA_TYPE_{_MAP_TYPES[parameter.dtype]}"
        swizzle = f"CU_TENSOR_MAP_SWIZZLE_{_SWIZZLES[parameter.swizzle]}"
        number = api.cuuint64_t
        small = api.cuuint32_t
        return self.call(
            "cuTensorMapEncodeTiled",
            getattr(api.CUtensorMapDataType, kind),
            rank,
            array.pointer,
            [number(length) for length in reversed(array.shape)],
            [number(stride) for stride in reversed(array.strides[:-1])],
            [small(length) for length in reversed(parameter.box)],
            [small(1)] * rank,
            api.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            getattr(api.CUtensorMapSwizzle, swizzle),
            api.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            api.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )


def _bindings() -> Any:
    """NVIDIA's bindings of the driver API, an extra. Raises RunError."""
    try:
        from cuda.bindings import driver
    except ImportError as error:
        why = "cuda-bindings is not installed: pip install 'prismc[gpu]'"
        raise RunError(_MISSING.format(why=why)) from error
    return driver
