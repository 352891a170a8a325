"""The process around the command line: version, crashes, pipes, deep stacks, the wheel."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from prismc.source.version import VERSION

ROOT = Path(__file__).resolve().parents[2]


def prismc(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [sys.executable, "-m", "prismc", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_version() -> None:
    result = prismc("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"prismc {VERSION}\n", "")


def test_version_imports_nothing_heavy() -> None:
    program = (
        "import sys; sys.argv = ['prismc', '--version']; from prismc.cli.entry import main; main();"
        "print(sorted({'click', 'lark', 'rich', 'numpy', 'threading'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout == f"prismc {VERSION}\n[]\n"


def test_help() -> None:
    result = prismc("--help")
    assert result.returncode == 0
    for command in ("check", "build", "fmt", "dump", "explain", "targets"):
        assert command in result.stdout


@pytest.mark.parametrize("arguments", [["frobnicate"], ["check"], ["check", "--wrong", "x"]])
def test_usage_errors(arguments: list[str]) -> None:
    result = prismc(*arguments)
    assert result.returncode == 2
    assert "Error: " in result.stderr
    assert "Traceback" not in result.stderr


# A process whose check is broken as a defect of the compiler would break it.
BROKEN = """
import sys
from prismc.cli import check
def broken(*arguments):
    raise ValueError("it went\\nwrong")
check.check_files = broken
sys.argv = ["prismc", "check", "-"]
from prismc.cli.entry import main
sys.exit(main())
"""


def broken(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BROKEN],
        input="",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


# A process that says whether it looks for garbage while a command runs.
COLLECTING = """
import gc, sys
from prismc.cli import main as commands
commands.run = lambda arguments: print(gc.isenabled()) or 0
sys.argv = ["prismc", *sys.argv[1:]]
from prismc.cli.entry import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("command", "collects"), [("check", False), ("build", False), ("lsp", True), ("run", True)]
)
def test_only_commands_that_live_long_look_for_garbage(command: str, collects: bool) -> None:
    said = subprocess.check_output([sys.executable, "-c", COLLECTING, command], text=True)
    assert said == f"{collects}\n"


# A process that says when it checks, and then does so for long.
SLOW = """
import sys, time
from prismc.cli import check
def slow(*arguments):
    print("checking", flush=True)
    time.sleep(600)
check.check_files = slow
sys.argv = ["prismc", "check", "-"]
from prismc.cli.entry import main
sys.exit(main())
"""


