"""Some blocks of a launch, executed vectorised: their lanes, memory and waiting groups."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prismc.emulator.barriers import BlockBarriers
from prismc.emulator.bulk import BulkGroups
from prismc.emulator.clusters import ClusterBarriers
from prismc.emulator.copies import ThreadCopies
from prismc.emulator.flow import Spin
from prismc.emulator.frames import Frame, LocalMemoryExhausted
from prismc.emulator.geometry import WARP, Geometry
from prismc.emulator.lanes import Run
from prismc.emulator.mbarriers import MBarriers
from prismc.emulator.meetings import Meetings
from prismc.emulator.memory import LOCAL_START, Region
from prismc.emulator.schedule import Order
from prismc.emulator.semantics.registry import Lanes
from prismc.emulator.warpgroups import WarpgroupProducts

if TYPE_CHECKING:
    from prismc.emulator.machine import Machine

# A loop that does not wait for others may turn this often before the rest gets a turn.
_PATIENCE = 1 << 16
_LOCAL_LIMIT = 512 * 1024


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


class Batch:
    """Blocks that run together. Lanes are in *crews*: sets that a schedule moves separately.

    `ready` holds the groups that can run, by crew and place in the code; groups of one crew at the
    same place are one group. `resting` groups wait in a loop for something to happen.
    """

    def __init__(self, machine: Machine, geometry: Geometry) -> None:
        self.machine = machine
        self.geometry = geometry
        self.every_lane = np.arange(geometry.count, dtype=np.int64)
        self.every_mask = np.ones(geometry.count, np.bool_)
        exists = geometry.exists
        self.alive = self.every_mask.copy() if exists is None else exists.copy()
        self.alive_count = int(np.count_nonzero(self.alive))
        self.exited = 0
        self.ready: dict[tuple[int, tuple[int, ...]], Group] = {}
        self.resting: list[Resting] = []
        self.barriers = BlockBarriers(self)
        self.clusters = ClusterBarriers(self)
        self.meetings = Meetings(self)
        self.mbarriers = MBarriers(self)
        self.copies = ThreadCopies(self)
        self.bulk = BulkGroups(self)
        self.products = WarpgroupProducts(self)
        self.shared = self._shared_region()
        self.shared_base = geometry.place * self.shared.stride
        self.local: Region | None = None
        self.local_base = self.every_lane * 0
        self.crew_of = machine.schedule.crew_numbers(geometry)
        self.splits_warps = machine.schedule.plan.order is Order.SPLIT
        self._start()

    def _shared_region(self) -> Region:
        blocks = len(self.geometry.blocks)
        region = Region("shared", "shared", 0, self.machine.shared_end, blocks)
        if self.machine.poison:
            region.written = np.zeros(len(region.data), np.bool_)
        return region

    def _start(self) -> None:
        frame = Frame(self, self.machine.entry, None, 0, LOCAL_START)
        self.local_memory(frame.end)
        self.push_mixed(frame, 0, self.alive)

    def special(self, name: str) -> Lanes:
        """A special register's value, uint32 or uint64, `[lanes]` or `[1]`."""
        value = self.geometry.special(name)
        return self.machine.special(name) if value is None else value

    def shared_of_rank(self, run: Run, ranks: Lanes, chosen: Lanes | None) -> Lanes:
        """Where the shared memory of the cluster's block of a rank starts, for packed lanes."""
        size = self.geometry.shape.cluster.volume
        place = run.packed(self.geometry.place)
        place = place if chosen is None else place[chosen]
        start: Lanes = (place // size * size + np.minimum(ranks, size - 1)) * self.shared.stride
        return start

    def local_memory(self, size: int) -> None:
        """Makes each thread's local memory at least `size` bytes long."""
        if size > _LOCAL_LIMIT:
            raise LocalMemoryExhausted
        old = self.local
        if old is not None and old.stride >= size:
            old.size = max(old.size, size)
            return
        # Room to spare, so that deep calls do not copy everything at every level.
        room = size if old is None else max(size, 2 * old.stride)
        region = Region("local", "local", 0, room, self.geometry.count)
        region.size = size
        if self.machine.poison:
            region.written = np.zeros(len(region.data), np.bool_)
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

    def unite(self, run: Run) -> None:
        """The lanes of a run go on together, where the schedule had split their warps."""
        if self.crew_of is not None:
            self.crew_of = np.where(run.mask_array(), run.crew, self.crew_of)

    def split_off(self, run: Run) -> Lanes | None:
        """Lanes that are elsewhere than others of their warps in a run, for no other reason than
        the schedule; bool `[lanes]`, None if there are none."""
        if not self.splits_warps or self.crew_of is None:
            return None
        here = run.mask_array()
        warps = here.reshape(-1, WARP).any(axis=1)
        apart: Lanes = self.alive & ~here & (self.crew_of != run.crew) & np.repeat(warps, WARP)
        return apart if apart.any() else None

    def living_blocks(self) -> Lanes:
        """Which blocks have threads that have not exited, bool `[blocks]`."""
        living: Lanes = np.logical_or.reduce(self.alive.reshape(-1, self.geometry.width), axis=1)
        return living

    def held_blocks(self) -> int:
        """The number of blocks that have not ended."""
        return int(np.count_nonzero(self.living_blocks()))

    def advance(self) -> None:
        """Runs until no group is ready."""
        choose = self.machine.schedule.choose
        while self.ready:
            group = self.ready.pop(choose(self.ready))
            self._execute(group)

    def wake(self) -> None:
        """Makes resting groups ready."""
        resting, self.resting = self.resting, []
        for group, _ in resting:
            self.push(group.frame, group.block, group.mask, group.lanes, group.crew)

    def _execute(self, group: Group) -> None:
        """Runs a group block by block until others come before it or it ends or waits."""
        frame, block, crew = group.frame, group.block, group.crew
        code = frame.code
        machine = self.machine
        run = Run(self, frame, group.mask, group.lanes, crew)
        turns = 0
        while True:
            here = code.blocks[block]
            if here.members is not None:
                gathered = self.meetings.gather(run, block, here)
                if gathered is None:
                    return
                run = gathered
            machine.count(run, block)
            for step in here.steps:
                step(run)
            following = here.end(run)
            if following is None:
                return
            edge = (block, following)
            block = following
            if edge in code.flow.back_edges:
                machine.check_time()
                turns += 1
                if self._must_rest(code.flow.spins, edge, turns):
                    self._rest(Group(frame, block, run.mask, run.count, crew), edge)
                    return
            if self.ready and machine.schedule.hands_over(self.ready, (crew, frame.order(block))):
                self.push(frame, block, run.mask, run.count, crew)
                return

    def _rest(self, group: Group, edge: tuple[int, int]) -> None:
        """A group that turns in a loop lets others run."""
        self.resting.append(Resting(group, group.frame.code.flow.spins.get(edge)))

    def _must_rest(
        self, spins: Container[tuple[int, int]], edge: tuple[int, int], turns: int
    ) -> bool:
        """Whether a turning loop must let others run: a waiting loop at once, others much later."""
        return edge in spins or turns > _PATIENCE

    def leave(self, run: Run) -> None:
        """The run's threads exit (PTX ISA 9.7.12, exit): barriers no longer wait for them."""
        self.machine.progress += 1
        self.alive = self.alive & ~run.mask_array()
        self.alive_count -= run.count
        self.exited += run.count
        if self.geometry.shape.cluster.volume > 1 and self.machine.watch is not None:
            self.machine.watch.threads_exit(run)
        if self.alive_count:
            self.barriers.settle()
            self.clusters.settle()
            self.meetings.settle()
        else:
            self.copies.finish()
            self.bulk.finish()
            self.products.finish()


def _take_over(region: Region, old: Region, copies: int) -> None:
    """What a smaller region held, its marks included."""
    pairs = [(region.data, old.data)]
    if region.written is not None and old.written is not None:
        pairs.append((region.written, old.written))
    for new, before in pairs:
        new.reshape(copies, -1)[:, : old.stride] = before.reshape(copies, -1)
