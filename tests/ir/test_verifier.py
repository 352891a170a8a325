"""What the verifier refuses, and that its tables know every operation."""

from __future__ import annotations

import pytest

from prismc.ir.effects import EFFECTS
from prismc.ir.ops.catalog import OPS, SPELLINGS
from prismc.ir.parser import IrSyntaxError, parse_module
from prismc.ir.rules import RULES
from prismc.ir.verifier import InvalidIr, verify_module

# The body of a function with these parameters, and a part of the rule that it breaks.
PARAMETERS = (
    "%x: i32, %l: i64, %f: f32, %c: bool, %p: ptr<const f32, generic>, %q: ptr<f32, global>, "
    "%a: array<f32, 2x3>, %v: vec<f32, 4>"
)
ILLEGAL = [
    ("%y: i32 = const value=1", "ends with a terminator"),
    ("%y: i32 = const value=2147483648 return []", "fits i32"),
    ("%y: u8 = const value=-1 return []", "fits u8"),
    ("%y: f32 = const value=1 return []", "is a float"),
    ("%y: bool = const value=1 return []", "true or false"),
    ("%y: i32 = add %x, %l return []", "one type"),
    ("%y: i64 = add %x, %x return []", "results are i32"),
    ("%y: f32 = rem %f, %f return []", "no rem"),
    ("%y: bool = add %c, %c return []", "bools have only"),
    ("%y: i32 = shl %x, %f return []", "shift count"),
    ("%y: bool = lt %c, %c return []", "no order"),
    ("%y: f32 = lt %x, %x return []", "results are bool"),
    ("%y: bool = neg %c return []", "no sign"),
    ("%y: i64 = popc %l return []", "results are i32"),
    ("%y: i32 = select %x, %x, %x return []", "condition is a bool"),
    ("%y: i64 = bitcast %x return []", "as many bits"),
    ("%y: f32 = extract %v lane=4 return []", "has that lane"),
    ("%y: vec<f32, 4> = vector [%f, %f] return []", "one scalar for each lane"),
    ("%y: vec<f32, 4> = insert %v, %x lane=0 return []", "element is the lane's"),
    ("%y: f32 = load %p, %f return []", "index is i32 or i64"),
    ("%y: i32 = load %p, %x return []", "moves an element"),
    ("%y: vec<i32, 2> = load %p, %x return []", "moves an element"),
    ("store %p, %x, %f return []", "const pointer"),
    ("store %q, %x, %x return []", "moves an element"),
    ("%y: ptr<f32, generic> = pointer.cast %p return []", "take const away"),
    ("%y: ptr<f32, shared> = pointer.cast %q return []", "keeps the space"),
    ("%y: f32 = array.load %a, [%x] return []", "each dimension"),
    ("%y: array<f32, 2> = array.sub %a, [%x] return []", "results are array<f32, 3>"),
    ("array.fill %a, %x return []", "value is an element"),
    ("array.store %a, [%x, %x], %x return []", "value is an element"),
    ("%y: i32 = thread.index return []", "only a kernel"),
    ("%y: ptr<u8, shared> = shared.memory return []", "only a kernel"),
    ("%y: i32 = broadcast %x lanes=3 return []", "2, 4, 8, 16 or 32"),
    ("sync.warp number=0 lanes=64 return []", "2, 4, 8, 16 or 32"),
    ("sync.partial_warp number=0 whole=40 mask=255 return []", "whole warps"),
    ("sync.partial_warp number=0 whole=32 mask=0 return []", "lanes of a warp"),
    ("sync.partial_warp number=0 whole=0 mask=4294967296 return []", "lanes of a warp"),
    ("sync.named %x number=0 threads=48 return []", "multiple of 32"),
    ("asm [], [%c] pieces=(\"\") touches_memory=false return []", "passed as integers"),
    ("asm [], [%x] pieces=(\"a \", 1, \"\") touches_memory=false return []", "operand 1"),
    ("asm [%x], [] pieces=(\"\") touches_memory=false return []", "result for each update"),
    ("break [] return []", "terminator ends"),
    ("continue []", "a loop to leave"),
    ("yield []", "left by `return`"),
    ("return [%x]", "function's results"),
    ("call [] callee=\"f\" return []", "before its callers"),
    ("call [] callee=\"g\" return []", "callee's parameters"),
    ("call [] callee=\"k\" return []", "kernels are not called"),
    ("if %x then { yield [] } otherwise { yield [] } return []", "condition is a bool"),
    ("%y: i32 = if %c then { yield [] } otherwise { yield [%x] } return []", "what is yielded"),
    ("if %c then { %y: i32 = neg %x yield [] } otherwise { %z: i32 = neg %y yield [] } return []",
     "not defined here"),
    ("for %x, %x, %l, [] downward=false unroll=false body (%i: i32) { yield [] } return []",
     "one type"),
    ("for %x, %x, %x, [] downward=false unroll=false body { yield [] } return []",
     "counter, carried"),
    ("%r: f32 = for %x, %x, %x, [%f] downward=false unroll=false body (%i: i32, %s: f32) "
     "{ break [] } return []", "what the loop carries"),
    ("while [] condition { yield [%x] } body { yield [] } return []", "what is yielded"),
    ("while [] condition { break [] } body { yield [] } return []", "a loop to leave"),
]  # fmt: skip

