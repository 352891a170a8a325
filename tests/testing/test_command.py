"""`prismc test`: verdicts, reports, choices and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from prismc.cli.main import run as prismc

PROGRAM = """
@requires(grid[1], block[1], thread[32])
@launch(threads = 64)
kernel twice(n: int, x: ptr(const f32), y: ptr(f32)):
    i: int @ thread[1] = id()
    partition y as mine @ thread[1] at i:
        group thread[1]:
            if i < n:
                assert x[i] < 100.0, "too large"
                mine[0] = 2.0 * x[i]

test "good":
    x := random(f32, 100, 1)
    y := empty(f32, 100)
    launch(twice, blocks = 2)(100, x, y)
    assert near(y, 2.0 * x)
"""
FAULTS = {
    "behind the end": (
        "    launch(twice, blocks = 1)(64, zeros(f32, 63), zeros(f32, 64))",
        ["BOUNDS: reads 4 bytes right behind the end of `x`", "assert x[i] < 100.0"],
    ),
    "never written": (
        "    launch(twice, blocks = 1)(64, empty(f32, 64), zeros(f32, 64))",
        ["UNINIT: "],
    ),
    "device assertion": (
        "    launch(twice, blocks = 1)(64, 200 + zeros(f32, 64), zeros(f32, 64))",
        ["TRAP: ", "too large"],
    ),
    "wrong value": (
        '    y := ones(f32, 2, 3)\n    y[1, 2] = 5.0\n    assert y == 1.0 and y < 2.0, "ones"',
        ["1 of 6 elements differ, first [1, 2]: found 5.0, expected 1.0", "note: ones"],
    ),
    "not near": (
        "    assert near(1.0, 1.1)",
        ["found 1.0, expected 1.1"],
    ),
    "no launch": (
        "    for n in range(2):\n        launch(twice, blocks = n)(0, ones(f32, 1), ones(f32, 1))",
        ["a launch of 0 blocks", "blocks = n"],
    ),
    "no value": (
        "    for n in range(2):\n        assert 1 / n == 1",
        ["a division by 0", "--> all.prism:"],
    ),
    "outside": (
        "    for n in range(4, 5):\n        assert ones(f32, 4)[n] == 1",
        ["index 4 into 4 elements"],
    ),
}


@pytest.fixture(autouse=True)
def _wide(in_folder: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def _all() -> str:
    return PROGRAM + "".join(f'\ntest "{name}":\n{body}\n' for name, (body, _) in FAULTS.items())


def test_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    Path("all.prism").write_text(_all())
    assert prismc(["test", "-j2", "--junit", "r.xml", "all.prism"]) == 1
    shown = capsys.readouterr().out
    assert "ok    good" in shown
    assert f"1 passed, {len(FAULTS)} failed in " in shown
    for name, (_, says) in FAULTS.items():
        own = shown.partition(f"FAIL  {name}")[2].partition("  FAIL")[0]
        assert [text for text in says if text not in own] == [], own
    suite = ElementTree.parse("r.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == (str(len(FAULTS) + 1), str(len(FAULTS)))
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == list(FAULTS)


def test_junit_has_the_files_that_are_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    """The format is that of Jenkins' junit-10.xsd: an element `error` for what has not run."""
    Path("good.prism").write_text('test "yes":\n    assert 1 + 1 == 2\n')
    Path("broken.prism").write_text("kernel oops(\n\nkernel too(\n")
    for files in (["broken.prism"], ["broken.prism", "good.prism"]):
        assert prismc(["test", "--junit", "r.xml", *files]) == 1
        suites = ElementTree.parse("r.xml").getroot()
        assert [suite.get("name") for suite in suites] == files
        assert [suite.get("errors") for suite in suites] == ["1", "0"][: len(files)]
        (error,) = suites.iter("error")
        assert (error.get("message") or "").startswith("error[P0116]: `(` is never closed")
    capsys.readouterr()


def test_a_fault_in_a_file_of_another_alphabet_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("ünï cödé.prism").write_text(_all())
    assert prismc(["test", "ünï cödé.prism"]) == 1
    shown = capsys.readouterr().out
    assert "--> ünï cödé.prism:" in shown
    assert "\\303" not in shown


def test_json_and_choice(capsys: pytest.CaptureFixture[str]) -> None:
    Path("all.prism").write_text(_all())
    assert prismc(["test", "-k", "WRONG", "--format", "json", "--schedules", "1"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert (record["passed"], record["failed"]) == (0, 1)
    (test,) = record["tests"]
    assert (test["file"], test["name"]) == ("all.prism", "wrong value")
    assert test["failures"][0].startswith("1 of 6 elements differ")
    assert prismc(["test", "--list", "-k", "no "]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "all.prism: no launch",
        "all.prism: no value",
    ]


def test_the_seed_is_for_random_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    text = 'test "seed":\n    assert random(i32, 1, 5) == -1\n'
    Path("s.prism").write_text(text)
    said = []
    for seed in ("0", "0", "3"):
        assert prismc(["test", "--seed", seed, "-j1"]) == 1
        said.append(capsys.readouterr().out.partition("found")[2].partition(",")[0])
    assert said[0] == said[1] != said[2]


def test_a_file_is_tested_for_a_target_that_has_what_it_needs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    newer = '@requires(thread[1])\n@effects(needs(sm_90))\nunsafe def newer():\n    cuda("")\n'
    text = newer + PROGRAM.replace("mine[0] = 2", "newer()\n                mine[0] = 2")
    Path("new.prism").write_text(text)
    code = prismc(["test", "--format", "json", "--schedules", "1"])
    record = json.loads(capsys.readouterr().out)
    assert code == 0, record
    assert record["tests"][0]["target"] == "sm_90"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no test in ."),
        (["-k", "none"], "no test that holds `none` in ."),
        (["missing.prism"], "`missing.prism` cannot be read"),
    ],
)
def test_nothing_to_run(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    Path("k.prism").write_text(PROGRAM.partition("test")[0])
    assert prismc(["test", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_a_wrong_program_is_told_and_others_run(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.prism").write_text('test "a":\n    assert nothing == 1\n')
    Path("b.prism").write_text('test "b":\n    assert 1 == 1\n')
    assert prismc(["test", "-j1"]) == 1
    told = capsys.readouterr()
    assert "P0201" in told.err
    assert "1 passed in" in told.out


def test_a_report_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.prism").write_text('test "b":\n    assert 1 == 1\n')
    assert prismc(["test", "--junit", "no/folder.xml"]) == 2
    assert "`no/folder.xml` cannot be written: No such file" in capsys.readouterr().err


def test_the_examples_pass(capsys: pytest.CaptureFixture[str]) -> None:
    examples = Path(__file__).parents[2] / "examples"
    files = sorted(map(str, examples.glob("*.prism")))
    assert prismc(["test", "-j2", "--schedules", "1", *files]) == 0, capsys.readouterr().out
    written = sum(Path(file).read_text("utf-8").count('\ntest "') for file in files)
    assert f"{written} passed in" in capsys.readouterr().out
