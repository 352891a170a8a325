"""What `@effects(..)` says of a function."""

from __future__ import annotations

from prismc.checker.types.typed import Expression, Variable
from prismc.hardware.asynchronous import Agent, Completion
from prismc.hardware.groups import Perspective
from prismc.source.record import Record
from prismc.source.span import Span


class Extent(Record):
    """What of a parameter's memory is read or written (`is_write`): `bytes` bytes from `element`
    on, both over the parameters. Without it, anything. With `block` it is the memory of that block
    of the cluster."""

    parameter: Variable
    is_write: bool
    element: Expression | None
    bytes: Expression
    block: Expression | None = None


class Box(Record):
    """Which box of a tensor map's array is read or written (`is_write`): the one that starts at
    `corner`, a number for each dimension over the parameters, innermost first."""

    parameter: Variable
    is_write: bool
    corner: tuple[Expression, ...]


class Effects(Record):
    """What `@effects(..)` declares, names resolved; None in an instance means undeclared.

    Accesses through `atomic` parameters are atomic among the threads of `scope`; `needs` holds
    words as written. With `completes` the effects on `async` parameters, and the reads, end later;
    `bytes`, over the parameters, is what an mbarrier counts.
    """

    reads: tuple[Variable, ...]
    writes: tuple[Variable, ...]
    scope: Perspective | None
    syncs: Perspective | None
    agent: Agent
    completes: Completion | None
    bytes: Expression | None
    needs: tuple[str, ...]
    span: Span
    extents: tuple[Extent, ...] = ()
    boxes: tuple[Box, ...] = ()
