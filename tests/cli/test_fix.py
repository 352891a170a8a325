"""`prismc check --fix`: what is certain is mended, the rest told, and nothing made worse."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from prismc.cli.main import run
from prismc.diagnostics.fixes import certain_fixes, with_fixes
from prismc.diagnostics.problem import Fix, Problem
from prismc.source.span import Span

pytestmark = pytest.mark.usefixtures("in_folder")

EXAMPLES = [
    (Path(__file__).resolve().parents[2] / "examples" / f"{name}.prism").read_text()
    for name in ("saxpy", "sgemm_naive", "row_softmax")
]
FROM_C = """\
// a function as C has it
@requires(thread[1])
def f(a: int) -> int {
"""
CASES = {
    "comment": ("// twice\n", "# twice\n"),
    "tabs": (
        "def f(a: int) -> int:\n\tif a > 0:\n\t\treturn 1\n\treturn 0\n",
        "def f(a: int) -> int:\n    if a > 0:\n        return 1\n    return 0\n",
    ),
    "semicolons": (
        "def f(a: int) -> int:\n    b := a;  # one\n    b += 1;\n    b += 2 ;\n    return b;\n",
        "def f(a: int) -> int:\n    b := a  # one\n    b += 1\n    b += 2 \n    return b\n",
    ),
    "declarations": (
        "def f(int a) -> int:\n    let b = a + 1u\n    int c = b\n    float d = 1.0f\n"
        "    return c\n",
        "def f(a: int) -> int:\n    b := a + 1\n    c: int = b\n    d: float = 1.0\n    return c\n",
    ),
    "conditions": (
        "def f(a: int) -> int:\n    if a = 0 && 0 < a < 3\n        a++\n    return a\n",
        "def f(a: int) -> int:\n    if a == 0 and 0 < a and a < 3:\n        a += 1\n    return a\n",
    ),
    "numbers as conditions": (
        "def f(a: int, b: int) -> int:\n    return 1 if a and not b else 2\n",
        "def f(a: int, b: int) -> int:\n    return 1 if a != 0 and not b != 0 else 2\n",
    ),
    "effects": (
        "@requires(thread[1])\n@effects()\nunsafe def f(p: ptr(const u32), q: ptr(u32)):\n"
        "    q[0] = p[0]\n",
        "@requires(thread[1])\n@effects(writes(q), reads(p))\n"
        "unsafe def f(p: ptr(const u32), q: ptr(u32)):\n    q[0] = p[0]\n",
    ),
    "split": (
        "@requires(block[1], thread[64])\ndef f():\n    split warp[2]:\n        case 1: pass\n",
        "@requires(block[1], thread[64])\ndef f():\n    split warp:\n        case 1: pass\n",
    ),
}


def fix(text: str, *options: str) -> tuple[int, str]:
    Path("k.prism").write_bytes(text.encode())
    code = run(["check", "k.prism", "--fix", "--no-cache", *options])
    return code, Path("k.prism").read_bytes().decode()


@pytest.mark.parametrize("name", list(CASES))
def test_mends(name: str) -> None:
    before, after = CASES[name]
    _, text = fix(before)
    assert text == after
    assert fix(text)[1] == text
    windows = before.replace("\n", "\r\n")
    assert fix(windows)[1] == after.replace("\n", "\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "def f(a: int) -> int:\n    b := a; return b\n",  # two statements, perhaps one line's
        "def f(a: int) -> int:\n    b := a // 2\n    return b\n",  # a quotient, perhaps
        "def f(a: int) -> int:\n    b := 010\n    return b\n",  # ten, or eight
        "def f(a: int) -> int:\n    return aa\n",  # nobody knows which name was meant
        "def f(a: int) -> bool:\n    return a == 1 == 2\n",
        "def f(a: int) -> int:\n  if a > 0:\n\treturn 1\n  return 0\n",  # tabs of eight, perhaps
        FROM_C,
    ],
)
def test_leaves_what_is_not_certain(text: str) -> None:
    code, after = fix(text)
    assert code == 1
    assert after.removeprefix("# a function") == text.removeprefix("// a function")


def test_the_rest_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, after = fix("def f(a: int) -> int:\n    b := aa + 1;\n    return b\n")
    assert (code, ";" in after) == (1, False)
    assert "error[P0201]" in capsys.readouterr().out


def test_diff_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    text = "@requires(thread[1])\ndef f():\n    pass;\n"
    code, after = fix(text, "--diff")
    assert (code, after) == (0, text)
    out = capsys.readouterr().out
    assert out.startswith("--- k.prism\n+++ k.prism\n@@ -1,3 +1,3 @@\n")
    assert out.endswith("-    pass;\n+    pass\n")


def test_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def take(text: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))

    take(b"def f():\n    pass;\n")
    assert run(["check", "-", "--fix", "--diff"]) == 0
    assert "-    pass;\n+    pass\n" in capsys.readouterr().out
    take(b"")
    assert run(["check", "-", "--fix"]) == 2
    assert run(["check", "k.prism", "--diff"]) == 2


def test_fixes_that_meet_wait() -> None:
    def at(start: int, end: int, text: str, *, is_certain: bool = True) -> Fix:
        return Fix(at=Span("k", start, end), text=text, title="", is_certain=is_certain)

    fixes = (
        at(4, 6, "x"),
        at(0, 2, "A"),
        at(1, 3, "y"),  # meets the one before
        at(2, 2, "z"),  # touches it
        at(3, 4, "D"),
        at(3, 4, "E"),  # the same place
        at(6, 7, "u", is_certain=False),
        Fix(at=Span("other", 0, 9), text="", title=""),
    )
    kept = certain_fixes([Problem(at=Span("k", 0, 0), fixes=fixes)], "k")
    assert [fix.text for fix in kept] == ["A", "D", "x"]
    assert with_fixes("abcdefg", kept) == "AcDxg"


DAMAGES = {
    "a colon is missing": (r"^( *(?:if|for|while|group|partition|kernel|def)\b[^#\n]*\S):$", r"\1"),
    "semicolons": (r"^( +[^#\n]*[\w)\]])$", r"\1;"),
    "tabs": (r"(?<=\n)(?: {4})+", lambda match: "\t" * (len(match[0]) // 4)),
    "declared as in C": (r"^( +)(\w+): (int|f32|uint)(?= =)", r"\1\3 \2"),
    "a suffix": (r"(?<![\w.])\d+\.\d+(?![\w.])", r"\g<0>f"),
    "a comment": (r"^( *)#(?=[^\n]*$)", r"\1//"),
    "signs": (r"^([^#\"\n]*\S) and ", r"\1 && "),
}


@pytest.mark.parametrize("damage", list(DAMAGES))
def test_damaged_programs_are_mended(damage: str) -> None:
    """The example as it was, after one or two places of it were spoiled."""
    pattern, spoiled = DAMAGES[damage]
    whole = [re.sub(r" +#[^\n]*", "", text) for text in EXAMPLES]  # comments behind code go
    count = 0
    for text in whole:
        places = len(re.findall(pattern, text, re.MULTILINE))
        broken = re.sub(pattern, spoiled, text, count=0 if damage == "tabs" else 2, flags=re.M)
        if not places:
            continue
        count += 1
        code, mended = fix(broken)
        # Inside brackets a tab is a space as any other, and stays.
        assert (code, mended.replace("\t", "    ")) == (0, text), damage
    assert count, "no example has such a place"
