"""`prismc sync --prove`: each operation is missed when left out, and nothing else is found."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema
import pytest

from prismc.cli.main import run
from prismc.driver.sync import prove

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "sync.schema.json").read_text())

PROGRAMS = {
    path.stem: path
    for folder in ("examples", "benchmarks/collectives")
    for path in (ROOT / folder).glob("*.prism")
}
PROOFS = {
    "block_reduce": (2, ["x=randn(2048)", "y=zeros(2)"]),
    "block_scan": (2, ["x=ones(2048)", "y=zeros(2048)"]),
    "block_sum": (1, ["n=600", "x=randn(n)", "sums=zeros(1)"]),
    "row_softmax": (1, ["cols=300", "x=randn(cols)", "y=zeros(cols)"]),
    "saxpy": (2, ["n=300", "a=2.5", "x=randn(n)", "y=ones(n)"]),
    "tf32_matmul": (
        1,
        ["M=16", "N=8", "K=16", "A=randn(M, K)", "B=randn(K, N)", "C=zeros(M, N)"],
    ),
    "transpose": (2, ["rows=33", "cols=32", "A=randn(rows, cols)", "B=zeros(cols, rows)"]),
}

# The barrier is needed only where k > 0, which the launch decides.
LATE = """\
@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
kernel late(n: int, y: ptr(f32)):
    partition y as tile @ block[1] at id(block[1]) * 64:
        group block[1]:
            shared S: f32[64]
            t: int @ thread[1] = id()
            for k in range(n):
                partition S as s @ thread[1] at t:
                    s[0] = f32(k)
                partition tile as out @ thread[1] at t:
                    out[0] += S[63 - t]
"""


COPIES = """\
from std.copy import cp_async

@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
@assume(aligned(X, 16))
kernel turn(X: ptr(const f32), Y: ptr(f32)):
    b: int @ block[1] = id()
    partition X as xb @ block[1] at b * 256, Y as yb @ block[1] at b * 64:
        group block[1]:
            shared S: f32[256] align 16
            t: int @ thread[1] = id()
            partition S as s @ thread[1] at t * 4, xb as x @ thread[1] at t * 4:
                group thread[1]:
                    async s as d:
                        cp_async(d, x, 16)
            partition yb as y @ thread[1] at t:
                y[0] = S[255 - t]
"""


EMPTIED = """\
from std.copy import bulk_load

@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
@assume(aligned(X, 16))
kernel emptied(X: ptr(const f32), Y: ptr(f32)):
    partition Y as y @ block[1]:
        group block[1]:
            shared S: f32[2][64]
            t: int @ thread[1] = id()
            sum: f32 @ thread[1] = 0.0
            pipeline k in range(7) through S as s:
                produce:
                    claim s as async d @ thread[1]:
                        split warp:
                            case 1:
                                pass
                            case 1:
                                first thread[1]:
                                    bulk_load(d, 0, X, k * 64, 256)
                consume:
                    sum += s[63 - t]
            partition y as o @ thread[1] at t:
                o[0] = sum
