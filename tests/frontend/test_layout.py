"""Tokens: kinds, exact places, and the zero-width layout between them."""

from __future__ import annotations

import pytest

from prismc.frontend.grammar import load_tables
from prismc.frontend.layout import Layout, Piece
from prismc.source.files import SourceFile

TABLES = load_tables()


def pieces(text: str) -> list[Piece]:
    return list(Layout(SourceFile("t", text), TABLES).pieces())


def words(text: str) -> list[str]:
    """The tokens of all pieces: the text of real ones, the names of layout tokens."""
    found = []
    for piece in pieces(text):
        for kind, start, end in piece.tokens:
            found.append(text[start:end] or TABLES.terminals[kind])
    return found


def places(text: str) -> list[tuple[str, int]]:
    """The layout tokens and where they stand."""
    return [
        (TABLES.terminals[kind], start)
        for piece in pieces(text)
        for kind, start, end in piece.tokens
        if start == end
    ]


@pytest.mark.parametrize("text", ["", "\n", "   ", "# only a comment", "\n  # one\n\n\t\n# two\n"])
def test_nothing(text: str) -> None:
    assert pieces(text) == []


def test_layout_tokens_stand_at_the_end_of_the_last_word() -> None:
    text = "def f():\n    a = 1   # one\n\n    # two\n    if b:\n        c\n\n\n# three\n"
    end = text.index("c\n") + 1
    assert places(text) == [
        ("NEWLINE", 8),
        ("INDENT", 8),
        ("NEWLINE", text.index("1") + 1),
        ("NEWLINE", text.index("b:") + 2),
        ("INDENT", text.index("b:") + 2),
        ("NEWLINE", end),
        ("DEDENT", end),
        ("DEDENT", end),
        ("$END", end),
    ]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_endings(ending: str) -> None:
    text = ending.join(["def f():", "    a", "    b", ""])
    expected = "def f ( ) : NEWLINE INDENT a NEWLINE b NEWLINE DEDENT $END"
    assert " ".join(words(text)) == expected


def test_a_file_without_a_last_line_break() -> None:
    assert words("const N = 1") == ["const", "N", "=", "1", "NEWLINE", "$END"]


def test_brackets_suspend_layout() -> None:
    text = "const N = (1 +\n  2 *\n\n      # far\n3\n)\nconst M = a[\n0]\n"
    assert words(text) == [
        *"const N = ( 1 + 2 * 3 ) NEWLINE $END".split(),
        *"const M = a [ 0 ] NEWLINE $END".split(),
    ]


def test_comments_and_blank_lines_do_not_indent() -> None:
    text = "def f():\n        # deep\n    a\n  # shallow\n\n    b\n"
    assert " ".join(words(text)) == "def f ( ) : NEWLINE INDENT a NEWLINE b NEWLINE DEDENT $END"


def test_several_blocks_end_at_once() -> None:
    text = "def f():\n  if a:\n     if b:\n      c\n  d\n"
    expected = (
        "def f ( ) : NEWLINE INDENT if a : NEWLINE INDENT if b : NEWLINE INDENT c NEWLINE "
        "DEDENT DEDENT d NEWLINE DEDENT $END"
    )
    assert " ".join(words(text)) == expected


def test_longest_operator_wins() -> None:
    text = "const N = a<<=b >>= << >> <= >= == != := -> => += -= *= /= %= &= |= ^= < > ~"
    assert (
        words(text)[3:-2]
        == "a <<= b >>= << >> <= >= == != := -> => += -= *= /= %= &= |= ^= < > ~".split()
    )


def test_words_that_begin_like_reserved_words_are_names() -> None:
    names = "iffy at_ by1 _in Import warps thread_ not1 true_".split()
    (piece,) = pieces("const " + " ".join(names))
    kinds = [kind for kind, _, _ in piece.tokens[1:-2]]
    assert kinds == [TABLES.kind("NAME")] * len(names)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("0", "INTEGER"),
        ("18_446_744", "INTEGER"),
        ("0xDEAD_beef", "INTEGER"),
        ("0b1010_0101", "INTEGER"),
        ("1.5", "FLOAT"),
        ("1.", "FLOAT"),
        (".5", "FLOAT"),
        ("1e9", "FLOAT"),
        ("1.5E-3", "FLOAT"),
        ("0.0", "FLOAT"),
        ("1_0.0_1e+1", "FLOAT"),
        ('"a # b"', "STRING"),
        (r'"a \" b"', "STRING"),
        ('""', "STRING"),
    ],
)
def test_literals(text: str, name: str) -> None:
    (piece,) = pieces(f"const N = {text}")
    assert piece.tokens[3] == (TABLES.kind(name), 10, 10 + len(text))
    assert piece.faults == []


def test_a_file_is_cut_at_its_declarations() -> None:
    text = (
        "import m\n@requires(thread[1])\n@assume(n > 0)\ndef f():\n  a\n\nb\nc\nkernel k():\n  d\n"
    )
    cut = pieces(text)
    assert [piece.is_stray for piece in cut] == [False, False, True, False]
    assert [text[p.tokens[0][1] :].split()[0] for p in cut] == [
        "import", "@requires(thread[1])", "b", "kernel",
    ]  # fmt: skip
