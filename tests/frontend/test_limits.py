"""What is nested or long without end is a located error, in bounded time and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from prismc.frontend.layout import MAX_BLOCKS, MAX_BRACKETS, MAX_PARTS, MAX_TOKENS
from support.syntax import parse

AFTER = "\nconst AFTER = 1\n"


def blocks(depth: int) -> str:
    return (
        "def f():\n" + "".join(" " * i + "if a:\n" for i in range(1, depth)) + " " * depth + "a\n"
    )


def elifs(number: int) -> str:
    return "def f():\n    if a: pass\n" + "    elif a: pass\n" * number


@pytest.mark.parametrize(
    "text",
    [
        blocks(MAX_BLOCKS),
        f"const N = {'(' * MAX_BRACKETS}1{')' * MAX_BRACKETS}\n",
        f"const N = {'1 + ' * (MAX_PARTS - 2)}1\n",
        f"const N = f({', '.join(['1'] * 5000)})\n",
        elifs(MAX_PARTS - 4),
    ],
    ids=["blocks", "brackets", "sum", "arguments", "elifs"],
)
def test_within_the_limit(text: str) -> None:
    assert parse(text).codes() == []


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        (blocks(MAX_BLOCKS + 1), "a"),
        (f"const N = {'(' * 3000}1{')' * 3000}\n", "("),
        (f"const N = {'[' * 200_000}", None),
        (f"const N = a{'[0' * 3000}{']' * 3000}\n", "["),
        (f"const N = {'1 + ' * 3000}1\n", "1"),
        (f"const N = {'- ' * 3000}1\n", "1"),
        (f"const N = {'not ' * 3000}a\n", "a"),
        (f"const N = {'a if b else ' * 3000}1\n", "a"),
        (f"const N = a{'.b' * 3000}\n", "a"),
        (f"const N = a{'()' * 3000}\n", "a"),
        (elifs(3000), None),
        ("const N = f(" + "1," * MAX_TOKENS + ")", None),
        ("def f():\n" + "    a\n" * MAX_TOKENS, None),
    ],
)
def test_beyond_the_limit(text: str, marked: str | None) -> None:
    parsed = parse(text + AFTER)
    problem = parsed.problems[0]
    assert problem.code in ("P0119", "P0101")
    assert len(parsed.problems) == 1
    if marked is not None:
        assert problem.code == "P0119"
        assert parsed.source(problem.at) == marked
    assert len(parsed.tree.declarations) == 1, "what follows is parsed"


def test_the_reference_states_the_limits() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "language.md"
    limits = (
        f"at most {MAX_BLOCKS} blocks within blocks, {MAX_BRACKETS} brackets within brackets, "
        f"{MAX_PARTS} operations within operations, and {MAX_TOKENS:,} words"
    )
    assert limits in " ".join(page.read_text("utf-8").split())


@pytest.mark.parametrize("character", ["(", "[", "$", "?", '"', "{", "+", "a ", "0", "§?"])
def test_a_million_of_one(character: str) -> None:
    parsed = parse(character * 1_000_000)
    assert 1 <= len(parsed.problems) <= 2


def test_a_long_number_and_name() -> None:
    assert parse(f"const N = {'9' * 1_000_000}\n").codes() == ["P0104"]
    assert parse(f"const N = {'0' * 1_000_000}\n").codes() == ["P0104"]
    assert parse(f"const N = 0x{'f' * 1_000_000}\n").codes() == ["P0104"]
    assert parse(f"const {'n' * 1_000_000} = 1\n").codes() == []
