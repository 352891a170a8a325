"""The last block's code: what orders it after all other blocks is needed, part by part."""

from __future__ import annotations

import numpy as np
import pytest

from prismc.emulator.schedule import adversaries
from support.running import Compiled, compile_texts

TEXT = """
@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
kernel k(part: ptr(i32), done: ptr(atomic u32), out: ptr(i32)):
    i: int @ thread[1] = id()
    partition part as mine @ thread[1] at i:
        mine[0] = i
    finish done:
        t: int @ thread[1] = id()
        partition out as one @ thread[1] at t:
            one[0] = part[t] + part[64 + t] + part[128 + t]
"""
ARRIVAL, ANSWER = "atom.acq_rel.gpu.global.inc.u32", "bar.red.or.pred"


def faults(program: Compiled) -> int:
    """How many of the schedules show a fault."""
    found = 0
    for plan in adversaries(6):
        given = {
            "part": np.zeros(192, np.int32),
            "done": np.zeros(1, np.uint32),
            "out": np.zeros(64, np.int32),
        }
        result = program.launch(3, given, plan=plan)
        out = program.outputs(result)["out"]
        found += bool(result.findings) or not np.array_equal(out, 3 * np.arange(64) + 192)
    return found


def test_as_it_is() -> None:
    program = compile_texts({"k.prism": TEXT}, "k.prism")
    assert program.ptx.count(ARRIVAL) == program.ptx.count(ANSWER) == 1
    assert faults(program) == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("atom.acq_rel", "atom.relaxed"),
        ("atom.acq_rel", "atom.release"),
        ("atom.acq_rel", "atom.acquire"),
        ("atom.acq_rel.gpu", "atom.acq_rel.cta"),
        ("bar.sync \t0;", ""),
    ],
)
def test_every_part_is_needed(old: str, new: str) -> None:
    program = compile_texts({"k.prism": TEXT}, "k.prism")
    assert old in program.ptx
    program.ptx = program.ptx.replace(old, new, 1)
    assert faults(program) > 0
