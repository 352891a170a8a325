"""The recipes of docs/using-outputs.md and docs/python.md, run as they stand there."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from host.support import ROOT, printed_by, require
from host.test_projects import made
from support.fences import read_fences

EXAMPLES = ROOT / "examples"
MAIN = """\
#include "saxpy.h"
#include "row_softmax.h"
int main() { return saxpy_load() == PRISM_OK && row_softmax_load() == PRISM_OK; }
"""


def recipes(page: str, heading: str) -> list[str]:
    """The blocks of a section."""
    fences = read_fences(ROOT / "docs" / page)
    return [fence.text for fence in fences if fence.heading == heading]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two kernels, one of which imports a module, and a program that includes both headers."""
    folder = tmp_path / "project"
    (folder / "kernels").mkdir(parents=True)
    for name in ("saxpy", "row_softmax"):
        shutil.copy(EXAMPLES / f"{name}.prism", folder / "kernels")
    saxpy = folder / "kernels" / "saxpy.prism"
    saxpy.write_text("from rows import NOTHING\n\n" + saxpy.read_text())
    (folder / "kernels" / "rows.prism").write_text("const NOTHING: int = 0\n")
    (folder / "main.cpp").write_text(MAIN)
    return folder


def change(file: Path) -> None:
    """Other content, at a later time."""
    file.write_text(file.read_text() + "# Changed.\n")
    os.utime(file)


def test_make(prismc: Path, project: Path) -> None:
    require("make")
    (project / "Makefile").write_text("all: program\n" + recipes("using-outputs.md", "make")[0])
    command = ["make", f"PRISMC={prismc}"]
    on_path = {"PATH": f"{prismc.parent}:{os.environ['PATH']}"}
    assert made(printed_by(command, project, **on_path)) >= {"saxpy", "row_softmax", "main"}
    assert (project / "program").exists()
    change(project / "kernels" / "rows.prism")
    assert "saxpy" in made(printed_by(command, project, **on_path))
    assert made(printed_by(command, project, **on_path)) == set()


def test_a_rule_of_ones_own(prismc: Path, project: Path) -> None:
    require("make")
    (project / "kernels" / "Makefile").write_text(recipes("using-outputs.md", "make")[1])
    folder = project / "kernels"
    on_path = {"PATH": f"{prismc.parent}:{os.environ['PATH']}"}
    command = ["make", "build/saxpy.cubin", "build/saxpy.ptx"]
    assert "saxpy.prism" in printed_by(command, folder, **on_path)
    assert "prismc build" not in printed_by(command, folder, **on_path)
    change(folder / "rows.prism")
    assert printed_by(command, folder, **on_path).count("prismc build") == 1


def test_cmake(prismc: Path, project: Path) -> None:
    require("cmake")
    text = "cmake_minimum_required(VERSION 3.20)\nproject(recipe LANGUAGES CXX)\n"
    text += "add_executable(program main.cpp)\n"
    (project / "CMakeLists.txt").write_text(text + recipes("using-outputs.md", "CMake")[0])
    on_path = {"PATH": f"{prismc.parent}:{os.environ['PATH']}"}
    printed_by(["cmake", "-B", "build"], project, **on_path)
    printed_by(["cmake", "--build", "build"], project, **on_path)
    assert (project / "build" / "program").exists()


