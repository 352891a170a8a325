"""The formatter: what it prints, and what it must never do."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from prismc.frontend.format import format_text
from prismc.frontend.walk import is_same
from prismc.frontend.wrapping import WIDTH
from prismc.source.files import SourceFile
from support.fences import parse_fences
from support.layouts import perturb
from support.mutations import mutate
from support.syntax import NAME, Parsed, parse

ROOT = Path(__file__).resolve().parents[2]
CASES = Path(__file__).parent / "layouts"
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|#[^\n]*')


def formatted(text: str) -> str:
    return format_text(SourceFile(NAME, text))


def comments(text: str) -> list[str]:
    """The comments of a program, in alphabetical order: one may move past a comma."""
    found = (match[0].rstrip() for match in _STRING_OR_COMMENT.finditer(text))
    return sorted(comment for comment in found if comment.startswith("#"))


def judge(text: str, parsed: Parsed | None = None) -> str:
    """Check what must hold of every formatted program; returns the formatted text."""
    before = parsed or parse(text)
    assert before.problems == ()
    result = formatted(text)
    after = parse(result)
    assert after.problems == ()
    assert is_same(before.tree, after.tree)
    assert comments(result) == comments(text)
    assert formatted(result) == result
    assert not re.search(r"[ \t\r]$", result, re.MULTILINE)
    assert "\n\n\n" not in result
    assert result == "" or (result[0] != "\n" and result[-1] == "\n" and result[-2:] != "\n\n")
    return result


def prism_files() -> list[Path]:
    """Every program of the repository without syntax errors."""
    folders = ("examples", "stdlib", "tests", "benchmarks", "docs")
    found = (path for name in folders for path in (ROOT / name).rglob("*.prism"))
    return sorted(path for path in found if not parse(path.read_text("utf-8")).problems)


def fences() -> list[tuple[str, str]]:
    """Every program without syntax errors on a page of the repository, with where it stands."""
    pages = [*ROOT.glob("*.md")]
    for folder in ("docs", "tests", "src", "examples"):
        pages += (ROOT / folder).rglob("*.md")
    found = []
    for page in sorted(pages):
        for fence in parse_fences(page.read_text("utf-8")):
            if fence.language == "prism" and parse(fence.text).problems == ():
                found.append((f"{page.relative_to(ROOT)}:{fence.line}", fence.text))
    return found


# ---------------------------------------------------------------------------- properties


@pytest.mark.parametrize("path", prism_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_programs(path: Path) -> None:
    text = path.read_text("utf-8")
    result = judge(text)
    for seed in range(8):
        assert formatted(perturb(text, seed)) == result


def test_fences() -> None:
    found = fences()
    assert len(found) > 150
    for number, (place, text) in enumerate(found):
        result = judge(text)
        assert formatted(perturb(text, number)) == result, place


def test_mutations() -> None:
    """Programs that nobody would write, as far as they have no syntax errors."""
    sources = [path.read_text("utf-8") for path in prism_files()] + [
        path.read_text("utf-8") for path in CASES.glob("*.prism")
    ]
    judged = 0
    for source in sources:
        for seed in range(20):
            text = mutate(source, seed).decode("utf-8", "replace")
            parsed = parse(text)
            if not parsed.problems:
                judge(text, parsed)
                judged += 1
    assert judged > 50


BRACKETS = """\
@requires(grid[1], thread[4 * N])
unsafe def f[N: int](x: ptr(const f32[N, 4]) @ thread[1]) -> (u32 @ thread[1], ptr(T)):
    asm("a $0;" "b $1;", outs(y), ins(-x[i, j + 1].z(), a if not (c and d) else e(N = 2, M = 3,)))
"""


def test_a_comment_between_any_two_words() -> None:
    """Wherever a line may end, on the line of the word before it and on a line of its own."""
    judged = 0
    for match in re.finditer(r"[ \n]|(?<=[(\[,\-.])|(?=[)\],.])", BRACKETS):
        for comment in ("  # here\n        ", "\n        # below\n        "):
            text = BRACKETS[: match.start()] + comment + BRACKETS[match.end() :]
            parsed = parse(text)
            if not parsed.problems:
                judge(text, parsed)
                judged += 1
    assert judged > 100


# ---------------------------------------------------------------------------- layouts


@pytest.mark.parametrize("path", sorted(CASES.glob("*.prism")), ids=lambda path: path.stem)
def test_layout(path: Path) -> None:
    """Each program stands beside what it becomes; `make bless` rewrites that."""
    result = judge(path.read_text("utf-8"))
    expected = path.with_suffix(".expected")
    if os.environ.get("PRISMC_BLESS"):
        expected.write_text(result, "utf-8")
    assert result == expected.read_text("utf-8")


def test_the_examples_are_formatted() -> None:
    for folder in ("examples", "stdlib"):
        for path in sorted((ROOT / folder).rglob("*.prism")):
            text = path.read_text("utf-8")
            assert formatted(text) == text, path


def test_the_page_about_it_is_formatted() -> None:
    page = (ROOT / "docs" / "formatting.md").read_text("utf-8")
    (program,) = [fence.text for fence in parse_fences(page) if fence.language == "prism"]
    assert formatted(program) == program


def test_lines_are_short_where_they_can_be() -> None:
    for path in (path for path in prism_files() if path.parent != CASES):
        for line in formatted(path.read_text("utf-8")).split("\n"):
            code = _STRING_OR_COMMENT.sub('""', line)
            assert len(code.rstrip()) <= WIDTH, line


@pytest.mark.parametrize("text", ["", "\n\n", "  \t\n", "\r\n"])
def test_nothing(text: str) -> None:
    assert formatted(text) == ""


def test_only_comments() -> None:
    assert judge("\n\n  # a \n\n\n#b") == "# a\n\n#b\n"


def test_line_ends() -> None:
    text = "# a\r\nconst A: int = 1 # b\r\n\r\nconst B: int = f(  # c\r\n    2\r\n)\r\n"
    assert judge(text) == judge(text.replace("\r", ""))


def test_a_body_beside_its_header_in_the_deepest_block() -> None:
    blocks = "".join(f"{'    ' * n}if true:\n" for n in range(1, 100))
    text = f"def f():\n{blocks}{'    ' * 100}if true: pass\n"
    assert judge(text) == text


def test_a_long_sum_takes_no_stack() -> None:
    judge(f"const A: int = ({' + '.join('a' for _ in range(400))})\n")