"""


def _prove(capfd: pytest.CaptureFixture[str], file: str, *more: str) -> tuple[int, str, str]:
    code = run(["sync", file, "--prove", *more])
    sys.stdout.flush()
    captured = capfd.readouterr()
    return code, captured.out, captured.err


def _arguments(texts: list[str]) -> list[str]:
    return [word for text in texts for word in ("--arg", text)]


@pytest.mark.parametrize("name", PROOFS)
def test_programs(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    grid, texts = PROOFS[name]
    words = ["--grid", str(grid), *_arguments(texts), "--schedules", "30", "--format", "json"]
    code, out, err = _prove(capfd, str(PROGRAMS[name]), *words)
    assert err == ""
    record = json.loads(out)
    jsonschema.validate(record, SCHEMA)
    assert record["proof"]["holds"], record["proof"]
    assert code == 0
    assert record["proof"]["not_reached"] == []
    for function in record["functions"]:
        assert all(operation["witness"] for operation in function["operations"])


def test_an_operation_that_is_not_missed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("late.prism").write_text(LATE)
    words = ["--grid", "1", "--arg", "y=zeros(64)", "--schedules", "3"]
    code, out, _ = _prove(capfd, "late.prism", *words, "--arg", "n=1")
    assert code == 1
    assert "with all operations: no findings" in out
    assert "nothing found without it" in out
    code, out, _ = _prove(capfd, "late.prism", *words, "--arg", "n=2")
    assert code == 0
    assert "found 2 of 2" in out
    assert "data race" in out


def test_an_operation_without_which_a_run_does_not_end_has_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of that operation alone; here a run of more than ten instructions is one without an end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(prove, "PATIENCE", 0)
    monkeypatch.setattr(prove, "LEAST_INSTRUCTIONS", 10)
    Path("late.prism").write_text(LATE)
    words = ["--grid", "1", "--arg", "y=zeros(64)", "--schedules", "5", "--arg", "n=1"]
    code, out, _ = _prove(capfd, "late.prism", *words)
    assert code == 1
    assert "found 1 of 2 (data race: 1)" in out
    assert "#0: no verdict without it, stopped after 10 instructions" in out
    assert "the plan is not proved" in out
    _, out, _ = _prove(capfd, "late.prism", *words, "--format", "json")
    record = json.loads(out)
    jsonschema.validate(record, SCHEMA)
    proof = record["proof"]
    assert proof["no_verdict"] == [{"number": 0, "why": "stopped after 10 instructions"}]
    assert (proof["found_without"], proof["not_found_without"]) == ([1], [])


RACE = """\
@requires(grid[1], block[1], thread[64])
@launch(threads = 64)
kernel race(y: ptr(f32)):
    partition y as tile @ block[1] at id(block[1]) * 64:
        group block[1]:
            t: int @ thread[1] = id()
            partition tile as out @ thread[1] at t / 2:
                out[0] = f32(t)
"""


def test_a_program_that_races_has_no_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("race.prism").write_text(RACE)
    words = ["--grid", "1", "--arg", "y=zeros(64)", "--schedules", "3", "--format", "json"]
    code, out, err = _prove(capfd, "race.prism", *words)
    assert code == 1
    assert "P0603" in err
    proof = json.loads(out)["proof"]
    assert not proof["holds"]
    assert {fault["kind"] for fault in proof["faults"]} == {"data race"}


def test_copies_have_groups_and_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("copies.prism").write_text(COPIES)
    words = ["--grid", "2", "--arg", "X=randn(512)", "--arg", "Y=zeros(128)"]
    code, out, _ = _prove(capfd, "copies.prism", *words)
    assert code == 0
    assert "found 3 of 3" in out
    assert "cp.async.wait_group 0" in out
    _, out, _ = _prove(capfd, "copies.prism", *words, "--format", "json")
    jsonschema.validate(json.loads(out), SCHEMA)


def test_a_kernel_waits_at_its_end_for_no_slot_that_a_pipeline_has_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("emptied.prism").write_text(EMPTIED)
    words = ["--target", "sm_90", "--grid", "1", "--arg", "X=arange(448)", "--arg", "Y=zeros(64)"]
    code, out, _ = _prove(capfd, "emptied.prism", *words)
    assert code == 0
    assert "found 12 of 12" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--arg", "n=1", "--arg", "y=zeros(64)"], "--grid"),
        (["--grid", "0"], "positive"),
        (["--grid", "1", "--arg", "n=1"], "y"),
        (["--grid", "1", "--arg", "n=1", "--arg", "y=zeros(64)", "--arg", "z=1"], "z"),
        (["--grid", "1", "--arg", "n=x", "--arg", "y=zeros(64)"], "n"),
        (["--grid", "1", "--arg", "n=1", "--arg", "y=3"], "y"),
        (["--grid", "1", "--arg", "n=1", "--arg", "y=@none.npy"], "none.npy"),
        (["--grid", "1", "--kernel", "k", "--arg", "n=1", "--arg", "y=zeros(64)"], "late"),
    ],
)
def test_a_launch_that_cannot_be(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("late.prism").write_text(LATE)
    code, out, err = _prove(capfd, "late.prism", *words)
    assert code == 2
    assert out == ""
    assert said in err