def test_meson(prismc: Path, project: Path) -> None:
    require("ninja")
    meson = shutil.which("meson", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if meson is None:
        pytest.skip("meson is not installed")
    (recipe,) = recipes("using-outputs.md", "Meson")
    (project / "meson.build").write_text("project('recipe', 'cpp')\n" + recipe)
    on_path = {"PATH": f"{prismc.parent}:{os.environ['PATH']}"}
    printed_by([meson, "setup", "build"], project, **on_path)
    ninja = ["ninja", "-C", "build", "-v"]
    assert "row_softmax.prism" in printed_by(ninja, project, **on_path)
    assert "no work to do" in printed_by(ninja, project, **on_path)
    change(project / "kernels" / "rows.prism")
    said = printed_by(ninja, project, **on_path)
    assert "saxpy.prism" in said
    assert "row_softmax.prism" not in said
    assert "no work to do" in printed_by(ninja, project, **on_path)


# ------------------------------------------------------------------ Bazel


def test_the_bazel_recipe_is_starlark() -> None:
    """Of which Python is more: each statement is a call with names, as files BUILD have them."""
    (recipe,) = recipes("using-outputs.md", "Bazel")
    calls = [statement.value for statement in ast.parse(recipe).body]  # type: ignore[attr-defined]
    assert [call.func.id for call in calls] == ["load", "genrule", "cc_library"]
    for call in calls[1:]:
        assert not call.args
        for keyword in call.keywords:
            ast.literal_eval(ast.unparse(keyword.value).replace(" + ", " "))


# What a machine without network lacks of Bazel's own rules, which are in it under `native`.
RULES = {
    "cc": "cc_library cc_binary cc_test cc_import cc_proto_library fdo_prefetch_hints fdo_profile "
    "cc_toolchain cc_toolchain_suite objc_library objc_import",
    "java": "java_library java_binary java_import java_test java_toolchain java_runtime "
    "java_package_configuration java_plugin",
}


@pytest.mark.nightly
def test_bazel(prismc: Path, project: Path, tmp_path: Path) -> None:
    """With Bazel 4.2, as Debian has it (bazel-bootstrap)."""
    require("bazel")
    (recipe,) = recipes("using-outputs.md", "Bazel")
    (project / "WORKSPACE").touch()
    (project / "kernels" / "BUILD.bazel").write_text(recipe)
    program = 'cc_binary(name = "program", srcs = ["main.cpp"], deps = ["//kernels:saxpy"])\n'
    (project / "BUILD.bazel").write_text(program)
    (project / "main.cpp").write_text(MAIN.replace('#include "row_softmax.h"\n', "").replace(
        " && row_softmax_load() == PRISM_OK", ""))  # fmt: skip
    options = []
    for language, names in RULES.items():
        rules = tmp_path / f"rules_{language}"
        (rules / language).mkdir(parents=True)
        (rules / "WORKSPACE").touch()
        (rules / language / "BUILD").touch()
        defined = "".join(f"{name} = native.{name}\n" for name in names.split())
        (rules / language / "defs.bzl").write_text(defined)
        options.append(f"--override_repository=rules_{language}={rules}")
    start = ["bazel", f"--output_user_root={tmp_path / 'bazel'}", "--batch", "build"]
    environment = os.environ | {"PATH": f"{prismc.parent}:{os.environ['PATH']}"}

    def build() -> str:
        command = [*start, *options, "//:program"]
        done = subprocess.run(
            command, cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    said = build()
    assert "Build completed successfully" in said, said
    assert subprocess.run([project / "bazel-bin" / "program"], check=False).returncode == 0
    assert "//kernels:saxpy_build" not in build()
    change(project / "kernels" / "rows.prism")
    assert "Build completed successfully" in build()
    text = (project / "kernels" / "BUILD.bazel").read_text()
    (project / "kernels" / "BUILD.bazel").write_text(text.replace(', "rows.prism"', ""))
    assert "error[" in build()


# ------------------------------------------------------------------ Python


def test_the_pages_python(prismc: Path, tmp_path: Path) -> None:
    """All that needs no GPU, and the module that the page has built before."""
    page = "docs/python.md"
    fences = read_fences(ROOT / page)
    (console,) = [fence.text for fence in fences if fence.language == "console"]
    command = console.removeprefix("$ ").split()
    assert command[:2] == ["prismc", "build"]
    (tmp_path / "examples").symlink_to(EXAMPLES)
    printed_by([str(prismc), *command[1:]], tmp_path)
    blocks = [fence.text for fence in fences if fence.language == "python"]
    (tmp_path / "page.py").write_text("\n".join(b for b in blocks if "torch" not in b))
    code = "import page\nassert (page.y == 2.5).all() and page.y.size == 700\n"
    environment = {"PYTHONPATH": f"{ROOT / 'src'}"}
    printed_by([sys.executable, "-c", code], tmp_path, **environment)


def test_the_pages_rule_for_make(prismc: Path, tmp_path: Path) -> None:
    require("make")
    (rule,) = [f.text for f in read_fences(ROOT / "docs/python.md") if f.language == "make"]
    (tmp_path / "Makefile").write_text(rule)
    (tmp_path / "package").mkdir()
    shutil.copy(EXAMPLES / "saxpy.prism", tmp_path / "package")
    on_path = {"PATH": f"{prismc.parent}:{os.environ['PATH']}"}
    goals = ["make", "package/saxpy.py", "package/saxpy.pyi"]
    assert printed_by(goals, tmp_path, **on_path).count("prismc build") == 1
    assert "prismc build" not in printed_by(goals, tmp_path, **on_path)
    (tmp_path / "package" / "saxpy.prism").touch()
    assert printed_by(goals, tmp_path, **on_path).count("prismc build") == 1
