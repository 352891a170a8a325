"""What a CUDA compiler is to prismc: the same call and the same answer for NVRTC and nvcc."""

from __future__ import annotations

from typing import Protocol

from prismc.backend.cuda_module import CudaModule
from prismc.source.record import Record

# Warnings that only speak of how generated code looks: a name declared or set but never used
# (177, 550), code that cannot be reached (111, 128), an unsigned compared with zero (186), a value
# read before it is set (549: the checker judges that, on every path).
QUIET = "177,550,111,128,186,549"


class Compilation(Record):
    """One compiler run for one target.

    `ptx` may be there though the run failed (the assembler refused it); `cubin` is there exactly
    when it succeeded. `log` is the compilers' text without times.
    """

    target: str
    compiler: str
    log: str
    ptx: str | None
    cubin: bytes | None


class Compiler(Protocol):
    """NVRTC or nvcc."""

    @property
    def description(self) -> str:
        """Name and version, "NVRTC 13.5": part of the key of any cache of results."""

    def compile(self, module: CudaModule, target: str) -> Compilation:
        """Compile for `target` ("sm_90a"). Raises ToolchainFailure when the tool cannot run."""


class ToolchainFailure(Exception):
    """The tool is missing, does not start, or does not know the target; no program is at fault."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.reason, self.remedy = reason, remedy


def without_times(log: str) -> str:
    """The log without ptxas's timing lines, so that equal inputs give equal logs."""
    lines = (line for line in log.splitlines() if "Compile time =" not in line)
    return "\n".join(line.rstrip() for line in lines).strip("\n")
