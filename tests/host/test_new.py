"""`prismc new`: each project builds, and passes its tests."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from host.support import ROOT, printed_by, require
from prismc.cli.main import run

pytestmark = pytest.mark.usefixtures("in_folder")

# The plugin is named on the command line, whether or not it is installed as an entry point.
PLUGIN = {"PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def test_a_project_for_make(prismc: Path, tmp_path: Path) -> None:
    require("make")
    assert run(["new", "demo-one"]) == 0
    said = printed_by(["make", f"PRISMC={prismc}", "test"], tmp_path / "demo-one")
    assert "1 passed in" in said
    assert "demo-one: 1000 elements agree" in said
    assert (tmp_path / "demo-one" / ".gitignore").is_file()


def test_a_project_for_cmake(prismc: Path, tmp_path: Path) -> None:
    require("cmake")
    assert run(["new", "kernels", "--template", "cmake"]) == 0
    folder = tmp_path / "kernels"
    printed_by(["cmake", "-S", ".", "-B", "build", f"-DPRISMC_EXECUTABLE={prismc}"], folder)
    printed_by(["cmake", "--build", "build"], folder)
    assert "100% tests passed" in printed_by(["ctest", "--test-dir", "build"], folder)


def test_a_python_package(tmp_path: Path) -> None:
    assert run(["new", "my-Package", "--template", "python"]) == 0
    folder = tmp_path / "my-Package"
    assert (folder / "src" / "my_package" / "axpy.prism").is_file()
    command = [sys.executable, "-m", "pytest", "-p", "prismc.pytest_plugin"]
    assert "6 passed in" in printed_by(command, folder, **PLUGIN)


def test_its_code_has_the_usual_layout(tmp_path: Path) -> None:
    assert run(["new", "laid_out"]) == 0
    assert run(["fmt", "--check", "laid_out"]) == 0
    assert not [p for p in (tmp_path / "laid_out").rglob("*") if "{{" in str(p)]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("two words", "`two words` is no name for a project"),
        ("-x/1st", "`1st` is no name for a project"),
        ("class", "Python use it"),
        ("test", "build systems or Python use it"),
        ("py", "build systems or Python use it"),
        ("full", "`full` is there already, and not empty"),
        ("full/file/x", "`full/file/x"),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert run(["new", "--", name]) == 2
    assert says in capsys.readouterr().err


def test_a_package_hides_no_module_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["new", "--template", "python", "json"]) == 2
    assert "`json` is no name for a project" in capsys.readouterr().err
    assert run(["new", "--template", "make", "json"]) == 0


def test_the_python_example(tmp_path: Path) -> None:
    """Its build makes a module of its kernels, which is in the wheel; then its tests pass."""
    for tool in ("build", "hatchling"):
        pytest.importorskip(tool)
    example = ROOT / "examples" / "python-package"
    kept_out = shutil.ignore_patterns("kernels.py", "kernels.pyi", "dist", "__pycache__")
    folder = Path(shutil.copytree(example, tmp_path / "package", ignore=kept_out))
    printed_by([sys.executable, "-m", "build", "--wheel", "--no-isolation"], folder, **PLUGIN)
    (wheel,) = (folder / "dist").iterdir()
    packed = {name for name in ZipFile(wheel).namelist() if "dist-info" not in name}
    files = ("__init__.py", "kernels.prism", "kernels.py", "kernels.pyi", "py.typed")
    assert packed == {f"row_softmax/{name}" for name in files}
    command = [sys.executable, "-m", "pytest", "-p", "prismc.pytest_plugin"]
    assert "8 passed in" in printed_by(command, folder, **PLUGIN)