def test_an_interrupted_run_ends_at_once_and_shows_the_cursor() -> None:
    terminal, other = os.openpty()
    command = subprocess.Popen(
        [sys.executable, "-c", SLOW],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=other,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    with command as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"checking\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) == 130
    os.close(other)
    said = _all_of(terminal)
    os.close(terminal)
    assert "\x1b[?25h" in said
    assert "prismc: interrupted" in said
    assert "Traceback" not in said


def _all_of(terminal: int) -> str:
    """What was written to a terminal that is closed on its other side."""
    said = b""
    with suppress(OSError):  # so Linux tells its end
        while part := os.read(terminal, 1_000):
            said += part
    return said.decode()


def test_a_defect_is_told_once_and_the_traceback_is_kept(tmp_path: Path) -> None:
    result = broken(TMPDIR=str(tmp_path))
    assert result.returncode == 3
    assert result.stdout == ""
    assert "prismc: internal error: ValueError: it went\n" in result.stderr
    assert "Traceback" not in result.stderr
    (saved,) = tmp_path.iterdir()
    assert str(saved) in result.stderr
    assert "Traceback" in saved.read_text()


def test_a_defect_shows_its_traceback_when_asked() -> None:
    result = broken(PRISMC_DEBUG="1")
    assert result.returncode == 3
    assert "Traceback" in result.stderr


def test_the_reader_may_go_away() -> None:
    writer = subprocess.Popen(
        [sys.executable, "-m", "prismc", "explain"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert writer.stdout
    assert writer.stderr
    writer.stdout.close()
    assert writer.stderr.read() == b""
    writer.stderr.close()
    assert writer.wait() in (0, 141)


def test_a_full_disk_behind_standard_output() -> None:
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "prismc", "explain"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.returncode == 2
    assert result.stderr == "prismc: standard output: No space left on device\n"


def test_an_installation_that_is_not_whole(tmp_path: Path) -> None:
    package = ROOT / "src" / "prismc"
    shutil.copytree(package, tmp_path / "prismc", ignore=shutil.ignore_patterns("__pycache__"))
    result = subprocess.run(
        [sys.executable, "-m", "prismc", "check", "-"],
        input="",
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PRISMC_CACHE": str(tmp_path / "c")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert result.stderr.startswith("prismc: this installation has no folder `")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams(closed: str) -> None:
    command = f"{sys.executable} -m prismc check /nowhere.prism - {closed}"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert "internal error" not in result.stderr


def test_names_that_are_not_utf8_build(tmp_path: Path) -> None:
    program = tmp_path / os.fsdecode(b"k\xff.prism")
    program.write_text("@requires(grid[1], block[1], thread[1])\nkernel k(n: int):\n    pass\n")
    assert prismc("build", str(program)).returncode == 0
    assert program.with_suffix(".cubin").is_file()


def test_names_that_are_not_utf8() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "prismc", "check", b"/nowhere/\xff.prism"],
        capture_output=True,
        check=False,
    )
    assert result.returncode == 2
    assert b"error[P0751]" in result.stdout
    assert result.stderr == b""


def test_ascii_terminals_get_escapes() -> None:
    result = prismc("check", "-", input="# é\n(", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert "Traceback" not in result.stderr
    assert result.returncode == 1


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
    )
    (built,) = folder.iterdir()
    return built


def test_wheel_holds_what_it_needs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "prismc/grammar/prism.lark" in names
    assert "prismc/diagnostics/explain/P0751.md" in names
    assert "prismc/py.typed" in names
    assert {f"prismc/stdlib/{p.name}" for p in (ROOT / "stdlib").iterdir()} <= names
    assert not [name for name in names if name.startswith(("tests/", "docs/"))]


def test_wheel_works_from_any_folder(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(installed)
    program = tmp_path / "program"
    program.mkdir()
    (program / "ok.prism").write_text("const N: int = 3\n")
    result = prismc(
        "check", "ok.prism", cwd=program, env={**os.environ, "PYTHONPATH": str(installed)}
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    shown = subprocess.run(
        [sys.executable, "-c", "from prismc.source.resources import *; print(stdlib_folder())"],
        cwd=program,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() == str(installed / "prismc" / "stdlib")


def test_outputs_do_not_depend_on_the_installation(wheel: Path, tmp_path: Path) -> None:
    """The library's files have one name in `#line`, `.file` and cubins, wherever they are."""
    kinds = [word for kind in ("cuda", "ptx", "cubin") for word in ("--emit", kind)]
    program = ROOT / "examples" / "tf32_matmul.prism"
    (tmp_path / "matmul.prism").write_bytes(program.read_bytes())
    outputs = []
    for number, place in enumerate(("site", "another/deeper/place")):
        zipfile.ZipFile(wheel).extractall(tmp_path / place)
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / place)}
        arguments = ("build", "matmul.prism", *kinds, "-o", f"out{number}/")
        result = prismc(*arguments, cwd=tmp_path, env=environment)
        assert (result.returncode, result.stderr) == (0, "")
        folder = tmp_path / f"out{number}"
        outputs.append({path.name: path.read_bytes() for path in sorted(folder.iterdir())})
    assert outputs[0] == outputs[1]
    assert list(outputs[0]) == ["matmul.cu", "matmul.cubin", "matmul.ptx"]
    assert b'"std/mma.prism"' in outputs[0]["matmul.cu"]
    assert b'"std/mma.prism"' in outputs[0]["matmul.ptx"]
