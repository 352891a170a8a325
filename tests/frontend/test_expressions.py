"""Precedence, grouping and exact spans of expressions and types."""

from __future__ import annotations

import pytest

from prismc.frontend import ast
from prismc.frontend.walk import walk
from support.syntax import expression, parse, statement


def grouped(node: ast.Expression) -> str:
    """The expression with every operation in brackets."""
    match node:
        case ast.Binary():
            return f"({grouped(node.left)} {node.operator} {grouped(node.right)})"
        case ast.Unary():
            return f"({node.operator} {grouped(node.operand)})"
        case ast.Conditional():
            parts = (node.value, node.condition, node.otherwise)
            value, condition, otherwise = map(grouped, parts)
            return f"({value} if {condition} else {otherwise})"
        case ast.Call():
            named = [f"{n.name.text}={grouped(n.value)}" for n in node.named]
            return f"{grouped(node.callee)}({', '.join([*map(grouped, node.arguments), *named])})"
        case ast.Index():
            named = [f"{n.name.text}={grouped(n.value)}" for n in node.named]
            return f"{grouped(node.value)}[{', '.join([*map(grouped, node.arguments), *named])}]"
        case ast.Member():
            return f"{grouped(node.value)}.{node.name.text}"
        case ast.Reference():
            return node.name
        case ast.Integer() | ast.Float():
            return node.text
        case ast.Boolean() | ast.String():
            return repr(node.value)
        case ast.PerspectiveLiteral():
            return f"{node.level}<{grouped(node.size)}>"
        case ast.PointerTypeExpression():
            return f"ptr({node.qualifier} {grouped(node.element)})"
        case ast.VectorTypeExpression():
            return f"vec({grouped(node.element)}, {grouped(node.lanes)})"
        case ast.TensorMapTypeExpression():
            layout = grouped(node.layout) if node.layout else None
            return f"tensor_map({grouped(node.box)}, {layout})"
        case ast.FunctionTypeExpression():
            return f"fn({', '.join(map(grouped, node.parameters))}) -> {grouped(node.result)}"
    raise AssertionError(node)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c", "(a + (b * c))"),
        ("a * b + c", "((a * b) + c)"),
        ("a - b - c", "((a - b) - c)"),
        ("a / b % c * d", "(((a / b) % c) * d)"),
        ("a << b + c", "(a << (b + c))"),
        ("a & b << c", "(a & (b << c))"),
        ("a ^ b & c", "(a ^ (b & c))"),
        ("a | b ^ c", "(a | (b ^ c))"),
        ("a | b == c", "((a | b) == c)"),
        ("a >> 32 == 0", "((a >> 32) == 0)"),
        ("not a == b", "(not (a == b))"),
        ("not a and not b", "((not a) and (not b))"),
        ("a and b or c and d", "((a and b) or (c and d))"),
        ("a or b and c", "(a or (b and c))"),
        ("a < b and c >= d", "((a < b) and (c >= d))"),
        ("-a * b", "((- a) * b)"),
        ("-a.x", "(- a.x)"),
        ("~a[0]", "(~ a[0])"),
        ("- -+a", "(- (- (+ a)))"),
        ("a if b else c if d else e", "(a if b else (c if d else e))"),
        ("a + 1 if b or c else d", "((a + 1) if (b or c) else d)"),
        ("(a + b) * c", "((a + b) * c)"),
        ("(a < b) == (c < d)", "((a < b) == (c < d))"),
        ("a - (b - c)", "(a - (b - c))"),
        ("f(a, b)(c)[d].e", "f(a, b)(c)[d].e"),
        ("f[N = 4, T = f32](x, y = 2)", "f[N=4, T=f32](x, y=2)"),
        ("p[i, j]", "p[i, j]"),
        ("f()", "f()"),
        ("f(a,)", "f(a)"),
        ("load[relaxed, grid[1]](p, 0)", "load[relaxed, grid<1>](p, 0)"),
        ("P <= thread[32]", "(P <= thread<32>)"),
        ("id(warp[n + 1])", "id(warp<(n + 1)>)"),
        ("std.block.reduce(x)", "std.block.reduce(x)"),
        ("std.atomic.add", "std.atomic.add"),
        ("v.x", "v.x"),
        ("size(ptr(const f32))", "size(ptr(const f32))"),
        ("size(ptr(atomic u32[M, N]))", "size(ptr(atomic u32[M, N]))"),
        ("f[ptr(f32), vec(f16, 2)]", "f[ptr(None f32), vec(f16, 2)]"),
        ("f[tensor_map(bf16[8, 8], swizzle128)]", "f[tensor_map(bf16[8, 8], swizzle128)]"),
        ("f[tensor_map(bf16[8, 8])]", "f[tensor_map(bf16[8, 8], None)]"),
        ("f[fn(T, T) -> T]", "f[fn(T, T) -> T]"),
        ("f[fn() -> int]", "f[fn() -> int]"),
        ("true or false", "(True or False)"),
        ('"a" "b\\n"', "'ab\\n'"),
        ("0x1F + 0b11", "(0x1F + 0b11)"),
    ],
)
def test_grouping(text: str, expected: str) -> None:
    node, _ = expression(text)
    assert grouped(node) == expected


