"""Applies the sync plan: each operation where its anchor statement is lowered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce

from prismc.checker.sync.plan import (
    COMMITS,
    MBARRIER_KINDS,
    WAITS,
    LoadMbarrier,
    Mbarrier,
    Position,
    SyncKind,
    SyncOperation,
    SyncPlan,
    Where,
)
from prismc.hardware.asynchronous import Completion
from prismc.hardware.primitives import MOST_THREADS
from prismc.ir.core import Op, Value
from prismc.ir.lowering.frame import Frame
from prismc.ir.lowering.positions import Hidden
from prismc.ir.lowering.projection import Class
from prismc.ir.lowering.turns import turned_parity, turned_slot
from prismc.ir.ops.arithmetic import BinaryOperator, Comparison
from prismc.ir.ops.control import If, Yield
from prismc.ir.ops.mbarrier import (
    MbarrierArrive,
    MbarrierExpect,
    MbarrierInit,
    MbarrierSync,
    MbarrierWait,
)
from prismc.ir.ops.memory import (
    Address,
    AddressKind,
    ArrayAlloc,
    ArrayFill,
    ArrayHandOver,
    ArrayLoad,
)
from prismc.ir.ops.sync import (
    BlockBarrier,
    ClusterArrive,
    ClusterBarrier,
    ClusterWait,
    CommitGroup,
    GridBarrier,
    NamedArrive,
    NamedBarrier,
    PartialWarpBarrier,
    ProductFence,
    ProxyFence,
    WaitGroup,
    WarpBarrier,
)
from prismc.ir.types import UINT, ArrayType
from prismc.source.record import replace
from prismc.source.span import Span

Placed = Mapping[Position, tuple[SyncOperation, ...]]


# How the instructions of each queue begin.
_QUEUES = {
    Completion.COPY_GROUP: "cp.async",
    Completion.BULK_GROUP: "cp.async.bulk",
    Completion.PRODUCT_GROUP: "wgmma",
}
_COMMITS = {COMMITS[queue]: word for queue, word in _QUEUES.items()}
_WAITS = {WAITS[queue]: word for queue, word in _QUEUES.items()}
_WAITS[SyncKind.WAIT_BULK_WRITES] = "cp.async.bulk"


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
        is_vote = (
            operation.kind is SyncKind.BLOCK_VOTE
        )  # part of the statement: it needs the answer
        if not is_vote and operation.arm is None:
            _apply(frame, operation)


def hand_over_in_arm(
    frame: Frame, registers: tuple[int, ...], arm: tuple[int, int], at: Span
) -> None:
    """Keep what is done to arrays in front of what follows, for the threads of an arm."""
    if frame.only is not None and arm[0] <= frame.only.start and frame.only.end <= arm[1]:
        _hand_over(frame, registers, at)


def apply_in_arm(frame: Frame, placed: Placed, where: Where, anchor: int) -> None:
    """Build what the plan puts `where` of a loop for the threads alone that the text is for."""
    for operation in placed.get(Position(where=where, anchor=anchor), ()):
        if operation.arm is not None and frame.only is not None:
            start, end = operation.arm
            if start <= frame.only.start and frame.only.end <= end:
                _apply(frame, operation)


def _apply(frame: Frame, operation: SyncOperation) -> None:
    builder = frame.builder
    builder.span = operation.at
    if operation.kind is SyncKind.FENCE_PRODUCTS:
        _hand_over(frame, operation.registers, operation.at)
    if operation.is_behind and operation.kind is SyncKind.MBARRIER_ARRIVE:
        assert frame.turn is not None, "what is behind is so in the loop of a pipeline"
        builder.add(replace(_operation(frame, operation), condition=frame.turn.has_previous))
    elif operation.part:
        _apply_in_part(frame, operation)
    else:
        builder.add(_operation(frame, operation))
    if operation.kind is SyncKind.WAIT_PRODUCTS:
        _hand_over(frame, operation.registers, operation.at)


def _apply_in_part(frame: Frame, operation: SyncOperation) -> None:
    """Build an operation for some of the threads of the code, or of a copy for a class of these."""
    builder, index = frame.builder, frame.position.thread
    only = frame.only or Class(0, index.limit or MOST_THREADS)
    met = [(start, end) for start, end in operation.part if start < only.end and only.start < end]
    if any(start <= only.start and only.end <= end for start, end in met):
        builder.add(_operation(frame, operation))
    elif met:
        thread = frame.index_value(index)
        condition = reduce(
            partial(builder.binary, BinaryOperator.OR),
            (_is_between(frame, thread, part, only) for part in met),
        )
        _apply_if(frame, condition, operation)


def _is_between(frame: Frame, thread: Value, part: tuple[int, int], only: Class) -> Value:
    """Whether a thread, one of `only`, is in [start, end), which does not hold all of these."""
    builder = frame.builder
    start, end = map(builder.constant, part)
    if only.start >= part[0]:
        return builder.compare(Comparison.LT, thread, end)
    is_behind = builder.compare(Comparison.GE, thread, start)
    if only.end <= part[1]:
        return is_behind
    is_before = builder.compare(Comparison.LT, thread, end)
    return builder.binary(BinaryOperator.AND, is_behind, is_before)


def _apply_if(frame: Frame, condition: Value, operation: SyncOperation) -> None:
    builder, at = frame.builder, operation.at
    builder.open()
    builder.add(_operation(frame, operation))
    builder.add(Yield(values=(), span=at))
    then = builder.close()
    builder.open()
    builder.add(Yield(values=(), span=at))
    builder.add(If(condition=condition, then=then, otherwise=builder.close(), span=at))


def _hand_over(frame: Frame, registers: tuple[int, ...], at: Span) -> None:
    """Keep what is done to arrays on its side of a fence or a wait."""
    arrays = {variable.id: array for variable, array in frame.values.items()}
    for register in registers:
        array = arrays.get(register)
        if isinstance(array, Value):
            frame.builder.add(ArrayHandOver(array=array, span=at))


def begin_loads(frame: Frame, scope: int) -> tuple[Value, Value] | None:
    """The mbarrier that counts the bulk loads of an asynchronous scope, as a shared address, and
    the bytes that were issued: none yet. None for other scopes."""
    plan = frame.checked.plan.instances.get(frame.instance.symbol)
    place = plan.completions.get(scope) if plan is not None else None
    if place is None:
        return None
    base, index = _place(frame, frame.checked.plan.mbarriers[place.barrier], place)
    builder, at = frame.builder, frame.builder.span
    address = Address(
        kind=AddressKind.SHARED, pointer=base, index=index, results=(Value(UINT),), span=at
    )
    builder.add(address)
    of = ArrayType(element=UINT, shape=(1,))
    expected = builder.add(ArrayAlloc(results=(Value(of, "expected"),), span=at)).result
    builder.add(ArrayFill(array=expected, value=builder.constant(0, UINT), span=at))
    return address.result, expected


def _place(
    frame: Frame, mbarrier: Mbarrier, named: SyncOperation | LoadMbarrier
) -> tuple[Value, Value]:
    """The area of mbarriers, and the index of this thread's in it, of the slot that is meant."""
    base, builder = frame.hidden_value(Hidden.MBARRIERS), frame.builder
    first = mbarrier.first if named.turns else mbarrier.first + named.slot * mbarrier.copies
    index = builder.constant(first)
    if named.turns:
        slot = turned_slot(frame, named.slot)
        if mbarrier.copies > 1:
            copies = builder.constant(mbarrier.copies)
            slot = builder.binary(BinaryOperator.MUL, slot, copies)
        index = builder.binary(BinaryOperator.ADD, slot, index) if first else slot
    if mbarrier.unit:
        unit = builder.constant(mbarrier.unit)
        group = builder.binary(BinaryOperator.DIV, frame.block_thread(), unit)
        index = builder.binary(BinaryOperator.ADD, index, group)
    return base, index


