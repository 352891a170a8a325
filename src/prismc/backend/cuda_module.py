"""What emission hands to the toolchain: CUDA text, its kernels, and the files its lines name."""

from __future__ import annotations

from prismc.source.record import Record
from prismc.source.resources import stdlib_folder
from prismc.source.span import Span


class KernelEntry(Record):
    """One `extern "C" __global__` function: its symbol, where Prism declares it, its needs.

    `dynamic_shared` counts bytes the launch must ask for (0 where the array is static).
    """

    name: str
    at: Span
    threads: int
    dynamic_shared: int = 0


class CudaModule(Record):
    """CUDA C++ text for one target or for several that share it.

    `name` is the shown name of the text itself (`saxpy.cu`); `files` are the Prism files that
    its `#line` directives name, each spelled by `spell_file`.
    """

    name: str
    text: str
    kernels: tuple[KernelEntry, ...]
    files: tuple[str, ...]


def spell_file(name: str) -> str:
    """The spelling of a Prism file name inside `#line N "..."`.

    The standard library is `std/..` wherever it is installed, so that outputs do not depend on it.
    ptxas cannot parse a `.file` name with an escaped quote, so quotes, backslashes and what does
    not print become `_`.
    """
    library = f"{stdlib_folder()}/"
    if name.startswith(library):
        name = f"std/{name[len(library) :]}"
    return "".join(c if c.isprintable() and c not in '"\\' else "_" for c in name)
