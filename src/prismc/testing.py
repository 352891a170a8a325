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

import os
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from prismc.diagnostics.text import render_problems
from prismc.driver.cache import open_cache
from prismc.driver.compiling import Compiled, compiled_file, compiled_images
from prismc.driver.inputs import open_root
from prismc.driver.kernels import Kernel, RunError
from prismc.driver.launching import (
    Described,
    Device,
    Grid,
    How,
    KernelFault,
    Places,
    blocks_of,
    for_python,
)
from prismc.driver.options import Options
from prismc.driver.session import Session
from prismc.hardware.targets import DEFAULT_TARGET, TARGETS, Target
from prismc.source.files import SourceFile
from prismc.source.record import replace

__all__ = ["KernelFault", "LoadError", "Program", "RunError", "load"]


AGAIN = "load it in each process"


class LoadError(Exception):
    """A Prism file that does not compile; the text holds the diagnostics."""


PathLike = str | bytes | os.PathLike[str]
Constant = int | float | bool | str
Defines = Mapping[str, Constant] | Iterable[tuple[str, Constant]]


def load(
    path: PathLike,
    *,
    target: str | None = None,
    defines: Defines = (),
    include: PathLike | Iterable[PathLike] = (),
) -> Program:
    """Compiles a Prism file. Raises LoadError with the diagnostics.

    `defines` are other values for constants of the file, as by `-D`; TypeError is raised for what
    can be none. `include` are folders that imports are looked up in, as by `-I`. Without a
    `target`, the CPU runs what is compiled for the default one, and a GPU what is compiled for
    itself.
    """
    if target is not None and target not in TARGETS:
        raise LoadError(f"no target `{target}`; `prismc targets` lists them")
    chosen = None if target is None else TARGETS[target]
    options = Options(
        target=chosen or DEFAULT_TARGET,
        defines=_definitions(defines),
        include=_folders(include),
        assumptions=True,
    )
    session = Session(options, cache=open_cache())
    root = open_root(session, os.fsdecode(path))
    if root is None:
        raise LoadError("\n" + render_problems(session.problems, session.files))
    return Program(session, root, _compiled(session, root).kernels, chosen)


def _folders(include: PathLike | Iterable[PathLike]) -> tuple[str, ...]:
    """What `-I` would be given: one folder, or several."""
    if isinstance(include, str | bytes | os.PathLike):
        include = (include,)
    return tuple(os.fsdecode(folder) for folder in include)


def _definitions(defines: Defines) -> tuple[tuple[str, str], ...]:
    """What `-D` would be given. Raises TypeError."""
    pairs: Iterable[Any] = defines.items() if isinstance(defines, Mapping) else defines
    found = []
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"`defines` holds names with values, not {pair!r}")
        name, value = pair
        plain = value.item() if hasattr(value, "item") else value
        if not isinstance(name, str) or not isinstance(plain, Constant):
            raise TypeError(
                f"`defines` gives {name!r} the value {value!r}: names are text, values are "
                "numbers, bools or text as after `-D`"
            )
        found.append((name, str(plain).lower() if isinstance(plain, bool) else str(plain)))
    return tuple(found)


def _compiled(session: Session, root: SourceFile) -> Compiled:
    compiled = compiled_file(session, root)
    if compiled is None or session.exit_code:
        raise LoadError("\n" + render_problems(session.problems, session.files))
    return compiled


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
        self._kernels = {kernel.name: for_python(kernel) for kernel in kernels}
        self._places = Places(compiled_images(self._compiled_for, target), session.files)

    def __getattr__(self, name: str) -> LaunchableKernel:
        try:
            return LaunchableKernel(self._kernels[name], self._places)
        except KeyError:
            known = ", ".join(self._kernels) or "none"
            raise AttributeError(f"no kernel `{name}` (kernels: {known})") from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._kernels})

    def __repr__(self) -> str:
        return f"<Prism program {self._root.name!r}: {', '.join(self._kernels) or 'no kernels'}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a Prism program cannot be pickled or copied: {AGAIN}")

    def _compiled_for(self, target: Target) -> Compiled:
        """The kernels for a GPU; what is assumed is not checked there."""
        options = replace(self._session.options, target=target, assumptions=False)
        compiled = _compiled(self._session.branch(options), self._root)
        return compiled._replace(kernels=tuple(map(for_python, compiled.kernels)))


class LaunchableKernel(Described):
    """A kernel; `kernel[blocks]` is ready to be called."""

    def __init__(self, kernel: Kernel, places: Places) -> None:
        super().__init__(kernel, AGAIN)
        self._places = places

    def __getitem__(self, grid: Grid) -> KernelLauncher:
        """Raises RunError for what is no number of blocks."""
        return KernelLauncher(self._kernel, self._places, blocks_of(self._kernel, grid))

    def __call__(self, *arguments: Any, **named: Any) -> NoReturn:
        """Raises RunError: a launch has a number of blocks."""
        name = self._kernel.name
        raise RunError(f"kernel `{name}`: say how many blocks there are: {name}[blocks](..)")


class KernelLauncher(Described):
    """A kernel with its blocks. Arguments are given in the kernel's order or by name."""

    def __init__(self, kernel: Kernel, places: Places, blocks: int) -> None:
        super().__init__(kernel, AGAIN)
        self._places = places
        self._blocks = blocks

    def __call__(
        self,
        *arguments: Any,
        stream: Any = None,
        device: Device | None = None,
        schedules: int = 1,
        seed: int = 0,
        time_limit: float | None = None,
        **named: Any,
    ) -> None:
        """On the CPU, runs over `schedules` schedules and stores the last run's results into the
        arrays. On a GPU, launches once, on `stream`, and does not wait.

        Raises RunError for arguments that do not fit, KernelFault when anything is found.
        """
        how = How(
            stream=stream, device=device, schedules=schedules, seed=seed, time_limit=time_limit
        )
        self._places.launch(self._kernel, self._blocks, arguments, named, how)