def _operation(frame: Frame, operation: SyncOperation) -> Op:
    if operation.kind in MBARRIER_KINDS:
        return _at_mbarrier(frame, operation)
    number, at = operation.number, operation.at
    match operation.kind:
        case SyncKind.BLOCK_BARRIER:
            return BlockBarrier(number=number, span=at)
        case SyncKind.CLUSTER_BARRIER:
            return ClusterBarrier(number=number, span=at)
        case SyncKind.CLUSTER_ARRIVE:
            return ClusterArrive(number=number, span=at)
        case SyncKind.CLUSTER_WAIT:
            return ClusterWait(number=number, span=at)
        case SyncKind.GRID_BARRIER:
            return GridBarrier(number=number, span=at)
        case SyncKind.WARP_BARRIER if operation.last is not None:
            whole, mask = operation.last
            return PartialWarpBarrier(number=number, whole=whole, mask=mask, span=at)
        case SyncKind.WARP_BARRIER:
            return WarpBarrier(number=number, lanes=operation.lanes, span=at)
        case SyncKind.NAMED_BARRIER | SyncKind.NAMED_WAIT:
            barrier = _hardware_barrier(frame, operation)
            return NamedBarrier(barrier=barrier, number=number, threads=operation.count, span=at)
        case SyncKind.NAMED_ARRIVE:
            barrier = _hardware_barrier(frame, operation)
            return NamedArrive(barrier=barrier, number=number, threads=operation.count, span=at)
        case kind if kind in _COMMITS:
            return CommitGroup(number=number, of=_COMMITS[kind], span=at)
        case kind if kind in _WAITS:
            return WaitGroup(
                number=number, groups=operation.count, of=_WAITS[kind],
                is_read=kind is SyncKind.WAIT_BULK, span=at,
            )  # fmt: skip
        case SyncKind.FENCE_PRODUCTS:
            return ProductFence(number=number, span=at)
        case SyncKind.PROXY_FENCE | SyncKind.FULL_PROXY_FENCE as kind:
            is_full = kind is SyncKind.FULL_PROXY_FENCE
            return ProxyFence(number=number, is_full=is_full, span=at)
        case _:
            raise NotImplementedError(f"the plan holds a {operation.kind.value}")


