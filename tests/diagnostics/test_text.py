"""How problems are printed: marks, labels, other files, long lines, odd characters."""

from __future__ import annotations

import textwrap

import pytest

from prismc.diagnostics.display import LONGEST, show_line
from prismc.diagnostics.problem import Fix, Problem, Related, Severity
from prismc.diagnostics.style import Role
from prismc.diagnostics.text import render_problem, render_problems
from prismc.source.files import Files
from prismc.source.span import NOWHERE, Span

SOURCE = """\
@requires(block[1], thread[64])
def l1():
    x: int @ thread[1] = id()
    y: int @ block[1] = 0
    y = x + z

    group thread[1]:
        mma(acc, a, b)
        foo
"""


class Varies(Problem):
    code, title = "P0405", "a value varies"
    message = "`{name}` varies"
    label = "varies per thread[1]"
    help_text = "declare it `@ thread[1]`"

    name: str


class Loud(Problem):
    code, title = "P0599", "it is loud"
    severity = Severity.WARNING


@pytest.fixture
def files() -> Files:
    files = Files()
    files.overlay("k.prism", SOURCE)
    files.overlay("other.prism", "def g():\n    pass\n")
    return files


def at(words: str, file: str = "k.prism", text: str = SOURCE) -> Span:
    start = text.index(words)
    return Span(file, start, start + len(words))


def shown(problem: Problem, files: Files) -> str:
    return render_problem(problem, files)


