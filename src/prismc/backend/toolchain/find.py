"""Where the CUDA compilers are. Nothing is imported or started to find out."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from prismc.backend.toolchain.compilation import ToolchainFailure

_NVRTC = re.compile(r"libnvrtc\.so\.(\d+)(?:\.(\d+))?(?:\.\d+)*")


def find_nvrtc(environment: Mapping[str, str] = os.environ, path: Iterable[str] = sys.path) -> Path:
    """The NVRTC library: PRISMC_NVRTC, the wheel on the import path, CUDA_HOME, beside nvcc.

    Raises ToolchainFailure.
    """
    if named := environment.get("PRISMC_NVRTC"):
        return _named(Path(named), "PRISMC_NVRTC")
    for folder in _library_folders(environment, path):
        if library := _newest(folder):
            return library
    raise ToolchainFailure(
        "no NVRTC library was found",
        "install it with `pip install nvidia-cuda-nvrtc`, or set PRISMC_NVRTC to libnvrtc.so",
    )


def find_nvcc(environment: Mapping[str, str] = os.environ, path: Iterable[str] = sys.path) -> Path:
    """The nvcc program: PRISMC_NVCC, CUDA_HOME, PATH, the wheel on the import path.

    Raises ToolchainFailure.
    """
    if named := environment.get("PRISMC_NVCC"):
        if Path(named).is_file():
            return Path(named)
        raise ToolchainFailure(
            f"PRISMC_NVCC names `{named}`, which is no file", "set PRISMC_NVCC to the nvcc program"
        )
    if program := find_program("nvcc", environment, path):
        return program
    raise ToolchainFailure(
        "no nvcc was found",
        "put nvcc on PATH, set CUDA_HOME or PRISMC_NVCC, or leave out `--with nvcc`",
    )


def find_fatbinary(
    environment: Mapping[str, str] = os.environ, path: Iterable[str] = sys.path
) -> Path:
    """The fatbinary program, which stands beside nvcc. Raises ToolchainFailure."""
    if program := find_program("fatbinary", environment, path):
        return program
    raise ToolchainFailure(
        "no `fatbinary` was found, which packs images for several targets into one file",
        "install it with `pip install nvidia-cuda-nvcc`, or set CUDA_HOME; "
        "`--emit obj` needs no such tool",
    )


def find_c_compiler(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The C compiler as words of a command: CC, which may hold options and have a launcher before
    it, as in `ccache gcc -m64`; else cc, gcc or clang on PATH. Raises ToolchainFailure."""
    path, named = environment.get("PATH"), environment.get("CC", "").strip()
    for command in _commands(named) if named else [["cc"], ["gcc"], ["clang"]]:
        if found := shutil.which(command[0], path=path):
            return (found, *command[1:])
    raise ToolchainFailure(
        f"CC names `{named}`, which is no program" if named else "no C compiler was found",
        "install gcc or clang, or set CC to a C compiler",
    )


def _commands(named: str) -> list[list[str]]:
    """What CC may mean: a program whose name has blanks, or words as a shell has them."""
    try:
        return [[named], shlex.split(named)]
    except ValueError:  # a quotation that does not end
        return [[named]]


def programs_in(
    command: Sequence[str], environment: Mapping[str, str] = os.environ
) -> Iterator[str]:
    """The files of the programs that a command begins with: a launcher, and the compiler."""
    for word in takewhile(lambda word: not word.startswith("-"), command):
        if program := shutil.which(word, path=environment.get("PATH")):
            yield program


def find_program(name: str, environment: Mapping[str, str], path: Iterable[str]) -> Path | None:
    """A program of the CUDA toolkit: in CUDA_HOME, on PATH, in a wheel on the import path."""
    folders = [home / "bin" for home in _homes(environment)]
    folders += [Path(entry) for entry in environment.get("PATH", "").split(os.pathsep) if entry]
    folders += [wheel / "bin" for wheel in _wheels(path)]
    for folder in folders:
        program = folder / name
        if program.is_file() and os.access(program, os.X_OK):
            return program
    return None


def _named(place: Path, variable: str) -> Path:
    found = _newest(place) if place.is_dir() else place
    if found is None or not found.is_file():
        raise ToolchainFailure(
            f"{variable} names `{place}`, where no NVRTC library is",
            f"set {variable} to libnvrtc.so or to the folder that holds it",
        )
    return found


def _library_folders(environment: Mapping[str, str], path: Iterable[str]) -> Iterator[Path]:
    for wheel in _wheels(path):
        yield wheel / "lib"
    homes = _homes(environment)
    for entry in environment.get("PATH", "").split(os.pathsep):
        if entry and (program := Path(entry) / "nvcc").is_file():
            homes.append(program.resolve().parent.parent)
    for home in homes:
        yield home / "lib64"
        yield home / "lib"
        yield home / "targets" / "x86_64-linux" / "lib"


def _homes(environment: Mapping[str, str]) -> list[Path]:
    return [Path(environment[name]) for name in ("CUDA_HOME", "CUDA_PATH") if environment.get(name)]


def _wheels(path: Iterable[str]) -> Iterator[Path]:
    """`nvidia/cu13`-like folders of NVIDIA's wheels, the newest CUDA first."""
    for entry in path:
        namespace = Path(entry or ".") / "nvidia"
        if namespace.is_dir():
            yield from sorted(namespace.glob("cu*"), key=_trailing_number, reverse=True)


def _trailing_number(folder: Path) -> tuple[int, str]:
    digits = re.fullmatch(r"cu(\d+)", folder.name)
    return (int(digits[1]) if digits else 0, folder.name)


def _newest(folder: Path) -> Path | None:
    if not folder.is_dir():
        return None
    versions: dict[tuple[int, int], str] = {}
    for name in sorted(os.listdir(folder)):
        if match := _NVRTC.fullmatch(name):
            versions.setdefault((int(match[1]), int(match[2] or 0)), name)
    return folder / versions[max(versions)] if versions else None
