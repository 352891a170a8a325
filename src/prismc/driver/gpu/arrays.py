"""Arrays on a GPU, whoever made them: the CUDA Array Interface (version 3) and DLPack.

https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html
https://dmlc.github.io/dlpack/latest/python_spec.html
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from prismc.driver.kernels import RunError
from prismc.hardware.scalars import SCALARS
from prismc.source.record import Record

# DLDeviceType of dlpack.h: memory of a CUDA device, and managed memory.
_CUDA_DEVICES = (2, 13)
# By the type string of the interface, byte order left out; by (code, bits) of DLPack's types.
_TYPESTRS = {
    "b1": "bool", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "u8", "u2": "u16",
    "u4": "u32", "u8": "u64", "f2": "f16", "f4": "f32", "f8": "f64",
}  # fmt: skip
_KINDS = {0: "i", 1: "u", 2: "f"}
_OTHERS = {(4, 16): "bf16", (6, 8): "bool", (10, 8): "f8e4m3", (12, 8): "f8e5m2"}
LEGACY_STREAM, PER_THREAD_STREAM = 1, 2


class DeviceArray(Record):
    """An array in a GPU's memory. `dtype` is Prism's name; `strides` are in bytes. `stream` is the
    one on which its content is ready, None where nothing needs to be waited for."""

    pointer: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_readonly: bool = False
    stream: int | None = None

    @property
    def is_contiguous(self) -> bool:
        return self.strides == dense_strides(self.shape, self.itemsize) or 0 in self.shape

    @property
    def itemsize(self) -> int:
        return SCALARS[self.dtype].size

    @property
    def place(self) -> npt.NDArray[Any]:
        """What NumPy calls an array there, to compare where arrays lie: it is never read. What has
        no address has no elements."""
        return np.asarray(_Place(self))


class _Place:
    """The NumPy array interface (version 3) of what only a GPU can reach."""

    def __init__(self, array: DeviceArray) -> None:
        self.__array_interface__ = {
            "version": 3,
            "typestr": f"|V{array.itemsize}",
            "data": (array.pointer, True),
            "shape": array.shape if array.pointer else (0,),
            "strides": array.strides if array.pointer else None,
        }


def dense_strides(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """The strides of an array without gaps, in the order of C."""
    return tuple(size * prod(shape[axis + 1 :]) for axis in range(len(shape)))


def is_on_gpu(value: object) -> bool:
    """Whether a value is an array in a GPU's memory."""
    if isinstance(value, DeviceArray):
        return True
    if hasattr(value, "__dlpack_device__"):
        return value.__dlpack_device__()[0] in _CUDA_DEVICES
    return hasattr(value, "__cuda_array_interface__")


def device_of(arguments: Mapping[str, Any]) -> int | None:
    """The number of the GPU that arrays are on, None where none tells it. Raises RunError for
    several."""
    numbers: dict[str, int] = {}
    for name, value in arguments.items():
        if hasattr(value, "__dlpack_device__"):
            kind, number = value.__dlpack_device__()
            if kind in _CUDA_DEVICES:
                numbers[name] = int(number)
    if len(set(numbers.values())) > 1:
        listed = ", ".join(f"`{name}` on {number}" for name, number in numbers.items())
        raise RunError(f"the arrays are on several GPUs: {listed}")
    return next(iter(numbers.values()), None)


def describe(name: str, value: Any, stream: int | None) -> DeviceArray:
    """The array that argument `name` is; `stream` is where it will be used, if that is known.

    Raises RunError for one that no kernel takes.
    """
    if isinstance(value, DeviceArray):
        return value
    # PyTorch refuses the interface for tensors with gradients and for types NumPy does not have.
    try:
        interface = value.__cuda_array_interface__
        dtype = _TYPESTRS.get(interface["typestr"][1:])
    except (AttributeError, RuntimeError, TypeError):
        interface, dtype = {}, None
    if dtype is not None:
        return _of_interface(name, interface, dtype)
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(name, value, stream)
    shown = interface.get("typestr", type(value).__name__)
    raise RunError(f"`{name}` is an array of {shown}, which Prism does not have")


def _of_interface(name: str, interface: dict[str, Any], dtype: str) -> DeviceArray:
    if interface["typestr"][0] == ">":
        raise RunError(f"`{name}` is an array of big-endian numbers")
    if interface.get("mask") is not None:
        raise RunError(f"`{name}` has a mask, which no kernel takes")
    pointer, is_readonly = interface["data"]
    shape = tuple(interface["shape"])
    stream = interface.get("stream")
    if stream == 0:
        raise RunError(f"`{name}` tells stream 0, which the CUDA Array Interface does not allow")
    return DeviceArray(
        pointer=pointer or 0,
        dtype=dtype,
        shape=shape,
        strides=tuple(
            interface.get("strides") or dense_strides(shape, int(interface["typestr"][2:]))
        ),
        is_readonly=is_readonly,
        stream=stream,
    )


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h, the first member of DLManagedTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


def _of_dlpack(name: str, value: Any, stream: int | None) -> DeviceArray:
    """The producer makes what it does on other streams visible to the one that it is told."""
    try:
        capsule = value.__dlpack__(stream=stream or LEGACY_STREAM)
    except (BufferError, RuntimeError) as error:
        raise RunError(f"`{name}` does not give its memory: {error}") from error
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = _Tensor.from_address(pointer_of(capsule, b"dltensor"))
    dtype = _OTHERS.get((tensor.code, tensor.bits))
    if dtype is None and tensor.code in _KINDS:
        dtype = _TYPESTRS.get(f"{_KINDS[tensor.code]}{tensor.bits // 8}")
    if dtype is None or tensor.lanes != 1:
        raise RunError(f"`{name}` is an array of a type that Prism does not have")
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    size = tensor.bits // 8
    strides = dense_strides(shape, size)
    if tensor.strides:
        strides = tuple(size * tensor.strides[axis] for axis in range(tensor.ndim))
    # The capsule may go: the memory lives as long as the caller's array does.
    return DeviceArray(
        pointer=(tensor.data or 0) + tensor.byte_offset, dtype=dtype, shape=shape, strides=strides
    )


def stream_of(given: Any) -> int:
    """A stream's handle: of a number, or of CuPy's, PyTorch's or another library's stream.

    Raises RunError.
    """
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    if hasattr(given, "__cuda_stream__"):
        protocol = given.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for attribute in ("cuda_stream", "ptr"):
        if hasattr(given, attribute):
            return int(getattr(given, attribute))
    raise RunError(f"`stream` is no CUDA stream: {given!r}")
