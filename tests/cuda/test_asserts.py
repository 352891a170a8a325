"""Assertions and prints in the code: what is said, by whom, and that nothing else changes."""

from __future__ import annotations

import numpy as np

from prismc.emulator.findings import Kind
from prismc.hardware.targets import DEFAULT_TARGET
from support.running import compile_texts

PRINTS = """
@requires(grid[1], block[1], thread[1])
@launch(threads = 4)
kernel k(x: f32, d: f64, X: ptr(const i64), h: ptr(const f16)):
    i: int @ thread[1] = id()
    group thread[1]:
        if i == 2:
            print("%d %5d|%-4d|%x %u %i", i, X[i], X[i] - 7, u64(255) << 36, u8(200), i > 1)
            print("%.3f %e %g\\t\\"%%\\" \\\\ ü\\n", x, d, h[i])
"""


def test_prints() -> None:
    program = compile_texts({"k.prism": PRINTS}, "k.prism", "--asserts")
    given = {
        "x": 1.5,
        "d": -2.5e-7,
        "X": np.array([0, 0, 1 << 40, 0], np.int64),
        "h": np.array([0, 0, 0.25, 0], np.float16),
    }
    result = program.launch(1, given)
    assert not result.findings
    big = 1 << 40
    assert result.printed == (
        f'2 {big}|{big - 7}|ff000000000 200 1\n1.500 -2.500000e-07 0.25\t"%" \\ ü\n'
    )


ASSERTS = """
def small(i: int) -> bool:
    return i < 40

@requires(grid[1], block[1], thread[1])
@launch(threads = 32)
kernel k(Y: ptr(i32)):
    i: int @ thread[1] = id()
    partition Y as y @ thread[1] at i:
        assert small(i)
        assert i >= 0, "an \\"index\\""
        y[0] = i
"""


def test_the_failed_condition_is_told_with_its_line() -> None:
    program = compile_texts({"k.prism": ASSERTS}, "k.prism", "--asserts")
    (finding,) = program.launch(2, {"Y": np.zeros(64, np.int32)}).findings
    assert finding.kind is Kind.TRAP
    assert "k.prism:10: assertion `small(i)` failed" in finding.message
    assert not program.launch(1, {"Y": np.zeros(64, np.int32)}).findings


def test_nothing_is_left_without_the_option() -> None:
    program = compile_texts({"k.prism": ASSERTS}, "k.prism")
    assert "assertfail" not in program.ptx
    assert "setp" not in program.ptx
    found = program.run(2, {"Y": np.zeros(64, np.int32)})
    assert np.array_equal(found["Y"], np.arange(64))


def test_the_plan_is_the_same() -> None:
    text = ASSERTS.replace("y[0] = i", "y[0] = i\n        assert Y_is(i)").replace(
        "assert Y_is(i)", "assert y[0] == i"
    )
    plans = [
        compile_texts({"k.prism": text}, "k.prism", flags).checked.plan.numbers()
        for flags in ("", "--asserts", f"--asserts --target {DEFAULT_TARGET.name}")
    ]
    assert plans[0] == plans[1] == plans[2]
