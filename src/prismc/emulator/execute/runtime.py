"""Functions of the CUDA run-time that device code calls: `vprintf`, `__assertfail`."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

import numpy as np

from prismc.emulator.launch import Launch
from prismc.emulator.memory import LOCAL_WINDOW
from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.batch import Batch
from prismc.emulator.state.run import Run

# A function of the run-time: the launch, the run, the call, and its arguments' packed bytes
# [lanes, size]. Whether the threads go on afterwards.
Builtin = Callable[[Launch, Run, Instruction, list[Lanes]], bool]

_DIRECTIVE = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?(hh|h|ll|l|z|t|j)?([diouxXcsfFeEgGaAp%])")
_LONGEST_STRING = 4096


def print_formatted(launch: Launch, run: Run, site: Instruction, arguments: list[Lanes]) -> bool:
    """`vprintf(format, arguments)`: one text for each lane, in lane order."""
    batch = run.batch
    formats, packs = (a.copy().view(np.uint64).reshape(-1) for a in arguments[:2])
    for lane, text_at, pack_at in zip(run.lane_numbers(), formats, packs, strict=True):
        text = _string(launch, int(text_at))
        launch.printed.append(_format(launch, batch, int(lane), text, int(pack_at)))
    return True


def _format(launch: Launch, batch: Batch, lane: int, text: str, pack: int) -> str:
    """The text with its directives filled from the lane's argument bytes."""
    content = _bytes(batch, lane, pack)
    at = 0

    def fill(match: re.Match[str]) -> str:
        nonlocal at
        length, letter = match.groups()
        if letter == "%":
            return "%"
        wide = letter in "fFeEgGaAsp" or length in ("ll", "l", "z", "t", "j")
        size = 8 if wide else 4
        at = -(-at // size) * size
        raw = content[at : at + size].ljust(size, b"\0")
        at += size
        return _directive(launch, match.group(), letter, length or "", raw)

    return _DIRECTIVE.sub(fill, text)


def _directive(launch: Launch, directive: str, letter: str, length: str, raw: bytes) -> str:
    python = directive.replace(length, "") if length else directive
    if letter in "fFeEgGaA":
        value: float = struct.unpack("<d", raw)[0]
        return value.hex() if letter in "aA" else python % value
    if letter == "s":
        return python % _string(launch, int.from_bytes(raw, "little"))
    if letter == "p":
        return f"{int.from_bytes(raw, 'little'):#x}"
    number = int.from_bytes(raw, "little", signed=letter in "di")
    return python.replace("u", "d") % (chr(number & 0xFF) if letter == "c" else number)


def _bytes(batch: Batch, lane: int, address: int) -> bytes:
    """The bytes of a lane's local memory from a generic address on."""
    region = batch.local
    if region is None or address >> 40 != LOCAL_WINDOW >> 40:
        return b""
    start = lane * region.stride + address - LOCAL_WINDOW
    return region.data[start : (lane + 1) * region.stride].tobytes()


def _string(launch: Launch, address: int) -> str:
    """The zero-terminated text at a generic address."""
    region = launch.layout.memory.at(address)
    if region is None:
        return f"<string at {address:#x}>"
    start = address - region.base
    content = region.data[start : min(start + _LONGEST_STRING, region.size)].tobytes()
    return content.partition(b"\0")[0].decode("utf-8", "replace")


def fail_assertion(launch: Launch, run: Run, site: Instruction, arguments: list[Lanes]) -> bool:
    """`__assertfail(message, file, line, function, size)`: the threads end."""
    first = [a[0].tobytes() for a in arguments]
    message, file = (_string(launch, int.from_bytes(b, "little")) for b in first[:2])
    line = int.from_bytes(first[2], "little")
    launch.findings.assertion(run, site, f"{file}:{line}: assertion `{message}` failed")
    return False


BUILTINS: dict[str, Builtin] = {"vprintf": print_formatted, "__assertfail": fail_assertion}
