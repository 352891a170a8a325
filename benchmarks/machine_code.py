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
    predicate: str = ""

    @property
    def base(self) -> str:
        base = self.opcode.split(".")[0]
        # 0 * 0 + a constant: a move that keeps another unit busy.
        return "MOV" if base == "HFMA2" and ",-RZ,RZ," in self.operands.replace(" ", "") else base

    @property
    def target(self) -> int | None:
        """The number of the instruction that a branch goes to."""
        found = _ADDRESS.search(self.operands.split(",")[-1].strip())
        return int(found[1], 16) // 16 if found and self.base == "BRA" else None

    def followers(self, number: int) -> list[int]:
        """The numbers of the instructions that usually come after this one, which has `number`.

        What BRA.DIV goes to does the same as what follows it, for threads that have parted. What is
        called is what a division does for rare operands: everything else is inlined.
        """
        is_sure = not self.predicate and "," not in self.operands
        match self.base:
            case "BRA" if self.opcode != "BRA.DIV" and self.target is not None:
                return [self.target] if is_sure else [number + 1, self.target]
            case "EXIT" | "RET" | "BRX" | "CALL" if not self.predicate:
                return []
            case _:
                return [number + 1]


class Code(NamedTuple):
    """A kernel's machine code without its padding, and the loop that it spends its time in."""

    instructions: Sequence[Instruction]
    loop: Sequence[Instruction]

    def share(self) -> tuple[str, float]:
        """The loop's main arithmetic and its share of the loop's instructions."""
        counts = Counter(one.base for one in self.loop)
        kind = max((*PRODUCTS, *FLOATS), key=lambda base: counts[base])
        return (kind, counts[kind] / len(self.loop)) if counts[kind] else ("", 0.0)

    @property
    def has_loop(self) -> bool:
        return self.loop is not self.instructions

    def work(self) -> int:
        """How much the loop does in one turn, which tells how far the compiler has unrolled it:
        its arithmetic on floats and its memory accesses."""
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
    instructions = [
        Instruction(one["opcode"], one.get("operands", ""), one.get("predicate", ""))
        for one in listed
    ]
    # What follows the branch to itself is padding.
    for index, one in enumerate(instructions):
        if one.target == index:
            instructions = instructions[:index]
            break
    return Code(instructions, hottest(instructions))


def hottest(instructions: Sequence[Instruction]) -> Sequence[Instruction]:
    """The innermost loop with most arithmetic, or with most memory accesses where none has any.

    One without either only waits, for an mbarrier or for registers, and doesn't count.
    """
    found = {
        first: (body, [instructions[number] for number in sorted(body)])
        for first, body in loops(instructions).items()
    }
    working = [first for first, (_, code) in found.items() if any(_weight(code))]
    inner = [
        code
        for body, code in (found[first] for first in working)
        if sum(other in body for other in working) == 1
    ]
    return max(inner, key=_weight, default=instructions)


def loops(instructions: Sequence[Instruction]) -> dict[int, set[int]]:
    """The natural loops: the numbers of each one's instructions by that of the first."""
    before: dict[int, list[int]] = {}
    reached, waiting = {0}, [0]
    while waiting:
        number = waiting.pop()
        for follower in instructions[number].followers(number):
            before.setdefault(follower, []).append(number)
            if follower not in reached and follower < len(instructions):
                reached.add(follower)
                waiting.append(follower)
    found: dict[int, set[int]] = {}
    for first, sources in before.items():
        body = {first}
        waiting = [number for number in sources if number >= first]
        while waiting:
            number = waiting.pop()
            if number not in body:
                body.add(number)
                waiting += before.get(number, ())
        # What can be entered elsewhere than at `first` leads back to the kernel's start.
        if len(body) > 1 and (first == 0 or 0 not in body):
            found[first] = body
    return found


def _weight(body: Sequence[Instruction]) -> tuple[int, int, int]:
    bases = Counter(one.base for one in body)
    return (
        sum(bases[base] for base in PRODUCTS),
        sum(bases[base] for base in FLOATS),
        sum(bases[base] for base in ACCESSES),
    )
