"""A check says the same with and without what earlier checks have left."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from prismc.diagnostics.record import render_json
from prismc.driver import checking
from prismc.driver.cache import Cache
from prismc.driver.checking import check_files
from prismc.driver.inputs import root_files
from prismc.driver.options import Options
from prismc.driver.session import Session
from prismc.hardware.targets import TARGETS

DEEP = "from top import WIDTH\n\ndef third(x: f32) -> f32:\n    return x / 3.0\n"
TOP = "const WIDTH: int = 32\nconst UNUSED: int = 1\n"
LIBRARY = """\
from deep import third
from top import WIDTH

def twice(x: f32) -> f32:
    return x + x

def cubed(x: f32) -> f32:
    return third(x) * x * x

@requires(thread[1])
def store(y: ptr(f32), v: f32):
    y[0] = v
"""
KERNEL = """\
from library import {functions}
import library

@requires(grid[1], block[1], thread[32])
@launch(threads = 32)
kernel {name}(Y: ptr(f32)):
    b: int @ block[1] = id()
    partition Y as yb @ block[1] at b * 32:
        group block[1]:
            t: int @ thread[1] = id()
            partition yb as y @ thread[1] at t:
                group thread[1]:
                    library.store(y, {value})
"""
FILES = {
    "top.prism": TOP,
    "deep.prism": DEEP,
    "library.prism": LIBRARY,
    "one.prism": KERNEL.format(functions="twice", name="one", value="twice(1.0)"),
    "two.prism": KERNEL.format(functions="cubed, twice", name="two", value="cubed(twice(2.0))"),
}

# Pieces of text and what may stand in their place: right, wrong, or no difference.
EDITS = [
    ("WIDTH: int = 32", "WIDTH: int = 64"),
    ("UNUSED: int = 1", "UNUSED: int = 2.5"),
    ("UNUSED", "SPARE"),
    ("x + x", "x + x + 1.0"),
    ("x + x", "x + missing"),
    ("def twice(x: f32)", "def twice(x: int)"),
    ("def twice", "def _twice"),
    ("def twice", "# Two times x.\n\ndef twice"),
    ("thread[1])\ndef store", "thread[2])\ndef store"),
    ("y[0] = v", "y[0] = v + WIDTH"),
    ("y[0] = v", "y[0] = 1.0\n    y[0] = v"),
    ("at t:", "at t / 2:"),
    ("third(x) * x", "third(x) *"),
    ("/ 3.0", "/ 4.0"),
    ("from top import WIDTH", "from top import WIDHT"),
    ("from top import WIDTH", "from nowhere import WIDTH"),
    ("from deep import third", "from library import third"),
    ("import library\n\n", "import library\n\n\n"),
    ("block[1]:\n            t: int", "block[1]:\n            u: int"),
    ("threads = 32", "threads = 48"),
]


def told(folder: Path, cache: Cache | None, jobs: int = 1, races: str = "warn") -> str:
    """All that a check of the folder says, as JSON."""
    options = [Options(target=TARGETS[name], races=races) for name in ("sm_80", "sm_90a")]
    session = Session(options[0], cache=cache)
    check_files(session, root_files(session, [str(folder)]), options, jobs)
    return render_json(session.problems, session.files)


def write(folder: Path, files: dict[str, str] = FILES) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the root files that were really checked."""
    names: list[str] = []
    real = checking.run_stages

    def counted(session: Session, file: object, last: str) -> object:
        names.append(Path(file.name).name)  # type: ignore[attr-defined]
        return real(session, file, last)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "run_stages", counted)
    return names


@pytest.mark.parametrize("seed", range(6))
def test_warm_is_cold(tmp_path: Path, seed: int) -> None:
    """Edits at random: after each, a check with the cache of all earlier ones says what one
    without says."""
    chance = random.Random(seed)
    folder, cache = write(tmp_path / "project"), Cache(tmp_path / "cache")
    for _ in range(12):
        path = folder / chance.choice(list(FILES))
        text = path.read_text() if path.exists() else FILES[path.name]
        action = chance.random()
        if action < 0.1:
            path.unlink(missing_ok=True)
        elif action < 0.3:
            path.write_text(FILES[path.name])
        else:
            fitting = [(a, b) for a, b in EDITS if a in text] or [("", "# changed\n")]
            path.write_text(text.replace(*chance.choice(fitting), 1))
        races = chance.choice(["warn", "deny"])
        jobs = chance.choice([1, 1, 2])
        assert told(folder, cache, jobs, races) == told(folder, None, 1, races)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_several_processes_do_the_work(tmp_path: Path, checks: list[str]) -> None:
    """What they find comes back: this process does nothing again."""
    folder = write(tmp_path / "project")
    alone = told(folder, None, 1)
    checks.clear()
    assert told(folder, None, 2) == alone
    assert checks == []


