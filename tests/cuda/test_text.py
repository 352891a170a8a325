"""The pieces of generated text: literals, precedence, names, lines, asm."""

from __future__ import annotations

import itertools
import math
import random
import struct

import ml_dtypes
import numpy as np
import pytest

from prismc.backend.cuda import expression as cpp
from prismc.backend.cuda.copies import Copy, in_order
from prismc.backend.cuda.inline_ptx import Operand, asm_statement
from prismc.backend.cuda.literals import constant, float_bits
from prismc.backend.cuda.names import Scopes, plain_name
from prismc.backend.cuda.writer import Writer
from prismc.hardware.scalars import (
    BF16,
    BOOL,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    F64,
    I8,
    I32,
    I64,
    TF32,
    U8,
    U32,
    U64,
)  # fmt: skip
from prismc.ir.types import INT
from prismc.source.files import Files
from prismc.source.span import Span

# --------------------------------------------------------------------------- literals


@pytest.mark.parametrize(
    ("scalar", "value", "text"),
    [
        (BOOL, True, "true"),
        (I32, -5, "-5"),
        (I32, -(1 << 31), "-2147483647 - 1"),
        (I64, -(1 << 63), "-9223372036854775807ll - 1"),
        (I64, 1 << 40, "1099511627776ll"),
        (U32, (1 << 32) - 1, "4294967295u"),
        (U64, 1, "1ull"),
        (I8, -128, "(signed char)-128"),
        (U8, 200, "(unsigned char)200"),
        (F32, 1.0, "1.0f"),
        (F32, 0.10000000149011612, "0.1f"),
        (F32, 1e30, "1e+30f"),
        (F32, -0.0, "-0.0f"),
        (F32, math.inf, "__int_as_float(0x7f800000)"),
        (F64, 0.1, "0.1"),
        (F64, -math.inf, "__longlong_as_double(0xfff0000000000000ll)"),
        (F16, 1.0, "(f16)0x3c00"),
        (BF16, -2.0, "(bf16)0xc000"),
        (F8E4M3, 448.0, "(f8e4m3)0x7e"),
    ],
)
def test_literals(scalar: object, value: float, text: str) -> None:
    assert constant(scalar, value).text == text


def test_f32_literals_read_back_exactly() -> None:
    source = random.Random(1)
    for _ in range(3000):
        bits = source.getrandbits(32)
        value = struct.unpack("<f", struct.pack("<I", bits))[0]
        if math.isfinite(value):
            text = constant(F32, value).text.removesuffix("f")
            assert np.float32(text).view(np.uint32) == bits
            assert "." in text or "e" in text


@pytest.mark.parametrize(
    ("scalar", "dtype"),
    [(F16, np.float16), (BF16, ml_dtypes.bfloat16), (F8E5M2, ml_dtypes.float8_e5m2)],
)
def test_bits_of_narrow_floats(scalar: object, dtype: type) -> None:
    source = random.Random(2)
    values = [source.uniform(-2, 2) * 2.0 ** source.randint(-30, 12) for _ in range(3000)]
    unsigned = np.uint16 if np.dtype(dtype).itemsize == 2 else np.uint8
    for value in [*values, 0.0, -0.0]:
        single = float(np.float32(value))
        assert float_bits(scalar, single) == int(np.array(single).astype(dtype).view(unsigned))


def test_bits_of_f8e4m3_saturate() -> None:
    for bits in range(256):
        value = float(np.uint8(bits).view(ml_dtypes.float8_e4m3fn))
        expected = 0x7F if math.isnan(value) else bits
        assert float_bits(F8E4M3, value) == expected
    assert float_bits(F8E4M3, 1e6) == 0x7E
    assert float_bits(F8E4M3, -math.inf) == 0xFE
    assert float_bits(F8E5M2, 1e9) == 0x7B


def test_bits_of_tf32_round_ties_away() -> None:
    tie = struct.unpack("<f", struct.pack("<I", 0x3F801000))[0]
    assert float_bits(TF32, tie) == 0x3F802000
    assert float_bits(TF32, -tie) == 0xBF802000
    assert float_bits(TF32, math.inf) == 0x7F800000


# --------------------------------------------------------------------------- precedence

A, B, C = (cpp.name(name) for name in "abc")


def test_parentheses_where_they_matter() -> None:
    total = cpp.binary(A, "+", B)
    assert cpp.binary(total, "*", C).text == "(a + b) * c"
    assert cpp.binary(A, "-", cpp.binary(B, "-", C)).text == "a - (b - c)"
    assert cpp.binary(cpp.binary(A, "-", B), "-", C).text == "a - b - c"
    assert cpp.binary(total, "<", C).text == "a + b < c"
    assert cpp.binary(cpp.binary(A, "||", B), "&&", C).text == "(a || b) && c"
    assert cpp.binary(total, "<<", C).text == "(a + b) << c"
    assert cpp.binary(cpp.binary(A, "<", B), "&", C).text == "(a < b) & c"
    assert cpp.prefix("-", total).text == "-(a + b)"
    assert cpp.prefix("-", cpp.literal("-1")).text == "- -1"
    assert cpp.prefix("*", cpp.cast("int *", cpp.prefix("&", cpp.index(A, B)))).text == (
        "*(int *)&a[b]"
    )
    chosen = cpp.conditional(A, B, C)
    assert cpp.binary(chosen, "+", A).text == "(a ? b : c) + a"
    assert cpp.conditional(chosen, chosen, chosen).text == "(a ? b : c) ? (a ? b : c) : a ? b : c"
    assert cpp.member(total, "x").text == "(a + b).x"


