"""`asm` and `cuda`: where they may stand, and what the operands become."""

from __future__ import annotations

import pytest

from prismc.checker.types import typed
from prismc.checker.types.show import show
from support.elaborating import Elaborated, assert_marked, elaborate

PROGRAMS = {
    "only in unsafe": """
@requires(thread[1])
def f(p: ptr(f32), n: u32) -> u32:
    r: u32
    asm("brev.b32 $0, $1;", outs(r), ins(n))  #! P0357
    cuda("x();")  #! P0357
    a: u64 = address(p, 0)  #! P0357
    assume(n > 0)  #! P0357
    unsafe:
        asm("brev.b32 $0, $1;", outs(r), ins(n))
        cuda("x();")
    return r
""",
    "operands": """
@requires(thread[1])
@effects()
unsafe def f[N: int](p: ptr(f32), n: u32, v: vec(f32, 4), c: const u32[2]) -> u32:
    r: u32
    asm("a $0 $1;", outs(r), ins(n))
    asm("a $2;", outs(r), ins(n))  #! P0358
    asm("a $0;", ins(p))  #! P0358
    asm("a $0;", ins(v))  #! P0358
    asm("a $0;", outs(c))  #! P0336
    asm("a $0;", outs(n + 1))  #! P0337
    asm("a $0;", n)  #! P0358
    asm(n)  #! P0358
    asm("a $M;")  #! P0358
    asm("a $N $$;", ins(n))
    cuda(1)  #! P0358
    cuda("a", n)  #! P0358
    return r
""",
    "operand lists stand alone nowhere": """
@requires(thread[1])
@effects()
unsafe def f(n: u32):
    outs(n)  #! P0348
    a: u32 = ins(n)  #! P0348
""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_program(text: str) -> None:
    assert_marked(text)


def _asm(done: Elaborated, symbol: str) -> typed.Asm:
    assert done.problems == ()
    (statement,) = (s for s in done.program.bodies[symbol].statements if isinstance(s, typed.Asm))
    return statement


def test_arrays_stand_for_their_elements() -> None:
    text = """
@requires(thread[32])
@effects()
unsafe def f(d: f32[4] @ thread[1], a: const u32[4] @ thread[1], b: const u32[2] @ thread[1]):
    asm("mma {$0}, {$1}, {$2}, {$0};", inouts(d), ins(a, b))
"""
    asm = _asm(elaborate(text), "f")
    assert asm.pieces == (
        "mma {", 0, ", ", 1, ", ", 2, ", ", 3, "}, {", 4, ", ", 5, ", ", 6, ", ", 7,
        "}, {", 8, ", ", 9, "}, {", 0, ", ", 1, ", ", 2, ", ", 3, "};",
    )  # fmt: skip
    assert (len(asm.outputs), len(asm.updates), len(asm.inputs)) == (0, 4, 6)
    assert all(isinstance(place, typed.ElementPlace) for place in asm.updates)


def test_nested_arrays_and_lists_in_any_order() -> None:
    text = """
@requires(thread[1])
@effects()
unsafe def f(d: u32[2][2], n: u32):
    r: u32
    asm("$0 $1 $2", ins(d[1]), outs(r), inouts(n))
"""
    asm = _asm(elaborate(text), "f")
    assert asm.pieces == ("", 0, " ", 1, " ", 2, ", ", 3, "")
    assert (len(asm.outputs), len(asm.updates), len(asm.inputs)) == (1, 1, 2)


def test_generic_constants_stand_in_the_text() -> None:
    text = """
@requires(thread[1])
@effects()
unsafe def f[N: int, Flag: bool](n: u32):
    asm("a $N, $Flag, $$N;", ins(n))

@requires(thread[1])
def g():
    f[16, true](1)
"""
    assert _asm(elaborate(text), "f_16_true").pieces == ("a 16, 1, $N;",)


@pytest.mark.parametrize(
    ("effects", "touches"),
    [
        ("", True),
        ("@effects()\n", False),
        ("@effects(needs(sm_80), syncs(thread[32]))\n", False),
        ("@effects(reads(p))\n", True),
        ("@effects(writes(p))\n", True),
    ],
)
def test_memory(effects: str, touches: bool) -> None:
    text = f'@requires(thread[32])\n{effects}unsafe def f(p: ptr(f32)):\n    asm("a;")\n'
    assert _asm(elaborate(text), "f").touches_memory is touches


def test_addresses() -> None:
    text = """
@requires(thread[1])
@effects(reads(p))
unsafe def f(p: ptr(const f32), i: int):
    asm("$0 $1 $2;", ins(shared_address(p, i), address(p, 4), address(p)))
"""
    asm = _asm(elaborate(text), "f")
    kinds = [(a.kind, show(a.type)) for a in asm.inputs if isinstance(a, typed.Address)]
    assert kinds == [
        ("shared_address", "u32"),
        ("address", "u64"),
        ("address", "u64"),
    ]


def test_an_expression_function_may_be_an_instruction() -> None:
    text = """
@effects()
unsafe def halved(x: f32) -> f32:
    r: f32
    asm("mul.f32 $0, $1, 0f3F000000;", outs(r), ins(x))
    return r

@requires(thread[1])
def f(x: f32) -> f32:
    return halved(x) + halved(2)
"""
    done = elaborate(text)
    assert done.problems == ()
    assert done.instance("halved").kind is typed.InstanceKind.EXPRESSION
