"""Each syntax error: its code, the exact characters it marks, its second place, its fix."""

from __future__ import annotations

import pytest

from prismc.frontend import errors
from support.syntax import in_function, parse

# A program, the code of its only problem, and the characters that are marked.
CASES = [
    ("def f(a: int):\n    x = \n", "P0101", ""),
    (in_function("x := a b"), "P0101", "b"),
    (in_function("f(1,,2)"), "P0101", ","),
    ("from m import a as *\n", "P0101", "*"),
    ("from m import *\n", "P0107", "from m import *"),
    ("def f[N](a: int):\n    pass\n", "P0101", "]"),
    (in_function("async x as y @ P:", "    pass"), "P0101", "@"),
    (in_function("x := a § 3"), "P0102", "§"),
    ("\x00const N = 1\n", "P0102", "\x00"),
    (in_function("größe := 3"), "P0103", "größe"),
    (in_function("x := aµ + 1"), "P0103", "aµ"),
    *(
        (in_function(f"x := {number} + 1"), "P0104", number)
        for number in (
            "1.0f 10u 0x 0x1G 0b12 017 00 0o7 1_ 1__0 1.2.3 1e 1x .5.5 1.x 1e-3f 2.5e+4f".split()
        )
    ),
    (in_function("x := 18446744073709551616"), "P0104", "18446744073709551616"),
    (in_function("x := 1e309"), "P0104", "1e309"),
    (in_function('x := f("abc)', "y := 1"), "P0105", '"'),
    (in_function(r'x := "\"'), "P0105", '"'),
    (in_function(r'x := "a\q"'), "P0106", r"\q"),
    (in_function(r'x := "a" "\x"'), "P0106", r"\x"),
    (in_function("x := 'a'"), "P0107", "'"),
    (in_function("x := (float)a"), "P0107", "(float)"),
    (in_function("x := a ? 1 : 2"), "P0107", "?"),
    (in_function("if !a:", "    pass"), "P0107", "!"),
    (in_function("x := 1 + \\", "    2"), "P0107", "\\"),
    (in_function("x = 1;", "y = 2"), "P0108", ";"),
    (in_function("if a {", "    pass", "}"), "P0109", "{"),
    ("def f() {\n    pass\n}\n", "P0109", "{"),
    (in_function("}"), "P0109", "}"),
    ("def f():\n\tpass\n", "P0110", "\t"),
    ("def f():\n    if a:\n    \tpass\n\tpass\n", "P0110", "\t"),
    ("def f():\n    if a:\n        b\n      c\n", "P0111", "      "),
    ("def f():\n    a\n      b\n", "P0112", "      "),
    ("  const N = 1\n", "P0112", "  "),
    (in_function("if a:", "b"), "P0113", ":"),
    ("def f():\n", "P0113", ":"),
    ("def f():", "P0113", ":"),
    ("kernel k(a: int)\n    pass\n", "P0114", ""),
    (in_function("if a: if b: pass"), "P0115", "if"),
    (in_function("x = (a + b", "return x"), "P0116", "("),
    (in_function("x = f(a[1, (2 + 3)"), "P0116", "["),
    (in_function("x = a[1)"), "P0117", ")"),
    (in_function("x = a)"), "P0118", ")"),
    (in_function("partition x @ P:", "    pass"), "P0120", "@"),
    (in_function("claim x as y:", "    pass"), "P0121", ":"),
    (in_function("x: int @ warp = 0"), "P0122", "warp"),
    (in_function("split warp[1]:", "    case 1: pass"), "P0123", "["),
    (in_function("split warp:", "    x = 1"), "P0124", "x"),
    (in_function("case 1: pass"), "P0125", "case"),
    (in_function("while a = 1:", "    pass"), "P0126", "="),
    (in_function("x := 0 < a <= 3"), "P0127", "<="),
    (in_function("for i in x:", "    pass"), "P0128", "x"),
    (in_function("for i in range():", "    pass"), "P0128", "range()"),
    (in_function("for i in range(1, 2, 3, 4):", "    pass"), "P0128", "range(1, 2, 3, 4)"),
    (in_function("for i in range(n = 3):", "    pass"), "P0128", "range(n = 3)"),
    (
        in_function("pipeline k in n through A as a:", "    produce: pass", "    consume: pass"),
        "P0128",
        "n",
    ),
    (in_function("f(x) = 1"), "P0129", "f(x)"),
    (in_function("a + b: int = 1"), "P0129", "a + b"),
    (in_function("v.x := 1"), "P0129", "v.x"),
    (in_function("x, 1 = y, x"), "P0129", "1"),
    (in_function("x, y[0] := f()"), "P0129", "y[0]"),
    (in_function("by := 1"), "P0130", "by"),
    (in_function("f(a = 1, 2)"), "P0131", "2"),
    (in_function("f[N = 1, 2](3)"), "P0131", "2"),
    ("@launch(threads = 1, 2)\nkernel k():\n    pass\n", "P0131", "2"),
    ("x = 1\n", "P0135", "x"),
    (in_function("def g():", "    pass"), "P0136", "def"),
    ("@requires(thread[1])\n", "P0137", ""),
]


