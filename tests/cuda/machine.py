"""IR text to results: emitted, compiled by NVRTC for a target, run on the PTX machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from prismc.backend.cuda.emit_functions import write_functions
from prismc.backend.cuda.emit_module import emit_module
from prismc.backend.cuda_module import CudaModule
from prismc.backend.toolchain.build import Binary, compile_module
from prismc.backend.toolchain.nvrtc import Nvrtc
from prismc.diagnostics.sink import Sink
from prismc.emulator.api import run_ptx
from prismc.emulator.host import Argument
from prismc.hardware.targets import TARGETS
from prismc.ir.core import Module
from prismc.ir.parser import parse_module
from prismc.ir.verifier import verify_module
from prismc.source.files import Files


@cache
def nvrtc() -> Nvrtc:
    return Nvrtc()


def emitted(ir: str | Module, target: str = "sm_80") -> CudaModule:
    """The CUDA text of an IR module, which must be legal."""
    module = parse_module(ir) if isinstance(ir, str) else ir
    verify_module(module)
    device = TARGETS[target]
    written = write_functions(module, device.static_shared_limit, Files())
    return emit_module(written, device, "test.cu")


def built(ir: str | Module, target: str = "sm_80") -> Binary:
    """The module compiled without a problem."""
    sink = Sink()
    module = emitted(ir, target)
    binary = compile_module(module, target, nvrtc(), Files(), sink)
    assert not sink.problems(), "\n".join(p.shown_message() for p in sink.problems()) + module.text
    assert binary is not None
    return binary


def run(
    binary: Binary, arguments: Sequence[Argument], kernel: str | None = None, threads: int = 32
) -> list[npt.NDArray[np.generic] | None]:
    """What one block leaves in the array arguments; nothing may be found wrong on the way."""
    result = run_ptx(binary.ptx, kernel, 1, threads, arguments)
    assert not result.findings, [str(finding) for finding in result.findings]
    return list(result.outputs)
