"""Where a thread is, and what it hears from its group."""

from __future__ import annotations

from enum import Enum

from prismc.ir.core import Op, Value


class Query(Enum):
    """THREAD_INDEX in the block; BLOCK_INDEX and BLOCK_COUNT in the grid, counted along x.

    WARPGROUP_INDEX, in the block, is the same for all threads of a warp, and the CUDA compilers
    are told so. All of them ask together.
    """

    THREAD_INDEX = "thread.index"
    WARPGROUP_INDEX = "warpgroup.index"
    BLOCK_INDEX = "block.index"
    BLOCK_COUNT = "block.count"


class Position(Op):
    """A special register, as an i32. Only in kernels: device functions take them as parameters."""

    selector = ("query", Query)
    query: Query


class Part(Enum):
    """NUMBER counts the groups before the one that holds an index, PLACE is its place in there."""

    NUMBER = "group.number"
    PLACE = "group.place"


class InGroup(Op):
    """Where an index of an i32, which is not below 0, stands among aligned groups of `size`.

    It is what unsigned division gives. That it is not below 0 either is known to the CUDA
    compilers then, and saves an address for each access of a loop that starts there.
    """

    selector = ("part", Part)
    part: Part
    index: Value
    size: int


class Broadcast(Op):
    """The first thread's value in all threads of each aligned group of `lanes`, 2 to 32.

    All threads of the group run it together. The value is a scalar of 32 or 64 bits.
    """

    spelling = "broadcast"
    value: Value
    lanes: int