@pytest.mark.parametrize(("text", "code", "marked"), CASES, ids=[f"{c}-{t!r}" for t, c, _ in CASES])
def test_error(text: str, code: str, marked: str) -> None:
    parsed = parse(text)
    assert parsed.codes() == [code]
    (problem,) = parsed.problems
    assert parsed.source(problem.at) == marked
    assert parsed.tree.declarations == ()
    assert problem.shown_message()
    assert problem.shown_label()


def test_every_syntax_error_has_a_case() -> None:
    codes = {
        cls.code for cls in vars(errors).values() if isinstance(cls, type) and hasattr(cls, "code")
    }
    tested = {code for _, code, _ in CASES} | {"P0119"}  # test_limits.py
    assert sorted(c for c in codes if c and c < "P0190") == sorted(tested)


@pytest.mark.parametrize(
    ("text", "second"),
    [
        (in_function("x = a[1)"), "["),
        (in_function("x := 0 < a <= 3"), "<"),
        (in_function("x := f(0 >= a[1 == (2)] < 3)"), ">="),
    ],
)
def test_the_second_place(text: str, second: str) -> None:
    parsed = parse(text)
    (related,) = parsed.problems[0].related
    assert parsed.source(related.at) == second
    assert related.message


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [
        ("if a > 0", "if a > 0:"),
        ("if a = 0:", "if a == 0:"),
        ("if a && b:", "if a and b:"),
        ("if a || b:", "if a or b:"),
    ],
)
def test_a_fix_repairs(broken: str, repaired: str) -> None:
    text = in_function(broken, "    pass")
    parsed = parse(text)
    (fix,) = parsed.problems[0].fixes
    fixed = text[: fix.at.start] + fix.text + text[fix.at.end :]
    assert fixed == in_function(repaired, "    pass")
    assert parse(fixed).codes() == []


@pytest.mark.parametrize(
    ("line", "repaired"), [("x = 1;", "x = 1"), ("x++", "x += 1"), ("x--", "x -= 1")]
)
def test_a_fix_of_a_line(line: str, repaired: str) -> None:
    text = in_function(line)
    (fix,) = parse(text).problems[0].fixes
    assert text[: fix.at.start] + fix.text + text[fix.at.end :] == in_function(repaired)


def test_else_if_becomes_elif() -> None:
    text = in_function("if a: pass", "else if b: pass")
    (fix,) = parse(text).problems[0].fixes
    fixed = text[: fix.at.start] + fix.text + text[fix.at.end :]
    assert fixed == in_function("if a: pass", "elif b: pass")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (in_function("x = "), "expected an expression"),
        (in_function("x: "), "expected a type"),
        (in_function("x: int @ 3"), "expected a perspective"),
        (in_function("x := a b"), "expected the end of the line or an operator"),
        ("def 3():\n    pass\n", "expected a name"),
        ("export x\n", "expected `=`"),
        ("unsafe kernel k():\n    pass\n", "expected `def`"),
        (in_function("split x:", "    case 1: pass"), "expected a level"),
        (in_function("unroll while a:", "    pass"), "expected `for`"),
        ("import m as\n", "expected a name"),
        (in_function("x, y"), "expected `=`, `,` or `:=`"),
    ],
)
def test_what_was_expected(text: str, label: str) -> None:
    (problem,) = parse(text).problems
    assert problem.code == "P0101"
    assert problem.shown_label() == label


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (in_function("x = "), "unexpected end of the line"),
        (in_function("x = f(1 2)"), "unexpected number `2`"),
        (in_function("x = f(a b)"), "unexpected name `b`"),
        (in_function('x = f(a "b")'), "unexpected string"),
        (in_function("x = f(a for)"), "unexpected word `for`"),
        (in_function("x = f(a :)"), "unexpected `:`"),
        (in_function("x = f(a " + "b" * 100 + ")"), f"unexpected name `{'b' * 40}..`"),
    ],
)
def test_what_was_found(text: str, message: str) -> None:
    (problem,) = parse(text).problems
    assert problem.shown_message() == message
