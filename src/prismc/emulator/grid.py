"""In which order the blocks of a grid start, and which run together."""

from __future__ import annotations

import numpy as np

from prismc.emulator.geometry import Dim3, Geometry, Shape
from prismc.emulator.semantics.registry import Lanes


def chunks_of(shape: Shape, order: Lanes, per_batch: int, resident: int) -> list[Lanes]:
    """The blocks of the grid in starting order, cut into batches of whole clusters.

    A batch has at most `per_batch` blocks, if not a whole cluster has more. Of `resident` blocks
    those that run first may do so together; each of the others starts when one has ended. 0: all
    blocks are resident.
    """
    blocks, cluster = _by_cluster(shape, order), shape.cluster.volume
    size = max(1, per_batch // cluster) * cluster
    first = len(blocks)
    if resident:
        first = min(first, max(1, resident // cluster) * cluster)
    starts = [*range(0, first, size), *range(first, len(blocks), cluster)]
    return [
        blocks[start:end] for start, end in zip(starts, [*starts[1:], len(blocks)], strict=True)
    ]


def _by_cluster(shape: Shape, blocks: Lanes) -> Lanes:
    """The same order with the blocks of each cluster side by side, by rank."""
    if shape.cluster.volume == 1:
        return blocks
    geometry = Geometry(Shape(shape.grid, Dim3(32), shape.cluster), blocks)
    rank = geometry.cluster_rank[::32]
    corner = _cluster_numbers(shape, blocks)
    first = {int(number): place for place, number in reversed(list(enumerate(corner)))}
    start = np.array([first[int(number)] for number in corner], np.int64)
    ordered: Lanes = blocks[np.lexsort((rank, start))]
    return ordered


def _cluster_numbers(shape: Shape, blocks: Lanes) -> Lanes:
    """The cluster of each block, as a number."""
    grid, cluster = shape.grid, shape.cluster
    x, y, z = blocks % grid.x, blocks // grid.x % grid.y, blocks // (grid.x * grid.y)
    numbers: Lanes = (x // cluster.x) + grid.x * ((y // cluster.y) + grid.y * (z // cluster.z))
    return numbers
