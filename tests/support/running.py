"""Build a program to PTX in this process and run it on the emulator, under several schedules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prismc.checker.results import CheckedProgram
from prismc.checker.types import typed
from prismc.checker.types.model import PointerType, TensorMapType
from prismc.driver.build import Emit, build_file
from prismc.driver.pipeline import CHECKS, run_stages
from prismc.driver.session import Session
from prismc.emulator.api import RunResult, run_ptx
from prismc.emulator.host import Buffer, Tensor
from prismc.emulator.ptx.parser import parse_module
from prismc.emulator.ptx.tree import Module
from prismc.emulator.schedule import Plan
from prismc.hardware.targets import TARGETS
from prismc.source.files import SourceFile
from prismc.source.record import replace
from support.checking import all_words, check_texts

Array = npt.NDArray[Any]


class Compiled:
    """One root file compiled for one target: its PTX and what is known of its kernels."""

    def __init__(self, session: Session, file: SourceFile, target: str) -> None:
        checked = run_stages(session, file, CHECKS)
        built = build_file(
            session, file, [TARGETS[target]], [Emit.PTX], lambda _, __: Path("unwritten.ptx")
        )
        if built is None or checked is None:
            raise AssertionError("\n".join(all_words(problem) for problem in session.problems))
        self.checked: CheckedProgram = checked
        self.ptx = bytes(built.outputs[0].content).decode()

    @cached_property
    def module(self) -> Module:
        """The PTX as the emulator reads it."""
        return parse_module(self.ptx)

    def kernel(self, name: str | None = None) -> typed.Instance:
        """The kernel of that name, or the only one."""
        bodies = self.checked.program.bodies.values()
        kernels = [body.instance for body in bodies if body.instance.is_kernel]
        found = [kernel for kernel in kernels if name in (None, kernel.name, kernel.symbol)]
        assert len(found) == 1, f"which kernel? {[kernel.name for kernel in kernels]}"
        return found[0]

    def run(
        self,
        blocks: int,
        arguments: Mapping[str, Array | float],
        kernel: str | None = None,
        plan: Plan | None = None,
        time_limit: float = 60,
    ) -> dict[str, Array]:
        """Launch a kernel; the arrays afterwards by parameter name. The limit is in seconds.

        Raises AssertionError when the emulator finds a fault.
        """
        result = self.launch(blocks, arguments, kernel, plan, time_limit)
        assert not result.findings, "\n".join(str(finding) for finding in result.findings)
        return self.outputs(result, kernel)

    def outputs(self, result: RunResult, kernel: str | None = None) -> dict[str, Array]:
        """The arrays after a launch by parameter name."""
        parameters = self.kernel(kernel).parameters
        return {
            parameter.name: output
            for parameter, output in zip(parameters, result.outputs, strict=True)
            if output is not None
        }

    def launch(
        self,
        blocks: int,
        arguments: Mapping[str, Array | float],
        kernel: str | None = None,
        plan: Plan | None = None,
        time_limit: float = 60,
    ) -> RunResult:
        """Launch a kernel; what it left behind and what was found."""
        instance = self.kernel(kernel)
        assert instance.launch is not None
        values = [_argument(parameter, arguments) for parameter in instance.parameters]
        need = self.checked.memory.need[instance.symbol]
        return run_ptx(
            self.module,
            instance.symbol,
            blocks,
            instance.launch.threads,
            values,
            dynamic_shared=need if need > 48 * 1024 else 0,
            plan=plan or Plan(),
            time_limit=time_limit,
        )


def _argument(parameter: typed.Variable, arguments: Mapping[str, Array | float]) -> Any:
    value = arguments[parameter.name]
    if isinstance(parameter.type, TensorMapType):
        swizzle = parameter.type.swizzle.removeprefix("swizzle") or "none"
        array, box = np.asarray(value), parameter.type.box
        return Tensor(array=array, box=box, swizzle=swizzle, name=parameter.name)
    if isinstance(parameter.type, PointerType) and not isinstance(value, Buffer):
        return Buffer(array=np.asarray(value), name=parameter.name)
    return value


def compile_texts(
    texts: Mapping[str, str], root: str, flags: str = "", dropped: tuple[int, ...] = ()
) -> Compiled:
    """Compile `root` among the files `texts` for the (last) target that `flags` name, without the
    planned operations of the numbers `dropped`."""
    session = check_texts(texts, root, flags)
    session.options = replace(session.options, dropped_sync=dropped)
    return Compiled(session, session.files.known(root), session.options.target.name)


def compile_file(path: Path, target: str = "sm_80", dropped: tuple[int, ...] = ()) -> Compiled:
    """Compile a file on the disk; see `compile_texts`."""
    texts = {str(path): path.read_text(encoding="utf-8")}
    return compile_texts(texts, str(path), f"--target {target}", dropped)
