"""The other end of `libcuda.c`: executes the launches of a program that has no GPU.

A request is a kind and a length (two 64-bit numbers), then its bytes; an answer is a status
(CUresult) and a length, then its bytes, which are words for people where the status is not 0.
All numbers are little-endian.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from prismc.emulator.api import run_ptx
from prismc.emulator.host import Buffer, LaunchError, MappedBuffer
from prismc.emulator.ptx.parser import parse_module
from prismc.emulator.ptx.tree import Function, Module, PtxError
from prismc.emulator.report import text_of_findings
from prismc.emulator.schedule import adversaries
from prismc.emulator.tensors import FILLS, SWIZZLES, TensorMap, TensorMapError, decode
from prismc.hardware.ptx_versions import newest_for
from prismc.hardware.targets import TARGETS, Target, meets

# CUresult, cuda.h.
INVALID_VALUE, INVALID_DEVICE, NO_BINARY, INVALID_PTX, NEWER_PTX = 1, 101, 209, 218, 222
NOT_FOUND, LAUNCH_FAILED = 500, 719

_HEAD = struct.Struct("<QQ")
_LAUNCH = struct.Struct("<9I")
_MEMORY = struct.Struct("<QQI")
_MAP = struct.Struct("<5IQ")

# By CUtensorMapDataType (cuda.h): bytes of an element, and whether it is a float.
_ELEMENTS = {
    0: (1, False), 1: (2, False), 2: (4, False), 3: (4, False), 4: (8, False), 5: (8, False),
    6: (2, True), 7: (4, True), 8: (8, True), 9: (2, True), 10: (4, True), 11: (4, True),
    12: (4, True),
}  # fmt: skip


class Refusal(Exception):
    """A request that fails: the driver's status, and words for people."""

    def __init__(self, status: int, text: str = "") -> None:
        super().__init__(text)
        self.status, self.text = status, text


