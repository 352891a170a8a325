"""Building kernels for host programs, compiling these, and running them on the CPU driver."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.backend.toolchain.find import find_nvcc
from prismc.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")
# What careful projects add, by the compiler that has it.
STRICT = {
    "": ("-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wcast-qual", "-Wcast-align", "-Wundef"),
    "c++": ("-Wold-style-cast", "-Wzero-as-null-pointer-constant"),
    "gcc-c++": ("-Wuseless-cast", "-Wduplicated-cond", "-Wlogical-op"),
    "clang": ("-Wmissing-variable-declarations", "-Wconditional-uninitialized"),
    "c11": ("-Wstrict-prototypes", "-Wmissing-prototypes", "-Wc++-compat"),
}


class Language(NamedTuple):
    """A compiler with a standard: `driver` compiles, `flags` choose the standard."""

    name: str
    driver: str
    flags: tuple[str, ...]
    suffix: str

    @property
    def strict(self) -> list[str]:
        """Options for more warnings."""
        return [each for kind, options in STRICT.items() if kind in self.name for each in options]


LANGUAGES = (
    Language("gcc-c11", "gcc", ("-std=c11",), ".c"),
    Language("gcc-c++17", "g++", ("-std=c++17",), ".cpp"),
    Language("clang-c11", "clang", ("-std=c11",), ".c"),
    Language("clang-c++17", "clang++", ("-std=c++17",), ".cpp"),
    Language("gcc-c++20", "g++", ("-std=c++20",), ".cpp"),
)
C11, CPP17 = LANGUAGES[0], LANGUAGES[1]


def require(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def printed_by(command: Sequence[str | Path], folder: Path, **environment: str) -> str:
    """What a command prints; it must succeed."""
    for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        environment.setdefault(variable, "")
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def build(source: Path, folder: Path, *options: str, targets: tuple[str, ...] = ("sm_80",)) -> None:
    """Everything that host programs use of a Prism file, in `folder`."""
    kinds = [word for kind in ("obj", "header", "record") for word in ("--emit", kind)]
    chosen = [word for target in targets for word in ("--target", target)]
    assert run(["build", str(source), "-o", f"{folder}/", *kinds, *chosen, *options]) == 0


def build_text(
    text: str, folder: Path, *options: str, targets: tuple[str, ...] = ("sm_80",)
) -> None:
    """As `build`, of a program called `k`."""
    source = folder / "k.prism"
    source.write_text(text, encoding="utf-8")
    build(source, folder, *options, targets=targets)


def compiled(
    language: Language, folder: Path, text: str, *options: str, name: str = "host"
) -> subprocess.CompletedProcess[str]:
    """A host program compiled, or with `-c` or `-fsyntax-only` less than that."""
    require(language.driver)
    source = folder / f"{name}{language.suffix}"
    source.write_text(text, encoding="utf-8")
    command = [language.driver, *language.flags, *WARNINGS, f"-I{folder}", source.name, *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def program(folder: Path, text: str, *options: str, language: Language = CPP17) -> Path:
    """A host program, linked with the objects in `folder`; it must compile without a warning."""
    objects = [path.name for path in sorted(folder.glob("*.o"))]
    done = compiled(language, folder, text, *options, *objects, "-ldl", "-o", "host")
    assert done.returncode == 0, done.stderr
    return folder / "host"


def execute(
    host: Path, driver: Path | None, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a host program; `environment` adds variables."""
    own = os.environ | {"PYTHONPATH": str(ROOT / "src")} | environment
    if driver is not None:
        own["LD_LIBRARY_PATH"] = str(driver)
    return subprocess.run(
        [host, *arguments], env=own, cwd=host.parent, capture_output=True, text=True, check=False
    )


def toolkit() -> Path:
    """The include folder of a CUDA toolkit."""
    try:
        nvcc = find_nvcc()
    except ToolchainFailure as failure:
        pytest.skip(str(failure))
    listed = subprocess.run(
        [nvcc, "--dryrun", "-E", "x.cu"], capture_output=True, text=True, check=False
    ).stderr
    for line in listed.splitlines():
        if line.startswith("#$ TOP="):
            return Path(line.removeprefix("#$ TOP=")) / "include"
    pytest.skip("no CUDA toolkit is installed")
