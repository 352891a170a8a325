"""What emission hands to the toolchain: CUDA text, its kernels, and the files its lines name."""

from __future__ import annotations

from functools import cache

from prismc.ir.conditions import Condition
from prismc.source.record import Record, Value
from prismc.source.resources import portable_name
from prismc.source.span import Span

MAP_ALIGNMENT = 64


class KernelParameter(Value):
    """One parameter of a kernel, as the host passes it.

    `scalar` names the scalar of Prism that it is or points to, in vectors of `lanes`. `size` is the
    argument's own in bytes, which is its alignment too, but for tensor maps. These have a `box`,
    innermost length last, and the name of their `swizzle`, "" without one.
    """

    name: str
    scalar: str
    lanes: int
    is_pointer: bool
    is_const: bool
    size: int
    box: tuple[int, ...] = ()
    swizzle: str = ""

    @property
    def is_map(self) -> bool:
        return bool(self.box)

    @property
    def alignment(self) -> int:
        """Of the argument itself; that of a tensor map is stated by `cuda.h`."""
        return MAP_ALIGNMENT if self.is_map else self.size


class KernelEntry(Record):
    """One `extern "C" __global__` function: its symbol, where Prism declares it, its needs.

    `shared` counts all bytes of shared memory, `dynamic_shared` those that the launch must ask for
    (0 where the array is static). `min_blocks` a multiprocessor is 0 where nothing is stated.
    `conditions` are what the launch verifies.
    """

    name: str
    at: Span
    threads: int
    dynamic_shared: int = 0
    shared: int = 0
    parameters: tuple[KernelParameter, ...] = ()
    min_blocks: int = 0
    cluster: int = 1
    cooperative: bool = False
    conditions: tuple[Condition, ...] = ()


class CudaModule(Record):
    """CUDA C++ text for one target or for several that share it.

    `name` is the shown name of the text itself (`saxpy.cu`); `files` are the Prism files that
    its `#line` directives name, each spelled by `spell_file`.
    """

    name: str
    text: str
    kernels: tuple[KernelEntry, ...]
    files: tuple[str, ...]


@cache
def spell_file(name: str) -> str:
    """The spelling of a Prism file name inside `#line N "..."`.

    ptxas cannot parse a `.file` name with an escaped quote, so quotes, backslashes and what does
    not print become `_`.
    """
    shown = portable_name(name)
    return "".join(c if c.isprintable() and c not in '"\\' else "_" for c in shown)
