"""What each operation does beside its results: one table.

Passes ask two questions. May an operation without uses go, and may two equal ones be one
(`is_pure`)? May it move over another (`reads`, `writes`)? Arrays and memory are told apart, since
no pointer reaches a register array.
"""

from __future__ import annotations

from enum import Flag, auto

from prismc.ir.core import Op
from prismc.ir.ops import arithmetic, control, groups, intrinsic, mbarrier, memory, sync


class Effect(Flag):
    """NONE is a pure value. FRESH makes something new each time: droppable, never shared."""

    NONE = 0
    FRESH = auto()
    READS_ARRAY = auto()
    WRITES_ARRAY = auto()
    READS_MEMORY = auto()
    WRITES_MEMORY = auto()
    SYNCHRONISES = auto()
    LEAVES_LOOP = auto()
    LEAVES_FUNCTION = auto()


READS = Effect.READS_ARRAY | Effect.READS_MEMORY
WRITES = Effect.WRITES_ARRAY | Effect.WRITES_MEMORY
LEAVES = Effect.LEAVES_LOOP | Effect.LEAVES_FUNCTION
ANYTHING = READS | WRITES | Effect.SYNCHRONISES

EFFECTS: dict[type[Op], Effect] = {
    arithmetic.Constant: Effect.NONE,
    arithmetic.Binary: Effect.NONE,
    arithmetic.Unary: Effect.NONE,
    arithmetic.Compare: Effect.NONE,
    arithmetic.Select: Effect.NONE,
    arithmetic.Convert: Effect.NONE,
    arithmetic.Bitcast: Effect.NONE,
    arithmetic.MakeVector: Effect.NONE,
    arithmetic.Extract: Effect.NONE,
    arithmetic.Insert: Effect.NONE,
    # Operations with regions do what their regions do.
    control.If: Effect.NONE,
    control.For: Effect.NONE,
    control.While: Effect.NONE,
    control.Yield: Effect.NONE,
    control.Break: Effect.LEAVES_LOOP,
    control.Continue: Effect.LEAVES_LOOP,
    control.Return: Effect.LEAVES_FUNCTION,
    control.Unreachable: Effect.NONE,
    control.Call: ANYTHING,
    memory.ArrayAlloc: Effect.FRESH,
    memory.ArrayFill: Effect.WRITES_ARRAY,
    memory.ArrayCopy: Effect.READS_ARRAY | Effect.WRITES_ARRAY,
    memory.ArrayLoad: Effect.READS_ARRAY,
    memory.ArrayStore: Effect.WRITES_ARRAY,
    memory.ArrayHandOver: Effect.READS_ARRAY | Effect.WRITES_ARRAY | Effect.SYNCHRONISES,
    memory.SubArray: Effect.NONE,
    memory.SharedMemory: Effect.NONE,
    memory.SharedView: Effect.NONE,
    memory.PointerCast: Effect.NONE,
    memory.IsShared: Effect.NONE,
    memory.Load: Effect.READS_MEMORY,
    memory.Store: Effect.WRITES_MEMORY,
    memory.Address: Effect.NONE,
    memory.MapAddress: Effect.NONE,
    memory.Descriptor: Effect.NONE,
    groups.Position: Effect.NONE,
    groups.InGroup: Effect.NONE,
    groups.Broadcast: Effect.SYNCHRONISES,
    sync.BlockBarrier: Effect.SYNCHRONISES,
    sync.LastBlock: ANYTHING,
    sync.ClusterBarrier: Effect.SYNCHRONISES,
    sync.ClusterArrive: Effect.SYNCHRONISES,
    sync.ClusterWait: Effect.SYNCHRONISES,
    sync.GridBarrier: Effect.SYNCHRONISES,
    sync.WarpBarrier: Effect.SYNCHRONISES,
    sync.PartialWarpBarrier: Effect.SYNCHRONISES,
    sync.NamedBarrier: Effect.SYNCHRONISES,
    sync.NamedArrive: Effect.SYNCHRONISES,
    sync.CommitGroup: Effect.SYNCHRONISES,
    # Registers that products have are written until a wait.
    sync.WaitGroup: ANYTHING,
    sync.ProductFence: ANYTHING,
    sync.ProxyFence: Effect.SYNCHRONISES,
    mbarrier.MbarrierInit: Effect.SYNCHRONISES,
    mbarrier.MbarrierSync: Effect.SYNCHRONISES,
    mbarrier.MbarrierArrive: Effect.SYNCHRONISES,
    mbarrier.MbarrierExpect: Effect.SYNCHRONISES,
    mbarrier.MbarrierWait: Effect.SYNCHRONISES | Effect.READS_ARRAY | Effect.WRITES_ARRAY,
    # Volatile: its effect is kept even where it names no memory.
    intrinsic.Asm: ANYTHING,
    intrinsic.CudaText: ANYTHING,
    # They stay where they are among what they look at.
    intrinsic.Assert: Effect.SYNCHRONISES,
    intrinsic.Print: Effect.SYNCHRONISES,
}


_PURE = frozenset(
    kind
    for kind, effect in EFFECTS.items()
    if effect is Effect.NONE and not kind.region_fields and not kind.is_terminator
)
_MISSED = WRITES | Effect.SYNCHRONISES | LEAVES
_DROPPABLE = frozenset(kind for kind, effect in EFFECTS.items() if not effect & _MISSED)
_DROPPABLE_IN_LOOPS = _DROPPABLE | {control.Break, control.Continue}


def effects_of(op: Op) -> Effect:
    """What `op` does, its nested regions included. A loop's own exits stay inside it."""
    effects = EFFECTS[type(op)]
    for region in op.regions:
        for nested in region.ops:
            effects |= effects_of(nested)
    if isinstance(op, control.For | control.While):
        effects &= ~Effect.LEAVES_LOOP
    return effects


def is_pure(op: Op) -> bool:
    """Whether `op` only computes its results from its operands, and has no regions."""
    return type(op) in _PURE


def is_droppable(op: Op) -> bool:
    """Whether nothing but the results of `op` can be missed."""
    return not op.is_terminator and _does_nothing(op, _DROPPABLE)


def _does_nothing(op: Op, droppable: frozenset[type[Op]]) -> bool:
    if type(op) not in droppable:
        return False
    if isinstance(op, control.For | control.While):
        droppable = _DROPPABLE_IN_LOOPS
    return all(_does_nothing(inner, droppable) for region in op.regions for inner in region.ops)
