"""Applies the sync plan: each operation where its anchor statement is lowered."""

from __future__ import annotations

from collections.abc import Mapping

from prismc.checker.sync.plan import (
    COMMITS,
    MBARRIER_KINDS,
    WAITS,
    Position,
    SyncKind,
    SyncOperation,
    SyncPlan,
    Where,
)
from prismc.hardware.asynchronous import Completion
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
from prismc.ir.ops.memory import ArrayHandOver
from prismc.ir.ops.sync import (
    BlockBarrier,
    CommitGroup,
    NamedBarrier,
    ProductFence,
    ProxyFence,
    WaitGroup,
    WarpBarrier,
)

Placed = Mapping[Position, tuple[SyncOperation, ...]]


# How the instructions of each queue begin.
_QUEUES = {
    Completion.COPY_GROUP: "cp.async",
    Completion.BULK_GROUP: "cp.async.bulk",
    Completion.PRODUCT_GROUP: "wgmma",
}
_COMMITS = {COMMITS[queue]: word for queue, word in _QUEUES.items()}
_WAITS = {WAITS[queue]: word for queue, word in _QUEUES.items()}


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
        if operation.kind is SyncKind.FENCE_PRODUCTS:
            _hand_over(frame, operation)
        frame.builder.add(_operation(frame, operation))
        if operation.kind is SyncKind.WAIT_PRODUCTS:
            _hand_over(frame, operation)


def _hand_over(frame: Frame, operation: SyncOperation) -> None:
    """Keep what is done to arrays on its side of a fence or a wait."""
    arrays = {variable.id: array for variable, array in frame.values.items()}
    for register in operation.registers:
        array = arrays.get(register)
        if isinstance(array, Value):
            frame.builder.add(ArrayHandOver(array=array, span=operation.at))


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
        case kind if kind in _COMMITS:
            return CommitGroup(number=number, of=_COMMITS[kind], span=at)
        case kind if kind in _WAITS:
            return WaitGroup(number=number, groups=operation.count, of=_WAITS[kind], span=at)
        case SyncKind.FENCE_PRODUCTS:
            return ProductFence(number=number, span=at)
        case SyncKind.PROXY_FENCE:
            return ProxyFence(number=number, span=at)
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
