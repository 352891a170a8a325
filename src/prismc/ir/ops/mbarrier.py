"""Mbarriers, objects in shared memory at which threads and copies arrive (PTX ISA, "mbarrier").

`base` is the kernel's area for them and `index` counts from there. `phases` is the thread's
register of phases, a u32 array with a bit for each mbarrier that it waits for by parity. `number`
is the plan's, so that one operation can be dropped.
"""

from __future__ import annotations

from prismc.ir.core import Op, Value


class MbarrierInit(Op):
    """Thread 0 of the block initialises the `copies` mbarriers from `index` on, each for `arrivals`
    arrivals a phase; `is_async`: also for copies by the async proxy."""

    spelling = "mbarrier.init"
    base: Value
    index: Value
    copies: int
    arrivals: int
    is_async: bool
    number: int


class MbarrierSync(Op):
    """The thread arrives, and waits for the phase that it arrived in."""

    spelling = "mbarrier.sync"
    base: Value
    index: Value
    number: int


class MbarrierArrive(Op):
    """The thread arrives; with `is_elected` the warp's first lane does, after all lanes. With
    `of_copies` the arrival comes when the thread's `cp.async` copies until here are complete. With
    several `blocks` it is one at the mbarrier of each block of the cluster, so many. Where there is
    a `condition`, which is the same in all threads of a warp, it tells whether anyone arrives."""

    spelling = "mbarrier.arrive"
    base: Value
    index: Value
    is_elected: bool
    of_copies: bool
    number: int
    blocks: int = 1
    condition: Value | None = None


class MbarrierExpect(Op):
    """The thread arrives, and `bytes` more have to come before the phase is complete; with
    `is_elected` the warp's first lane does, after all lanes."""

    spelling = "mbarrier.expect"
    base: Value
    index: Value
    bytes: Value
    number: int
    is_elected: bool = False


class MbarrierWait(Op):
    """The thread waits for the phase of `parity`, 0 or 1. Where that is not known it is bit `bit`
    of `phases` (the one `slot` bits further, in the same word, if there is a slot), which the wait
    turns over. With `is_wide` it is for what threads of other blocks did, too."""

    spelling = "mbarrier.wait"
    base: Value
    index: Value
    parity: Value | None
    phases: Value | None
    slot: Value | None
    bit: int
    number: int
    is_wide: bool = False
