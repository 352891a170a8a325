"""The runner of literate pages finds what differs from a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.fences import parse_fences
from support.spec_page import expected_of, read_cases, run_case

BAD = "@requires(block[1], thread[64])\ndef f():\n    group thread[5]:{}\n        pass\n"


def page(tmp_path: Path, text: str) -> list[str]:
    place = tmp_path / "page.md"
    place.write_text(text)
    return [line for case in read_cases(place) for line in run_case(case)]


def fence(program: str, info: str = "") -> str:
    return f"# Chapter\n\n### Case\nProse.\n```prism{info}\n{program}```\n"


def test_holds(tmp_path: Path) -> None:
    assert page(tmp_path, fence(BAD.format('  # error: [P0402] "does not divide"'))) == []


@pytest.mark.parametrize(
    ("mark", "wrong"),
    [
        ("", "unexpected error P0402"),
        ("  # error: [P0403]", "unexpected error P0402"),
        ('  # error: [P0402] "no such words"', "unexpected error P0402"),
        ("  # warning: [P0402]", "unexpected error P0402"),
        ("  # error: [P0402] # error: [P0402]", "missing error P0402"),
    ],
)
def test_differs(tmp_path: Path, mark: str, wrong: str) -> None:
    assert any(wrong in line for line in page(tmp_path, fence(BAD.format(mark))))


def test_a_missing_diagnostic_is_told(tmp_path: Path) -> None:
    (wrong,) = page(tmp_path, fence("const N: int = 3  # error: [P0402]\n"))
    assert wrong.startswith("missing error P0402 at main.prism:1")


def test_marks_above_speak_of_the_next_line(tmp_path: Path) -> None:
    program = BAD.format("").replace("    group", "    # error: [P0402]\n    group")
    assert page(tmp_path, fence(program)) == []


def test_files_of_one_heading_are_one_program(tmp_path: Path) -> None:
    text = (
        "### Case\n```prism\n# file m.prism\nconst N: int = 5\n```\n"
        "```prism\n# file main.prism\nfrom m import N\nconst M: int = N\n```\n"
        "### Another\n```prism\nconst N: int = 1\n```\n```prism\nconst N: int = 2\n```\n"
    )
    place = tmp_path / "page.md"
    place.write_text(text)
    cases = read_cases(place)
    assert [sorted(case.texts) for case in cases] == [
        ["m.prism", "main.prism"],
        ["main.prism"],
        ["main.prism"],
    ]
    assert [run_case(case) for case in cases] == [[], [], []]


def test_options(tmp_path: Path) -> None:
    place = tmp_path / "page.md"
    program = "# flags: -D N=3\nconst N: int = 2\n"
    place.write_text(fence(program, " --target sm_90a") + "expect barriers: 2\n")
    (case,) = read_cases(place)
    assert case.flags == "--target sm_90a -D N=3"
    assert case.barriers == 2
    assert expected_of(case) == []


def test_an_open_fence_is_told() -> None:
    with pytest.raises(ValueError, match="line 2 is not closed"):
        parse_fences("text\n```prism\nconst N: int = 1\n")
