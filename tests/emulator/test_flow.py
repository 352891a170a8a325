"""Control flow: joins come after what joins, loops stay together, waiting loops are known."""

from __future__ import annotations

from prismc.emulator.flow import Flow, flow_of
from prismc.emulator.provenance import written_parameters
from prismc.emulator.ptx.parser import parse_module
from prismc.emulator.ptx.tree import Function

_REGISTERS = (
    ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
    "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];\n"
)


def _function(body: str) -> Function:
    text = (
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        f".entry k(.param .u64 a, .param .u64 b)\n{{\n{_REGISTERS}{body}\n}}\n"
    )
    return parse_module(text).functions["k"]


def _rank(flow: Flow, index: int) -> int:
    """The place of the block that starts at an instruction (after the two loads)."""
    return flow.rank[flow.block_of[index + 2]]


def test_a_cold_block_behind_its_join_comes_before_it() -> None:
    flow = flow_of(_function(
        "@%p1 bra COLD;\nBACK: add.u32 %r1, %r1, 1; ret;\nCOLD: add.u32 %r2, %r2, 1; bra BACK;"
    ))  # fmt: skip
    assert _rank(flow, 3) < _rank(flow, 1)


def test_a_loop_is_left_before_what_follows_it() -> None:
    flow = flow_of(_function(
        "LOOP: @%p1 bra OUT; add.u32 %r1, %r1, 1; @%p2 bra LOOP; bra REST;\n"
        "OUT: add.u32 %r2, %r2, 1; REST: ret;"
    ))  # fmt: skip
    inside = max(flow.rank[flow.block_of[2]], _rank(flow, 1))
    assert inside < _rank(flow, 4) < _rank(flow, 5)
    assert len(flow.back_edges) == 1
    assert not flow.spins


def test_a_loop_that_waits_for_a_flag() -> None:
    flow = flow_of(_function(
        "WAIT: ld.acquire.gpu.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 bra WAIT; ret;"
    ))  # fmt: skip
    (spin,) = flow.spins.values()
    assert spin.watched.form.name == "ld"
    assert spin.stateless


def test_a_waiting_loop_with_a_counter_keeps_state() -> None:
    flow = flow_of(_function(
        "WAIT: atom.global.cas.b32 %r1, [%rd1], 0, 1; add.u32 %r2, %r2, 1;\n"
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra WAIT; ret;"
    ))  # fmt: skip
    (spin,) = flow.spins.values()
    assert not spin.stateless


def test_a_loop_that_begins_by_waiting_shares_its_header_with_the_wait() -> None:
    flow = flow_of(_function(
        "LOOP: ld.acquire.gpu.global.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, %r2;\n"
        "@%p1 bra LOOP;\n"
        "add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra LOOP; ret;"
    ))  # fmt: skip
    (edge,) = flow.spins
    assert len(flow.back_edges) == 2
    assert edge == min(flow.back_edges)
    assert flow.spins[edge].stateless


def test_a_loop_over_atomics_does_not_wait() -> None:
    flow = flow_of(_function(
        "LOOP: atom.global.add.u32 %r1, [%rd1], 1; add.u32 %r2, %r2, 1;\n"
        "setp.lt.u32 %p1, %r2, 9; @%p1 bra LOOP; ret;"
    ))  # fmt: skip
    assert not flow.spins


def test_parameters_that_are_written() -> None:
    reads = "ld.global.u32 %r1, [%rd1]; "
    assert written_parameters(_function(reads + "st.global.u32 [%rd2], %r1; ret;")) == {"b"}
    moved = "cvta.to.global.u64 %rd3, %rd1; add.s64 %rd4, %rd3, 8; "
    assert written_parameters(_function(moved + "red.global.add.u32 [%rd4], 1; ret;")) == {"a"}
    indexed = reads + "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; "
    assert written_parameters(_function(indexed + "st.global.u32 [%rd4], 1; ret;")) == {"b"}
    loaded = "ld.global.u64 %rd3, [%rd1]; st.global.u32 [%rd3], 1; ret;"
    assert written_parameters(_function(loaded)) is None