def test_nothing_is_checked_again(tmp_path: Path, checks: list[str]) -> None:
    folder, cache = write(tmp_path / "project"), Cache(tmp_path / "cache")
    first = told(folder, cache)
    assert len(checks) == 2 * len(FILES)
    assert told(folder, cache) == first
    assert len(checks) == 2 * len(FILES)


@pytest.mark.parametrize(
    ("name", "edit", "expected"),
    [
        # A comment moves all that comes after it; only the file itself has a new text.
        ("library.prism", ("def twice", "# Two times x.\ndef twice"), {"library"}),
        ("library.prism", ("return x +", "# Twice.\n\n    return x +"), {"library"}),
        ("library.prism", ("x + x", "(x +\n        x)"), {"library", "one", "two"}),
        # What `one` does not call is nothing to it.
        ("library.prism", ("third(x) * x", "third(x) + x"), {"library", "two"}),
        ("library.prism", ("x + x", "x * 2.0"), {"library", "one", "two"}),
        # Two modules up, through calls alone.
        ("deep.prism", ("/ 3.0", "/ 4.0"), {"deep", "library", "two"}),
        ("top.prism", ("UNUSED: int = 1", "UNUSED: int = 2"), {"top"}),
        # A name that was not there may be what another import means.
        ("top.prism", ("UNUSED", "SPARE"), {"top", "deep", "library", "one", "two"}),
        ("one.prism", ("1.0", "1.5"), {"one"}),
    ],
)
def test_what_is_checked_again(
    tmp_path: Path, checks: list[str], name: str, edit: tuple[str, str], expected: set[str]
) -> None:
    folder, cache = write(tmp_path / "project"), Cache(tmp_path / "cache")
    told(folder, cache)
    checks.clear()
    path = folder / name
    path.write_text(path.read_text().replace(*edit, 1))
    told(folder, cache)
    assert {Path(each).stem for each in checks} == expected


def test_a_file_that_appears_is_what_is_imported(tmp_path: Path, checks: list[str]) -> None:
    """An import means the file beside the importer before one of a `-I` folder."""
    folder, cache = write(tmp_path / "project"), Cache(tmp_path / "cache")
    other = tmp_path / "other"
    other.mkdir()
    shutil.move(folder / "top.prism", other / "top.prism")

    def said(with_cache: Cache | None) -> str:
        session = Session(Options(include=(str(other),)), cache=with_cache)
        check_files(session, root_files(session, [str(folder)]), [session.options])
        return render_json(session.problems, session.files)

    before = said(cache)
    checks.clear()
    (folder / "top.prism").write_text("const WIDTH: f32 = 32.0\nconst UNUSED: int = wrong\n")
    assert said(cache) == said(None)
    assert said(cache) != before


def test_options_are_told_apart(tmp_path: Path) -> None:
    folder, cache = write(tmp_path / "project"), Cache(tmp_path / "cache")
    path = folder / "one.prism"
    path.write_text(path.read_text().replace("at t:", "at t / 2:"))
    warned, denied = told(folder, cache), told(folder, cache, races="deny")
    assert warned != denied
    assert (warned, denied) == (told(folder, None), told(folder, None, races="deny"))


def test_a_broken_cache_is_no_cache(tmp_path: Path) -> None:
    folder, cache = write(tmp_path / "project"), Cache(tmp_path / "cache")
    first = told(folder, cache)
    for place in (tmp_path / "cache").rglob("*"):
        if place.is_file():
            place.write_bytes(place.read_bytes()[:-1])
    assert told(folder, cache) == first
    assert told(folder, cache) == first


def test_an_error_in_an_import_is_told_once_and_again(tmp_path: Path) -> None:
    folder, cache = write(tmp_path / "project"), Cache(tmp_path / "cache")
    path = folder / "library.prism"
    path.write_text(path.read_text().replace("x + x", "x + missing"))
    first = told(folder, cache)
    assert first.count('"code": "P0201"') == 1
    path.write_text("# down\n" + path.read_text())
    assert told(folder, cache) == told(folder, None) != first
