"""Some blocks of a launch that run together: their lanes, memory, and groups that can run."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from prismc.emulator.flow import Spin
from prismc.emulator.geometry import WARP, Geometry
from prismc.emulator.memory import Region
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.state.frames import Frame
from prismc.emulator.state.outline import Specials

_LOCAL_LIMIT = 512 * 1024


class LocalMemoryExhausted(Exception):
    """Calls nest so deep that a thread's local memory is used up."""


class Group(NamedTuple):
    """Lanes that are to execute the same block next; `mask` None means all lanes."""

    frame: Frame
    block: int
    mask: Lanes | None
    lanes: int
    crew: int


class Resting(NamedTuple):
    """A group in a loop, and how the loop waits for others, if it does."""

    group: Group
    spin: Spin | None


class Unit:
    """A part of the multiprocessor where lanes of a batch wait, or leave work behind them."""

    def settle(self) -> None:
        """Some threads have exited: nobody waits for them any more."""

    def finish(self) -> None:
        """All threads have exited: what is still on its way is completed."""


U = TypeVar("U", bound=Unit)


class Batch:
    """Blocks that run together. Lanes are in *crews*: sets that a schedule moves separately.

    `ready` holds the groups that can run, by crew and place in the code; groups of one crew at the
    same place are one group. `resting` groups wait in a loop for something to happen. `shared` has
    `shared_size` bytes for each block. `crew_of` is None where all lanes are one crew.
    `marks_written` asks for marks of the bytes that were written; `specials` are the registers that
    are the same for all blocks.
    """

    def __init__(
        self,
        geometry: Geometry,
        shared_size: int,
        specials: Specials,
        crew_of: Lanes | None,
        *,
        splits_warps: bool,
        marks_written: bool,
    ) -> None:
        self.geometry = geometry
        self.every_lane = np.arange(geometry.count, dtype=np.int64)
        self.every_mask = np.ones(geometry.count, np.bool_)
        exists = geometry.exists
        self.alive = self.every_mask.copy() if exists is None else exists.copy()
        self.alive_count = int(np.count_nonzero(self.alive))
        self.exited = 0
        self.ready: dict[tuple[int, tuple[int, ...]], Group] = {}
        self.resting: list[Resting] = []
        self.units: dict[type[Unit], Unit] = {}
        self.marks_written = marks_written
        self.shared = self._region("shared", shared_size, len(geometry.blocks))
        self.shared_base = geometry.place * self.shared.stride
        self.local: Region | None = None
        self.local_base = self.every_lane * 0
        self.crew_of = crew_of
        self.splits_warps = splits_warps
        self._specials = specials

    def add(self, unit: Unit) -> None:
        """The batch's lanes use a unit, the only one of its type."""
        self.units[type(unit)] = unit

    def unit(self, kind: type[U]) -> U:
        """The unit of a type."""
        found: U = self.units[kind]  # type: ignore[assignment]
        return found

    def _region(self, space: str, size: int, copies: int) -> Region:
        region = Region(space, space, 0, size, copies)
        if self.marks_written:
            region.written = np.zeros(len(region.data), np.bool_)
        return region

    def special(self, name: str) -> Lanes:
        """A special register's value, uint32 or uint64, `[lanes]` or `[1]`."""
        value = self.geometry.special(name)
        return self._specials(name) if value is None else value

    def local_memory(self, size: int) -> None:
        """Makes each thread's local memory at least `size` bytes long. Raises
        LocalMemoryExhausted."""
        if size > _LOCAL_LIMIT:
            raise LocalMemoryExhausted
        old = self.local
        if old is not None and old.stride >= size:
            old.size = max(old.size, size)
            return
        # Room to spare, so that deep calls do not copy everything at every level.
        room = size if old is None else max(size, 2 * old.stride)
        region = self._region("local", room, self.geometry.count)
        region.size = size
        if old is not None:
            _take_over(region, old, self.geometry.count)
        self.local = region
        self.local_base = self.every_lane * region.stride

    def push(self, frame: Frame, block: int, mask: Lanes | None, count: int, crew: int) -> None:
        """Makes lanes ready to execute `block`, together with others of the crew there."""
        if not count:
            return
        key = (crew, frame.order(block))
        known = self.ready.get(key)
        if known is not None and mask is not None and known.mask is not None:
            mask = mask | known.mask
            count += known.lanes
        self.ready[key] = Group(frame, block, self._simplest(mask, count), count, crew)

    def push_mixed(self, frame: Frame, block: int, mask: Lanes) -> None:
        """Makes lanes of any crews ready."""
        if self.crew_of is None:
            self.push(frame, block, mask, int(np.count_nonzero(mask)), 0)
            return
        for crew in np.unique(self.crew_of[mask]):
            part = mask & (self.crew_of == crew)
            self.push(frame, block, part, int(np.count_nonzero(part)), int(crew))

    def _simplest(self, mask: Lanes | None, count: int) -> Lanes | None:
        return None if count == self.geometry.count else mask

    def unite(self, lanes: Lanes, crew: int) -> None:
        """Lanes (bool `[lanes]`) go on in one crew, where the schedule had split their warps."""
        if self.crew_of is not None:
            self.crew_of = np.where(lanes, crew, self.crew_of)

    def split_off(self, here: Lanes, crew: int) -> Lanes | None:
        """Lanes that are elsewhere than others of their warps, those that are `here` in a crew, for
        no other reason than the schedule; bool `[lanes]`, None if there are none."""
        if not self.splits_warps or self.crew_of is None:
            return None
        warps = here.reshape(-1, WARP).any(axis=1)
        apart: Lanes = self.alive & ~here & (self.crew_of != crew) & np.repeat(warps, WARP)
        return apart if apart.any() else None

    def living_blocks(self) -> Lanes:
        """Which blocks have threads that have not exited, bool `[blocks]`."""
        living: Lanes = np.logical_or.reduce(self.alive.reshape(-1, self.geometry.width), axis=1)
        return living

    def held_blocks(self) -> int:
        """The number of blocks that have not ended."""
        return int(np.count_nonzero(self.living_blocks()))

    def wake(self) -> None:
        """Makes resting groups ready."""
        resting, self.resting = self.resting, []
        for group, _ in resting:
            self.push(group.frame, group.block, group.mask, group.lanes, group.crew)

    def remove(self, lanes: Lanes, count: int) -> None:
        """Lanes (bool `[lanes]`), `count` of them, exit."""
        self.alive = self.alive & ~lanes
        self.alive_count -= count
        self.exited += count


def _take_over(region: Region, old: Region, copies: int) -> None:
    """What a smaller region held, its marks included."""
    pairs = [(region.data, old.data)]
    if region.written is not None and old.written is not None:
        pairs.append((region.written, old.written))
    for new, before in pairs:
        new.reshape(copies, -1)[:, : old.stride] = before.reshape(copies, -1)
