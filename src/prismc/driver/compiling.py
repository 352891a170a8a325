"""Kernels compiled from Prism for the PTX machine and for GPUs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from prismc.backend.host.images import images_of
from prismc.backend.host.python_formulas import ARITHMETIC, python_condition
from prismc.backend.host.types import launch_facts
from prismc.driver import arithmetic
from prismc.driver.build import compiled_module
from prismc.driver.declared import comment_of
from prismc.driver.gpu.images import Device, Images, Loadable
from prismc.driver.kernels import Assumption, Code, Kernel, Parameter
from prismc.driver.pipeline import EMITS, run_stages
from prismc.driver.session import Session
from prismc.driver.symbols import shared_arrays
from prismc.hardware.targets import Target, nearest
from prismc.source.files import SourceFile

if TYPE_CHECKING:
    from prismc.backend.cuda_module import KernelEntry
    from prismc.backend.toolchain.build import Binary

_NAMESPACE = {ARITHMETIC: arithmetic}


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
            parameters=tuple(Parameter(**launch_facts(each)) for each in entry.parameters),
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


def _assumptions(entry: KernelEntry) -> tuple[Assumption, ...]:
    """What a launch verifies; what no host can compute is left to the kernel's own checks."""
    names = [parameter.name for parameter in entry.parameters]
    return tuple(
        Assumption(condition.text, eval(python_condition(condition, names), _NAMESPACE))
        for condition in entry.conditions
        if condition.formula is not None
    )


def compiled_images(compile_for: Callable[[Target], Compiled], target: Target | None) -> Images:
    """Images of a program that is compiled for the device, unless `target` is chosen."""

    def images(device: Device) -> list[Loadable]:
        kernels, binary = compile_for(target or nearest(device.capability))
        return [Loadable(image=image, kernels=kernels) for image in images_of([binary])]

    return images
