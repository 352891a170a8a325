"""Kernels launched on a GPU through the CUDA driver API, by NVIDIA's cuda-bindings."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from typing import Any

from prismc.driver.gpu.arrays import DeviceArray, describe, is_on_gpu, stream_of
from prismc.driver.kernels import Kernel, Parameter, RunError
from prismc.driver.running import require_assumed, require_names, scalar_argument
from prismc.hardware.targets import DEFAULT_TARGET, TARGETS, Target

Compile = Callable[[Target], tuple[Kernel, ...]]

_MISSING = "no GPU can be used: {why}"
_SWIZZLES = {"none": "NONE", "32": "32B", "64": "64B", "128": "128B"}
_MAP_TYPES = {
    "u8": "UINT8", "i8": "UINT8", "f8e4m3": "UINT8", "f8e5m2": "UINT8", "u16": "UINT16",
    "i16": "UINT16", "u32": "UINT32", "i32": "INT32", "u64": "UINT64", "i64": "INT64",
    "f16": "FLOAT16", "f32": "FLOAT32", "f64": "FLOAT64", "bf16": "BFLOAT16", "tf32": "TFLOAT32",
}  # fmt: skip


class Gpu:
    """The driver API of the process, and the kernels of one program on its current device."""

    def __init__(self, compile_for: Compile, target: Target | None = None) -> None:
        """Starts the driver. Raises RunError where there is no GPU, or no cuda-bindings."""
        self.api = _bindings()
        self._compile = compile_for
        self._target = target
        self._functions: dict[str, tuple[Any, Kernel]] = {}
        try:
            self.call("cuInit", 0)
            device = self._enter()
        except RuntimeError as error:  # cuda-bindings finds no libcuda
            raise RunError(_MISSING.format(why=str(error).strip())) from error
        attribute = self.api.CUdevice_attribute
        self._capability = tuple(
            int(self.call("cuDeviceGetAttribute", each, device))
            for each in (
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )

    def call(self, name: str, *arguments: Any) -> Any:
        """What a function of the driver gives beside its status. Raises RunError."""
        status, *results = getattr(self.api, name)(*arguments)
        if int(status) != 0:
            raise RunError(f"{name}: {getattr(status, 'name', status)}")
        return results[0] if len(results) == 1 else tuple(results)

    def _enter(self) -> Any:
        """The device of the current context; the first one's own, where there is none yet."""
        context = self.call("cuCtxGetCurrent")
        if int(context) == 0:
            device = self.call("cuDeviceGet", 0)
            self.call("cuCtxSetCurrent", self.call("cuDevicePrimaryCtxRetain", device))
        return self.call("cuCtxGetDevice")

    def target(self) -> Target:
        """What kernels are compiled for: the device itself, or else the nearest below it."""
        if self._target is not None:
            return self._target
        major, minor = self._capability
        for name in (f"sm_{major}{minor}a", f"sm_{major}{minor}"):
            if name in TARGETS:
                return TARGETS[name]
        number = major * 10 + minor
        below = [t for t in TARGETS.values() if t.name[3:].isdigit() and int(t.name[3:]) <= number]
        return below[-1] if below else DEFAULT_TARGET

    def function(self, name: str) -> tuple[Any, Kernel]:
        """A kernel, loaded, with its dynamic shared memory allowed."""
        if name not in self._functions:
            kernels = self._compile(self.target())
            module = self._load(kernels[0])
            for kernel in kernels:
                function = self.call("cuModuleGetFunction", module, kernel.name.encode())
                self._functions[kernel.name] = (function, kernel)
                if kernel.dynamic_shared:
                    attribute = self.api.CUfunction_attribute
                    most = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                    self.call("cuFuncSetAttribute", function, most, kernel.dynamic_shared)
        return self._functions[name]

    def _load(self, kernel: Kernel) -> Any:
        """The module of a program's kernels: machine code, or PTX for another device."""
        status, module = self.api.cuModuleLoadData(kernel.cubin)
        if int(status) == 0:
            return module
        return self.call("cuModuleLoadData", kernel.ptx.encode() + b"\0")

    def launch(
        self, name: str, blocks: tuple[int, ...], given: Mapping[str, Any], stream: Any = None
    ) -> None:
        """Launch a kernel on a stream; it may still run on return. Raises RunError."""
        self._enter()
        function, kernel = self.function(name)
        require_names(kernel, given)
        require_assumed(kernel, given)
        chosen = None if stream is None else stream_of(stream)
        arrays = {
            p.name: self._array(p, given[p.name], chosen)
            for p in kernel.parameters
            if p.kind == "array"
        }
        handle = self._stream(arrays, given) if chosen is None else chosen
        self._wait(arrays, handle)
        packed = [
            self._packed(p, arrays[p.name] if p.kind == "array" else given[p.name])
            for p in kernel.parameters
        ]
        self.start(function, kernel, blocks, packed, handle)

    def start(
        self,
        function: Any,
        kernel: Kernel,
        blocks: tuple[int, ...],
        packed: list[tuple[int, Any]],
        stream: int = 0,
    ) -> None:
        """Launch with parameters that lie at addresses."""
        grid = (*blocks, 1, 1)[:3]
        addresses = (ctypes.c_void_p * max(1, len(packed)))(*(place for place, _ in packed))
        shape = (*grid, kernel.threads, 1, 1, kernel.dynamic_shared, stream)
        parameters = ctypes.addressof(addresses)
        if kernel.cooperative:
            self.call("cuLaunchCooperativeKernel", function, *shape, parameters)
        else:
            self.call("cuLaunchKernel", function, *shape, parameters, 0)

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
        if array.is_readonly and not parameter.is_const:
            raise RunError(f"`{name}` is read only, and the kernel may write it")
        if parameter.box and len(array.shape) != len(parameter.box):
            raise RunError(
                f"`{name}` is a tensor map of {len(parameter.box)} dimensions, the array has "
                f"{len(array.shape)}"
            )
        if not parameter.box and not array.is_contiguous:
            raise RunError(f"`{name}` has gaps between its elements: pass a contiguous copy")
        if array.pointer % array.itemsize:
            raise RunError(f"`{name}` is not aligned to its elements of {array.itemsize} bytes")
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
