"""The instructions that the operations of a plan become, with their numbers, in words."""

from __future__ import annotations

from collections.abc import Sequence

from prismc.checker.sync.plan import (
    MBARRIER_KINDS,
    Mbarrier,
    SyncKind,
    SyncOperation,
    SyncPlan,
)
from prismc.hardware.primitives import instruction_of
from prismc.hardware.targets import Target

# What a warp does before one of its lanes arrives for all (PTX ISA, "bar.warp.sync").
_LANES_MEET = "bar.warp.sync 0xffffffff"
# Behind initialisations that copies or other blocks see (PTX ISA, "fence.mbarrier_init").
_INITIALISED = "fence.mbarrier_init.release.cluster"


def instructions_in(
    operations: Sequence[SyncOperation], plan: SyncPlan, target: Target
) -> dict[int, str]:
    """By the number of each operation of a function what it becomes. The mask of a warp barrier
    depends on the lane."""
    texts = {
        one.number: _text(one, plan, instruction_of(one.kind.value, target)) for one in operations
    }
    inits = [one for one in operations if one.kind is SyncKind.MBARRIER_INIT]
    if any(plan.mbarriers[one.barrier].is_async for one in inits):
        texts[inits[-1].number] += f"; {_INITIALISED}"
    return texts


def _text(operation: SyncOperation, plan: SyncPlan, ptx: str) -> str:
    if operation.kind in MBARRIER_KINDS:
        return _at_mbarrier(operation, plan.mbarriers[operation.barrier], ptx)
    if not operation.barrier:
        return ptx.replace("count", str(operation.count))
    first = f"{operation.barrier} + group" if operation.unit else str(operation.barrier)
    return ptx.replace("barrier, count", f"{first}, {operation.count}")


def _at_mbarrier(operation: SyncOperation, mbarrier: Mbarrier, ptx: str) -> str:
    """The lanes of a warp meet where one arrives for them; what is between blocks says so."""
    kind = operation.kind
    named = ptx.replace("[mbarrier]", f"[mbarrier {operation.barrier}{_slot(operation)}]")
    named = named.replace("count", str(operation.count))
    if kind is SyncKind.MBARRIER_INIT:
        return named if mbarrier.size == 1 else f"{named} ({mbarrier.size} of them)"
    if kind is SyncKind.MBARRIER_WAIT and mbarrier.blocks > 1:
        return named.replace(".parity", ".parity.acquire.cluster")
    if kind is SyncKind.MBARRIER_ARRIVE and mbarrier.is_remote:
        named = named.replace(".arrive", ".arrive.release.cluster")
        named = f"mapa.shared::cluster, {named} (one for each of {mbarrier.blocks} blocks)"
    elif operation.lanes:
        named += " by one lane of each warp"
    return f"{_LANES_MEET}; {named}" if operation.lanes else named


def _slot(operation: SyncOperation) -> str:
    """Which of an mbarrier's slots, where a register tells the one of the iteration."""
    if not operation.turns:
        return ""
    if operation.is_behind:
        return ", slot before"
    return f", slot + {operation.slot}" if operation.slot else ", slot"
