"""What a cubin's machine code is made of, by NVIDIA's disassembler (nvidia-cuda-nvdisasm)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

_WIDTH = re.compile(r"\.(64|128)(?:\.|$)")
_ADDRESS = re.compile(r"^`?\(?(0x[0-9a-f]+)")

# Opcodes by what a kernel is there for; the rest moves data, counts and compares.
PRODUCTS = ("HMMA", "HGMMA", "IMMA", "DMMA")
FLOATS = (
    "FFMA", "FMUL", "FADD", "FMNMX", "HFMA2", "HMUL2",
    "HADD2", "DFMA", "DADD", "DMUL", "MUFU",
)  # fmt: skip
ACCESSES = (
    "LDG", "STG", "LDS", "STS", "LDSM", "LDGSTS",
    "RED", "ATOM", "ATOMG", "ATOMS", "LDL", "STL",
)  # fmt: skip
BARRIERS = ("BAR", "WARPSYNC", "SYNCS", "UCGABAR_WAIT")


class Instruction(NamedTuple):
    """One instruction; `base` is its opcode to the first dot, `target` a branch's place."""

    opcode: str
    operands: str

    @property
    def base(self) -> str:
        return self.opcode.split(".")[0]

    @property
    def target(self) -> int | None:
        """The number of the instruction that a branch goes to."""
        found = _ADDRESS.search(self.operands.split(",")[-1].strip())
        return int(found[1], 16) // 16 if found and self.base == "BRA" else None


class Code(NamedTuple):
    """A kernel's machine code without its padding, and the loop that it spends its time in."""

    instructions: Sequence[Instruction]
    loop: Sequence[Instruction]

    def share(self) -> tuple[str, float]:
        """The loop's main arithmetic and its share of the loop's instructions."""
        counts = Counter(one.base for one in self.loop)
        kind = max((*PRODUCTS, *FLOATS), key=lambda base: counts[base])
        return (kind, counts[kind] / len(self.loop)) if counts[kind] else ("", 0.0)

    def work(self) -> int:
        """How much the loop does in one turn, which tells how far the compiler has unrolled it:
        its arithmetic on floats and its memory accesses, or 0 where there is no loop."""
        if self.loop is self.instructions:
            return 0
        return sum(one.base in (*PRODUCTS, *FLOATS, *ACCESSES) for one in self.loop)

    def widths(self) -> str:
        """Memory accesses of the whole kernel, by kind and width in bits."""
        seen: Counter[str] = Counter()
        for one in self.instructions:
            if one.base in ("LDG", "STG", "LDS", "STS"):
                width = _WIDTH.search(one.opcode)
                seen[f"{one.base}.{width[1]}" if width else one.base] += 1
            elif one.base in ACCESSES:
                seen[one.base] += 1
        return " ".join(f"{kind}x{count}" for kind, count in sorted(seen.items()))

    def barriers(self) -> int:
        """Barriers of a block and of warps, in the whole kernel."""
        return sum(one.base in BARRIERS for one in self.instructions)


def disassembler() -> Path | None:
    """The nvdisasm program: beside this Python's packages, or on PATH."""
    for folder in map(Path, sys.path):
        for program in sorted(folder.glob("nvidia/cu*/bin/nvdisasm")):
            return program
    found = shutil.which("nvdisasm")
    return Path(found) if found else None


def disassemble(cubin: bytes, program: Path) -> dict[str, Code]:
    """The kernels of `cubin`, by name. Raises CalledProcessError where nvdisasm refuses it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(cubin)
        run = subprocess.run([program, "-json", file], capture_output=True, check=True)
    functions = json.loads(run.stdout)[1]
    return {one["function-name"]: _code(one["sass-instructions"]) for one in functions}


def _code(listed: Sequence[dict[str, Any]]) -> Code:
    instructions = [Instruction(one["opcode"], one.get("operands", "")) for one in listed]
    # What follows the branch to itself is padding.
    for index, one in enumerate(instructions):
        if one.target == index:
            instructions = instructions[:index]
            break
    return Code(instructions, _hottest(instructions))


def _hottest(instructions: Sequence[Instruction]) -> Sequence[Instruction]:
    """The innermost loop with most arithmetic, or with most memory accesses where none has any."""
    loops = [
        (one.target, index)
        for index, one in enumerate(instructions)
        if one.target is not None and one.target < index
    ]
    inner = [
        (first, last)
        for first, last in loops
        if not any((a, b) != (first, last) and first <= a and b <= last for a, b in loops)
    ]
    bodies = [instructions[first : last + 1] for first, last in inner]
    return max(bodies, key=_weight, default=instructions)


def _weight(body: Sequence[Instruction]) -> tuple[int, int, int]:
    bases = Counter(one.base for one in body)
    return (
        sum(bases[base] for base in PRODUCTS),
        sum(bases[base] for base in FLOATS),
        sum(bases[base] for base in ACCESSES),
    )
