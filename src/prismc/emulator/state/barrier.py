"""One block barrier's state, as those that count arrivals and those that watch them see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from prismc.emulator.ptx.tree import Instruction
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.frames import Frame

# Called with the frame of released lanes, all lanes' votes, the released and the participating
# lanes (bool [lanes]), and the number of lanes of a block.
Finish = Callable[[Frame, Lanes, Lanes, Lanes, int], None]


class Waiting(NamedTuple):
    """Lanes that wait at a barrier to go on at `block` of `frame`."""

    frame: Frame
    block: int
    site: Instruction
    finish: Finish | None


class Barrier:
    """One barrier id in every block of a batch.

    `counted` is the number of threads that have arrived in the current generation, `expected` the
    number it waits for (0: all threads), both per block. `joined` are the lanes that arrived,
    `waiting` those of them that wait.
    """

    def __init__(self, blocks: int, lanes: int) -> None:
        self.counted = np.zeros(blocks, np.int64)
        self.expected = np.zeros(blocks, np.int64)
        self.generation = np.zeros(blocks, np.int64)
        self.joined = np.zeros(lanes, np.bool_)
        self.waiting = np.zeros(lanes, np.bool_)
        self.partial = np.zeros(lanes, np.bool_)
        self.votes = np.zeros(lanes, np.bool_)
        self.parked: dict[Waiting, Lanes] = {}
        self.sites: dict[int, Instruction] = {}
        self.observed: object = None  # what an observer keeps about this barrier
        self.site_line = np.zeros(blocks, np.int64)
        self.last_arrival = np.zeros(blocks, np.int64)  # when, for profiles
