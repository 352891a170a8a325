"""`prismc run`: values, findings, and one clear error for every wrong command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from prismc.cli.main import run as prismc

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY = [str(EXAMPLES / "saxpy.prism"), "--grid", "4"]
GOOD = ["--arg", "n=1000", "--arg", "a=2", "--arg", "x=randn(n)", "--arg", "y=randn(n)"]


def test_values_and_schedules(capsys: pytest.CaptureFixture[str]) -> None:
    expect = ["--expect", "y ~ a * x + y", "--schedules", "3"]
    assert prismc(["run", *SAXPY, *GOOD, *expect]) == 0
    assert "3 schedules" in capsys.readouterr().out


def test_a_failed_expectation(capsys: pytest.CaptureFixture[str]) -> None:
    assert prismc(["run", *SAXPY, *GOOD, "--expect", "y ~ x"]) == 1
    assert "`y ~ x` fails at" in capsys.readouterr().out


@pytest.mark.parametrize("shape", ["max(x)", "np.max(x)", "x.max()", "max(x.reshape(2, 500).T)"])
def test_functions_as_numpy_writes_them(capsys: pytest.CaptureFixture[str], shape: str) -> None:
    assert prismc(["run", *SAXPY, *GOOD, "--expect", f"max(x) == {shape}"]) == 0
    assert "values agree" in capsys.readouterr().out


def test_values_without_a_literal(capsys: pytest.CaptureFixture[str]) -> None:
    assert prismc(["run", *SAXPY, *GOOD, "--expect", "max(x) == min(minimum(max(x), inf))"]) == 0
    assert prismc(["run", *SAXPY, *GOOD, "--expect", "max(y) == -np.inf"]) == 1
    assert "`max(y) == -np.inf` fails: found " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("y ~ x.tofile('a')", "no function `tofile` (known: abs, "),
        ("y ~ np.load('a')", "no function `load` (known: abs, "),
        ("y ~ x.__class__", "`x.__class__` cannot stand here; what can are numbers, "),
        ("y ~ (x", "`(x` is no expression: '(' was never closed\n"),
    ],
)
def test_a_wrong_expectation_is_told_what_it_can_be(
    capsys: pytest.CaptureFixture[str], wrong: str, says: str
) -> None:
    assert prismc(["run", *SAXPY, *GOOD, "--expect", wrong]) == 2
    assert says in capsys.readouterr().err


def test_a_small_run_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert prismc(["run", *SAXPY, *GOOD]) == 0
    assert " k thread instructions in " in capsys.readouterr().out


def test_out_of_bounds_is_found_and_placed(capsys: pytest.CaptureFixture[str]) -> None:
    short = ["--arg", "n=1000", "--arg", "a=2", "--arg", "x=randn(n)", "--arg", "y=zeros(999)"]
    assert prismc(["run", *SAXPY, *short]) == 1
    shown = capsys.readouterr().out
    assert "BOUNDS" in shown
    assert "saxpy.prism:" in shown
    assert "array: y [999]" in shown


def test_a_dropped_barrier_is_found_by_the_arrays_name(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--arg", "rows=40", "--arg", "cols=50", "--arg", "A=randn(40, 50)"]
    file = [str(EXAMPLES / "transpose.prism"), "--grid", "4", "--arg", "B=empty(50, 40)"]
    assert prismc(["run", *file, *arguments, "--expect", "B == A.T"]) == 0
    capsys.readouterr()
    assert prismc(["run", *file, *arguments, "--drop-sync", "0"]) == 1
    shown = capsys.readouterr().out
    assert "RACE" in shown or "UNINIT" in shown
    assert "array: tile [" in shown


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    short = ["--arg", "n=1000", "--arg", "a=2", "--arg", "x=randn(n)", "--arg", "y=zeros(999)"]
    assert prismc(["run", *SAXPY, *short, "--format", "json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown["version"] == 1
    assert {finding["kind"] for finding in shown["findings"]} == {"BOUNDS"}
    assert shown["findings"][0]["at"]["source"][0]["file"].endswith("saxpy.prism")


def test_files(tmp_path: Path) -> None:
    x = np.arange(1000, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    arguments = ["--arg", "n=1000", "--arg", "a=3", "--arg", f"x=@{tmp_path / 'x.npy'}"]
    save = ["--arg", "y=zeros(n)", "--save", f"y={tmp_path / 'y.npy'}"]
    assert prismc(["run", *SAXPY, *arguments, *save]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), 3 * x)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--arg", "n=1000"], "no value for `a`, `x`, `y`"),
        ([*GOOD, "--arg", "z=1"], "no parameter `z`"),
        (["--arg", "n=1e30", "--arg", "a=2", "--arg", "x=zeros(4)", "--arg", "y=zeros(4)"],
         "1e+30 is no i32"),
        (["--arg", "n=nan", "--arg", "a=2", "--arg", "x=zeros(4)", "--arg", "y=zeros(4)"],
         "`n`: nan is no i32"),
        (["--arg", "n=-1e400", "--arg", "a=2", "--arg", "x=zeros(4)", "--arg", "y=zeros(4)"],
         "`n`: -inf is no i32"),
        (["--arg", "n=4", "--arg", "a=2", "--arg", "x=7", "--arg", "y=zeros(4)"],
         "`x` is an array of f32"),
        (["--arg", "n=zeros(3)", "--arg", "a=2", "--arg", "x=zeros(4)", "--arg", "y=zeros(4)"],
         "`n` is one i32, not an array"),
        (["--arg", "n=4", "--arg", "a=2", "--arg", "x=zeros(nan)", "--arg", "y=zeros(4)"],
         "`zeros(nan)`: a shape is of whole numbers"),
        (["--arg", "n=4", "--arg", "a=2", "--arg", "x=zeros(-4)", "--arg", "y=zeros(4)"],
         "negative"),
        (["--arg", "n=4", "--arg", "a=2", "--arg", "x=@none.npy", "--arg", "y=zeros(4)"],
         "`none.npy` cannot be read"),
        ([*GOOD, "--expect", "y"], "`y` is no expectation"),
        ([*GOOD, "--expect", "y ~ q"], "no value `q`"),
        ([*GOOD, "--expect", "y ~ __import__('os')"], "no function `__import__`"),
        ([*GOOD, "--kernel", "other"], "no kernel `other`"),
        ([*GOOD, "--block", "2048"], "has blocks of 256 threads, not 2048"),
        ([*GOOD, "--time-limit", "0"], "stopped after 0 seconds of processor time"),
    ],
)  # fmt: skip
def test_one_clear_error(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prismc(["run", *SAXPY, *arguments]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("Error") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not PTX"),
        ("hello", "not PTX"),
        (".version 3.1\n", "PTX 3.1 is not supported"),
        (".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { frobnicate.u32 %r1; }",
         "unknown register `%r1`"),
        (".version 8.0\n.target sm_80\n.address_size 64\n"
         ".entry k() { .reg .b32 %r<2>;\n frobnicate.u32 %r1, %r0; ret; }",
         ":5: `frobnicate.u32`: unknown instruction `frobnicate`"),
        (".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { bra NOWHERE; }",
         "no label `NOWHERE`"),
        (".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret;", "found `the end`"),
    ],
)  # fmt: skip
def test_malformed_ptx(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.ptx").write_text(text, encoding="utf-8")
    assert prismc(["run", "--ptx", str(tmp_path / "k.ptx"), "--grid", "1", "--block", "32"]) == 2
    assert message in capsys.readouterr().err


FEW = ["--arg", "n=3", "--arg", "a=1", "--arg", "y=zeros(3)"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([*FEW, "--arg", "x=zeros(3)", "--arg", "n=4"], "`n` is given twice"),
        ([*FEW, "--arg", "x=zeros(0.5)"], "a shape is of whole numbers, not of 0.5"),
        ([*FEW, "--arg", "x=zeros(1e400)"], "a shape is of whole numbers"),
        ([*FEW, "--arg", "x=zeros(1e400 - 1e400)"], "a shape is of whole numbers"),
        ([*FEW, "--arg", "x=zeros(shape=3)"], "a shape is written as its numbers"),
        ([*FEW, "--arg", "x=zeros(10**15)"], "Unable to allocate"),
        ([*FEW, "--arg", "x=zeros(9**9**9)"], "a number of more than 1024 bits"),
        ([*FEW, "--arg", "x=zeros(3)", "--seed", "-1"], "-1 is not in the range"),
        ([*FEW, "--arg", "x=zeros(3)", "--time-limit", "nan"], "nan is no number from 0 on"),
        ([*FEW, "--arg", "x=zeros(3)", "--rtol", "-1"], "-1 is no number from 0 on"),
        ([*FEW, "--arg", "x=zeros(3)", "--block", "128"], "has blocks of 256 threads, not 128"),
        ([*FEW, "--arg", "x=zeros(3)", "--cluster", "3"], "no multiple of a cluster of 3 x 1 x 1"),
        ([*FEW, "--arg", "x=zeros(3)", "--dynamic-shared", "1000000"], "of shared memory"),
        ([*FEW, "--arg", "x=@{tmp}/words.npy"], "is an array of <U1; a kernel takes numbers"),
        ([*FEW, "--arg", "x=@{tmp}/several.npz"], "holds several arrays"),
        ([*FEW, "--arg", "x=@{tmp}/short.npy"], "is no array that `numpy.save` has written whole"),
        ([*FEW, "--arg", "x=@{tmp}/none.npy"], "is no array that `numpy.save` has written whole"),
        ([*FEW, "--arg", "x=@{tmp}"], "cannot be read: Is a directory"),
    ],
)
def test_arguments_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    np.save(tmp_path / "words.npy", np.array(["a"]))
    np.savez(tmp_path / "several.npz", a=np.zeros(3))
    np.save(tmp_path / "whole.npy", np.zeros(300))
    (tmp_path / "short.npy").write_bytes((tmp_path / "whole.npy").read_bytes()[:200])
    (tmp_path / "none.npy").write_bytes(b"")
    filled = [argument.replace("{tmp}", str(tmp_path)) for argument in arguments]
    assert prismc(["run", *SAXPY, *filled]) == 2
    shown = capsys.readouterr()
    assert says in shown.err
    assert shown.out == ""
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("grid", "says"),
    [
        ("2147483648", "the grid's x extent is 2147483648; the limit is 2147483647"),
        ("1,70000", "the grid's y extent is 70000; the limit is 65535"),
        ("100000000", "a grid of 100000000 blocks; this machine runs at most 16777216"),
    ],
)
def test_a_grid_that_no_machine_runs(
    capsys: pytest.CaptureFixture[str], grid: str, says: str
) -> None:
    command = ["run", SAXPY[0], "--grid", grid, *FEW, "--arg", "x=zeros(3)"]
    assert prismc(command) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("values", ["sqrt(0 - x - 1)", "x / 0"])
def test_expectations_without_a_value_are_quiet(
    capsys: pytest.CaptureFixture[str], values: str
) -> None:
    assert prismc(["run", *SAXPY, *FEW, "--arg", "x=ones(3)", "--expect", f"y ~ {values}"]) == 1
    assert capsys.readouterr().err == ""


ASSUMING = """
@requires(grid[1], block[1], thread[32])
@launch(threads = 32)
@assume(n % 4 == 0, aligned(y, 16))
kernel k(n: int, m: int, y: ptr(f32)):
    i: int @ thread[1] = id()
    unsafe:
        assume(m > 3)
    partition y as mine @ thread[1] at i:
        mine[0] = f32(n + m)
