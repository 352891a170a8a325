"""What a host program needs to know of a module that was built for several targets."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import PurePath

from prismc.backend.cuda_module import CudaModule, KernelEntry
from prismc.source.identifiers import identifier
from prismc.source.record import Record
from prismc.source.version import VERSION


class HostKernel(Record):
    """One kernel; `entry` holds what is the same for all targets, `dynamic_shared` the bytes a
    launch asks for on each of them."""

    entry: KernelEntry
    dynamic_shared: tuple[int, ...]


class HostModule(Record):
    """The kernels of one Prism file. `name` is an identifier made from the file's.

    `signature` is equal exactly where headers and images fit together.
    """

    name: str
    source: str
    targets: tuple[str, ...]
    kernels: tuple[HostKernel, ...]
    signature: str


def host_module(source: str, modules: Sequence[tuple[CudaModule, str]]) -> HostModule:
    """The module of Prism file `source` from its CUDA text for each target ("sm_90a")."""
    targets = tuple(target for _, target in modules)
    columns = zip(*(module.kernels for module, _ in modules), strict=True)
    kernels = tuple(
        HostKernel(entry=column[0], dynamic_shared=tuple(each.dynamic_shared for each in column))
        for column in columns
    )
    return HostModule(
        name=identifier(PurePath(source).stem),
        source=source,
        targets=targets,
        kernels=kernels,
        signature=_signature(targets, kernels),
    )


def _signature(targets: tuple[str, ...], kernels: tuple[HostKernel, ...]) -> str:
    facts = [VERSION, *targets]
    for kernel in kernels:
        entry = kernel.entry
        facts += [entry.name, repr(entry.parameters), repr(kernel.dynamic_shared)]
        facts += [str(entry.threads), str(entry.cluster), str(entry.cooperative)]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]
