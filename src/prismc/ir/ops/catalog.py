"""Every operation of the IR, by its spelling."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from prismc.ir.core import Op
from prismc.ir.ops import arithmetic, control, groups, intrinsic, mbarrier, memory, sync

OPS: tuple[type[Op], ...] = (
    arithmetic.Constant,
    arithmetic.Binary,
    arithmetic.Unary,
    arithmetic.Compare,
    arithmetic.Select,
    arithmetic.Convert,
    arithmetic.Bitcast,
    arithmetic.MakeVector,
    arithmetic.Extract,
    arithmetic.Insert,
    control.If,
    control.For,
    control.While,
    control.Yield,
    control.Break,
    control.Continue,
    control.Return,
    control.Unreachable,
    control.Call,
    memory.ArrayAlloc,
    memory.ArrayFill,
    memory.ArrayCopy,
    memory.ArrayLoad,
    memory.ArrayStore,
    memory.ArrayHandOver,
    memory.SubArray,
    memory.SharedMemory,
    memory.SharedView,
    memory.PointerCast,
    memory.IsShared,
    memory.Load,
    memory.Store,
    memory.Address,
    memory.MapAddress,
    memory.Descriptor,
    groups.Position,
    groups.InGroup,
    groups.Broadcast,
    sync.BlockBarrier,
    sync.LastBlock,
    sync.ClusterBarrier,
    sync.ClusterArrive,
    sync.ClusterWait,
    sync.GridBarrier,
    sync.WarpBarrier,
    sync.PartialWarpBarrier,
    sync.NamedBarrier,
    sync.NamedArrive,
    sync.CommitGroup,
    sync.WaitGroup,
    sync.ProductFence,
    sync.ProxyFence,
    mbarrier.MbarrierInit,
    mbarrier.MbarrierSync,
    mbarrier.MbarrierArrive,
    mbarrier.MbarrierExpect,
    mbarrier.MbarrierWait,
    intrinsic.Asm,
    intrinsic.CudaText,
    intrinsic.Assert,
    intrinsic.Print,
)


class Spelled(NamedTuple):
    """The class that a spelling stands for, and its selector's field and member, if it has one."""

    op: type[Op]
    field: str
    member: Enum | None


def _spellings() -> dict[str, Spelled]:
    found: dict[str, Spelled] = {}
    for op in OPS:
        if op.selector is None:
            found[op.spelling] = Spelled(op, "", None)
        else:
            field, members = op.selector
            found |= {member.value: Spelled(op, field, member) for member in members}
    return found


SPELLINGS: dict[str, Spelled] = _spellings()