class Server:
    """One program's modules and functions, by number."""

    def __init__(self) -> None:
        self._device: Target | None = None
        self._modules: list[Module] = []
        self._functions: list[tuple[Module, Function]] = []

    def answer(self, kind: int, request: bytes) -> bytes:
        """What is sent back. Raises Refusal."""
        handlers: dict[int, Callable[[bytes], bytes]] = {
            1: self._start,
            2: self._load,
            3: self._function,
            4: self._launch,
            5: _encoded_map,
        }
        return handlers[kind](request)

    def _start(self, request: bytes) -> bytes:
        """Name of the device; its number, shared bytes and threads of a block."""
        name = request.decode()
        if name not in TARGETS:
            raise Refusal(INVALID_DEVICE, f"prismc: no device `{name}` (they are called sm_90a)")
        device = self._device = TARGETS[name]
        number = int(name.removeprefix("sm_").rstrip("af"))
        return struct.pack("<3I", number, device.shared_limit, device.max_threads)

    def _load(self, request: bytes) -> bytes:
        """The driver's version (12040) and a PTX text; the module's number."""
        (cuda,) = struct.unpack_from("<I", request)
        try:
            module = parse_module(request[4:].decode(), "the loaded PTX")
        except (PtxError, UnicodeDecodeError) as error:
            raise Refusal(INVALID_PTX, f"prismc: {error}") from error
        if module.version > newest_for((cuda // 1000, cuda % 1000 // 10)):
            raise Refusal(NEWER_PTX)
        assert self._device is not None
        if not meets(self._device, module.target):
            raise Refusal(NO_BINARY)
        self._modules.append(module)
        return struct.pack("<I", len(self._modules) - 1)

    def _function(self, request: bytes) -> bytes:
        """A module's number and a name; number, most threads, and each parameter's place."""
        module = self._modules[struct.unpack_from("<I", request)[0]]
        name = request[4:].decode()
        if name not in module.kernels():
            raise Refusal(NOT_FOUND)
        function = module.functions[name]
        self._functions.append((module, function))
        threads = int(np.prod(function.limits.get("maxntid", (0,))))
        answer = struct.pack("<3I", len(self._functions) - 1, threads, len(function.parameters))
        for (offset, _), parameter in zip(_places(function), function.parameters, strict=True):
            answer += struct.pack("<2Q", offset, parameter.size)
        return answer

    def _launch(self, request: bytes) -> bytes:
        """A function, its launch, arguments, memory; the memory afterwards."""
        number, *shape, shared, _ = _LAUNCH.unpack_from(request)
        module, function = self._functions[number]
        at = _LAUNCH.size
        arguments = []
        for parameter in function.parameters:
            arguments.append(request[at : at + parameter.size])
            at += parameter.size
        memories = _memories(request, at)
        given = [_argument(index, each, memories) for index, each in enumerate(arguments)]
        grid, block = shape[:3], shape[3:]
        for plan in adversaries(int(os.environ.get("PRISM_CPU_SCHEDULES", "1")), 0):
            try:
                result = run_ptx(
                    module, function.name, grid, block, given, dynamic_shared=shared, plan=plan
                )
            except (LaunchError, PtxError) as error:
                raise Refusal(LAUNCH_FAILED, f"prismc: {error}") from error
            if result.findings:
                raise Refusal(LAUNCH_FAILED, text_of_findings(result.findings, module))
        sys.stdout.write(result.printed)
        sys.stdout.flush()
        finals = {id(buffer.array): buffer.array for buffer in memories.values()}
        for argument, output in zip(given, result.outputs, strict=True):
            buffer = argument.buffer if isinstance(argument, MappedBuffer) else argument
            if isinstance(buffer, Buffer) and output is not None:
                finals[id(buffer.array)] = output
        return b"".join(array.tobytes() for array in finals.values())


def _places(function: Function) -> list[tuple[int, int]]:
    """Offset and size of each parameter in the argument buffer."""
    places: list[tuple[int, int]] = []
    offset = 0
    for parameter in function.parameters:
        offset = -(-offset // parameter.align) * parameter.align
        places.append((offset, parameter.size))
        offset += parameter.size
    return places


def _memories(request: bytes, at: int) -> dict[int, Buffer]:
    """The memory that a launch reaches, by its address."""
    (count,) = struct.unpack_from("<I", request, at)
    at += 4
    memories: dict[int, Buffer] = {}
    for _ in range(count):
        address, size, is_written = _MEMORY.unpack_from(request, at)
        at += _MEMORY.size
        array = np.frombuffer(request, np.uint8, size, at)
        memories[address] = Buffer(array=array, is_initialised=bool(is_written))
        at += size
    return memories


def _argument(index: int, content: bytes, memories: dict[int, Buffer]) -> Any:
    """An argument as the machine takes it: a pointer into memory, or its bytes."""
    described = decode(content)
    if len(content) != 8 and described is None:
        return content
    value = int.from_bytes(content, "little") if described is None else described.address
    for address, buffer in memories.items():
        if 0 <= value - address <= buffer.array.size:
            found = Buffer(
                array=buffer.array,
                name=f"argument {index}",
                is_initialised=buffer.is_initialised,
                offset=value - address,
            )
            return found if described is None else MappedBuffer(buffer=found, described=described)
    return content


def _encoded_map(request: bytes) -> bytes:
    """What cuTensorMapEncodeTiled is given, as the machine's own tensor map."""
    kind, rank, interleave, swizzle, fill, address = _MAP.unpack_from(request)
    numbers = struct.Struct(f"<{rank}Q{rank - 1}Q{rank}I{rank}I").unpack_from(request, _MAP.size)
    if kind not in _ELEMENTS or interleave or swizzle >= len(SWIZZLES) or fill >= len(FILLS):
        raise Refusal(INVALID_VALUE, "prismc: a kind of tensor map that the CPU driver lacks")
    element, is_float = _ELEMENTS[kind]
    encoded = TensorMap(
        address=address,
        element=element,
        is_float=is_float,
        extents=numbers[:rank],
        strides=numbers[rank : 2 * rank - 1],
        box=numbers[2 * rank - 1 : 3 * rank - 1],
        steps=numbers[3 * rank - 1 :],
        swizzle=SWIZZLES[swizzle],
        fill=FILLS[fill],
    )
    try:
        encoded.check()
    except TensorMapError as error:
        raise Refusal(INVALID_VALUE, f"prismc: {error}") from error
    return encoded.encode()


def _received(connection: socket.socket, size: int) -> bytes:
    """`size` bytes; fewer where the program has ended."""
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def serve(connection: socket.socket) -> None:
    """Answer requests until the program ends."""
    server = Server()
    while len(head := _received(connection, _HEAD.size)) == _HEAD.size:
        kind, size = _HEAD.unpack(head)
        try:
            status, answer = 0, server.answer(kind, _received(connection, size))
        except Refusal as refusal:
            status, answer = refusal.status, refusal.text.encode()
        connection.sendall(_HEAD.pack(status, len(answer)) + answer)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
