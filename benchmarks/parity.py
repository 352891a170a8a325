"""Prism's kernels beside hand-written CUDA: what the same compiler makes of both.

    python benchmarks/parity.py            # measure, print, and hold against the limits
    python benchmarks/parity.py --write    # and write docs/parity.md anew

Limits, for every kernel, compiler and target: in the loop that the kernel spends its time in (in
the whole kernel where there is none) at most 2 % more instructions for the same work than the twin,
at most 4 registers more, no more spills and barriers.
The exit code is 1 where a kernel passes one.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from machine_code import Code, disassemble, disassembler
from pairs import PAIRS, ROOT, TARGETS, Pair

from prismc.backend.cuda_module import CudaModule, KernelEntry
from prismc.backend.toolchain.compilation import Compiler, ToolchainFailure
from prismc.backend.toolchain.nvcc import Nvcc
from prismc.backend.toolchain.nvrtc import Nvrtc
from prismc.backend.toolchain.report import KernelReport, kernel_reports
from prismc.source.span import NOWHERE

TABLE = ROOT / "docs" / "parity.md"


class Side(NamedTuple):
    """One kernel's costs, and its machine code."""

    report: KernelReport
    code: Code

    @property
    def spills(self) -> int:
        return self.report.spill_stores + self.report.spill_loads


class Comparison(NamedTuple):
    """A pair by one compiler for one target."""

    pair: Pair
    compiler: str
    target: str
    prism: Side
    twin: Side

    def passed_limits(self) -> list[str]:
        """What is worse than the twin by more than the limits allow."""
        ours, theirs = self.prism, self.twin
        found = []
        loops = ours.code.has_loop and theirs.code.has_loop
        place = "loop" if loops else "kernel"
        mine, other = (
            len(side.code.loop if loops else side.code.instructions) for side in (ours, theirs)
        )
        # For equal work: one compiler's loop may be unrolled where the other's is not.
        turns = theirs.code.work() / ours.code.work() if loops else 1
        if mine * turns > 1.02 * other:
            found.append(f"{place} of {mine}, not {other} instructions")
        if ours.report.registers > theirs.report.registers + 4:
            found.append(f"{ours.report.registers}, not {theirs.report.registers} registers")
        if ours.spills > theirs.spills:
            found.append(f"{ours.spills}, not {theirs.spills} bytes spilled")
        if ours.code.barriers() > theirs.code.barriers():
            found.append(f"{ours.code.barriers()}, not {theirs.code.barriers()} barriers")
        return found


def compilers() -> list[Compiler]:
    """NVRTC, and nvcc where there is one."""
    found: list[Compiler] = [Nvrtc()]
    try:
        found.append(Nvcc())
    except ToolchainFailure as failure:
        print(f"without nvcc: {failure.reason}", file=sys.stderr)
    return found


def compare(pair: Pair, target: str, compiler: Compiler, program: Path) -> Comparison:
    """Both sides of `pair`, disassembled by `program`."""
    prism = _side(_emitted(pair.program, target), pair.kernel, target, compiler, program)
    text = pair.twin.read_text(encoding="utf-8")
    twin = _side(text, pair.kernel, target, compiler, program)
    return Comparison(pair, compiler.description, target, prism, twin)


@cache
def _emitted(source: Path, target: str) -> str:
    """The CUDA text of a program."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "emitted.cu"
        build = [sys.executable, "-m", "prismc", "build", source, "--emit", "cuda", "-o", place]
        subprocess.run([*build, "--target", target], check=True)
        return place.read_text(encoding="utf-8")


def _side(text: str, kernel: str, target: str, compiler: Compiler, program: Path) -> Side:
    entry = KernelEntry(name=kernel, at=NOWHERE, threads=1)
    module = CudaModule(name=f"{kernel}.cu", text=text, kernels=(entry,), files=())
    compilation = compiler.compile(module, target)
    if compilation.cubin is None:
        raise SystemExit(f"{kernel} for {target} by {compiler.description}:\n{compilation.log}")
    (report,) = kernel_reports(compilation, module)
    return Side(report, disassemble(compilation.cubin, program)[kernel])


def measured(pairs: Sequence[Pair], program: Path) -> Iterator[Comparison]:
    """Every pair by every compiler for every target."""
    for compiler in compilers():
        for target in TARGETS:
            for pair in pairs:
                if target in pair.targets:
                    yield compare(pair, target, compiler, program)


HEADINGS = (
    "kernel", "", "registers", "shared", "spills", "instructions", "loop", "share in it",
    "barriers", "accesses",
)  # fmt: skip


def table(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """The lines of a Markdown document."""
    yield from _PREFACE.splitlines()
    for compiler in dict.fromkeys(one.compiler for one in comparisons):
        for target in TARGETS:
            yield from ("", f"## {compiler}, {target}", "")
            yield f"| {' | '.join(HEADINGS)} |"
            yield "|---|---|" + "---:|" * (len(HEADINGS) - 3) + "---|"
            for one in comparisons:
                if (one.compiler, one.target) == (compiler, target):
                    yield _row(f"`{one.pair.kernel}`", "Prism", one.prism)
                    yield _row("", "CUDA", one.twin)


def _row(name: str, side: str, found: Side) -> str:
    kind, share = found.code.share()
    cells = (
        name, side, found.report.registers, found.report.shared_bytes, found.spills,
        len(found.code.instructions), len(found.code.loop), f"{share:.0%} {kind}" if kind else "",
        found.code.barriers(), found.code.widths(),
    )  # fmt: skip
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


_PREFACE = """\
# Machine code beside hand-written CUDA

Written by `make parity`. Each kernel of `examples/` and `benchmarks/collectives/` stands beside
one by the same algorithm that was written by hand in CUDA (`benchmarks/twins/`); the same
compiler made machine code of both. Registers are those of a thread; shared memory and spills
are in bytes. "Loop" counts the instructions of the innermost loop with most arithmetic (of the
whole kernel where there is no loop), "share in it" is that of its main arithmetic instruction.
Barriers are those of blocks and warps, accesses those to memory by kind and width in bits, both
in the whole kernel. Nothing here was timed."""


def main() -> int:
    """Measure, print, and write where asked; 1 where a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/parity.md anew")
    parser.add_argument("--only", help="kernels whose name holds this text")
    options = parser.parse_args()
    program = disassembler()
    if program is None:
        raise SystemExit("nvdisasm was not found; install nvidia-cuda-nvdisasm")
    pairs = [pair for pair in PAIRS if (options.only or "") in pair.kernel]
    comparisons = list(measured(pairs, program))
    text = "\n".join(table(comparisons)) + "\n"
    if options.write:
        TABLE.write_text(text, encoding="utf-8")
    print(text)
    failed = False
    for one in comparisons:
        for problem in one.passed_limits():
            failed = True
            print(f"{one.pair.kernel}, {one.target}, {one.compiler}: {problem}")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
