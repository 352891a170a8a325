"""The committed comparison with hand-written CUDA, and the limits, measured anew where it is quick.

`benchmarks/parity.py` measures all compilers and targets; here one of each.
"""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

from machine_code import Code, Instruction, disassembler, hottest, loops  # noqa: E402
from pairs import PAIRS, TARGETS, Pair  # noqa: E402

from parity import TABLE, Comparison, Side, compare  # noqa: E402
from prismc.backend.toolchain.nvrtc import Nvrtc  # noqa: E402


def test_every_pair_is_in_the_committed_table() -> None:
    text = TABLE.read_text(encoding="utf-8")
    rows = {pair: text.count(f"| `{pair.kernel}` | Prism |") for pair in PAIRS}
    assert [pair.kernel for pair in PAIRS if rows[pair] < len(pair.targets)] == []


def test_every_twin_is_held_against_something() -> None:
    twins = {path.stem for path in (BENCHMARKS / "twins").glob("*.cu")}
    assert twins == {pair.source for pair in PAIRS}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.kernel)
def test_no_kernel_passes_the_limits(pair: Pair) -> None:
    program = disassembler()
    assert program is not None, "nvdisasm belongs to the development environment"
    comparison = compare(pair, pair.targets[0], Nvrtc(), program)
    assert comparison.passed_limits() == []


def test_the_last_sgemm_spends_its_loop_as_the_hand_written_one_does() -> None:
    """128 x 128 x 16: no smaller share of FFMA, and accesses of 128 bits."""
    program = disassembler()
    assert program is not None
    (pair,) = (one for one in PAIRS if one.kernel == "sgemm_warp_tiled_128")
    for target in TARGETS:
        comparison = compare(pair, target, Nvrtc(), program)
        ours, theirs = comparison.prism.code, comparison.twin.code
        kind, share = ours.share()
        assert kind == "FFMA"
        assert share >= theirs.share()[1], target
        loads = [one.opcode for one in ours.loop if one.base in ("LDG", "LDS")]
        assert loads
        assert all(".128" in opcode for opcode in loads), target


def _instructions(text: str) -> list[Instruction]:
    found = []
    for line in text.split(";"):
        words = line.split()
        predicate = words.pop(0) if words[0].startswith("@") else ""
        found.append(Instruction(words[0], "".join(words[1:]), predicate))
    return found


def test_a_loop_is_what_leads_back_to_its_start() -> None:
    """Not what stands between: the text of a loop may hold its exit, and a part of it may stand
    behind the kernel's end."""
    code = _instructions(
        "MOV R0; IADD3 R1; @P0 BRA 0x70; FADD R2; BRA 0x90; NOP; NOP; EXIT; NOP; FMUL R3; BRA 0x10"
    )
    assert loops(code) == {1: {1, 2, 3, 4, 9, 10}}


def test_a_loop_that_only_waits_is_none() -> None:
    """Neither the innermost loop, nor one that makes the loop around it an outer one."""
    code = _instructions(
        "MOV R0; SYNCS.PHASECHK P0; @!P0 BRA 0x10; HGMMA R2; @P1 BRA 0x10; SYNCS P0; @!P0 BRA 0x50"
    )
    assert set(loops(code)) == {1, 5}
    assert hottest(code) == code[1:5]


def test_kernels_without_a_loop_are_compared_whole() -> None:
    """Also where only one has a loop: how much work a kernel and a loop do is not comparable."""
    whole = _instructions("FADD R0; " * 50 + "EXIT")
    loop = _instructions("FADD R0; @P0 BRA 0x0; EXIT")
    longer = [*whole, *_instructions("IADD3 R0; MOV R1")]
    short, long, turning = Code(whole, whole), Code(longer, longer), Code(loop, loop[:2])
    assert _passed(short, short) == []
    assert _passed(long, short) == ["kernel of 53, not 51 instructions"]
    assert _passed(short, turning) == ["kernel of 51, not 3 instructions"]
    assert _passed(Code(whole, loop[:2]), turning) == []


def _passed(ours: Code, theirs: Code) -> list[str]:
    report = MagicMock(registers=10, spill_stores=0, spill_loads=0)
    sides = (Side(report, ours), Side(report, theirs))
    return Comparison(PAIRS[0], "a compiler", TARGETS[0], *sides).passed_limits()


def test_rare_ways_are_no_part_of_a_loop() -> None:
    """The slow path of a division, and what parted threads do one after the other."""
    code = _instructions(
        "FADD R2; FCHK P0; @!P0 BRA 0x60; MOV R0; CALL.REL.NOINC 0x900; MOV R1; BRA.DIV UR4,0xa0; "
        "FMUL R3; @P1 BRA 0x0; EXIT; NOP; BRA 0x70"
    )
    assert loops(code) == {0: {0, 1, 2, 6, 7, 8}}


def test_a_constant_by_way_of_half_precision_is_a_move() -> None:
    (move, sum_) = _instructions("HFMA2.MMA R0,-RZ,RZ,1,0; HFMA2 R0,R1,R2,R3")
    assert (move.base, sum_.base) == ("MOV", "HFMA2")
