"""Kernels made ready for the PTX machine: compiled from Prism, or taken from PTX text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from prismc.backend.host.python_formulas import ARITHMETIC, python_condition
from prismc.backend.host.types import pointee_alignment, prism_type
from prismc.driver import arithmetic
from prismc.driver.build import compiled_module
from prismc.driver.declared import comment_of
from prismc.driver.pipeline import EMITS, run_stages
from prismc.driver.session import Session
from prismc.driver.symbols import shared_arrays
from prismc.source.files import SourceFile
from prismc.source.record import Record

if TYPE_CHECKING:
    from prismc.backend.cuda_module import KernelEntry, KernelParameter
    from prismc.backend.toolchain.build import Binary
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


class Compiled(NamedTuple):
    """The kernels of a file, and the machine code of all of them."""

    kernels: tuple[Kernel, ...]
    binary: Binary


def kernels_of(session: Session, file: SourceFile) -> tuple[Kernel, ...]:
    """All kernels of a Prism file, compiled for the session's target; none after a problem."""
    compiled = compiled_file(session, file)
    return () if compiled is None else compiled.kernels


def compiled_file(session: Session, file: SourceFile) -> Compiled | None:
    """A Prism file compiled for the session's target; None after a problem."""
    facts: dict[str, Any] = {}
    emitted = run_stages(session, file, EMITS, facts)
    binary = None if emitted is None else compiled_module(session, emitted)
    if binary is None or session.sink.has_errors():
        return None
    code = Code(binary.ptx, file.name)
    kernels = tuple(
        Kernel(
            name=entry.name,
            code=code,
            parameters=tuple(map(parameter_of, entry.parameters)),
            threads=entry.threads,
            cluster=entry.cluster,
            cooperative=entry.cooperative,
            dynamic_shared=entry.dynamic_shared,
            shared_arrays=shared_arrays(facts["check"], entry.name),
            assumptions=_assumptions(entry),
            comment=comment_of(session, entry.at),
        )
        for entry in emitted.kernels
    )
    return Compiled(kernels, binary)


def parameter_of(parameter: KernelParameter) -> Parameter:
    """A parameter of a compiled kernel, as launches see it."""
    is_array = parameter.is_pointer or parameter.is_map
    kind = "array" if is_array else "vector" if parameter.lanes > 1 else "scalar"
    return Parameter(
        name=parameter.name,
        kind=kind,
        dtype=parameter.scalar,
        is_const=parameter.is_const,
        lanes=parameter.lanes,
        alignment=pointee_alignment(parameter) or 1,
        box=parameter.box,
        swizzle=parameter.swizzle.removeprefix("swizzle") or "none",
        type=prism_type(parameter),
    )


def _assumptions(entry: KernelEntry) -> tuple[Assumption, ...]:
    """What a launch verifies; what no host can compute is left to the kernel's own checks."""
    names = [parameter.name for parameter in entry.parameters]
    return tuple(
        Assumption(condition.text, eval(python_condition(condition, names), _NAMESPACE))
        for condition in entry.conditions
        if condition.formula is not None
    )


_NAMESPACE = {ARITHMETIC: arithmetic}


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
