"""The committed comparison with hand-written CUDA, and the limits, measured anew where it is quick.

`benchmarks/parity.py` measures all compilers and targets; here one of each.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

from machine_code import disassembler  # noqa: E402
from pairs import PAIRS, Pair  # noqa: E402

from parity import TABLE, TARGETS, compare  # noqa: E402
from prismc.backend.toolchain.nvrtc import Nvrtc  # noqa: E402


def test_every_pair_is_in_the_committed_table() -> None:
    text = TABLE.read_text(encoding="utf-8")
    assert [pair.kernel for pair in PAIRS if text.count(f"| `{pair.kernel}` | Prism |") < 2] == []
    assert [pair.kernel for pair in PAIRS if pair.excused and pair.excused not in text] == []


def test_every_twin_is_held_against_something() -> None:
    twins = {path.stem for path in (BENCHMARKS / "twins").glob("*.cu")}
    assert twins == {pair.source for pair in PAIRS}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.kernel)
def test_no_kernel_passes_the_limits(pair: Pair) -> None:
    program = disassembler()
    assert program is not None, "nvdisasm belongs to the development environment"
    comparison = compare(pair, TARGETS[0], Nvrtc(), program)
    passed = comparison.passed_limits()
    assert not passed or pair.excused, passed
