"""Applies the sync plan: each operation where its anchor statement is lowered."""

from __future__ import annotations

from collections.abc import Mapping

from prismc.checker.sync.plan import (
    MBARRIER_KINDS,
    Position,
    SyncKind,
    SyncOperation,
    SyncPlan,
    Where,
)
from prismc.ir.core import Op, Value
from prismc.ir.lowering.frame import Frame
from prismc.ir.lowering.positions import Hidden
from prismc.ir.ops.arithmetic import BinaryOperator
from prismc.ir.ops.mbarrier import (
    MbarrierArrive,
    MbarrierExpect,
    MbarrierInit,
    MbarrierSync,
    MbarrierWait,
)
from prismc.ir.ops.sync import BlockBarrier, CommitGroup, NamedBarrier, WaitGroup, WarpBarrier

Placed = Mapping[Position, tuple[SyncOperation, ...]]


def operations_by_position(plan: SyncPlan, symbol: str) -> Placed:
    """The plan's operations for one instance, by where they stand; in order at each place."""
    found: dict[Position, tuple[SyncOperation, ...]] = {}
    instance = plan.instances.get(symbol)
    for operation in instance.operations if instance else ():
        found[operation.position] = (*found.get(operation.position, ()), operation)
    return found


def apply_plan(frame: Frame, placed: Placed, where: Where, anchor: int) -> None:
    """Build what the plan puts `where` of the statement with id `anchor`."""
    for operation in placed.get(Position(where=where, anchor=anchor), ()):
        frame.builder.span = operation.at
        frame.builder.add(_operation(frame, operation))


def _operation(frame: Frame, operation: SyncOperation) -> Op:
    if operation.kind in MBARRIER_KINDS:
        return _at_mbarrier(frame, operation)
    number, at = operation.number, operation.at
    match operation.kind:
        case SyncKind.BLOCK_BARRIER:
            return BlockBarrier(number=number, span=at)
        case SyncKind.WARP_BARRIER:
            return WarpBarrier(number=number, lanes=operation.lanes, span=at)
        case SyncKind.NAMED_BARRIER:
            barrier = _hardware_barrier(frame, operation)
            return NamedBarrier(barrier=barrier, number=number, threads=operation.count, span=at)
        case SyncKind.COMMIT_GROUP:
            return CommitGroup(number=number, span=at)
        case SyncKind.WAIT_GROUP:
            return WaitGroup(number=number, groups=operation.count, span=at)
        case _:
            raise NotImplementedError(f"the plan holds a {operation.kind.value}")


def _hardware_barrier(frame: Frame, operation: SyncOperation) -> Value:
    """The barrier of this thread's group: groups of one operation have consecutive numbers."""
    builder = frame.builder
    size = builder.constant(operation.participants.perspective.size)
    group = builder.binary(BinaryOperator.DIV, frame.block_thread(), size)
    first = builder.constant(operation.barrier)
    return builder.binary(BinaryOperator.ADD, first, group)


def _at_mbarrier(frame: Frame, operation: SyncOperation) -> Op:
    number, at = operation.number, operation.at
    mbarrier = frame.checked.plan.mbarriers[operation.barrier]
    base = frame.hidden_value(Hidden.MBARRIERS)
    index = frame.builder.constant(mbarrier.first)
    if operation.kind is SyncKind.MBARRIER_INIT:
        return MbarrierInit(
            base=base, index=index, copies=mbarrier.copies, arrivals=mbarrier.arrivals,
            is_async=mbarrier.is_async, number=number, span=at,
        )  # fmt: skip
    if mbarrier.unit:
        unit = frame.builder.constant(mbarrier.unit)
        group = frame.builder.binary(BinaryOperator.DIV, frame.block_thread(), unit)
        index = frame.builder.binary(BinaryOperator.ADD, index, group)
    match operation.kind:
        case SyncKind.MBARRIER:
            return MbarrierSync(base=base, index=index, number=number, span=at)
        case SyncKind.MBARRIER_ARRIVE:
            is_elected = operation.lanes > 0
            return MbarrierArrive(
                base=base, index=index, is_elected=is_elected, number=number, span=at
            )
        case SyncKind.EXPECT_BYTES:
            return MbarrierExpect(
                base=base, index=index, bytes=operation.count, number=number, span=at
            )
        case _:
            phases = frame.hidden_value(Hidden.PHASES)
            return MbarrierWait(
                base=base, index=index, phases=phases, bit=mbarrier.phase, number=number, span=at
            )