"""


@pytest.mark.parametrize(
    ("n", "m", "code", "says"),
    [
        (8, 4, 0, "0 findings"),
        (6, 4, 2, "kernel `k` assumes `n % 4 == 0`: not so with n = 6, m = 4"),
        (8, 3, 1, "assertion `assumed: m > 3` failed"),
    ],
)
def test_what_is_assumed_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], n: int, m: int, code: int, says: str
) -> None:
    file = tmp_path / "k.prism"
    file.write_text(ASSUMING)
    arguments = ["--arg", f"n={n}", "--arg", f"m={m}", "--arg", "y=zeros(32)"]
    assert prismc(["run", str(file), "--grid", "1", *arguments]) == code
    told = capsys.readouterr()
    assert says in told.out + told.err


# Each thread keeps to its own elements: no barrier; the paper puts two into the loop.
OWN = """
@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
kernel own(n: int, y: ptr(f32)):
    partition y as tile @ block[1] at id(block[1]) * 64:
        group block[1]:
            shared S: f32[64]
            t: int @ thread[1] = id()
            for k in range(n):
                partition S as s @ thread[1] at t:
                    s[0] = f32(k)
                partition tile as out @ thread[1] at t:
                    out[0] += S[t]
"""


def test_a_run_takes_a_plan_of_any_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own.prism"
    file.write_text(OWN)
    arguments = ["--grid", "1", "--arg", "n=1000", "--arg", "y=zeros(64)"]
    counts = []
    for options in ([], ["--footprints", "smt"], ["--sync", "paper"]):
        assert prismc(["run", str(file), *arguments, *options]) == 0
        counts.append(float(capsys.readouterr().out.split(" k thread")[0].split(", ")[-1]))
    fewest, proved, paper = counts
    assert fewest == proved
    assert paper > fewest + 64 * 1000 / 1000, "thousands: a barrier for each thread and step"
