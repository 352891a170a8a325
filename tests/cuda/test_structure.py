"""Functions, arrays, vectors, shared memory, groups and inline text: values of small kernels."""

from __future__ import annotations

import re

import numpy as np
import pytest

from cuda.machine import built, emitted, run
from prismc.backend.cuda.helpers import HELPER_NAMES, helpers_for
from prismc.hardware.symbols import is_taken_symbol
from prismc.hardware.targets import TARGETS

LAUNCH = "threads=32 min_blocks=0 cluster=1 cooperative=false"
T = np.arange(32, dtype=np.int32)


def kernel(body: str, shared: int = 0, before: str = "", name: str = "k") -> str:
    """A kernel over `%Y`, an int for each thread; `%t` is the thread."""
    return f"""{before}
kernel @{name}(%Y: ptr<i32, global>) {LAUNCH} shared={shared} alignment=16 {{
  %t: i32 = thread.index
  {body}
  return []
}}
"""


def results(text: str, target: str = "sm_80") -> list[int]:
    (output,) = run(built(text, target), [np.zeros(32, np.int32)])
    assert output is not None
    return list(map(int, output))


# --------------------------------------------------------------------------- functions


def test_several_results_go_through_references() -> None:
    device = """
function @divide(%a: i32, %b: i32) -> (i32, i32) {
  %q: i32 = div %a, %b
  %r: i32 = rem %a, %b
  return [%q, %r]
}
"""
    body = """%seven: i32 = const value=7
  %quotient: i32, %rest: i32 = call [%t, %seven] callee="divide"
  %ten: i32 = const value=10
  %tens: i32 = mul %quotient, %ten
  %both: i32 = add %tens, %rest
  store %Y, %t, %both"""
    assert results(kernel(body, before=device)) == [t // 7 * 10 + t % 7 for t in T]


def test_a_result_may_be_what_an_argument_was() -> None:
    """The callee reads its own copies, so a variable can be argument and result at once."""
    device = """
function @swap(%a: i32, %b: i32) -> (i32, i32) {
  return [%b, %a]
}
"""
    body = """%two: i32 = const value=2
  %x: i32 = mul %t, %two
  %y: i32 = add %t, %two
  %x_1: i32, %y_1: i32 = call [%x, %y] callee="swap"
  %ten: i32 = const value=100
  %hundreds: i32 = mul %x_1, %ten
  %both: i32 = add %hundreds, %y_1
  store %Y, %t, %both"""
    assert results(kernel(body, before=device)) == [(t + 2) * 100 + 2 * t for t in T]


def test_names_of_device_functions_yield_to_cuda() -> None:
    device = """
function @exp(%register: i32) -> (i32) {
  %exp: i32 = add %register, %register
  return [%exp]
}
"""
    body = """%smem: i32 = call [%t] callee="exp"
  store %Y, %t, %smem"""
    text = kernel(body, before=device)
    assert results(text) == [2 * t for t in T]
    assert " exp(" not in emitted(text).text


def test_names_of_kernels_are_kept() -> None:
    binary = built(kernel("store %Y, %t, %t", name="sine"))
    assert ".entry sine(" in binary.ptx


def test_helpers_have_the_same_names_on_all_targets() -> None:
    assert {frozenset(helpers_for(target)) for target in TARGETS.values()} == {HELPER_NAMES}


def test_descriptors_leave_the_block_out_of_addresses_in_clusters() -> None:
    """An address of shared memory tells the block of a cluster above its 18 bits."""
    alone, among = (
        helpers_for(TARGETS["sm_90a"], has_clusters=has_clusters)["matrix_at"].text
        for has_clusters in (False, True)
    )
    assert "(address >> 4) + (offset >> 4)" in alone
    assert "(address >> 4 & 0x3fffu) + (offset >> 4)" in among


@pytest.mark.parametrize("name", [*sorted(HELPER_NAMES), "f32x4", "u8x16"])
def test_no_kernel_has_the_name_of_a_helper(name: str) -> None:
    assert is_taken_symbol(name)


# --------------------------------------------------------------------------- arrays


def test_arrays_of_arrays_by_reference() -> None:
    device = """
function @bump(%row: array<i32, 3>, %by: i32) -> () {
  %one: i32 = const value=1
  %old: i32 = array.load %row, [%one]
  %new: i32 = add %old, %by
  array.store %row, [%one], %new
  return []
}
"""
    body = """%zero: i32 = const value=0
  %one: i32 = const value=1
  %two: i32 = const value=2
  %table: array<i32, 2x3> = array.alloc
  array.fill %table, %t
  %copy: array<i32, 2x3> = array.alloc
  array.copy %copy, %table
  %row: array<i32, 3> = array.sub %table, [%one]
  call [%row, %two] callee="bump"
  call [%row, %t] callee="bump"
  %a: i32 = array.load %table, [%one, %one]
  %b: i32 = array.load %copy, [%one, %one]
  %c: i32 = array.load %table, [%zero, %one]
  %thousand: i32 = const value=1000
  %ab: i32 = mul %a, %thousand
  %sum: i32 = add %ab, %b
  %all: i32 = add %sum, %c
  store %Y, %t, %all"""
    text = kernel(body, before=device.replace(" -> ()", ""))
    assert results(text) == [(2 * t + 2) * 1000 + 2 * t for t in T]


def test_a_load_does_not_move_over_a_store() -> None:
    body = """%zero: i32 = const value=0
  %one: i32 = const value=1
  %a: array<i32, 2> = array.alloc
  array.fill %a, %t
  %0: i32 = array.load %a, [%zero]
  array.store %a, [%zero], %one
  %1: i32 = add %0, %one
  store %Y, %t, %1
  %2: i32 = load %Y, %t
  %3: i32 = array.load %a, [%zero]
  store %Y, %t, %3
  %4: i32 = mul %2, %one
  %5: i32 = load %Y, %t
  %6: i32 = add %4, %5
  store %Y, %t, %6"""
    assert results(kernel(body)) == [t + 1 + 1 for t in T]


def test_a_load_inside_a_choice_does_not_move_either() -> None:
    """`c ? p[i] : 0` read before a store and used after it stays before it."""
    body = """%zero: i32 = const value=0
  %nine: i32 = const value=9
  store %Y, %t, %t
  %0: bool = gt %t, %nine
  %1: i32 = if %0 then {
    %2: i32 = load %Y, %t
    yield [%2]
  } otherwise {
    yield [%zero]
  }
  store %Y, %t, %nine
  %3: i32 = load %Y, %t
  %4: i32 = add %1, %3
  store %Y, %t, %4"""
    assert results(kernel(body)) == [(t if t > 9 else 0) + 9 for t in T]


# --------------------------------------------------------------------------- vectors


def test_vectors_move_in_one_access_and_change_lane_by_lane() -> None:
    body = """%two: i32 = const value=2
  %first: i32 = mul %t, %two
  %0: vec<i32, 2> = load %X, %first
  %1: i32 = extract %0 lane=0
  %2: vec<i32, 2> = insert %0, %t lane=0
  %3: vec<i32, 2> = insert %2, %1 lane=1
  store %X, %first, %3
  %4: i32 = extract %0 lane=1
  %5: vec<i32, 2> = vector [%4, %1]
  %6: i64 = bitcast %5
  %7: i32 = const value=32
  %8: i64 = shr %6, %7
  %9: i32 = convert %8
  %10: i32 = add %9, %4
  store %Y, %t, %10"""
    text = kernel(body).replace("@k(", "@k(%X: ptr<i32, global>, ")
    binary = built(text)
    assert "ld.global.v2" in binary.ptx
    assert "st.global.v2" in binary.ptx
    given = np.arange(100, 164, dtype=np.int32)
    changed, output = run(binary, [given, np.zeros(32, np.int32)])
    assert changed is not None
    assert output is not None
    assert changed.tolist() == [n for t in range(32) for n in (t, 100 + 2 * t)]
    assert output.tolist() == [2 * (100 + 2 * t) + 1 for t in range(32)]


def test_long_vectors() -> None:
    body = """%eight: i32 = const value=8
  %first: i32 = mul %t, %eight
  %0: vec<u16, 8> = load %X, %first
  %1: u16 = extract %0 lane=7
  %2: u16 = extract %0 lane=0
  %3: vec<u16, 8> = vector [%1, %1, %1, %1, %1, %1, %1, %2]
  store %X, %first, %3
  %4: i32 = convert %1
  store %Y, %t, %4"""
    binary = built(kernel(body).replace("@k(", "@k(%X: ptr<u16, global>, "))
    given = np.arange(256, dtype=np.uint16)
    changed, output = run(binary, [given, np.zeros(32, np.int32)])
    assert changed is not None
    assert output is not None
    assert output.tolist() == [8 * t + 7 for t in range(32)]
    assert changed.reshape(32, 8)[:, 7].tolist() == [8 * t for t in range(32)]


@pytest.mark.parametrize(("name", "lanes"), [("i8", 4), ("u8", 16), ("i16", 8), ("i8", 8)])
def test_lanes_that_are_narrower_than_words(name: str, lanes: int) -> None:
    """Each lane keeps its sign, is read after its neighbour was replaced, and weighs differently in
    the sum."""
    body = [f"%n: i32 = const value={lanes}", "%first: i32 = mul %t, %n"]
    body += [f"%v: vec<{name}, {lanes}> = load %X, %first", f"%e: {name} = extract %v lane=1"]
    body += [f"%w: vec<{name}, {lanes}> = insert %v, %e lane=2", "store %X, %first, %w"]
    body += ["%sum0: i32 = const value=0"]
    for lane in range(lanes):
        body += [
            f"%l{lane}: {name} = extract %w lane={lane}",
            f"%c{lane}: i32 = convert %l{lane}",
            f"%f{lane}: i32 = const value={lane + 1}",
            f"%p{lane}: i32 = mul %c{lane}, %f{lane}",
            f"%sum{lane + 1}: i32 = add %sum{lane}, %p{lane}",
        ]
    body += [f"store %Y, %t, %sum{lanes}"]
    text = kernel("\n  ".join(body)).replace("@k(", f"@k(%X: ptr<{name}, global>, ")
    given = np.arange(32 * lanes).astype({"i8": np.int8, "u8": np.uint8, "i16": np.int16}[name])
    given = (given * 37).astype(given.dtype)
    changed, output = run(built(text), [given, np.zeros(32, np.int32)])
    assert changed is not None
    assert output is not None
    expected = given.reshape(32, lanes).copy()
    expected[:, 2] = expected[:, 1]
    assert (changed.reshape(32, lanes) == expected).all()
    assert output.tolist() == (expected.astype(np.int32) @ np.arange(1, lanes + 1)).tolist()


# --------------------------------------------------------------------------- shared memory, groups

EXCHANGE = """%base: ptr<u8, shared> = shared.memory
  %cells: ptr<i32, shared> = shared.view %base, none bytes={start}
  store %cells, %t, %t
  sync.block number=0
  %last: i32 = const value=31
  %other: i32 = sub %last, %t
  %value: i32 = load %cells, %other
  %address: u32 = address.shared %cells, %t
  %four: u32 = const value=4
  %rest: u32 = rem %address, %four
  %aligned: i32 = convert %rest
  %sum: i32 = add %value, %aligned
  store %Y, %t, %sum"""


def test_static_shared_memory() -> None:
    binary = built(kernel(EXCHANGE.format(start=128), shared=256))
    (report,) = binary.reports
    assert (report.shared_bytes, report.barriers.full) == (256, 1)
    assert results(kernel(EXCHANGE.format(start=128), shared=256)) == [31 - t for t in T]


def test_shared_memory_above_48_kib_is_dynamic() -> None:
    text = kernel(EXCHANGE.format(start=60_000), shared=60_128)
    module = emitted(text)
    assert [entry.dynamic_shared for entry in module.kernels] == [60_128]
    assert "// A launch gives 60128 bytes of dynamic shared memory." in module.text
    assert "extern __shared__" in module.text
    (report,) = built(text).reports
    assert report.shared_bytes == 60_128


def test_a_broadcast_reaches_its_group_only() -> None:
    for lanes in (2, 8, 32):
        body = f"%v: i32 = broadcast %t lanes={lanes}\n  store %Y, %t, %v"
        assert results(kernel(body)) == [t // lanes * lanes for t in T]


def test_barriers_of_parts_of_warps_and_blocks() -> None:
    body = """%one: i32 = const value=1
  %half: i32 = const value=16
  %first: bool = lt %t, %half
  if %first then {
    sync.warp number=0 lanes=16
    yield []
  } otherwise {
    sync.warp number=1 lanes=8
    sync.warp number=2 lanes=8
    yield []
  }
  sync.warp number=3 lanes=32
  sync.named %one number=4 threads=32
  store %Y, %t, %t"""
    binary = built(kernel(body))
    barriers = binary.reports[0].barriers
    assert (barriers.warp, barriers.named, barriers.full) == (4, 1, 0)
    assert results(kernel(body)) == T.tolist()


# --------------------------------------------------------------------------- inline text


def test_asm_with_updates_of_kept_values() -> None:
    """An updated operand that is needed afterwards is copied first; 8 bits go through 16."""
    body = """%one: i32 = const value=1
  %x: i32 = add %t, %one
  %small: u8 = convert %t
  %sum: i32, %y: i32 = asm [%x], [%t] pieces=("add.s32 ", 0, ", ", 1, ", 5; add.s32 ", 1, \
", ", 1, ", ", 2, ";") touches_memory=false
  %twice: u8 = asm [], [%small] pieces=("add.u16 ", 0, ", ", 1, ", ", 1, ";") touches_memory=false
  %wide: i32 = convert %twice
  %0: i32 = mul %x, %y
  %1: i32 = add %0, %sum
  %2: i32 = add %1, %wide
  store %Y, %t, %2"""
    assert results(kernel(body)) == [(t + 1) * (2 * t + 1) + (t + 6) + 2 * t for t in T]


def test_asm_writes_array_elements_directly() -> None:
    body = """%zero: i32 = const value=0
  %one: i32 = const value=1
  %a: array<i32, 2> = array.alloc
  array.fill %a, %t
  %0: i32 = array.load %a, [%zero]
  %1: i32 = array.load %a, [%one]
  %2: i32, %3: i32 = asm [%0, %1], [] pieces=("add.s32 ", 0, ", ", 0, ", 1; sub.s32 ", 1, ", ", \
1, ", 1;") touches_memory=false
  array.store %a, [%zero], %2
  array.store %a, [%one], %3
  %4: i32 = array.load %a, [%zero]
  %5: i32 = array.load %a, [%one]
  %6: i32 = mul %4, %5
  store %Y, %t, %6"""
    text = kernel(body)
    assert '"+&r"(a[0]), "+&r"(a[1])' in emitted(text).text
    assert results(text) == [(t + 1) * (t - 1) for t in T]


def test_asm_that_crosses_its_elements_does_not() -> None:
    """Results stored elsewhere than where the updates came from need variables."""
    body = """%zero: i32 = const value=0
  %one: i32 = const value=1
  %a: array<i32, 2> = array.alloc
  array.store %a, [%zero], %t
  array.store %a, [%one], %one
  %0: i32 = array.load %a, [%zero]
  %1: i32 = array.load %a, [%one]
  %2: i32, %3: i32 = asm [%0, %1], [] pieces=("add.s32 ", 0, ", ", 0, ", 10; add.s32 ", 1, ", ", \
1, ", 20;") touches_memory=false
  array.store %a, [%one], %2
  array.store %a, [%zero], %3
  %4: i32 = array.load %a, [%zero]
  %5: i32 = array.load %a, [%one]
  %6: i32 = const value=100
  %7: i32 = mul %4, %6
  %8: i32 = add %7, %5
  store %Y, %t, %8"""
    assert results(kernel(body)) == [21 * 100 + t + 10 for t in T]


def test_asm_text_keeps_its_characters() -> None:
    body = r"""%lane: u32 = asm [], [] pieces=("{ // \"50%\" \\n\n\tmov.u32 ", 0, ", %laneid; }") \
touches_memory=true
  cuda text="static_assert(sizeof(f16) == 2, \"carried in 16 bits\");"
  %0: i32 = convert %lane
  store %Y, %t, %0"""
    assert results(kernel(body.replace("\\\n", ""))) == T.tolist()


# --------------------------------------------------------------------------- loops


def test_pragma_unroll_survives_line_directives() -> None:
    text = kernel("""%zero: i32 = const value=0
  %n: i32 = const value=6
  %one: i32 = const value=1
  %sum: i32 = for !"a.prism" 40 41 %zero, %n, %one, [%zero] downward=false unroll=true \
body (%i: i32, %sum_1: i32) {
    %0: i32 = asm [], [%i] pieces=("add.s32 ", 0, ", ", 1, ", 1;") touches_memory=false
    %sum_2: i32 = add %sum_1, %0
    yield [%sum_2]
  }
  store %Y, %t, %sum""")
    binary = built(text)
    assert len(re.findall(r"begin inline asm", binary.ptx)) == 6
    assert results(text) == [21] * 32


def test_downward_loops_and_swaps() -> None:
    body = """%zero: i32 = const value=0
  %five: i32 = const value=5
  %minus: i32 = const value=-2
  %x: i32, %y: i32 = for %five, %zero, %minus, [%t, %five] downward=true unroll=false \
body (%i: i32, %x_1: i32, %y_1: i32) {
    %0: i32 = add %x_1, %i
    yield [%y_1, %0]
  }
  %hundred: i32 = const value=100
  %1: i32 = mul %x, %hundred
  %2: i32 = add %1, %y
  store %Y, %t, %2"""

    def expected(t: int) -> int:
        x, y = t, 5
        for i in (5, 3, 1):
            x, y = y, x + i
        return x * 100 + y

    assert results(kernel(body)) == [expected(int(t)) for t in T]


def test_one_condition_and_one_fence_initialise_all_mbarriers() -> None:
    """Copies by the async proxy come to some of them; a fence behind the last shows all."""

    def init(index: int, copies: int, is_async: str) -> str:
        return f"""%i{index}: i32 = const value={index}
  mbarrier.init %m, %i{index} copies={copies} arrivals=3 is_async={is_async} number={index}"""

    def lines(*inits: str) -> list[str]:
        start = """%bytes: ptr<u8, shared> = shared.memory
  %m: ptr<u64, shared> = shared.view %bytes, none bytes=0"""
        module = emitted(kernel("\n  ".join((start, *inits)), shared=64), "sm_90")
        body = module.text[module.text.rindex(" k(") :]
        return [one.strip() for one in body.splitlines() if "mbarrier" in one or "if (" in one]

    assert lines(init(0, 1, "true"), init(1, 4, "false")) == [
        "if (threadIdx.x == 0) {",
        "mbarrier_init(&m[0], 3);",
        "for (int i = 0; i < 4; ++i) mbarrier_init(&m[1] + i, 3);",
        'asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");',
    ]
    assert lines(init(0, 1, "false")) == ["if (threadIdx.x == 0) mbarrier_init(&m[0], 3);"]
