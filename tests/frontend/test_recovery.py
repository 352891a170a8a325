"""One error for each broken declaration; the others are parsed; nothing is said twice."""

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
    assert parsed.found() == [("P0114", 5, 14), ("P0101", 13, 9)]
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


def test_two_kinds_of_fault_in_one_function_are_independent() -> None:
    text = in_function("x = 1;", "y = 017;", "z = 2;")
    assert parse(text).found() == [("P0108", 2, 10), ("P0104", 3, 9)]


def test_a_fault_after_a_syntax_error_waits() -> None:
    assert parse(in_function("x = = 1", "y = 2;")).found() == [("P0101", 2, 9)]


def test_a_syntax_error_after_a_fault_is_its_echo() -> None:
    assert parse(in_function("x = §", "y = = 2")).found() == [("P0102", 2, 9)]


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
