"""The host's side: arguments checked and laid out, the launch, results copied back."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from prismc.emulator.geometry import Dim3
from prismc.emulator.memory import GlobalMemory, Region
from prismc.emulator.provenance import written_parameters
from prismc.emulator.ptx.tree import Function, Variable
from prismc.emulator.tensors import SIZE as MAP_SIZE
from prismc.emulator.tensors import TensorMap, TensorMapError
from prismc.source.record import Record, replace

Array = npt.NDArray[Any]


class LaunchError(Exception):
    """A launch that cannot be: wrong arguments, sizes, or an unknown kernel."""


class Buffer(Record):
    """An array argument with more to say than a bare NumPy array.

    `name` is what findings call it. `is_initialised` False poisons it: the kernel must write an
    element before it reads it. With a `length`, `array` is only what stands from element `start` on
    in an array of that many elements; the others are 0 and cost nothing until they are touched.
    What comes back is the content of the same window. The pointer that the kernel gets points
    `offset` elements into the array.
    """

    array: Array
    name: str = ""
    is_initialised: bool = True
    start: int = 0
    length: int = 0
    offset: int = 0


class Tensor(Record):
    """A tensor map argument: an array, and the box that one copy moves (innermost dimension last,
    as in the array's shape). `steps` are the traversal strides, `swizzle` is `none`, `32`, `64` or
    `128`, `fill` (`zero` or `nan`) is what a load puts outside of the array.
    """

    array: Array
    box: tuple[int, ...]
    steps: tuple[int, ...] = ()
    swizzle: str = "none"
    fill: str = "zero"
    name: str = ""


class MappedBuffer(Record):
    """A tensor map argument that was encoded before: `described`, with an address that counts
    nothing, for what begins where `buffer` points to."""

    buffer: Buffer
    described: TensorMap


Argument = Array | Buffer | Tensor | MappedBuffer | bytes | int | float | bool | np.generic


class Arguments:
    """The arguments of one launch on the device. The same array twice is one buffer."""

    def __init__(self, memory: GlobalMemory, kernel: Function, given: Sequence[Argument]) -> None:
        self.memory = memory
        self.contents: list[bytes] = []
        self.buffers: dict[int, tuple[Buffer, Region]] = {}
        wanted = kernel.parameters
        if len(given) != len(wanted):
            raise LaunchError(
                f"kernel `{kernel.name}` takes {len(wanted)} arguments, {len(given)} given"
            )
        self._regions: dict[int, Region] = {}
        for index, (parameter, argument) in enumerate(zip(wanted, given, strict=True)):
            self.contents.append(self._content(index, parameter, argument))
        self._note_read_only(kernel)

    def _note_read_only(self, kernel: Function) -> None:
        """Buffers that the kernel never writes cannot race."""
        written = written_parameters(kernel)
        if written is None:
            return
        shared = {
            region.number
            for index, (_, region) in self.buffers.items()
            if kernel.parameters[index].name in written
        }
        for _, region in self.buffers.values():
            region.is_shared_state = region.number in shared

    def _content(self, index: int, parameter: Variable, argument: Argument) -> bytes:
        """The bytes of one parameter."""
        if isinstance(argument, Tensor):
            return self._tensor(index, parameter, argument)
        if isinstance(argument, MappedBuffer):
            address = self._address(index, argument.buffer)
            return replace(argument.described, address=address).encode()
        if isinstance(argument, Buffer):
            return self._buffer(index, parameter, argument)
        if isinstance(argument, np.ndarray):
            return self._buffer(index, parameter, Buffer(array=argument))
        if isinstance(argument, bytes):
            if len(argument) != parameter.size:
                raise LaunchError(
                    f"argument {index}: {len(argument)} bytes for a parameter of {parameter.size}"
                )
            return argument
        return _scalar(index, parameter, argument)

    def _buffer(self, index: int, parameter: Variable, buffer: Buffer) -> bytes:
        if parameter.size != 8 or parameter.type_name not in ("u64", "b64", "s64"):
            raise LaunchError(f"argument {index}: an array for a .{parameter.type_name} parameter")
        if buffer.array.dtype.hasobject:
            raise LaunchError(f"argument {index}: an array of Python objects")
        return self._address(index, buffer).to_bytes(8, "little")

    def _address(self, index: int, buffer: Buffer) -> int:
        """Where a buffer's pointer points to."""
        return self._region(index, buffer).base + buffer.offset * buffer.array.dtype.itemsize

    def _region(self, index: int, buffer: Buffer) -> Region:
        """The array's region, uploaded once."""
        region = self._regions.get(id(buffer.array))
        if region is None:
            region = self._regions[id(buffer.array)] = self._upload(index, buffer)
        self.buffers[index] = (buffer, region)
        return region

    def _tensor(self, index: int, parameter: Variable, tensor: Tensor) -> bytes:
        """The 128 bytes of a tensor map."""
        if parameter.size != MAP_SIZE:
            raise LaunchError(f"argument {index}: a tensor map for a parameter of another size")
        array = tensor.array
        region = self._region(index, Buffer(array=array, name=tensor.name))
        strides = np.cumprod([array.dtype.itemsize, *array.shape[::-1]])[1:-1]
        described = TensorMap(
            address=region.base,
            element=array.dtype.itemsize,
            is_float=array.dtype.kind not in "iub",
            extents=array.shape[::-1],
            strides=tuple(int(stride) for stride in strides),
            box=tensor.box[::-1],
            steps=(tensor.steps or (1,) * len(tensor.box))[::-1],
            swizzle=tensor.swizzle,
            fill=tensor.fill,
        )
        try:
            described.check()
        except TensorMapError as error:
            raise LaunchError(f"argument {index}: {error}") from error
        return described.encode()

    def _upload(self, index: int, buffer: Buffer) -> Region:
        content = np.ascontiguousarray(buffer.array).reshape(-1).view(np.uint8)
        name, element = buffer.name or f"argument {index}", buffer.array.dtype.itemsize
        length = buffer.length or buffer.start + buffer.array.size
        if not 0 <= buffer.start <= length - buffer.array.size:
            raise LaunchError(f"argument {index}: the window leads out of {length} elements")
        region = self.memory.add(name, "global", length * element)
        region.fill(content, buffer.start * element)
        region.element = element
        region.shape = (length,) if buffer.length else buffer.array.shape
        if not buffer.is_initialised:
            region.written = np.zeros(len(region.data), np.bool_)
        return region

    def download(self, index: int) -> Array | None:
        """The final content of an array argument, in its shape; None for other arguments."""
        if index not in self.buffers:
            return None
        buffer, region = self.buffers[index]
        array = buffer.array
        at = buffer.start * array.dtype.itemsize
        return region.data[at : at + array.nbytes].view(array.dtype).reshape(array.shape).copy()


def _scalar(index: int, parameter: Variable, value: int | float | bool | np.generic) -> bytes:
    """A number as the bytes of a parameter; it must fit."""
    kind, size = parameter.type_name[0], parameter.size
    if isinstance(value, np.generic) and value.dtype.itemsize == size:
        return value.tobytes()
    number = value.item() if isinstance(value, np.generic) else value
    if kind == "f":
        return np.array(number, f"<f{size}").tobytes()
    if isinstance(number, float) and kind == "b" and size in (2, 4, 8):
        return np.array(number, f"<f{size}").tobytes()
    if not isinstance(number, int):
        raise LaunchError(f"argument {index}: {number!r} for a .{parameter.type_name} parameter")
    bits = 8 * size
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise LaunchError(f"argument {index}: {number} does not fit into {bits} bits")
    return (number & ((1 << bits) - 1)).to_bytes(size, "little")


def dim3(value: int | Sequence[int], what: str) -> Dim3:
    """Extents from an integer or up to three; each from 1 on."""
    try:
        numbers = list(value) if isinstance(value, Sequence) else [value]
        extents = [operator.index(number) for number in numbers]
    except TypeError:
        extents = []
    if not 1 <= len(extents) <= 3 or min(extents) < 1:
        raise LaunchError(f"{what} {value!r}: expected one to three positive integers")
    return Dim3(*extents)
