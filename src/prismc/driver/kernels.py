"""Kernels made ready for the PTX machine: compiled from Prism, or taken from PTX text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from prismc.checker.alignment.launch import broken_assumptions
from prismc.driver.build import compiled_module
from prismc.driver.pipeline import EMITS, run_stages
from prismc.driver.session import Session
from prismc.driver.symbols import shared_arrays
from prismc.source.files import SourceFile
from prismc.source.record import Record

if TYPE_CHECKING:
    from prismc.emulator.names import SharedArray
    from prismc.emulator.ptx.tree import Module
    from prismc.ir.types import Type


class RunError(Exception):
    """A launch that cannot be made: an unknown kernel, wrong arguments, a file that is missing."""


class Parameter(Record):
    """One parameter of a kernel. `dtype` names a scalar (`f32`, `bf16`, `i32` ...).

    `kind` is `array`, `scalar` or, for what a PTX text does not tell, `unknown`. An array with a
    `box` is passed as a tensor map: what one copy moves, innermost length last, and the width of
    its `swizzle` in bytes, or `none`.
    """

    name: str
    kind: str
    dtype: str
    is_const: bool = False
    box: tuple[int, ...] = ()
    swizzle: str = "none"


class Kernel(Record):
    """A kernel that can be launched: its PTX, what it takes, and what is fixed about its launch.

    `threads` is 0 where the launch must say it. `broken` tells which conditions of `@assume` do not
    hold for integer arguments by name. `ptx` and `cubin` are those of the whole program.
    """

    name: str
    module: Module
    parameters: tuple[Parameter, ...]
    threads: int = 0
    cluster: int = 1
    dynamic_shared: int = 0
    shared_arrays: tuple[SharedArray, ...] = ()
    cooperative: bool = False
    ptx: str = ""
    cubin: bytes = b""
    broken: Callable[[Mapping[str, int]], tuple[str, ...]] | None = None


def kernels_of(session: Session, file: SourceFile) -> tuple[Kernel, ...]:
    """All kernels of a Prism file, compiled for the session's target; none after a problem."""
    from prismc.emulator.ptx.parser import parse_module

    facts: dict[str, Any] = {}
    emitted = run_stages(session, file, EMITS, facts)
    binary = None if emitted is None else compiled_module(session, emitted)
    if binary is None or session.sink.has_errors():
        return ()
    module = parse_module(binary.ptx, file.name)
    dynamic = {entry.name: entry.dynamic_shared for entry in emitted.kernels}
    return tuple(
        Kernel(
            name=function.symbol,
            module=module,
            parameters=tuple(_parameter(value.hint, value.type) for value in function.parameters),
            threads=function.launch.threads,
            cluster=function.launch.cluster,
            cooperative=function.launch.cooperative,
            ptx=binary.ptx,
            cubin=binary.cubin,
            dynamic_shared=dynamic.get(function.symbol, 0),
            shared_arrays=shared_arrays(facts["check"], function.symbol),
            broken=partial(broken_assumptions, facts["check"].program, function.symbol),
        )
        for function in facts["optimise"].module.functions
        if function.launch is not None
    )


def _parameter(name: str, type_: Type) -> Parameter:
    from prismc.ir.types import MapType, PointerType, ScalarType

    if isinstance(type_, MapType):
        width = type_.swizzle.removeprefix("swizzle") or "none"
        dtype = type_.element.name
        return Parameter(name=name, kind="array", dtype=dtype, box=type_.box, swizzle=width)
    if isinstance(type_, PointerType):
        element = type_.element
        scalar = element.scalar if isinstance(element, ScalarType) else element.element
        return Parameter(name=name, kind="array", dtype=scalar.name, is_const=type_.is_const)
    if isinstance(type_, ScalarType):
        return Parameter(name=name, kind="scalar", dtype=type_.scalar.name)
    return Parameter(name=name, kind="unknown", dtype="")


def kernels_of_ptx(text: str, name: str) -> tuple[Kernel, ...]:
    """All kernels of a PTX text; their parameters are called a0, a1 and so on. Raises PtxError."""
    from prismc.emulator.ptx.parser import parse_module

    module = parse_module(text, name)
    found = []
    for symbol in module.kernels():
        function = module.functions[symbol]
        limits = function.limits
        exact = limits.get("reqntid") or ()
        threads = 1
        for extent in exact:
            threads *= extent
        found.append(
            Kernel(
                name=symbol,
                module=module,
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
