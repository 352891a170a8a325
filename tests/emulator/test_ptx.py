"""PTX text to records: what is kept, and where malformed text is refused."""

from __future__ import annotations

import pytest

from prismc.emulator.ptx.parser import parse_module
from prismc.emulator.ptx.tree import (
    Address,
    Guard,
    Immediate,
    Module,
    Negated,
    Pair,
    PtxError,
    Register,
    Special,
    Symbol,
    Vector,
)

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def _kernel(body: str) -> Module:
    return parse_module(f"{HEAD}.visible .entry k(.param .u64 p)\n{{\n{body}\n}}\n", "k.ptx")


def test_module_variables_and_their_images() -> None:
    module = parse_module(
        HEAD
        + ".const .align 4 .f32 table[3] = {0f3F800000, 2.0, -1.5};\n"
        + ".global .align 8 .u64 where[2] = {table, table+8};\n"
        + ".global .align 1 .b8 text[4] = {104, 105, 10};\n"
        + ".global .align 4 .u32 matrix[2][2] = {{1, 2}, {3, -1}};\n"
        + ".extern .shared .align 16 .b8 dynamic[];\n"
    )
    found = {variable.name: variable for variable in module.variables}
    assert found["table"].image == bytes.fromhex("0000803f000000400000c0bf")
    assert found["where"].pointers == ((0, Symbol("table")), (8, Symbol("table", 8)))
    assert found["text"].image == b"hi\n\0"
    assert found["matrix"].image == bytes.fromhex("010000000200000003000000ffffffff")
    assert found["dynamic"].is_extern
    assert found["dynamic"].size == 0


def test_operands() -> None:
    module = _kernel(
        ".reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .f32 %f<2>;\n"
        "mov.u32 %r1, %tid.x;\n"
        "@!%p1 ld.global.v2.u32 {%r1, _}, [%rd1+-8];\n"
        "setp.lt.and.s32 %p1|%p2, %r1, -3, !%p2;\n"
        "mov.f32 %f1, 0fBF800000;\n"
        "mov.u32 %r2, 0xFFu;\n".replace("0xFFu", "0xFFU")
    )
    mov, load, compare, literal, hexadecimal = module.functions["k"].body or ()
    assert mov.operands == (Register(0), Special("tid.x"))
    assert load.guard == Guard(1, negated=True)
    assert load.operands == (Vector((Register(0), None)), Address(Register(2), -8))
    assert compare.operands == (
        Pair(Register(1), Register(3)), Register(0), Immediate(-3, "int"), Negated(Register(3)),
    )  # fmt: skip
    assert literal.operands[1] == Immediate(0xBF800000, "f32")
    assert hexadecimal.operands[1] == Immediate(255, "int")


def test_inner_blocks_have_names_of_their_own() -> None:
    module = _kernel(
        ".reg .b32 %r<2>;\n"
        "{ .reg .b32 %r<2>; AGAIN: mov.u32 %r1, 1; bra AGAIN; }\n"
        "{ AGAIN: mov.u32 %r1, 2; bra AGAIN; }\n"
        "bra END;\nEND: ret;\n"
    )
    function = module.functions["k"]
    body = function.body or ()
    assert body[0].operands[0] != body[2].operands[0]
    assert function.labels == (0, 2, 5)


def test_places_and_the_calls_they_were_inlined_into() -> None:
    module = _kernel(
        ".loc 1 10 3\nret;\n.loc 1 4 7, function_name $L__info, inlined_at 1 10 3\nret;\n"
        ".loc 1 0 0\nret;\n"
    )
    first, second, third = (i.location for i in module.functions["k"].body or ())
    assert first is not None
    assert second is not None
    assert (second.line, second.column, second.inlined_at) == (4, 7, first)
    assert third == second


def test_functions_prototypes_and_tables() -> None:
    module = parse_module(
        HEAD
        + ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
        + ".func (.param .b32 out) f(.param .b32 in)\n{ ret; }\n"
        + ".visible .entry k() .maxntid 256, 1, 1 .minnctapersm 2\n{\n"
        + ".reg .b32 %r<2>;\nTABLE: .branchtargets A, B;\n"
        + "{ .param .b32 x; .param .b32 y; P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        + "call (y), f, (x); }\nbrx.idx %r1, TABLE;\nA: ret;\nB: ret;\n}\n"
    )
    assert module.kernels() == ("k",)
    assert module.functions["vprintf"].body is None
    assert module.functions["f"].results[0].size == 4
    kernel = module.functions["k"]
    assert kernel.limits == {"maxntid": (256, 1, 1), "minnctapersm": (2,)}
    assert [kernel.labels[label] for label in kernel.tables[0]] == [2, 3]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("\n\nhello", 3, "not PTX"),
        (".version 6.0\n", 1, "not supported"),
        (HEAD.replace("64", "32"), 3, "address_size"),
        (HEAD + ".global .u32 x[2] = {1, ;", 4, "expected a value"),
        (HEAD + ".global .u99 x;", 4, "unknown attribute"),
        (HEAD + ".entry k()\n{ mov.u32 %r1, 1; }", 5, "unknown register"),
        (HEAD + ".entry k()\n{ .reg .b32 %r<2>;\n mov.u32 %r1 1; }", 6, "expected `;`"),
        (HEAD + ".entry k()\n{ .reg .b32 %r<2>;\n mov.u32 %r9, 1; }", 6, "unknown register"),
        (HEAD + ".entry k()\n{ @%q bra X; }", 5, "no predicate"),
        (HEAD + ".entry k()\n{ bra X; }", 5, "no label"),
        (HEAD + ".entry k()\n{ X: X: ret; }", 5, "stands twice"),
        (HEAD + ".entry k()\n{ ret; } }", 5, "expected a directive"),
        (HEAD + ".entry k()\n{ { ret; }", 5, "found `the end`"),
        (HEAD + ".entry k()\n{ .frob x; }", 5, "unknown directive"),
        (HEAD + ".entry k()\n{ \x01 }", 5, "unexpected character"),
        (HEAD + ".entry k() { ret; }\n.entry k() { ret; }", 5, "defined twice"),
    ],
)
def test_malformed_text_is_refused_at_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(PtxError, match=message) as caught:
        parse_module(text, "bad.ptx")
    assert caught.value.line == line
    assert str(caught.value).startswith(f"bad.ptx:{line}: ")


def test_malformed_numbers() -> None:
    with pytest.raises(PtxError, match="malformed number `09`"):
        _kernel(".reg .b32 %r<2>; mov.u32 %r1, 09;")
