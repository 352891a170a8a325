"""One error for each broken line; whole declarations are parsed; nothing is said twice."""

from __future__ import annotations

import pytest

from prismc.frontend import ast
from support.syntax import in_function, parse

GOOD = "@requires(thread[1])\ndef {0}(n: int):\n    pass\n\n"


def declared(text: str) -> list[str]:
    names = []
    for declaration in parse(text).tree.declarations:
        assert isinstance(declaration, ast.Function | ast.Kernel | ast.Constant)
        names.append(declaration.name.text)
    return names


def test_two_broken_functions_of_five() -> None:
    text = (
        GOOD.format("a")
        + "def b(n: int)\n    pass\n\n"
        + GOOD.format("c")
        + "def d(n: int):\n    x = = 1\n    y = = 2\n\n"
        + GOOD.format("e")
    )
    parsed = parse(text)
    assert parsed.found() == [("P0114", 5, 14), ("P0101", 13, 9), ("P0101", 14, 9)]
    assert declared(text) == ["a", "c", "e"]
    assert parsed.tree.broken == ("b", "d")


def test_an_unclosed_bracket_ends_at_the_next_declaration() -> None:
    text = "def a():\n    x = f(1, g(2)\n    y = 1\n\n" + GOOD.format("b")
    assert parse(text).found() == [("P0116", 2, 10)]
    assert declared(text) == ["b"]


def test_an_unclosed_bracket_at_the_end() -> None:
    assert parse(GOOD.format("a") + "const N = (1\n").found() == [("P0116", 5, 11)]


@pytest.mark.parametrize(
    "text",
    [
        "def a():\npass\n",
        "def a():\nx = 1\ny = 2\n",
        "def a()\nx = 1\nif x:\n    y = 2\n",
        "def a(:\n    pass\n)\nx\n",
        "void k() {\n    int i = 0;\n    while (i < 3) { i++; }\n}\n",
        "x = 1\ny = 2\nif x:\n    pass\nelse:\n    pass\n",
        '"""\nA module text.\n"""\n',
    ],
)
def test_what_follows_an_error_is_no_second_one(text: str) -> None:
    parsed = parse(text + GOOD.format("b"))
    assert len(parsed.problems) == 1
    assert [d.name.text for d in parsed.tree.declarations if isinstance(d, ast.Function)] == ["b"]


def test_a_stray_statement_does_not_cost_the_function_before_it() -> None:
    text = GOOD.format("a") + "x = 1\ny = 2\n\n" + GOOD.format("b") + "z = 3\n"
    assert [code for code, _, _ in parse(text).found()] == ["P0135", "P0135"]
    assert declared(text) == ["a", "b"]


@pytest.mark.parametrize("line", ["§", "größe = 1", "1x = 2", '"abc', "'", "!"])
def test_nor_does_a_malformed_one(line: str) -> None:
    text = GOOD.format("a") + line + "\n" + GOOD.format("b")
    assert len(parse(text).problems) == 1
    assert declared(text) == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "def a():\n{\n    pass\n}\n",
        "def a() {\n    pass\n}\n",
        "def a():\n    if b:\n    {\n        pass\n    }\n    pass\n",
        "def a()\n{\n    pass;\n};\n",
    ],
)
def test_braces_of_any_style_are_one_error(text: str) -> None:
    parsed = parse(text + GOOD.format("b"))
    assert parsed.codes()[0] == "P0109" or parsed.codes() == ["P0114"]
    assert parsed.tree.broken == ("a",)


def test_of_a_program_of_c_each_kind_is_told_once() -> None:
    text = "def k() {\n    int i = 0;\n    i = 1.0f;\n    i = 2.0f;\n}\n"
    assert sorted(parse(text).codes()) == ["P0104", "P0108", "P0109"]


def test_two_kinds_of_fault_in_one_function_are_independent() -> None:
    text = in_function("x = 1;", "y = 017;", "z = 2;")
    found = [("P0108", 2, 10), ("P0104", 3, 9), ("P0108", 3, 12), ("P0108", 4, 10)]
    assert parse(text).found() == found


def test_faults_and_syntax_errors_of_different_lines_are_independent() -> None:
    assert parse(in_function("x = = 1", "y = 2;")).codes() == ["P0101", "P0108"]
    assert parse(in_function("x = §", "y = = 2")).codes() == ["P0102", "P0101"]


def test_of_one_line_the_first_is_told() -> None:
    assert parse(in_function("x = = §")).codes() == ["P0101"]
    assert parse(in_function("x = 1 § = 2")).codes() == ["P0102"]


def test_a_kind_of_fault_is_told_for_each_line() -> None:
    text = in_function("x = 1.0f + 2.0f;", "y = 2;; ;", "z = 3;")
    assert parse(text).found() == [
        ("P0104", 2, 9), ("P0104", 2, 16), ("P0108", 2, 20), ("P0108", 3, 10), ("P0108", 4, 10),
    ]  # fmt: skip
    assert len(parse(in_function(*(f"x{i} = {i};" for i in range(50)))).problems) == 10


@pytest.mark.parametrize("line", ["x = (1", "x = (1]", 'x = "abc', "  x = 1"])
def test_errors_after_an_unsettling_fault_wait(line: str) -> None:
    text = in_function("a = = 1", "if a:", "    pass", line, "b = = 2")
    assert [line for _, line, _ in parse(text).found()][:2] == [2, 5]
    assert len(parse(text).problems) == 2