def test_python_agrees_with_the_parentheses() -> None:
    """Random trees over operators whose precedence C++ and Python share."""
    source = random.Random(3)
    names = {"a": 5, "b": 3, "c": 11}

    def tree(depth: int) -> tuple[cpp.Expression, int]:
        if depth == 0:
            name = source.choice("abc")
            return cpp.name(name), names[name]
        left, left_value = tree(source.randrange(depth))
        if source.random() < 0.2:
            return cpp.prefix("-", left), -left_value
        right, right_value = tree(source.randrange(depth))
        sign = source.choice(["+", "-", "*", "&", "|", "^"])
        value = eval(f"({left_value}) {sign} ({right_value})")
        return cpp.binary(left, sign, right), value

    for _ in range(500):
        expression, value = tree(6)
        assert eval(expression.text, {}, names) == value, expression.text


def test_conversions_that_cpp_supplies_are_left_out() -> None:
    wide = cpp.supplied(cpp.cast("long long", A), A, widens=True)
    assert cpp.binary(wide, "*", wide).text == "(long long)a * a"
    assert cpp.binary(cpp.name("w"), "+", wide).text == "w + a"
    assert cpp.binary(wide, "<<", wide).text == "(long long)a << (long long)a"
    assert cpp.index(B, wide).text == "b[a]"
    assert cpp.prefix("-", wide).text == "-(long long)a"


# --------------------------------------------------------------------------- names and copies


def test_names() -> None:
    hints = ("x", "register", "threadIdx", "a.b", "", "x__y", "_X")
    assert [*map(plain_name, hints)] == ["x", "register_", "threadIdx_", "a_b", "v", "x_y", "v_X"]
    scopes = Scopes(frozenset({"f"}))
    assert [scopes.new("f"), scopes.new("i"), scopes.new("i")] == ["f_1", "i", "i_1"]
    scopes.open()
    assert [scopes.new("i"), scopes.new("j")] == ["i_2", "j"]
    scopes.close()
    assert scopes.new("j") == "j"


def test_copies_happen_together() -> None:
    """Every map of four variables to variables, done in order, gives what it gives at once."""
    variables = "abcd"
    for sources in itertools.product(variables, repeat=4):
        copies = [
            Copy(target, INT, cpp.name(source, mutable=True))
            for target, source in zip(variables, sources, strict=True)
            if target != source
        ]
        state = dict(zip(variables, range(4), strict=True))

        def save(copy: Copy, state: dict[str, int] = state) -> str:
            state["saved" + copy.target] = state[copy.source.text]
            return "saved" + copy.target

        for copy in in_order(copies, save):
            state[copy.target] = state[copy.source.text]
        assert [state[one] for one in variables] == [variables.index(one) for one in sources]


# --------------------------------------------------------------------------- lines and asm


def test_line_directives() -> None:
    files = Files()
    files.overlay("a.prism", "one\ntwo\nthree\nfour\n")
    starts = [0, 4, 8, 14]

    def line(number: int) -> Span:
        return Span("a.prism", starts[number - 1], starts[number - 1] + 1)

    writer = Writer(files)
    writer.line("before {")
    with writer.indented():
        writer.line("a;", line(1))
        writer.line("b;", line(2))
        writer.line("c;", line(2))
        writer.line("d;", line(2), alone=True)
        writer.line("if (x) {", line(4))
    writer.line("}")
    assert writer.text == (
        'before {\n#line 1 "a.prism"\n    a;\n    b; c;\n#line 2 "a.prism"\n    d;\n'
        '#line 4 "a.prism"\n    if (x) {\n}\n'
    )
    assert writer.named_files == ("a.prism",)


def test_asm_statements() -> None:
    out, into = Operand("=", F32, A), Operand("", U32, B)
    assert asm_statement(("mov ", 0, ", ", 1, ";"), (out, into), touches_memory=False) == (
        'asm volatile("mov %0, %1;" : "=&f"(a) : "r"(b));'
    )
    assert asm_statement(("fence;",), (), touches_memory=True) == (
        'asm volatile("fence;" : : : "memory");'
    )
    assert asm_statement(("mov %x;",), (), touches_memory=False) == 'asm volatile("mov %%x;" ::);'
    two = asm_statement(("one;\ntwo ", 0, ";\n"), (Operand("", U8, C),), touches_memory=False)
    assert two == (
        'asm volatile(\n    "one;\\n"\n    "two %0;\\n"\n    :\n    : "h"((unsigned short)c)\n);'
    )
