"""What the memory pass finds: where shared arrays lie and how much each instance needs."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType

from prismc.checker.types.typed import Variable
from prismc.source.record import Record, Value


class Replica(Value):
    """One factor of "one array for each unit that runs the declaration".

    The units are the `count` groups of `size` threads in the code around the `Group` statement with
    id `group`; 0 names the code at the declaration or call itself.
    """

    group: int
    size: int
    count: int


class SharedArray(Record):
    """One shared array: `offset` bytes from its instance's shared base, `size` bytes in all.

    With `replicas` (outermost first) there is one array for each combination of units, `stride`
    bytes apart, the last factor running fastest.
    """

    variable: Variable
    offset: int
    size: int
    stride: int
    replicas: tuple[Replica, ...]


class CallMemory(Record):
    """Where a callee's shared memory starts: `base` bytes from the caller's base, and one copy for
    each unit of `replicas` that makes the call, `stride` bytes apart."""

    base: int
    stride: int
    replicas: tuple[Replica, ...]


class MemoryFacts(Record):
    """Shared memory, in bytes.

    `arrays` by the variable's id; `need` by symbol, callees included; `calls` by the id of each
    call whose callee needs shared memory; `alignment` by symbol: what the base is a multiple of.
    `mbarriers` tells for each kernel that has some where its area for them starts. In the instances
    of `sharing` some bytes are used again by a later scope.
    """

    arrays: Mapping[int, SharedArray]
    need: Mapping[str, int]
    alignment: Mapping[str, int]
    calls: Mapping[int, CallMemory]
    mbarriers: Mapping[str, int] = MappingProxyType({})
    sharing: tuple[str, ...] = ()


def copies(replicas: tuple[Replica, ...]) -> int:
    """How many copies the factors make."""
    return prod(replica.count for replica in replicas)


def table_line(array: SharedArray) -> str:
    """An array as a line of a table of buffers."""
    number = f" ({copies(array.replicas)} copies)" if array.replicas else ""
    return f"{array.variable.name}: {array.size} bytes at {array.offset}{number}"