@pytest.mark.parametrize("operator", "+ - * / % << >> & | ^ < <= > >= == != and or".split())
def test_binary_operators(operator: str) -> None:
    node, parsed = expression(f"left {operator} right")
    assert isinstance(node, ast.Binary)
    assert node.operator == operator
    assert parsed.source(node.operator_span) == operator
    assert parsed.source(node) == f"left {operator} right"


@pytest.mark.parametrize(
    ("kind", "covered"),
    [
        (ast.Conditional, "(a + b) * f( x [ 0 ] , y=1 ) if not c else ( -d ).x"),
        (ast.Call, "f( x [ 0 ] , y=1 )"),
        (ast.Index, "x [ 0 ]"),
        (ast.NamedArgument, "y=1"),
        (ast.Unary, "not c"),
        (ast.Member, "( -d ).x"),
    ],
)
def test_spans(kind: type[ast.Node], covered: str) -> None:
    node, parsed = expression("(a + b) * f( x [ 0 ] , y=1 ) if not c else ( -d ).x   # end")
    assert covered in [parsed.source(found) for found in walk(node) if isinstance(found, kind)]


def test_brackets_belong_to_what_holds_them() -> None:
    node, parsed = expression("(a + b) * c")
    assert isinstance(node, ast.Binary)
    assert parsed.source(node) == "(a + b) * c"
    assert parsed.source(node.left) == "a + b"


def test_an_expression_over_several_lines() -> None:
    node, parsed = expression("f(a,\n      # one\n  b\n)")
    assert parsed.source(node) == "f(a,\n      # one\n  b\n)"


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("1_000", 1000), ("0xff", 255), ("0B1_1", 3), ("18446744073709551615", 2**64 - 1)],
)
def test_integers(text: str, value: int) -> None:
    node, _ = expression(text)
    assert isinstance(node, ast.Integer)
    assert (node.value, node.text) == (value, text)


@pytest.mark.parametrize(
    ("text", "value"), [("1.5", 1.5), ("1.", 1.0), (".25", 0.25), ("1_0e-1", 1.0), ("1e-400", 0.0)]
)
def test_floats(text: str, value: float) -> None:
    node, _ = expression(text)
    assert isinstance(node, ast.Float)
    assert (node.value, node.text) == (value, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"a\tb\\c\"d"', 'a\tb\\c"d'),
        (r'"\x41\x7"', "A\x07"),
        (r'"\101\0"', "A\0"),
        (r'"\a\b\f\n\r\v\'\?"', "\a\b\f\n\r\v'?"),
        ('"µ" "\\n"', "µ\n"),
    ],
)
def test_strings(text: str, value: str) -> None:
    node, parsed = expression(text)
    assert isinstance(node, ast.String)
    assert node.value == value
    assert parsed.source(node) == text


@pytest.mark.parametrize(
    "text",
    [
        "f32",
        "f32[4]",
        "f32[4][8]",
        "ptr(f32)",
        "ptr(const f32[M, N])",
        "ptr(atomic u32)",
        "vec(f32, 4)",
        "vec(f32, 4)[2]",
        "tensor_map(bf16[64, 128], swizzle128)",
    ],
)
def test_types_read_the_same_as_types_and_as_arguments(text: str) -> None:
    declared, parsed = statement(f"x: {text} @ thread[1] = 0")
    assert isinstance(declared, ast.Declare)
    assert declared.type is not None
    assert parsed.source(declared.type) == text
    argument, _ = expression(f"f[{text}]")
    assert isinstance(argument, ast.Index)
    assert grouped(declared.type) == grouped(argument.arguments[0])


@pytest.mark.parametrize("text", ["a < b < c", "a == b != c", "a < b and c < d < e"])
def test_comparisons_do_not_chain(text: str) -> None:
    parsed = parse(f"const N = {text}\n")
    assert parsed.codes() == ["P0127"]
