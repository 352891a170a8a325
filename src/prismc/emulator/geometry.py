"""The shape of a launch and of the part of it that runs vectorised: which lane is which thread."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from prismc.emulator.semantics.registry import Lanes

WARP = 32


class Dim3(NamedTuple):
    """Extents or coordinates in x, y, z."""

    x: int
    y: int = 1
    z: int = 1

    @property
    def volume(self) -> int:
        return self.x * self.y * self.z

    def __str__(self) -> str:
        return f"{self.x} x {self.y} x {self.z}"


class Shape(NamedTuple):
    """A launch: blocks of the grid, threads of a block, blocks of a cluster."""

    grid: Dim3
    block: Dim3
    cluster: Dim3

    @property
    def width(self) -> int:
        """Lanes that a block takes: its threads, filled up to whole warps."""
        return -(-self.block.volume // WARP) * WARP


class Geometry:
    """Lanes of a set of blocks, block after block; a lane is (block's place here, thread).

    Arrays are `[lanes]`. Lanes that fill the last warp of a block up are no threads (`exists`).
    """

    def __init__(self, shape: Shape, blocks: Lanes) -> None:
        self.shape = shape
        self.blocks = blocks
        self.width = shape.width
        self.count = len(blocks) * self.width

    @cached_property
    def thread(self) -> Lanes:
        """Linear thread index in its block (`%tid` x fastest), int64."""
        return np.tile(np.arange(self.width, dtype=np.int64), len(self.blocks))

    @cached_property
    def place(self) -> Lanes:
        """The block's place in this batch, int64."""
        return np.repeat(np.arange(len(self.blocks), dtype=np.int64), self.width)

    @cached_property
    def block(self) -> Lanes:
        """Linear index of the block in the grid, int64."""
        return np.repeat(self.blocks.astype(np.int64), self.width)

    @cached_property
    def exists(self) -> Lanes | None:
        """Which lanes are threads; None if all are."""
        if self.shape.block.volume == self.width:
            return None
        return self.thread < self.shape.block.volume

    def same_cluster(self, block: int, other: int) -> bool:
        """Whether two blocks of the grid are in one cluster."""
        grid, _, cluster = self.shape
        if cluster.volume == 1:
            return block == other
        return _cluster_of(block, grid, cluster) == _cluster_of(other, grid, cluster)

    def special(self, name: str) -> Lanes | None:
        """The value of a special register that depends on the launch alone; None if unknown.

        PTX ISA 10: uint32 arrays `[lanes]`, or `[1]` where all lanes agree.
        """
        base, _, axis = name.partition(".")
        if axis:
            return self._coordinate(base, "xyz".find(axis))
        return self._scalar(name)

    def _coordinate(self, base: str, axis: int) -> Lanes | None:
        grid, block, cluster = self.shape
        clusters = Dim3(*(g // c for g, c in zip(grid, cluster, strict=True)))
        sizes = {
            "ntid": block, "nctaid": grid, "cluster_nctaid": cluster, "nclusterid": clusters,
        }  # fmt: skip
        if axis < 0:
            return None
        if base in sizes:
            return np.array([sizes[base][axis]], np.uint32)
        if base == "tid":
            return _split(self.thread, block, axis)
        corner = _split(self.block, grid, axis)
        if base == "ctaid":
            return corner
        if base == "cluster_ctaid":
            return corner % np.uint32(cluster[axis])
        if base == "clusterid":
            return corner // np.uint32(cluster[axis])
        return None

    def _scalar(self, name: str) -> Lanes | None:
        lane = (self.thread % WARP).astype(np.uint32)
        if name == "laneid":
            return lane
        if name == "warpid":
            return (self.thread // WARP).astype(np.uint32)
        if name == "cluster_ctarank":
            return self.cluster_rank.astype(np.uint32)
        if name.startswith("lanemask_"):
            return _lane_mask(lane, name.removeprefix("lanemask_"))
        constants = {
            "nwarpid": self.width // WARP,
            "smid": 0,
            "nsmid": 1,
            "gridid": 0,
            "cluster_nctarank": self.shape.cluster.volume,
            "is_explicit_cluster": int(self.shape.cluster.volume > 1),
        }
        return np.array([constants[name]], np.uint32) if name in constants else None

    @cached_property
    def cluster_rank(self) -> Lanes:
        """The block's rank in its cluster (`%cluster_ctarank`), int64."""
        grid, _, cluster = self.shape
        x, y, z = (_split(self.block, grid, axis).astype(np.int64) for axis in range(3))
        return (x % cluster.x) + cluster.x * ((y % cluster.y) + cluster.y * (z % cluster.z))


def _cluster_of(block: int, grid: Dim3, cluster: Dim3) -> tuple[int, int, int]:
    x, y, z = block % grid.x, block // grid.x % grid.y, block // (grid.x * grid.y)
    return x // cluster.x, y // cluster.y, z // cluster.z


def _split(linear: Lanes, extent: Dim3, axis: int) -> Lanes:
    """Coordinate `axis` of a linear index, as uint32; one element if it is always 0."""
    if extent[axis] == 1:
        return np.zeros(1, np.uint32)
    inner = extent.x ** (axis > 0) * extent.y ** (axis > 1)
    coordinate: Lanes = linear // inner % extent[axis]
    return coordinate.astype(np.uint32)


def _lane_mask(lane: Lanes, which: str) -> Lanes | None:
    """`%lanemask_lt` and its kin, as uint32."""
    one = np.uint64(1) << lane.astype(np.uint64)
    every = np.uint64(0xFFFFFFFF)
    masks = {
        "eq": one,
        "lt": one - np.uint64(1),
        "le": one | (one - np.uint64(1)),
        "ge": every & ~(one - np.uint64(1)),
        "gt": every & ~(one | (one - np.uint64(1))),
    }
    found: Lanes | None = masks[which].astype(np.uint32) if which in masks else None
    return found
