"""Loads ahead of their conditions: one whose value reaches nothing is in no race."""

from __future__ import annotations

import numpy as np
import pytest

from prismc.emulator.api import RunResult, run_ptx
from prismc.emulator.findings import Kind
from prismc.emulator.report import text_of

# Warp 0 stores s[lane] = tid. Nothing orders the other warp's loads with that. %p1: warp 0.
PROGRAM = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 y)
{
    .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
    .shared .align 4 .b8 s[128];
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 32;
    setp.lt.u32 %p2, %r1, 3;
    setp.lt.u32 %p3, %r1, 64;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, 7;
    mov.u32 %r10, 0;
    @!%p1 bra BEHIND;
    shl.b32 %r3, %r1, 2;
    mov.u32 %r4, s;
    add.u32 %r4, %r4, %r3;
    st.shared.u32 [%r4], %r1;
    bar.warp.sync -1;
BEHIND:
    BODY
    st.global.u32 [%rd3], %r9;
    ret;
}
"""
LOAD = "ld.shared.u32 %r5, [s+12];"
# What discards the value in warp 1.
FOR_NOTHING = {
    "a select": f"{LOAD} add.u32 %r6, %r5, 1; selp.b32 %r9, %r6, %r2, %p1;",
    "its other side": f"not.pred %p4, %p1; {LOAD} selp.b32 %r9, %r2, %r5, %p4;",
    "a conjunction": f"{LOAD} setp.eq.u32 %p4, %r5, 3; and.pred %p5, %p1, %p4; "
    "selp.b32 %r9, 5, 6, %p5;",
    "a disjunction": f"setp.ge.u32 %p7, %r1, 32; {LOAD} setp.ne.u32 %p4, %r5, 3; "
    "not.pred %p8, %p7; not.pred %p6, %p8; or.pred %p5, %p4, %p6; "
    "mov.u32 %r9, 6; @%p5 bra END; mov.u32 %r9, 5; END:",
    "a branch": f"{LOAD} mov.u32 %r9, 6; @!%p1 bra END; mov.u32 %r9, %r5; END:",
    "a loop that is not entered": f"{LOAD} mov.u32 %r9, 6; selp.u32 %r7, 3, 0, %p1; "
    "HEAD: setp.ge.u32 %p4, %r10, %r7; @%p4 bra END; add.u32 %r9, %r9, %r5; "
    "add.u32 %r10, %r10, 1; bra HEAD; END:",
    "a select in a loop behind it": f"{LOAD} mov.u32 %r9, 6; HEAD: add.u32 %r6, %r9, %r5; "
    "selp.u32 %r9, %r6, %r9, %p1; add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 3; "
    "@%p4 bra HEAD;",
    "the outer of two selects": f"{LOAD} selp.b32 %r6, %r5, %r2, %p3; selp.b32 %r9, %r6, %r2, %p1;",
    "a select of two loads": f"{LOAD} ld.shared.u32 %r8, [s+16]; add.u32 %r6, %r5, %r8; "
    "selp.b32 %r9, %r6, %r2, %p1;",
    "a guarded copy": f"{LOAD} mov.u32 %r9, 6; @%p1 mov.u32 %r9, %r5;",
    "a register that is set anew": f"{LOAD} mov.u32 %r9, %r5; @%p1 bra END; mov.u32 %r9, 6; END:",
    "a vector": "ld.shared.v2.u32 {%r5, %r8}, [s+8]; selp.b32 %r6, %r8, %r2, %p1; "
    "selp.b32 %r7, %r5, %r2, %p1; add.u32 %r9, %r6, %r7;",
}
# The same shapes, where some thread of warp 1 does use the value.
USED = {
    "stored": f"{LOAD} mov.u32 %r9, %r5;",
    "selected": f"{LOAD} add.u32 %r6, %r5, 1; selp.b32 %r9, %r6, %r2, %p3;",
    "selected by itself": f"{LOAD} setp.eq.u32 %p4, %r5, 3; selp.b32 %r9, 1, %r2, %p4;",
    "not discarded by the conjunction": f"{LOAD} setp.eq.u32 %p4, %r5, 3; "
    "and.pred %p5, %p3, %p4; selp.b32 %r9, 5, 6, %p5;",
    "one side of a conjunction is read": f"{LOAD} setp.eq.u32 %p4, %r5, 99; "
    "ld.shared.u32 %r8, [s+12]; setp.eq.u32 %p6, %r8, 99; and.pred %p5, %p4, %p6; "
    "selp.b32 %r9, 5, 6, %p5;",
    "there before the other side of a conjunction": f"{LOAD} setp.eq.u32 %p4, %r5, 3; "
    "setp.lt.u32 %p5, %r1, 32; and.pred %p5, %p4, %p5; selp.b32 %r9, 5, 6, %p5;",
    "branched on": f"{LOAD} mov.u32 %r9, 6; setp.eq.u32 %p4, %r5, 3; @%p4 bra END; "
    "mov.u32 %r9, 5; END:",
    "a guard": f"{LOAD} mov.u32 %r9, 6; setp.eq.u32 %p4, %r5, 99; @%p4 mov.u32 %r9, 5;",
    "in a later turn": f"{LOAD} mov.u32 %r9, 6; mov.u32 %r6, 0; HEAD: add.u32 %r9, %r9, %r6; "
    "mov.u32 %r6, %r5; add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 2; @%p4 bra HEAD;",
    "shuffled": f"{LOAD} shfl.sync.idx.b32 %r6, %r5, 0, 31, -1; mov.u32 %r9, 6; @!%p1 bra END; "
    "mov.u32 %r9, %r6; END:",
    "kept by an outer select": f"{LOAD} selp.b32 %r6, %r5, %r2, %p3; selp.b32 %r9, %r6, %r2, %p3;",
    "an address": f"{LOAD} and.b32 %r6, %r5, 15; mul.wide.u32 %rd4, %r6, 4; "
    "add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r7, [%rd5]; selp.b32 %r9, %r7, %r2, %p1;",
    "held for ever": f"{LOAD} mov.u32 %r9, %r5; @%p1 bra END; barrier.sync 1, 64; END:",
    "volatile": "ld.volatile.shared.u32 %r5, [s+12]; selp.b32 %r9, %r5, %r2, %p1;",
}


def _run(body: str) -> RunResult:
    ptx = PROGRAM.replace("BODY", body)
    return run_ptx(ptx, None, 1, 64, [np.zeros(64, np.uint32)])


@pytest.mark.parametrize("body", FOR_NOTHING.values(), ids=FOR_NOTHING)
def test_a_value_that_is_discarded(body: str) -> None:
    result = _run(body)
    assert not result.findings, text_of(result)


@pytest.mark.parametrize("body", USED.values(), ids=USED)
def test_a_value_that_is_used(body: str) -> None:
    assert Kind.RACE in {finding.kind for finding in _run(body).findings}


@pytest.mark.parametrize("body", FOR_NOTHING.values(), ids=FOR_NOTHING)
def test_the_threads_that_use_it_race_on(body: str) -> None:
    """Warp 0's own threads use it: without their barrier that is found, and nothing else."""
    ptx = PROGRAM.replace("BODY", body).replace("bar.warp.sync -1;", "")
    result = run_ptx(ptx, None, 1, 64, [np.zeros(64, np.uint32)])
    races = [finding for finding in result.findings if finding.kind is Kind.RACE]
    assert races
    assert all(thread.thread[0] < 32 for finding in races for thread in finding.threads)


def test_only_some_threads_of_a_warp() -> None:
    body = f"{LOAD} selp.b32 %r9, %r5, %r2, %p2;"
    result = _run(body)
    assert not result.findings, text_of(result)


def test_executions_are_told_apart() -> None:
    """Of three loads in a loop the value of the last one is used, when the store is over."""
    turn = (
        f"HEAD: {LOAD} add.u32 %r10, %r10, 1; setp.eq.u32 %p4, %r10, 3; "
        "selp.b32 %r9, %r5, %r2, %p4; bar.sync 0; setp.lt.u32 %p5, %r10, 3; @%p5 bra HEAD;"
    )
    assert not _run(turn).findings
    early = turn.replace("setp.eq.u32 %p4, %r10, 3", "setp.le.u32 %p4, %r10, 3")
    early = early.replace("bar.sync 0;", "bar.sync 0; st.global.u32 [%rd3], %r9;")
    assert {finding.kind for finding in _run(early).findings} >= {Kind.RACE}
