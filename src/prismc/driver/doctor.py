"""What of a toolchain is there, what is missing, and what that costs."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.backend.toolchain.find import (
    find_c_compiler,
    find_fatbinary,
    find_nvcc,
    find_nvrtc,
    find_program,
)
from prismc.backend.toolchain.nvrtc import Nvrtc
from prismc.driver.cache import open_cache
from prismc.hardware.ptx_versions import newest_for, version_text
from prismc.source.record import Record
from prismc.source.version import VERSION

_RELEASE = re.compile(r"release (\d+\.\d+)|(\d+\.\d+\.\d+)")
_SECONDS = 20  # for a tool to tell its version


class Part(Record):
    """One part of the toolchain. `version` and `path` are "" where it is not there or not known;
    `problem` is "" where all is well. `cost` says what cannot be done without it, `remedy` how to
    get it. Only what is `needed` makes a machine unfit."""

    name: str
    version: str = ""
    path: str = ""
    problem: str = ""
    cost: str = ""
    remedy: str = ""
    needed: bool = False

    @property
    def is_found(self) -> bool:
        return not self.problem


def examine() -> tuple[Part, ...]:
    """All parts. Starts tools and loads libraries to learn their versions."""
    return tuple(_parts())


def _parts() -> Iterator[Part]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Part(name="prismc", version=VERSION, path=str(Path(__file__).parent.parent))
    yield Part(name="Python", version=version, path=sys.executable)
    yield _nvrtc()
    yield _tool("C compiler", find_c_compiler, "no `--emit obj` and no `prismc cpu-driver`")
    yield _tool("nvcc", find_nvcc, "no `--with nvcc`; NVRTC compiles all the same")
    yield _tool("ptxas", _beside_nvcc, "no `--with nvcc`")
    yield _tool(
        "fatbinary", find_fatbinary, "no `--emit fatbin`; `--emit obj` holds all targets too"
    )
    yield _tool("nvdisasm", _nvdisasm, "machine code cannot be shown or compared")
    yield _driver()
    yield _package("cuda-bindings", "gpu", "`prismc.load` runs on NumPy arrays, on the CPU, only")
    yield _package("pygls", "lsp", "no `prismc lsp`: editors show no diagnostics")
    yield _package("z3-solver", "smt", "no `--footprints smt`")
    yield _cache()


def _nvrtc() -> Part:
    cost = "nothing can be compiled to PTX or machine code; `prismc check` works"
    try:
        path = find_nvrtc()
        library = Nvrtc(path)
    except ToolchainFailure as failure:
        return Part(
            name="NVRTC", problem=failure.reason, cost=cost, remedy=failure.remedy, needed=True
        )
    shown = "{}.{}".format(*library.version)
    shown += f", writes PTX {version_text(newest_for(library.version))} or less"
    return Part(name="NVRTC", version=shown, path=str(path), needed=True)


def _tool(name: str, find: Callable[[], Path | tuple[str, ...]], cost: str) -> Part:
    """A program that tells its version, or what is missing; `find` may name options before that."""
    try:
        found = find()
    except ToolchainFailure as failure:
        return Part(name=name, problem=failure.reason, cost=cost, remedy=failure.remedy)
    command = [str(found)] if isinstance(found, Path) else [*found]
    path = " ".join(command)
    try:
        done = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        problem, remedy = f"it does not start: {error}", "install it anew"
        return Part(name=name, path=path, problem=problem, cost=cost, remedy=remedy)
    release = _RELEASE.search(done.stdout)
    version = (release[1] or release[2]) if release else ""
    return Part(name=name, version=version, path=path)


def _beside_nvcc() -> Path:
    """The ptxas that nvcc uses. Raises ToolchainFailure."""
    path = find_nvcc().with_name("ptxas")
    if path.is_file():
        return path
    raise ToolchainFailure("no `ptxas` stands beside nvcc", "install the CUDA toolkit anew")


def _nvdisasm() -> Path:
    """The disassembler. Raises ToolchainFailure."""
    if program := find_program("nvdisasm", os.environ, sys.path):
        return program
    raise ToolchainFailure(
        "no `nvdisasm` was found", "install it with `pip install nvidia-cuda-nvdisasm`"
    )


def _driver() -> Part:
    """The CUDA driver, by its own library: cuInit, cuDriverGetVersion, cuDeviceGetCount."""
    cost = "kernels run on the CPU only: `prismc run`, `prismc test`, `prismc cpu-driver`"
    remedy = "install NVIDIA's driver, on a machine with a GPU"
    name = "CUDA driver"
    try:
        library = ctypes.CDLL("libcuda.so.1")
        version, count = ctypes.c_int(), ctypes.c_int()
        if library.cuInit(0) or library.cuDriverGetVersion(ctypes.byref(version)):
            return Part(name=name, problem="it finds no GPU", cost=cost, remedy=remedy)
        library.cuDeviceGetCount(ctypes.byref(count))
    except (OSError, AttributeError):
        return Part(name=name, problem="no `libcuda.so.1` was found", cost=cost, remedy=remedy)
    cuda = version.value // 1000, version.value % 1000 // 10
    devices = f"{count.value} GPU{'s' if count.value != 1 else ''}"
    reads = f"reads PTX {version_text(newest_for(cuda))} or less"
    shown = f"{cuda[0]}.{cuda[1]}, {devices}, {reads}"
    return Part(name=name, version=shown, path="libcuda.so.1")


def _package(name: str, extra: str, cost: str) -> Part:
    try:
        return Part(name=name, version=metadata.version(name))
    except metadata.PackageNotFoundError:
        remedy = f"pip install 'prismc[{extra}]'"
        return Part(name=name, problem="it is not installed", cost=cost, remedy=remedy)


def _cache() -> Part:
    cost = "every run compiles anew"
    try:
        cache = open_cache()
    except ValueError as error:
        return Part(name="cache", problem=str(error), cost=cost, remedy="correct the variable")
    folder = cache.folder
    place = next(each for each in (folder, *folder.parents) if each.exists())
    if os.access(place, os.W_OK):
        return Part(name="cache", path=str(folder))
    problem = f"`{place}` cannot be written"
    remedy = "set PRISMC_CACHE to a folder that can"
    return Part(name="cache", path=str(folder), problem=problem, cost=cost, remedy=remedy)
