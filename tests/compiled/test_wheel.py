"""The compiled wheel: its stages are C extensions, and it says what the plain one says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAGES = ("hardware.targets", "frontend.ast", "checker.check", "ir.core", "backend.cuda.frame")
SUITE = ("backend", "cache", "checker", "cli", "cuda", "diagnostics", "emulator", "field")
SUITE += ("frontend", "ir", "lsp", "problems", "property", "spec", "sync", "testing")

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to import the compiled package from."""
    folder = tmp_path_factory.mktemp("compiled")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        env=os.environ | {"PRISMC_COMPILED": "1"},
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.iterdir()
    assert not wheel.name.endswith("-none-any.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def run(place: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Python with the package of `place` and what tests share."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(place), str(ROOT / "tests")))},
        text=True,
        capture_output=True,
        check=False,
    )


def test_stages_are_extensions(site: Path) -> None:
    names = [f"prismc.{stage}" for stage in STAGES]
    program = f"from importlib import import_module as m; print(*(m(n).__file__ for n in {names}))"
    result = run(site, "-c", program)
    assert result.returncode == 0, result.stderr
    files = result.stdout.split()
    assert [name for name in files if not name.startswith(str(site))] == []
    assert [name for name in files if name.endswith(".py")] == []


def test_same_answers(site: Path, tmp_path: Path) -> None:
    found = []
    for place in (site, ROOT / "src"):
        path = tmp_path / f"{place.name}.json"
        result = run(place, ROOT / "tests" / "compiled" / "answers.py", path)
        assert result.returncode == 0, result.stderr
        found.append(json.loads(path.read_text(encoding="utf-8")))
    compiled, plain = found
    assert len(plain) > 1_000
    assert [name for name in plain if compiled.get(name) != plain[name]] == []


def test_suite(site: Path) -> None:
    folders = [ROOT / "tests" / area for area in SUITE]
    options = ["-q", "-n", "auto", "-p", "no:cacheprovider", "-o", "pythonpath=tests"]
    options += ["-p", "compiled.replacing"]
    result = run(site, "-m", "pytest", *options, *folders)
    assert result.returncode == 0, result.stdout[-8_000:]


PROGRAM = """
from __future__ import annotations
from builtins import float, int


class Held:
    def __init__(self, number: int, real: float) -> None:
        self.number = number
        self.real = real


def number(value: object, yes: bool) -> int:
    return (value if isinstance(value, int) else 3) if yes else yes
"""


def test_numbers_keep_their_types(tmp_path: Path) -> None:
    """What `boxed.py` is for: mypyc on its own gives 1 for True, and 1.0 for 1."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "held.py").write_text(PROGRAM, encoding="utf-8")
    make = "from boxed import extensions; from pathlib import Path; from setuptools import setup; "
    make += "made = extensions(['package/held.py'], 'package', Path('generated'), '0'); "
    make += "setup(packages=[], ext_modules=made, script_args=['build_ext', '--inplace'])"
    show = "from package.held import Held, number, __file__; held = Held(True, 1); "
    show += "print(held.number, held.real, number(True, True), number('', False), __file__)"
    for program in (make, show):
        result = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT / "extensions")},
            text=True,
            capture_output=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
    *values, file = result.stdout.split()
    assert values == ["True", "1", "True", "False"]
    assert not file.endswith(".py")
