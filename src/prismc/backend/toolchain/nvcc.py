"""nvcc as the other compiler: CUDA text to PTX by nvcc, PTX to cubin by the ptxas beside it.

Two steps, because `nvcc -arch=sm_90a` may also assemble PTX for compute_90, which has no wgmma;
and because between them the names of files in the PTX lose the temporary folder.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from prismc.backend.cuda_module import CudaModule
from prismc.backend.toolchain.compilation import (
    QUIET,
    Compilation,
    ToolchainFailure,
    without_times,
)
from prismc.backend.toolchain.find import find_nvcc
from prismc.backend.toolchain.ptx_files import with_shown_files
from prismc.backend.toolchain.workshop import workshop

_RELEASE = re.compile(r"release (\d+\.\d+)")
# nvcc's own complaints; a stage that "died" has told its reason before.
_OWN_FAILURE = re.compile(r"^nvcc (?:fatal|error)\s*:\s*(?!'.*' died)(.*)$", re.MULTILINE)

# nvcc names functions of its own headers after a hash of the temporary file's path, in symbols and,
# as numbers that may continue on a further line, in debug strings.
_HASHED = re.compile(r"(_INTERNAL_)[0-9a-f]{8}(_)")
_NEXT = r"(?:,|\s*\n\s*\.b8\s+)"
_HASHED_BYTES = re.compile(
    "(" + _NEXT.join(str(byte) for byte in b"_INTERNAL_") + ")"
    "((?:" + _NEXT + r"(?:4[89]|5[0-7]|9[789]|10[0-2])\b){8})"
)

_INPUT = "module.cu"


class Nvcc:
    """The nvcc program. It needs a host C++ compiler, even to write PTX."""

    def __init__(self, program: Path | None = None) -> None:
        """Use `program`, or the one that `find_nvcc` finds. Raises ToolchainFailure."""
        self.program = program or find_nvcc()
        release = _RELEASE.search(self._run(self.program, "--version").stdout)
        self._release = release[1] if release else "of unknown version"

    @property
    def description(self) -> str:
        return f"nvcc {self._release}"

    def compile(self, module: CudaModule, target: str) -> Compilation:
        """PTX and cubin of `module` for `target`; see `Compiler.compile`."""
        with workshop() as folder:
            (folder / _INPUT).write_text(module.text, encoding="utf-8")
            accepted, ptx, log = self._to_ptx(folder, module, target)
            cubin = None
            if ptx is not None and accepted:
                cubin, assembler_log = self._to_cubin(folder, ptx, target)
                log += assembler_log
        return Compilation(
            target=target,
            compiler=self.description,
            log=without_times(log.replace(_INPUT, module.name)),
            ptx=ptx,
            cubin=cubin,
        )

    def _to_ptx(
        self, folder: Path, module: CudaModule, target: str
    ) -> tuple[bool, str | None, str]:
        """Whether nvcc accepts the module, its PTX and the log. The PTX may be there if not."""
        virtual = target.replace("sm_", "compute_")
        run = self._run(
            self.program,
            *("-gencode", f"arch={virtual},code={virtual}", "-ptx", "-lineinfo", "-std=c++17"),
            *("-diag-suppress", QUIET, _INPUT, "-o", "module.ptx"),
            folder=folder,
        )
        log = run.stdout + run.stderr
        if failure := _OWN_FAILURE.search(log):
            raise ToolchainFailure(
                f"{self.description} cannot build for {target}: {failure[1]}",
                "build for another target, install a newer CUDA toolkit, or build with NVRTC",
            )
        written = folder / "module.ptx"
        if not written.exists():
            return False, None, log
        ptx = _without_hashes(written.read_text(encoding="utf-8"))
        ptx = with_shown_files(ptx, module.files, folder)
        return run.returncode == 0, ptx, log

    def _to_cubin(self, folder: Path, ptx: str, target: str) -> tuple[bytes | None, str]:
        (folder / "module.ptx").write_text(ptx, encoding="utf-8")
        run = self._run(
            self.program.with_name("ptxas"),
            *(f"-arch={target}", "-lineinfo", "-v", "module.ptx", "-o", "module.cubin"),
            folder=folder,
        )
        log = run.stdout + run.stderr
        if run.returncode != 0:
            return None, log
        return (folder / "module.cubin").read_bytes(), log

    def _run(
        self, program: Path, *arguments: str, folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [str(program), *arguments],
                cwd=folder,
                capture_output=True,
                check=False,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise ToolchainFailure(
                f"{program} does not start: {error.strerror}", "install the CUDA toolkit anew"
            ) from error


def _without_hashes(ptx: str) -> str:
    """PTX that does not depend on where the temporary folder was."""
    ptx = _HASHED.sub(r"\g<1>00000000\g<2>", ptx)
    return _HASHED_BYTES.sub(lambda match: match[1] + re.sub(r"(?<=[\s,])\d+", "48", match[2]), ptx)