PIPELINE = ("pipeline k in range(0, n) through a as b:", "    produce:", "        c d")


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("a b", "c d", "e := 1"), [2, 3]),
        (("if a b:", "    c d", "elif e f:", "    pass", "else g:", "    h i"), [2, 3, 4, 6, 7]),
        (("if a: b c", "else: d e", "f g"), [2, 3, 4]),
        (("if a:", "    pass", "else if b:", "    c d", "else", "    e f"), [4, 5, 6, 7]),
        (("if a:", "b := c", "d e"), [2, 4]),
        (("split warp x:", "    case 1 2:", "        a b", "    case 3: c d"), [2, 3, 4, 5]),
        (("split warp:", "    a := 1", "    case 1:", "        b c"), [3, 5]),
        (("split warp:", "    a := 1", "d e"), [3, 4]),
        (("split warp:", "    while a:", "        b c", "    case 1: d e"), [3, 5]),
        (("group thread:", "    a b", "c d"), [2, 3, 4]),
        (("switch warp:", "    case 1: a b", "    case 2: pass", "c d"), [2, 3, 5]),
        (("else:", "    a b", "c d"), [2, 3, 4]),
        (("a := 1", "    b c", "d e"), [3, 4]),
        (("for i in range(3)", "    a b", "while true", "    c d"), [2, 3, 4, 5]),
        (("def g():", "    a b", "c d"), [2, 3, 4]),
        (("unsafe def g():", "    a b", "c d"), [2, 3, 4]),
        (("unsafe x:", "    asm(1 2)", "c d"), [2, 3, 4]),
        (("f(x y,", "  z w)", "c d"), [2, 4]),
        (("async a:", "    b c", "claim d @ thread[1]:", "    e f"), [2, 3, 4, 5]),
        ((*PIPELINE, "    consume:", "        e f"), [4, 6]),
        ((*PIPELINE, "    consume x:", "        e f", "g h"), [4, 5, 6, 7]),
        ((*PIPELINE, "g h"), [4, 5]),
        ((PIPELINE[0], "    pass", "    produce:", "        c d", "    consume: e f"), [3, 5, 6]),
        (("pipeline k through a as b:", *PIPELINE[1:], "    consume: e f"), [2, 4, 5]),
    ],
)
def test_every_broken_line_of_a_function_is_told(lines: tuple[str, ...], found: list[int]) -> None:
    assert [line for _, line, _ in parse(in_function(*lines)).found()] == found


@pytest.mark.parametrize(
    "header",
    [
        "def f(a int):",
        "kernel k(x: ptr(f32)) -> int:",
        "unsafe def f(:",
        "@requires(thread[1]\ndef f():",
    ],
)
def test_a_broken_header_does_not_hide_its_body(header: str) -> None:
    parsed = parse(f"{header}\n    a b\n    c := 1\n    d e\n" + GOOD.format("g"))
    assert len(parsed.problems) == (3 if "(:" not in header and "]\n" not in header else 1)
    assert len(parsed.tree.declarations) == 1


def test_what_parses_beside_a_syntax_error_is_judged() -> None:
    text = in_function("f(x) = 1", "a b", "for i in n:", "    c d", "for j in m e:", "    3 = i")
    assert parse(text).found() == [
        ("P0129", 2, 5), ("P0101", 3, 7), ("P0128", 4, 14), ("P0101", 5, 11), ("P0101", 6, 16),
        ("P0129", 7, 9),
    ]  # fmt: skip


def test_a_reserved_word_as_a_name_is_told_once() -> None:
    text = in_function("first := 1", "a = first + 1", "test = first", "first = 2")
    assert parse(text).found() == [("P0130", 2, 5), ("P0130", 4, 5)]


def test_lines_without_any_word() -> None:
    parsed = parse("  §\n§\n\n      §\n   §\n  §")
    assert set(parsed.codes()) == {"P0102"}


def test_errors_are_limited_in_number() -> None:
    assert len(parse(in_function(*["a b"] * 1_000)).problems) == 50


def test_the_owner_of_misplaced_parts_is_shown() -> None:
    parsed = parse(in_function("split warp:", "    case 1:", "        pass", "    a := 1"))
    (problem,) = parsed.problems
    (related,) = problem.related
    assert parsed.file.text[related.at.start : related.at.end] == "split warp:"


def test_independent_errors_of_meaning_are_all_reported() -> None:
    text = in_function("f(x) = 1", "for i in n:", "    3 = i")
    assert parse(text).found() == [("P0129", 2, 5), ("P0128", 3, 14), ("P0129", 4, 9)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def a(\n", ("a",)),
        ("@requires(thread[1])\nunsafe def a(\n", ("a",)),
        ("kernel k[:\n", ("k",)),
        ("const N = \n", ("N",)),
        ("export e\n", ("e",)),
        ("from m import a, b as c,\n", ("m", "a", "b", "c")),
        ("import m.n as\n", ("m", "n")),
        ('test "t"\n    pass\n', ()),
        ("def\n", ()),
        ("def 3():\n    pass\n", ()),
        ("x = 1\n", ()),
    ],
)
def test_broken_names(text: str, names: tuple[str, ...]) -> None:
    assert parse(text).tree.broken == names


def test_conformance_missing_colon() -> None:
    text = "@requires(thread[1])\ndef f1(n: int)\n    pass\n\n" + GOOD.format("f2")
    assert parse(text).found() == [("P0114", 2, 15)]
    assert declared(text) == ["f2"]


def test_an_empty_file_is_an_empty_module() -> None:
    for text in ("", "\n\n", "# nothing\n"):
        parsed = parse(text)
        assert parsed.problems == ()
        assert parsed.tree.declarations == ()
        assert parsed.source(parsed.tree) == text