def _hardware_barrier(frame: Frame, operation: SyncOperation) -> Value:
    """The barrier of this thread's group: groups of one operation have consecutive numbers."""
    builder = frame.builder
    first = builder.constant(operation.barrier)
    if not operation.unit:
        return first
    group = builder.binary(
        BinaryOperator.DIV, frame.block_thread(), builder.constant(operation.unit)
    )
    return builder.binary(BinaryOperator.ADD, first, group)


def _at_mbarrier(frame: Frame, operation: SyncOperation) -> Op:
    number, at = operation.number, operation.at
    mbarrier = frame.checked.plan.mbarriers[operation.barrier]
    if operation.kind is SyncKind.MBARRIER_INIT:
        base = frame.hidden_value(Hidden.MBARRIERS)
        index = frame.builder.constant(mbarrier.first)
        return MbarrierInit(
            base=base, index=index, copies=mbarrier.size, arrivals=mbarrier.arrivals,
            is_async=mbarrier.is_async, number=number, span=at,
        )  # fmt: skip
    base, index = _place(frame, mbarrier, operation)
    match operation.kind:
        case SyncKind.MBARRIER:
            return MbarrierSync(base=base, index=index, number=number, span=at)
        case SyncKind.MBARRIER_ARRIVE | SyncKind.MBARRIER_COPIES:
            of_copies = operation.kind is SyncKind.MBARRIER_COPIES
            return MbarrierArrive(
                base=base, index=index, is_elected=operation.lanes > 0, of_copies=of_copies,
                number=number, blocks=mbarrier.blocks if mbarrier.is_remote else 1, span=at,
            )  # fmt: skip
        case SyncKind.EXPECT_BYTES:
            assert frame.loads is not None, "loads are counted where they are issued"
            zero = frame.builder.constant(0)
            counted = ArrayLoad(
                array=frame.loads[1], indices=(zero,), results=(Value(UINT),), span=at
            )
            count = frame.builder.add(counted).result
            return MbarrierExpect(
                base=base, index=index, bytes=count, number=number,
                is_elected=operation.lanes > 0, span=at,
            )  # fmt: skip
        case _:
            parity = turned_parity(frame, mbarrier, operation, _waits_at(frame, operation.barrier))
            wait = MbarrierWait(
                base=base, index=index, parity=parity, phases=None, slot=None, bit=0,
                number=number, is_wide=mbarrier.blocks > 1, span=at,
            )  # fmt: skip
            if parity is not None:
                return wait
            phases = frame.hidden_value(Hidden.PHASES)
            slot = turned_slot(frame, operation.slot) if operation.turns else None
            bit = mbarrier.phase if operation.turns else mbarrier.phase + operation.slot
            return replace(wait, phases=phases, slot=slot, bit=bit)


def _waits_at(frame: Frame, barrier: int) -> int:
    """How many waits there are at an mbarrier in the whole program."""
    plans = frame.checked.plan.instances.values()
    return sum(
        one.kind is SyncKind.MBARRIER_WAIT and one.barrier == barrier
        for plan in plans
        for one in plan.operations
    )
