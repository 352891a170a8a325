"""The few instructions that the sync plan itself emits, one row each; everything else is `stdlib/`.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions" (`bar`, `barrier`,
`bar.warp.sync`).
"""

from __future__ import annotations

from enum import IntEnum

from prismc.hardware.features import Feature
from prismc.hardware.targets import Target
from prismc.source.record import Record

WARP_THREADS = 32
MOST_THREADS = 1024  # of a block, on every target
# For more blocks than are portable a launcher asks (CUDA C++ Programming Guide, "Clusters").
PORTABLE_CLUSTER = 8
LARGEST_CLUSTER = 16
# Barrier 0 is `__syncthreads`'; a block has 16 in all (PTX ISA, "barrier": operand a is 0 to 15).
FIRST_NAMED_BARRIER = 1
LAST_NAMED_BARRIER = 15
MBARRIER_BYTES = 8  # of one mbarrier, and its alignment (PTX ISA, "mbarrier")
# Aligned groups that a mask can name inside a warp, whole warps included.
LANE_GROUPS = (2, 4, 8, 16, 32)


class Cost(IntEnum):
    """What a synchronising instruction costs beside the others, the cheapest first.

    A warp's lanes mostly wait for nobody; an arrival never waits; a barrier of several warps waits
    for the slowest, whoever they are.
    """

    WARP = 1
    ARRIVE = 2
    BLOCK = 3
    WAIT_COMPLETE = 4
    WAIT = 5


class Primitive(Record):
    """A barrier instruction, with the words of the plan for it."""

    name: str
    ptx: str
    cost: Cost


PRIMITIVES: dict[str, Primitive] = {
    primitive.name: primitive
    for primitive in (
        Primitive(name="block barrier", ptx="bar.sync 0", cost=Cost.BLOCK),
        Primitive(name="block vote", ptx="bar.red.or.pred 0", cost=Cost.BLOCK),
        Primitive(name="warp barrier", ptx="bar.warp.sync mask", cost=Cost.WARP),
        Primitive(name="named barrier", ptx="bar.sync barrier, count", cost=Cost.BLOCK),
        Primitive(
            name="cluster barrier",
            ptx="barrier.cluster.arrive.release, wait.acquire",
            cost=Cost.WAIT_COMPLETE,
        ),
        Primitive(name="cluster arrive", ptx="barrier.cluster.arrive.release", cost=Cost.ARRIVE),
        Primitive(name="cluster wait", ptx="barrier.cluster.wait.acquire", cost=Cost.WAIT_COMPLETE),
        Primitive(name="grid barrier", ptx="atom.add.acq_rel.gpu, ld.acquire.gpu", cost=Cost.WAIT),
        Primitive(name="mbarrier init", ptx="mbarrier.init [mbarrier], count", cost=Cost.WARP),
        Primitive(
            name="mbarrier", ptx="mbarrier.arrive, test_wait [mbarrier], state", cost=Cost.WAIT
        ),
        Primitive(name="mbarrier arrive", ptx="mbarrier.arrive [mbarrier]", cost=Cost.ARRIVE),
        Primitive(
            name="mbarrier arrive of copies",
            ptx="cp.async.mbarrier.arrive.noinc [mbarrier]",
            cost=Cost.ARRIVE,
        ),
        Primitive(
            name="mbarrier wait", ptx="mbarrier.test_wait.parity [mbarrier], phase", cost=Cost.WAIT
        ),
        Primitive(
            name="expect bytes",
            ptx="mbarrier.arrive.expect_tx [mbarrier], bytes",
            cost=Cost.ARRIVE,
        ),
        Primitive(name="named arrive", ptx="bar.arrive barrier, count", cost=Cost.ARRIVE),
        Primitive(name="named wait", ptx="bar.sync barrier, count", cost=Cost.BLOCK),
        Primitive(name="commit group", ptx="cp.async.commit_group", cost=Cost.ARRIVE),
        Primitive(name="wait group", ptx="cp.async.wait_group count", cost=Cost.WAIT),
        Primitive(name="commit bulk group", ptx="cp.async.bulk.commit_group", cost=Cost.ARRIVE),
        Primitive(
            name="wait bulk group", ptx="cp.async.bulk.wait_group.read count", cost=Cost.WAIT
        ),
        Primitive(name="wait bulk writes", ptx="cp.async.bulk.wait_group count", cost=Cost.WAIT),
        Primitive(name="fence products", ptx="wgmma.fence", cost=Cost.WARP),
        Primitive(name="commit products", ptx="wgmma.commit_group", cost=Cost.ARRIVE),
        Primitive(name="wait products", ptx="wgmma.wait_group count", cost=Cost.WAIT),
        Primitive(name="proxy fence", ptx="fence.proxy.async.shared::cta", cost=Cost.ARRIVE),
        Primitive(name="full proxy fence", ptx="fence.proxy.async", cost=Cost.ARRIVE),
    )
}


def instruction_of(name: str, target: Target) -> str:
    """The instruction of a primitive as it is on `target`: where a wait at an mbarrier may suspend
    the thread, it does (PTX ISA, "mbarrier.try_wait")."""
    ptx = PRIMITIVES[name].ptx
    is_suspended = target.has(Feature.MBARRIER_TRY_WAIT)
    return ptx.replace("test_wait", "try_wait") if is_suspended else ptx


def fits_lanes(threads: int) -> bool:
    """Whether aligned groups of `threads` are lanes of one warp that a mask can name."""
    return threads in LANE_GROUPS


def fits_named_barrier(threads: int) -> bool:
    """Whether a barrier can count `threads`: whole warps only (PTX ISA, "barrier", operand b)."""
    return threads >= WARP_THREADS and threads % WARP_THREADS == 0
