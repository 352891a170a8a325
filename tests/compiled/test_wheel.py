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
SUITE: tuple[str, ...] = (
    "backend",
    "cache",
    "checker",
    "cli",
    "cuda",
    "diagnostics",
    "emulator",
    "field",
)
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


KEPT = """
import gc
from pathlib import Path
from prismc.checker.sync import coverage
from support.checking import check_texts
text = Path("examples/hopper_matmul.prism").read_text()
assert not check_texts({"main.prism": text}, "main.prism", "--target sm_90a").has_errors()
before = len(coverage._KNOWN)
coverage.then.cache_clear()
coverage.both.cache_clear()
gc.collect()
print(before, len(coverage._KNOWN))
"""


def test_coverages_end_with_their_programs(site: Path) -> None:
    """A language server checks one program a hundred times; nobody else refers to them weakly."""
    result = run(site, "-c", KEPT)
    assert result.returncode == 0, result.stderr
    before, after = map(int, result.stdout.split())
    assert after < 10 < 100 < before


NESTED = """
@requires(grid[1], block[1], thread[32])
@launch(threads = 256)
kernel k(n: int, y: ptr(int)):
    i: int @ thread[1] = id()
    partition y as mine @ thread[1] at i:
        group thread[1]:
            mine[0] = {}
"""


@pytest.mark.parametrize("value", ["(" * 199 + "n" + ")" * 199, "+".join("n" * 490)])
def test_what_may_be_nested_needs_little_stack(site: Path, tmp_path: Path, value: str) -> None:
    """C code recurses without asking Python's limit; P0119 is what bounds it."""
    (tmp_path / "k.prism").write_text(NESTED.format(value), encoding="utf-8")
    build = "import os, resource as r, sys; r.setrlimit(r.RLIMIT_STACK, (1 << 20, 1 << 20)); "
    build += "os.execv(sys.executable, [sys.executable, '-m', 'prismc', *sys.argv[1:]])"
    words = ("build", "--emit", "cuda", "-o", tmp_path / "k.cu", tmp_path / "k.prism")
    result = run(site, "-c", build, *words)
    assert result.returncode == 0, result.stderr


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