def expect(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def test_two_places_in_one_file(files: Files) -> None:
    related = (Related(at=at("y: int"), message="one value for each block[1]"),)
    problem = Varies(at=at("x + z"), name="x", related=related)
    assert shown(problem, files) == expect(
        """
        error[P0405]: `x` varies
         --> k.prism:5:9
          |
        4 |     y: int @ block[1] = 0
          |     ------ one value for each block[1]
        5 |     y = x + z
          |         ^^^^^ varies per thread[1]
          |
          = help: declare it `@ thread[1]`
        """
    )


def test_far_places_leave_a_gap_and_near_ones_do_not(files: Files) -> None:
    related = (
        Related(at=at("@requires"), message="asked for here"),
        Related(at=at("x: int"), message="declared here"),
    )
    text = shown(Varies(at=at("foo"), name="foo", related=related), files)
    assert text.splitlines()[3:12] == [
        "1 | @requires(block[1], thread[64])",
        "  | --------- asked for here",
        "2 | def l1():",
        "3 |     x: int @ thread[1] = id()",
        "  |     ------ declared here",
        "...",
        "9 |         foo",
        "  |         ^^^ varies per thread[1]",
        "  |",
    ]


def test_labels_of_one_line_hang(files: Files) -> None:
    related = (Related(at=at("mma"), message="it is called here"),)
    problem = Varies(at=at("acc"), name="acc", related=related)
    assert shown(problem, files).splitlines()[3:7] == [
        "8 |         mma(acc, a, b)",
        "  |         --- ^^^ varies per thread[1]",
        "  |         |",
        "  |         it is called here",
    ]


def test_the_place_where_it_broke_is_painted_last(files: Files) -> None:
    related = (Related(at=at("mma(acc, a, b)"), message="in this call"),)
    text = shown(Varies(at=at("acc"), name="acc", related=related), files)
    assert "  |         ----^^^-------" in text.splitlines()


def test_several_lines_run_in_the_gutter(files: Files) -> None:
    body = SOURCE[SOURCE.index("group") :].rstrip("\n")
    problem = Varies(at=at(body), name="x", related=(Related(at=at("mma"), message="here"),))
    assert shown(problem, files).splitlines()[2:8] == [
        "  |",
        "7 | /     group thread[1]:",
        "8 | |         mma(acc, a, b)",
        "  | |         --- here",
        "9 | |         foo",
        "  | |___________^ varies per thread[1]",
    ]


def test_a_place_in_another_file_has_its_own_excerpt(files: Files) -> None:
    related = (Related(at=Span("other.prism", 0, 5), message="defined here"),)
    assert shown(Varies(at=at("foo"), name="foo", related=related), files) == expect(
        """
        error[P0405]: `foo` varies
         --> k.prism:9:9
          |
        9 |         foo
          |         ^^^ varies per thread[1]
         ::: other.prism:1:1
          |
        1 | def g():
          | ----- defined here
          |
          = help: declare it `@ thread[1]`
        """
    )


def test_line_numbers_share_one_width(files: Files) -> None:
    files.overlay("long.prism", "\n" * 99 + "here\n")
    related = (Related(at=at("foo"), message="there"),)
    text = shown(Loud(at=Span("long.prism", 99, 103), related=related), files)
    assert "100 | here" in text
    assert "  9 |         foo" in text


def test_fix_shows_the_line_after_it(files: Files) -> None:
    start = at("y: int").end
    fix = Fix(at=Span("k.prism", start, start + 11), text=" @ thread[1]", title="narrow `y`")
    text = shown(Loud(at=at("foo"), fixes=(fix,)), files)
    assert text.splitlines()[-4:] == [
        "  = fix: narrow `y`",
        "  |",
        "4 |     y: int @ thread[1] = 0",
        "  |           ++++++++++++",
    ]


def test_notes_come_before_help(files: Files) -> None:
    problem = Varies(at=NOWHERE, name="x", notes=("first\nsecond",))
    assert shown(problem, files) == expect(
        """
        error[P0405]: `x` varies
          = note: first
                  second
          = help: declare it `@ thread[1]`
        """
    )


@pytest.mark.parametrize("text", ["", "\n", "def f():\n", "def f():"])
def test_end_of_file(text: str) -> None:
    files = Files()
    files.overlay("k.prism", text)
    shown = render_problem(Loud(at=Span("k.prism", len(text), len(text))), files)
    line = text.count("\n") + 1
    assert f"k.prism:{line}:{len(text.rpartition(chr(10))[2]) + 1}" in shown
    assert text == "" or "^" in shown


def test_a_file_that_was_never_read() -> None:
    problem = Varies(at=Span("gone.prism", 5, 9), name="x")
    assert "gone.prism:1:1" in render_problem(problem, Files())


def test_tabs_and_wide_characters_keep_the_marks_in_place() -> None:
    files = Files()
    text = "\tx = 世界 + e\u0301 + y\n"
    files.overlay("k.prism", text)
    shown = render_problem(Loud(at=at("y", text=text)), files).splitlines()
    # The tab takes 4 columns, each of the two characters 2, the accent none.
    assert shown[3] == "1 |     x = 世界 + e\u0301 + y"
    assert shown[4] == "  |" + " " * (1 + 4 + len("x = ") + 4 + len(" + e + ")) + "^"


@pytest.mark.parametrize("character", ["\x1b", "\x00", "\u202e", "\u2066", "\x7f", "\ud800"])
def test_nothing_reaches_the_terminal_that_it_would_act_on(character: str) -> None:
    files = Files()
    files.overlay("k.prism", f"x{character}y\n")
    problem = Varies(at=Span("k.prism", 1, 2), name=character, notes=(character,))
    assert character not in render_problem(problem, files)


def test_a_long_line_is_cut_around_the_place() -> None:
    files = Files()
    files.overlay("k.prism", "(" * 10_000_000)
    for span in (Span("k.prism", 5_000_000, 5_000_001), Span("k.prism", 0, 10_000_000)):
        lines = render_problem(Loud(at=span), files).splitlines()
        assert max(map(len, lines)) < LONGEST + 20
        assert "^" in lines[4]


def test_marks_that_a_cut_line_loses_are_told_by_column() -> None:
    files = Files()
    files.overlay("k.prism", "x" * 5_000)
    related = (Related(at=Span("k.prism", 4_900, 4_905), message="because of this"),)
    text = render_problem(Loud(at=Span("k.prism", 10, 12), related=related), files)
    assert "column 4901: because of this" in text


def test_cut_line_keeps_both_places_when_they_fit() -> None:
    line = show_line("a" * 1_000, [(500, 505), (450, 455)])
    assert line.holds(450)
    assert line.holds(505)
    assert line.text.startswith("...")
    assert line.text.endswith("...")


def test_summary_counts_everything(files: Files) -> None:
    problems = [Varies(at=at(word), name=word) for word in ("x", "y", "mma")]
    text = render_problems([*problems, Loud(at=at("foo"))], files, max_errors=2)
    assert text.count("error[P0405]") == 2
    assert text.endswith("\n3 errors, 1 warning (2 not shown; see --max-errors)\n")
    assert render_problems([], files) == ""
    assert render_problems([Loud(at=at("foo"))], files).endswith("\n1 warning\n")


def test_warnings_do_not_count_against_the_limit(files: Files) -> None:
    problems = [Loud(at=at(word)) for word in ("x", "y", "mma")]
    assert render_problems(problems, files, max_errors=1).count("warning[P0599]") == 3


def test_colours_do_not_change_the_text(files: Files) -> None:
    def bracket(role: Role, text: str) -> str:
        return f"<{role.value}>{text}</>"

    problem = Varies(at=at("x + z"), name="x", related=(Related(at=at("y: int"), message="it"),))
    colored = render_problem(problem, files, bracket)
    assert "<error>error[P0405]</>" in colored
    assert "<error>^^^^^</>" in colored
    assert "<second>------</>" in colored
    plain = colored.replace("</>", "")
    for role in Role:
        plain = plain.replace(f"<{role.value}>", "")
    assert plain == render_problem(problem, files)
