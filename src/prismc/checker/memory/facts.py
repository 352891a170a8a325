"""What the memory pass finds: where shared arrays lie and how much each instance needs."""

from __future__ import annotations

from collections.abc import Mapping

from prismc.checker.types.typed import Variable
from prismc.source.record import Record


class SharedArray(Record):
    """One shared array: `offset` bytes from its instance's shared base, `size` bytes in all.

    For `@ thread[m]` there is one array for each unit: `copies` of them, `stride` bytes apart.
    """

    variable: Variable
    offset: int
    size: int
    copies: int
    stride: int


class MemoryFacts(Record):
    """Shared memory, in bytes.

    `arrays` by the variable's id; `need` by symbol, callees included; `call_base` by the id of each
    call whose callee needs shared memory: where the callee's memory starts, relative to the
    caller's base; `alignment` by symbol: what the base must be a multiple of.
    """

    arrays: Mapping[int, SharedArray]
    need: Mapping[str, int]
    alignment: Mapping[str, int]
    call_base: Mapping[int, int]