AROUND = (
    "function @g(%x: i32) {{ return [] }} "
    "kernel @k() threads=32 min_blocks=0 cluster=1 cooperative=false shared=0 alignment=1 "
    "{{ return [] }} "
    "function @f({parameters}) {{ {body} }}"
)


@pytest.mark.parametrize(("body", "rule"), ILLEGAL, ids=lambda text: text[:40])
def test_illegal(body: str, rule: str) -> None:
    module = parse_module(AROUND.format(parameters=PARAMETERS, body=body))
    with pytest.raises(InvalidIr, match=rule):
        verify_module(module)


def test_legal() -> None:
    body = (
        "%y: vec<f32, 2> = load %p, %x %z: ptr<const f32, generic> = pointer.cast %q "
        'call [%x] callee="g" %s: array<f32, 3> = array.sub %a, [%l] return []'
    )
    verify_module(parse_module(AROUND.format(parameters=PARAMETERS, body=body)))


def test_functions_have_one_definition() -> None:
    with pytest.raises(InvalidIr, match="defined twice"):
        verify_module(parse_module("function @f() { return [] } function @f() { return [] }"))


def test_kernels_have_no_results() -> None:
    text = (
        "kernel @k(%x: i32) -> (i32) threads=32 min_blocks=0 cluster=1 cooperative=false "
        "shared=0 alignment=1 { return [%x] }"
    )
    with pytest.raises(InvalidIr, match="no results"):
        verify_module(parse_module(text))


def test_tables_know_every_operation() -> None:
    assert set(OPS) == set(RULES) == set(EFFECTS)
    families = sum(len(op.selector[1]) if op.selector else 1 for op in OPS)
    assert len(SPELLINGS) == families


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("function @f() {\n  jump\n}", "2: expected an operation, found 'jump'"),
        ("function @f() {\n  return [%x]\n}", "2: expected a value defined before"),
        ("function @f(%x: i32, %x: i32) { return [] }", "a new name instead of %x"),
        ("function @f(%x: int) { return [] }", "expected a type"),
        (
            "function @f() {\n  sync.warp number=0\n return [] }",
            "'lanes'",
        ),
        ("function @f() { return [] } ;", "unexpected character ';'"),
        ("function @f() { return [", "expected a value"),
    ],
)
def test_text_that_is_not_ir(text: str, message: str) -> None:
    with pytest.raises(IrSyntaxError) as raised:
        parse_module(text)
    assert message in str(raised.value)
