"""`prismc fmt`: what it writes, shows and answers."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from prismc.driver import formatting, outputs
from support.command import Ran, Runner, runner

UGLY = "const A:int=1 # one\n\n\n\ndef f(x:int)->int: return x+A\n"
NEAT = "const A: int = 1  # one\n\ndef f(x: int) -> int:\n    return x + A\n"
BROKEN = "const A: int = \n"


@pytest.fixture
def fmt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Runner:
    """Runs `prismc fmt` in a folder with a neat, an ugly and a broken program."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("neat", NEAT), ("ugly", UGLY), ("broken", BROKEN)):
        (tmp_path / f"{name}.prism").write_text(text)
    return runner(monkeypatch, capfd, "fmt")


def test_a_file(fmt: Runner, tmp_path: Path) -> None:
    (tmp_path / "ugly.prism").chmod(0o640)
    assert fmt("ugly.prism") == Ran(0, "", "")
    assert (tmp_path / "ugly.prism").read_text() == NEAT
    assert (tmp_path / "ugly.prism").stat().st_mode & 0o777 == 0o640
    assert fmt("ugly.prism", "--check") == Ran(0, "", "")


def test_a_neat_file_is_not_touched(fmt: Runner, tmp_path: Path) -> None:
    os.utime(tmp_path / "neat.prism", (1_000, 1_000))
    assert fmt("neat.prism") == Ran(0, "", "")
    assert (tmp_path / "neat.prism").stat().st_mtime == 1_000


def test_a_folder(fmt: Runner, tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "c.prism").write_text(UGLY)
    (deep / "d.txt").write_text(UGLY)
    assert fmt("a") == Ran(0, "", "")
    assert (deep / "c.prism").read_text() == NEAT
    assert (deep / "d.txt").read_text() == UGLY


def test_syntax_errors_leave_a_file_alone(fmt: Runner, tmp_path: Path) -> None:
    ran = fmt(".")
    assert ran.code == 1
    assert ran.out == ""
    assert "--> broken.prism:1:" in ran.err
    assert (tmp_path / "broken.prism").read_text() == BROKEN
    assert (tmp_path / "ugly.prism").read_text() == NEAT


def test_check(fmt: Runner, tmp_path: Path) -> None:
    assert fmt("--check", "neat.prism", "ugly.prism") == Ran(1, "ugly.prism\n", "")
    assert fmt("--check", "neat.prism") == Ran(0, "", "")
    assert (tmp_path / "ugly.prism").read_text() == UGLY


def test_diff(fmt: Runner, tmp_path: Path) -> None:
    (tmp_path / "ends.prism").write_text("const A: int = 1")
    ran = fmt("--diff", "neat.prism", "ugly.prism", "ends.prism")
    blank = " "
    assert ran == Ran(
        0,
        f"""\
--- ugly.prism
+++ ugly.prism
@@ -1,5 +1,4 @@
-const A:int=1 # one
+const A: int = 1  # one
{blank}
-
-
-def f(x:int)->int: return x+A
+def f(x: int) -> int:
+    return x + A
--- ends.prism
+++ ends.prism
@@ -1 +1 @@
-const A: int = 1
\\ No newline at end of file
+const A: int = 1
""",
        "",
    )
    assert (tmp_path / "ugly.prism").read_text() == UGLY
    assert fmt("--diff", "--check", "ugly.prism").code == 1
    assert fmt("--diff", "--check", "neat.prism") == Ran(0, "", "")


def test_standard_input(fmt: Runner) -> None:
    assert fmt("-", stdin=UGLY.encode()) == Ran(0, NEAT, "")
    assert fmt("-", stdin=NEAT.encode()) == Ran(0, NEAT, "")
    assert fmt("-", "--check", stdin=UGLY.encode()) == Ran(1, "<stdin>\n", "")
    broken = fmt("-", stdin=BROKEN.encode())
    assert (broken.code, broken.out) == (1, "")
    assert "--> <stdin>:1:" in broken.err


def test_any_text_survives(fmt: Runner, tmp_path: Path) -> None:
    path = tmp_path / "text.prism"
    path.write_bytes("# 寄存器 \u2028 é\r\nconst A: int = 1\r\n".encode())
    assert fmt("--diff", "text.prism").code == 0
    assert fmt("text.prism") == Ran(0, "", "")
    assert path.read_bytes() == "# 寄存器 \u2028 é\nconst A: int = 1\n".encode()
    path.write_bytes(b"const A: int = 1 # \xff\n")
    ran = fmt("text.prism")
    assert ran.code == 1
    assert "not UTF-8" in ran.err
    assert path.read_bytes() == b"const A: int = 1 # \xff\n"


def test_what_cannot_be_read(fmt: Runner) -> None:
    assert "error[P0751]" in fmt("missing.prism").err
    assert fmt("missing.prism").code == 2
    assert fmt().code == 2


def test_all_files_are_written_or_none(
    fmt: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: str, number: int, content: bytes) -> str:
        if number == 0:
            return prepare(path, number, content)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    prepare = outputs._prepare
    monkeypatch.setattr(outputs, "_prepare", full)
    (tmp_path / "other.prism").write_text(UGLY)
    ran = fmt("other.prism", "ugly.prism")
    assert ran.code == 2
    assert "error[P0755]" in ran.err
    assert (tmp_path / "other.prism").read_text() == UGLY
    assert (tmp_path / "ugly.prism").read_text() == UGLY
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".prism"] * 4


def test_a_wrong_layout_is_not_written(
    fmt: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formatting, "format_text", lambda file: "const A: int = 2\n")
    with pytest.raises(AssertionError, match="would change what"):
        fmt("ugly.prism")
    assert (tmp_path / "ugly.prism").read_text() == UGLY


@pytest.mark.parametrize("depth", [190, 1_000])
def test_deep_nesting(tmp_path: Path, depth: int) -> None:
    """As deep as a program may be nested; deeper is an ordinary error."""
    path = tmp_path / "deep.prism"
    path.write_text(f"const A: int = {'(1 + ' * depth}1{')' * depth}\n")
    command = [sys.executable, "-m", "prismc", "fmt", str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == (0 if depth < 200 else 1), ran.stderr
    if not ran.returncode:
        again = subprocess.run([*command, "--check"], capture_output=True, timeout=300, check=False)
        assert again.returncode == 0
