"""Synchronisation that the plan put in. `number` is the plan's, so that one can be dropped."""

from __future__ import annotations

from prismc.ir.core import Op, Value


class BlockBarrier(Op):
    """All threads of the block wait for one another: `__syncthreads()`."""

    spelling = "sync.block"
    number: int


class ClusterBarrier(Op):
    """All threads of the cluster wait for one another (PTX ISA, "barrier.cluster")."""

    spelling = "sync.cluster"
    number: int


class ClusterArrive(Op):
    """The thread arrives at the cluster's barrier, which all its threads do, and goes on. It waits
    there before the cluster's next barrier (PTX ISA, "barrier.cluster")."""

    spelling = "sync.cluster_arrive"
    number: int


class ClusterWait(Op):
    """The thread waits for all threads of the cluster to have arrived."""

    spelling = "sync.cluster_wait"
    number: int


class LastBlock(Op):
    """Whether this block is the last of the grid to come here, told to all its threads, which wait
    for the answer. All that the grid's blocks did before a block barrier in front of this is
    ordered before what they do then.
    The element of `counter`, a u32, is 0 before and after."""

    spelling = "sync.last_block"
    counter: Value
    index: Value


class GridBarrier(Op):
    """All threads of the grid wait for one another; the kernel is launched cooperatively."""

    spelling = "sync.grid"
    number: int


class WarpBarrier(Op):
    """The threads of each aligned group of `lanes` (2 to 32) in a warp wait for one another.

    The mask is `((1 << lanes) - 1) << (lane & ~(lanes - 1))`; other groups of the warp may be
    elsewhere.
    """

    spelling = "sync.warp"
    number: int
    lanes: int


class PartialWarpBarrier(Op):
    """The threads of each warp wait for one another. From thread `whole` of the block on these are
    the lanes of `mask` alone, and others may be elsewhere, or not there."""

    spelling = "sync.partial_warp"
    number: int
    whole: int
    mask: int


class CommitGroup(Op):
    """The thread's operations of one kind since its last commit are a group. `of` is how PTX
    begins: `cp.async`, `cp.async.bulk`, `wgmma` (PTX ISA, "cp.async.commit_group", ..)."""

    spelling = "sync.commit"
    number: int
    of: str = "cp.async"


class WaitGroup(Op):
    """The thread waits until at most its newest `groups` groups are pending (PTX ISA,
    "cp.async.wait_group", ..); with `is_read`, bulk groups until they have read their sources."""

    spelling = "sync.wait_group"
    number: int
    groups: int
    of: str = "cp.async"
    is_read: bool = False


class ProductFence(Op):
    """What the warpgroup's threads have written to registers is there for products behind this
    (PTX ISA, "wgmma.fence")."""

    spelling = "sync.product_fence"
    number: int


class ProxyFence(Op):
    """The thread's accesses to its block's shared memory so far (with `is_full` to all memory) come
    before those of the asynchronous proxy behind this (PTX ISA, "membar / fence", `.proxy.async`).
    """

    spelling = "sync.proxy_fence"
    number: int
    is_full: bool = False


class NamedBarrier(Op):
    """`threads` threads, a multiple of 32, wait for one another at hardware barrier `barrier`, an
    i32 from 1 to 15 (PTX ISA, "barrier")."""

    spelling = "sync.named"
    barrier: Value
    number: int
    threads: int


class NamedArrive(Op):
    """The thread arrives at hardware barrier `barrier`, which counts `threads` threads, those that
    wait there included, and goes on (PTX ISA, "barrier")."""

    spelling = "sync.arrive"
    barrier: Value
    number: int
    threads: int
