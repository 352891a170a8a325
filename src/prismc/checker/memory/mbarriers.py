"""Charges the compiler's own mbarriers to the shared memory of kernels.

They stand behind the arrays, so that nothing moves, and share no bytes with data: an mbarrier that
is overwritten is undefined (PTX ISA, "mbarrier.init").
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from prismc.checker.memory.errors import SharedBudget, SharedLimit
from prismc.checker.memory.facts import MemoryFacts, table_line
from prismc.checker.types import typed
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.hardware.primitives import MBARRIER_BYTES
from prismc.hardware.targets import Target
from prismc.source.record import replace


def charge_mbarriers(
    program: typed.Program,
    memory: MemoryFacts,
    areas: Mapping[str, int],
    target: Target,
    sink: Sink,
) -> MemoryFacts:
    """The facts with an area for `areas[symbol]` mbarriers in each of these kernels."""
    need, alignment = dict(memory.need), dict(memory.alignment)
    starts: dict[str, int] = {}
    for symbol, count in areas.items():
        before = need.get(symbol, 0)
        starts[symbol] = -(-before // MBARRIER_BYTES) * MBARRIER_BYTES
        need[symbol] = starts[symbol] + count * MBARRIER_BYTES
        alignment[symbol] = max(alignment.get(symbol, 1), MBARRIER_BYTES)
        _check(program.bodies[symbol], memory, (before, need[symbol]), count, target, sink)
    return replace(
        memory,
        need=MappingProxyType(need),
        alignment=MappingProxyType(alignment),
        mbarriers=MappingProxyType(starts),
    )


def _check(
    body: typed.Body,
    memory: MemoryFacts,
    sizes: tuple[int, int],
    count: int,
    target: Target,
    sink: Sink,
) -> None:
    """Refuse what goes over a limit with mbarriers; `sizes` are the bytes before and with them."""
    (before, needed), instance = sizes, body.instance
    declared, limit = instance.declared_shared, target.shared_limit
    bytes_of = f"{count * MBARRIER_BYTES} bytes"
    cause = f"mbarriers take {bytes_of}, on top of {before} for arrays"
    table = (*_arrays(body, memory), f"mbarriers: {bytes_of} at {needed - count * MBARRIER_BYTES}")
    if declared is not None and before <= declared < needed:
        note = Related(at=instance.requires_span, message=f"`smem = {declared}` is here")
        sink.report(
            SharedBudget(
                at=instance.span, needed=needed, declared=declared, cause=cause,
                related=(note,), notes=table,
            )
        )  # fmt: skip
    elif before <= limit < needed:
        sink.report(
            SharedLimit(
                at=instance.span, needed=needed, target=target.name, limit=limit, cause=cause,
                notes=table,
            )
        )  # fmt: skip


def _arrays(body: typed.Body, memory: MemoryFacts) -> tuple[str, ...]:
    """The kernel's own arrays, as lines of a table."""
    return tuple(
        table_line(memory.arrays[statement.variable.id])
        for statement in body.all_statements
        if isinstance(statement, typed.DeclareShared) and statement.variable.id in memory.arrays
    )
