"""Prism kernels in Python tests: run on NumPy arrays, faults raised as exceptions.

    from prismc.testing import load

    def test_matmul():
        program = load("examples/tf32_matmul.prism")
        program.tf32_matmul[grid](A, B, C, M, N, K)      # C is updated in place
        np.testing.assert_allclose(C, A @ B, rtol=1e-3)

A launch runs the very PTX that ships, on the CPU, and watches for races, deadlocks, accesses out of
bounds, uninitialised memory and the other faults that `prismc run` finds. `KernelFault` carries the
findings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prismc.diagnostics.text import render_problems
from prismc.driver.cache import open_cache
from prismc.driver.inputs import open_root
from prismc.driver.kernels import Kernel, RunError, kernels_of
from prismc.driver.options import Options
from prismc.driver.running import Launch, bind, new_findings, run
from prismc.driver.session import Session
from prismc.emulator.findings import Finding
from prismc.emulator.report import text_of_findings
from prismc.emulator.schedule import Plan, adversaries
from prismc.hardware.targets import TARGETS

__all__ = ["KernelFault", "LoadError", "Program", "RunError", "load"]


class LoadError(Exception):
    """A Prism file that does not compile; the text holds the diagnostics."""


class KernelFault(AssertionError):
    """A launch with faults: `findings` tells them one by one."""

    def __init__(self, text: str, findings: tuple[Finding, ...]) -> None:
        super().__init__(text)
        self.findings = findings


def load(path: str, *, target: str = "sm_80", defines: Sequence[tuple[str, str]] = ()) -> Program:
    """Compiles a Prism file. Raises LoadError with the diagnostics."""
    options = Options(target=TARGETS[target], defines=tuple(defines), assumptions=True)
    session = Session(options, cache=open_cache())
    root = open_root(session, path)
    kernels = () if root is None else kernels_of(session, root)
    if session.exit_code:
        raise LoadError("\n" + render_problems(session.problems, session.files))
    return Program(kernels)


class Program:
    """The kernels of a file, as attributes."""

    def __init__(self, kernels: tuple[Kernel, ...]) -> None:
        self._kernels = {kernel.name: kernel for kernel in kernels}

    def __getattr__(self, name: str) -> LaunchableKernel:
        try:
            return LaunchableKernel(self._kernels[name])
        except KeyError:
            known = ", ".join(self._kernels) or "none"
            raise AttributeError(f"no kernel `{name}` (kernels: {known})") from None


class LaunchableKernel:
    """A kernel; `kernel[grid]` is ready to be called."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def __getitem__(self, grid: int | tuple[int, ...]) -> KernelLauncher:
        extents = grid if isinstance(grid, tuple) else (grid,)
        return KernelLauncher(self._kernel, extents)


class KernelLauncher:
    """A kernel with a grid. Arguments are given in the kernel's order or by name."""

    def __init__(self, kernel: Kernel, grid: tuple[int, ...]) -> None:
        self._kernel = kernel
        self._grid = grid

    def __call__(
        self,
        *arguments: Any,
        schedules: int = 1,
        seed: int = 0,
        time_limit: float | None = None,
        **named: Any,
    ) -> None:
        """Runs over `schedules` schedules and stores the last run's results into the arrays.

        Raises RunError for arguments that do not fit, KernelFault when anything is found.
        """
        names = [parameter.name for parameter in self._kernel.parameters]
        if len(arguments) > len(names):
            raise RunError(f"{len(arguments)} arguments for {len(names)} parameters")
        given = dict(zip(names, arguments, strict=False)) | named
        bound = bind(self._kernel, given)
        plans: Sequence[Plan] = adversaries(schedules, seed)
        outcomes = list(run(bound, Launch(grid=self._grid), plans, time_limit=time_limit))
        found = new_findings(outcomes)
        if found:
            raise KernelFault("\n" + text_of_findings(found, self._kernel.module), found)
        for name, array in outcomes[-1].arrays.items():
            if not next(p for p in self._kernel.parameters if p.name == name).is_const:
                given[name][...] = array
