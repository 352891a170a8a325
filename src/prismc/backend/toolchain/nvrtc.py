"""NVRTC through ctypes: header-free CUDA text to PTX and cubin inside this process.

One compilation to a real architecture (`sm_XX`) gives both outputs and runs ptxas on the result;
`compute_XX` would leave inline PTX unchecked. (NVRTC documentation, "Basic Usage".)
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from prismc.backend.cuda_module import CudaModule
from prismc.backend.toolchain.compilation import (
    QUIET,
    Compilation,
    ToolchainFailure,
    without_times,
)
from prismc.backend.toolchain.find import find_nvrtc
from prismc.backend.toolchain.ptx_files import with_shown_files

# nvrtcResult (nvrtc.h)
_SUCCESS = 0
_INVALID_OPTION = 5
_COMPILATION = 6

_OPTIONS = (
    "--minimal",  # what is generated uses no texture and no CUDA type: a tenth less time, same code
    "-lineinfo",
    "--std=c++17",
    "--ptxas-options=-v",
    f"--diag-suppress={QUIET}",
)


# mallopt(3), malloc.h: how much may lie free at the heap's end, what it grows by, and how large a
# block is that goes back to the system by itself.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
_KEPT = {_TRIM_THRESHOLD: 1 << 30, _TOP_PAD: 16 << 20, _MMAP_THRESHOLD: 32 << 20}


class Nvrtc:
    """The loaded library. Calls from several threads run in parallel."""

    def __init__(self, library: Path | None = None) -> None:
        """Load `library`, or the one that `find_nvrtc` finds. Raises ToolchainFailure."""
        self.path = library or find_nvrtc()
        self._library = _load(self.path)
        self.version = self._version()
        if self.version <= (13, 0):
            self._load_builtins()

    @property
    def description(self) -> str:
        return "NVRTC {}.{}".format(*self.version)

    def compile(self, module: CudaModule, target: str) -> Compilation:
        """PTX and cubin of `module` for `target`; see `Compiler.compile`."""
        program = ctypes.c_void_p()
        self._check(
            self._library.nvrtcCreateProgram(
                ctypes.byref(program), module.text.encode(), module.name.encode(), 0, None, None
            ),
            "nvrtcCreateProgram",
        )
        try:
            return self._compile(program, module, target)
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))

    def _compile(self, program: ctypes.c_void_p, module: CudaModule, target: str) -> Compilation:
        options = [option.encode() for option in (f"-arch={target}", *_OPTIONS)]
        result = self._library.nvrtcCompileProgram(
            program, len(options), (ctypes.c_char_p * len(options))(*options)
        )
        log = self._output(program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
        if result == _INVALID_OPTION:
            raise self._refused_option(target, log)
        if result not in (_SUCCESS, _COMPILATION):
            raise ToolchainFailure(
                f"{self.description} fails with {self._error(result)}: {log.strip()}",
                "reinstall nvidia-cuda-nvrtc",
            )
        # One byte is NVRTC's empty text: the front end found errors, there is no PTX.
        ptx = self._output(program, "PTX").rstrip(b"\0").decode()
        return Compilation(
            target=target,
            compiler=self.description,
            log=without_times(log),
            ptx=with_shown_files(ptx, module.files, Path.cwd()) if ptx else None,
            cubin=self._output(program, "CUBIN") if result == _SUCCESS else None,
        )

    def _output(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        call = f"nvrtcGet{what}"
        self._check(getattr(self._library, f"{call}Size")(program, ctypes.byref(size)), call)
        buffer = ctypes.create_string_buffer(max(1, size.value))
        self._check(getattr(self._library, call)(program, buffer), call)
        return buffer.raw[: size.value]

    def _check(self, result: int, call: str) -> None:
        if result != _SUCCESS:
            raise ToolchainFailure(
                f"{call} of {self.path} fails with {self._error(result)}",
                "reinstall nvidia-cuda-nvrtc",
            )

    def _error(self, result: int) -> str:
        text: bytes = self._library.nvrtcGetErrorString(result)
        return text.decode()

    def _version(self) -> tuple[int, int]:
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._check(
            self._library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), "nvrtcVersion"
        )
        return major.value, minor.value

    def _refused_option(self, target: str, log: str) -> ToolchainFailure:
        if "gpu-architecture" in log:
            return ToolchainFailure(
                f"{self.description} does not know the target {target}",
                "install a newer nvidia-cuda-nvrtc, or build for another target",
            )
        return ToolchainFailure(
            f"{self.description} refuses an option: {log.strip()}",
            "install nvidia-cuda-nvrtc 13.3 or newer",
        )

    def _load_builtins(self) -> None:
        """NVRTC up to 13.0 has no run path to its second library: load it beforehand."""
        for builtins in sorted(self.path.parent.glob("libnvrtc-builtins.so.*")):
            _load(builtins)


def keep_freed_memory() -> None:
    """Have the C library keep what NVRTC frees: it asks for the same megabytes many times in one
    compilation, and pages that the system clears anew cost it a tenth of its time.

    For a process whose work is compiling. Where the library is not glibc, nothing happens.
    """
    mallopt = getattr(ctypes.pythonapi, "mallopt", None)
    if mallopt is not None:
        for setting, size in _KEPT.items():
            mallopt(setting, size)


def _load(path: Path) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(str(path))
        if "builtins" not in path.name:
            library.nvrtcGetErrorString.restype = ctypes.c_char_p
    except (OSError, AttributeError) as error:  # no library, or another one
        raise ToolchainFailure(
            f"{path} does not load as NVRTC: {error}",
            "reinstall nvidia-cuda-nvrtc, or correct PRISMC_NVRTC",
        ) from error
    return library
