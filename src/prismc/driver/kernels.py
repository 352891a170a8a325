"""Kernels that can be launched: what of them a launch has to know."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from prismc.source.record import Record

if TYPE_CHECKING:
    from prismc.emulator.names import SharedArray
    from prismc.emulator.ptx.tree import Module


class RunError(Exception):
    """A launch that cannot be made: an unknown kernel, wrong arguments, a file that is missing."""


class Parameter(Record):
    """One parameter of a kernel. `dtype` names a scalar (`f32`, `bf16`, `i32` ...), `type` is as
    the program has it.

    `kind` is `array`, `scalar`, `vector` (of `lanes` scalars) or, for what a PTX text does not
    tell, `unknown`. The address of an array is a multiple of `alignment`. One with a `box` is
    passed as a tensor map: what one copy moves, innermost length last, and the width of its
    `swizzle` in bytes, or `none`.
    """

    name: str
    kind: str
    dtype: str
    is_const: bool = False
    lanes: int = 1
    alignment: int = 1
    box: tuple[int, ...] = ()
    swizzle: str = "none"
    type: str = ""


class Assumption(NamedTuple):
    """A condition of `@assume` as it reads. `holds` is given an argument for each parameter in
    their order: numbers, and addresses for arrays."""

    text: str
    holds: Callable[..., bool]


class Code:
    """The PTX of a program. It is parsed when its module is first asked for, which a launch on a
    GPU never does; PtxError is raised then."""

    def __init__(self, ptx: str, name: str) -> None:
        self.ptx = ptx
        self.name = name

    @cached_property
    def module(self) -> Module:
        from prismc.emulator.ptx.parser import parse_module

        return parse_module(self.ptx, self.name)


class Kernel(Record):
    """A kernel that can be launched: its program's code, what it takes, and what is fixed about its
    launch; `threads` is 0 where the launch must say it. `comment` is the author's."""

    name: str
    code: Code
    parameters: tuple[Parameter, ...]
    threads: int = 0
    cluster: int = 1
    dynamic_shared: int = 0
    shared_arrays: tuple[SharedArray, ...] = ()
    cooperative: bool = False
    assumptions: tuple[Assumption, ...] = ()
    comment: str = ""

    @property
    def module(self) -> Module:
        return self.code.module


def kernels_of_ptx(text: str, name: str) -> tuple[Kernel, ...]:
    """All kernels of a PTX text; their parameters are called a0, a1 and so on. Raises PtxError."""
    code = Code(text, name)
    found = []
    for symbol in code.module.kernels():
        function = code.module.functions[symbol]
        limits = function.limits
        exact = limits.get("reqntid") or ()
        threads = 1
        for extent in exact:
            threads *= extent
        found.append(
            Kernel(
                name=symbol,
                code=code,
                parameters=tuple(
                    Parameter(name=f"a{index}", kind="unknown", dtype=parameter.type_name)
                    for index, parameter in enumerate(function.parameters)
                ),
                threads=threads if exact else 0,
                cluster=limits.get("reqnctapercluster", (1,))[0],
            )
        )
    return tuple(found)


def choose(kernels: tuple[Kernel, ...], name: str | None) -> Kernel:
    """The kernel called `name`, or the only one. Raises RunError."""
    if name is None and len(kernels) == 1:
        return kernels[0]
    for kernel in kernels:
        if kernel.name == name:
            return kernel
    known = ", ".join(kernel.name for kernel in kernels) or "none"
    wanted = "several kernels; name one with `--kernel`" if name is None else f"no kernel `{name}`"
    raise RunError(f"{wanted}: {known}")
