"""Prism kernels in Python: watched for faults on NumPy arrays, launched on the arrays of a GPU.

    from prismc.testing import load

    def test_matmul():
        program = load("examples/tf32_matmul.prism")
        program.tf32_matmul[grid](A, B, C, M, N, K)      # C is updated in place
        np.testing.assert_allclose(C, A @ B, rtol=1e-3)

On NumPy arrays a launch runs the very PTX that ships, on the CPU, and watches for races, deadlocks,
accesses out of bounds, uninitialised memory and the other faults that `prismc run` finds.
`KernelFault` carries the findings.

On arrays of CuPy, PyTorch and others that have `__cuda_array_interface__` or DLPack, a launch is
one on the GPU, on the caller's stream: `stream=`, or else the one that the arrays tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prismc.diagnostics.text import render_problems
from prismc.driver.cache import open_cache
from prismc.driver.gpu.arrays import is_on_gpu
from prismc.driver.gpu.device import Gpu
from prismc.driver.inputs import open_root
from prismc.driver.kernels import Kernel, RunError, kernels_of
from prismc.driver.options import Options
from prismc.driver.running import Launch, bind, new_findings, run
from prismc.driver.session import Session
from prismc.driver.testing.device import given_by_name
from prismc.emulator.findings import Finding
from prismc.emulator.report import text_of_findings
from prismc.emulator.schedule import Plan, adversaries
from prismc.hardware.targets import DEFAULT_TARGET, TARGETS, Target
from prismc.source.files import Files, SourceFile
from prismc.source.record import replace

__all__ = ["KernelFault", "LoadError", "Program", "RunError", "load"]


class LoadError(Exception):
    """A Prism file that does not compile; the text holds the diagnostics."""


class KernelFault(AssertionError):
    """A launch with faults: `findings` tells them one by one."""

    def __init__(self, text: str, findings: tuple[Finding, ...]) -> None:
        super().__init__(text)
        self.findings = findings


Defines = Mapping[str, int | float | bool | str] | Sequence[tuple[str, str]]


def load(path: str, *, target: str | None = None, defines: Defines = ()) -> Program:
    """Compiles a Prism file. Raises LoadError with the diagnostics.

    `defines` are other values for constants of the file, as by `-D`. Without a `target`, the CPU
    runs what is compiled for the default one, and a GPU what is compiled for itself.
    """
    if target is not None and target not in TARGETS:
        raise LoadError(f"no target `{target}`; `prismc targets` lists them")
    pairs = defines.items() if isinstance(defines, Mapping) else defines
    chosen = None if target is None else TARGETS[target]
    options = Options(
        target=chosen or DEFAULT_TARGET,
        defines=tuple((name, _told(value)) for name, value in pairs),
        assumptions=True,
    )
    session = Session(options, cache=open_cache())
    root = open_root(session, path)
    kernels = () if root is None else _compiled(session, root)
    if root is None or session.exit_code:
        raise LoadError("\n" + render_problems(session.problems, session.files))
    return Program(session, root, kernels, chosen)


def _told(value: int | float | bool | str) -> str:
    """A value as `-D` has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _compiled(session: Session, root: SourceFile) -> tuple[Kernel, ...]:
    kernels = kernels_of(session, root)
    if session.exit_code:
        raise LoadError("\n" + render_problems(session.problems, session.files))
    return kernels


class Program:
    """The kernels of a file, as attributes."""

    def __init__(
        self,
        session: Session,
        root: SourceFile,
        kernels: tuple[Kernel, ...],
        target: Target | None,
    ) -> None:
        self._session = session
        self._root = root
        self._kernels = {kernel.name: kernel for kernel in kernels}
        self._target = target
        self._gpu: Gpu | None = None

    def __getattr__(self, name: str) -> LaunchableKernel:
        try:
            return LaunchableKernel(self, self._kernels[name])
        except KeyError:
            known = ", ".join(self._kernels) or "none"
            raise AttributeError(f"no kernel `{name}` (kernels: {known})") from None

    @property
    def _files(self) -> Files:
        return self._session.files

    def _on_gpu(self) -> Gpu:
        """The GPU with this program's kernels. Raises RunError where there is none."""
        if self._gpu is None:
            self._gpu = Gpu(self._compiled_for, self._target)
        return self._gpu

    def _compiled_for(self, target: Target) -> tuple[Kernel, ...]:
        """The kernels for a GPU; what is assumed is not checked there."""
        options = replace(self._session.options, target=target, assumptions=False)
        return _compiled(self._session.branch(options), self._root)


class LaunchableKernel:
    """A kernel; `kernel[grid]` is ready to be called."""

    def __init__(self, program: Program, kernel: Kernel) -> None:
        self._program = program
        self._kernel = kernel

    def __getitem__(self, grid: int | tuple[int, ...]) -> KernelLauncher:
        extents = grid if isinstance(grid, tuple) else (grid,)
        return KernelLauncher(self._program, self._kernel, extents)


class KernelLauncher:
    """A kernel with a grid. Arguments are given in the kernel's order or by name."""

    def __init__(self, program: Program, kernel: Kernel, grid: tuple[int, ...]) -> None:
        self._program = program
        self._kernel = kernel
        self._grid = grid

    def __call__(
        self,
        *arguments: Any,
        schedules: int = 1,
        seed: int = 0,
        time_limit: float | None = None,
        stream: Any = None,
        **named: Any,
    ) -> None:
        """On the CPU, runs over `schedules` schedules and stores the last run's results into the
        arrays. On a GPU, launches once, on `stream`, and does not wait.

        Raises RunError for arguments that do not fit, KernelFault when anything is found.
        """
        given = given_by_name(self._kernel.parameters, arguments, named)
        if any(is_on_gpu(value) for value in given.values()):
            self._program._on_gpu().launch(self._kernel.name, self._grid, given, stream)
            return
        if stream is not None:
            raise RunError("`stream` is for arrays of a GPU, and there is none among the arguments")
        bound = bind(self._kernel, given)
        plans: Sequence[Plan] = adversaries(schedules, seed)
        outcomes = list(run(bound, Launch(grid=self._grid), plans, time_limit=time_limit))
        found = new_findings(outcomes)
        if found:
            text = text_of_findings(found, self._kernel.module, self._program._files)
            raise KernelFault("\n" + text, found)
        for name, array in outcomes[-1].arrays.items():
            if not next(p for p in self._kernel.parameters if p.name == name).is_const:
                given[name][...] = array
