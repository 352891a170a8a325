"""The CUDA compiler of a build: found, told apart from others, and asked once for each module."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from prismc.backend.toolchain.compilation import Compilation, Compiler
from prismc.backend.toolchain.find import find_nvcc, find_nvrtc
from prismc.driver.cache import Cache
from prismc.driver.session import Session
from prismc.source.digest import digest, text_digest
from prismc.source.identity import compiler_identity

if TYPE_CHECKING:
    from prismc.backend.cuda_module import CudaModule

# Bytes at each end of a program that tell it from other versions; whole ones have 100 MB.
_SAMPLE = 1 << 16


def tool_files(name: str) -> list[str]:
    """The files that "nvrtc" or "nvcc" consists of, as far as results depend on them.

    Raises ToolchainFailure where it is not installed.
    """
    if name == "nvrtc":
        return [os.fspath(find_nvrtc())]
    program = find_nvcc().resolve()
    parts = (program, program.with_name("ptxas"), program.parent.parent / "nvvm" / "bin" / "cicc")
    return [os.fspath(part) for part in parts if part.is_file()]


def tool_identity(files: Sequence[str]) -> str:
    """A digest that changes with the version of any of these programs and libraries.

    Raises OSError.
    """
    return text_digest(" ".join(map(_sample, files)))


def _sample(name: str) -> str:
    with open(name, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(_SAMPLE)
        file.seek(max(0, size - _SAMPLE))
        return f"{size}-{digest(head + file.read())}"


def open_compiler(session: Session) -> Compiler:
    """The compiler that the session's options name, opened once.

    With a cache, it is only started for what was never compiled before. Raises ToolchainFailure
    where the machine has none that works.
    """
    name = session.options.compiler
    if name not in session.compilers:
        session.compilers[name] = _opened(name, session.cache)
    return session.compilers[name]


def _opened(name: str, cache: Cache | None) -> Compiler:
    if cache is None:
        return _started(name)
    try:
        identity = tool_identity(tool_files(name))
    except OSError:  # it will tell what is wrong with it when it starts
        return _started(name)
    return _Remembering(lambda: _started(name), identity, cache)


def _started(name: str) -> Compiler:
    # Loading either is the greater part of what a build without work takes.
    if name == "nvcc":
        from prismc.backend.toolchain.nvcc import Nvcc

        return Nvcc()
    from prismc.backend.toolchain.nvrtc import Nvrtc

    return Nvrtc()


class _Remembering:
    """A compiler whose successes are kept, by everything that they depend on."""

    def __init__(self, start: Callable[[], Compiler], identity: str, cache: Cache) -> None:
        self._start = start
        self._identity = identity
        self._cache = cache
        self._compiler: Compiler | None = None
        self._starting = threading.Lock()

    @property
    def description(self) -> str:
        return self._started().description

    def compile(self, module: CudaModule, target: str) -> Compilation:
        """See `Compiler.compile`."""
        parts = (module.name, module.text, module.files, target)
        key = text_digest(repr((compiler_identity(), self._identity, parts)))
        known = self._known(key)
        if known is not None:
            return known
        with self._cache.alone(key):
            return self._known(key) or self._compiled(key, module, target)

    def _compiled(self, key: str, module: CudaModule, target: str) -> Compilation:
        result = self._started().compile(module, target)
        if result.ptx is not None and result.cubin is not None:
            self._cache.remember(
                key,
                {
                    "target": result.target,
                    "compiler": result.compiler,
                    "log": result.log,
                    "ptx": self._cache.keep(result.ptx.encode()),
                    "cubin": self._cache.keep(result.cubin),
                },
            )
        return result

    def _known(self, key: str) -> Compilation | None:
        record = self._cache.recall(key)
        if record is None:
            return None
        ptx, cubin = self._cache.content(record["ptx"]), self._cache.content(record["cubin"])
        if ptx is None or cubin is None:
            return None
        return Compilation(
            target=record["target"],
            compiler=record["compiler"],
            log=record["log"],
            ptx=ptx.decode(),
            cubin=cubin,
        )

    def _started(self) -> Compiler:
        with self._starting:
            if self._compiler is None:
                self._compiler = self._start()
            return self._compiler
