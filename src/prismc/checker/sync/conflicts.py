"""Which pairs of accesses need an order, and for which threads (paper-notes A43, A51, A52).

Two accesses conflict if they may touch the same memory, one of them writes, and the threads differ:
a thread's own accesses are in order by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self

from prismc.checker.sync.comparisons import Comparisons, are_private
from prismc.checker.sync.coverage import BULK_WRITES, Coverage, Queue, then
from prismc.checker.sync.graph import (
    Access,
    Crossings,
    Entry,
    Node,
    Pending,
    Reach,
    Step,
    Summary,
)
from prismc.checker.sync.meetings import Meeting
from prismc.checker.sync.near import Neighbours
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.sharing import numbered_memory, share_scope
from prismc.checker.sync.split import LoadPhase, Loads
from prismc.hardware.asynchronous import Agent, Completion
from prismc.source.record import Record


def is_hazard(earlier: AccessKind, later: AccessKind) -> bool:
    """Whether two accesses to one element need an order: not two reads, nor two atomic updates."""
    return earlier is not later or earlier is AccessKind.WRITE


class Conflict(Record):
    """Two accesses without the order they need: `earlier_threads` against `later_threads`.

    `crossed` are the loops between them.
    """

    earlier: Access
    later: Access
    earlier_threads: int
    later_threads: int
    crossed: Crossings
    is_exact: bool

    @property
    def around(self) -> int | None:
        """The loop whose back edge the path takes, None if it takes none."""
        return next((loop for loop, how in self.crossed if how.most), None)

    @property
    def is_own(self) -> bool:
        """Whether it concerns registers: each thread has to wait, but for nobody else."""
        return are_private(self.earlier)

    @property
    def hazard(self) -> str:
        """RAW, WAR or WAW; an atomic update reads and writes."""
        if self.later.kind is AccessKind.READ:
            return "RAW"
        return "WAR" if self.earlier.kind is AccessKind.READ else "WAW"


# Two sets of threads, of the earlier access and of the later one.
Pair = tuple[int, int]


class Looked(NamedTuple):
    """A node, its summary, and what is in conflict inside it with copies that may be pending."""

    node: Node
    summary: Summary
    found: dict[object, Conflict]


class Conflicts(Comparisons):
    """Judges pairs of accesses of one function; what it has worked out once it remembers.

    `steps` keeps the summaries of steps, which never change, `looked` those of nodes. `has_others`
    tells that threads of the block run beside `everyone`, as for a function of a warp: an order
    among all threads here is then none for the caller's, so no access is ever done with.
    `has_copies` tells that asynchronous copies of a caller may be pending anywhere: no barrier
    completes them.
    """

    def __init__(
        self,
        everyone: int,
        accesses: Iterable[Access],
        *,
        block: int = 0,
        has_others: bool = False,
        has_copies: bool = False,
        like: Conflicts | None = None,
    ) -> None:
        """`like` has judged some of the same accesses; no other has the number of one of them."""
        super().__init__(everyone, block, like)
        self.has_others = has_others
        self.has_copies = has_copies
        self._uncovered: dict[tuple[Meeting, Coverage, tuple[int, ...]], Pair | None] = {}
        self._settled: dict[tuple[Access, Coverage], bool] = {}
        self.steps: dict[Step, Summary] = {} if like is None else like.steps
        self.looked: dict[Node, Looked] = {} if like is None else like.looked
        accesses = tuple(accesses)
        # What waits for loads read, by the loads.
        self.load_waits: dict[Queue | None, Access] = {
            root.loads: access
            for access in accesses
            for root in access.roots
            if isinstance(root, LoadPhase) and access.kind is AccessKind.READ
        }
        # Who issues loads, by the loads.
        self.load_issuers: dict[Queue, int] = {}
        for access in accesses:
            if isinstance(access.queue, Loads):
                known = self.load_issuers.get(access.queue, 0)
                self.load_issuers[access.queue] = known | access.footprint.threads
        self._memory = numbered_memory(accesses)
        self._accesses = accesses
        self._neighbours: Neighbours | None = None  # only paths with many accesses ask

    @classmethod
    def beside(
        cls, known: Conflicts, accesses: Iterable[Access], like: Conflicts | None = None
    ) -> Self:
        """A judge of other accesses of the function that `known` judges."""
        return cls(
            known._everyone,
            accesses,
            block=known.block,
            has_others=known.has_others,
            has_copies=known.has_copies,
            like=like,
        )

    def memory_of(self, access: Access) -> int:
        """A number for the memory that an access may touch; other numbers are other memory."""
        return self._memory[access.roots[0]] if access.roots else -1

    def near(self, access: Access) -> list[int] | None:
        """The numbers of the accesses that `between` need not be asked about in vain; None: any."""
        if self._neighbours is None:
            width = self._everyone.bit_length()
            self._neighbours = Neighbours(self._accesses, self._memory, width)
        return self._neighbours.of(access)

    def is_settled(self, pending: Pending) -> bool:
        """Whether everyone is ordered after an access already."""
        key = (pending.access, pending.after)
        known = self._settled.get(key)
        if known is None:
            known = self._settled[key] = self._is_done(*key)
        return known

    def _is_done(self, access: Access, after: Coverage) -> bool:
        order = after if access.queue is None else after.completed(access.queue)
        if order is None or are_private(access):
            return order is not None
        return self._is_last_word(order) and order.is_total(
            access.footprint.threads, self._everyone
        )

    def settles_all(self, order: Coverage) -> bool:
        """Whether an order leaves nothing to do for accesses before it that are no copies."""
        return self._is_last_word(order) and order.is_total(self._everyone, self._everyone)

    def is_complete(self, order: Coverage) -> bool:
        """Whether everyone waited for everyone, and for all that was pending."""
        return not self.has_copies and self.settles_all(order)

    def _is_last_word(self, order: Coverage) -> bool:
        return bool(order.classes) and not self.has_others

    def between(self, pending: Pending, entry: Entry, units: tuple[int, ...]) -> Conflict | None:
        """The conflict of two accesses (`is_hazard`) inside a unit, unless an order covers it.

        What is not complete has no order yet: `unfinished` tells of that.
        """
        earlier, later = pending.access, entry.access
        if earlier.for_engines and not later.is_engine:
            return None
        crossed = entry.crossed_from(pending)
        meeting = self.meeting(earlier, later, crossed, units)
        if not meeting.classes:
            return None
        order: Coverage | None = then(pending.after, entry.before)
        if earlier.queue is not None and order is not None:
            order = order.completed(earlier.queue)
        if order is None:
            return None
        key = (meeting, order, units)
        if key not in self._uncovered:
            self._uncovered[key] = _uncovered(*key)
        found = self._uncovered[key]
        if found is None:
            return None
        return Conflict(
            earlier=earlier,
            later=later,
            earlier_threads=found[0],
            later_threads=found[1],
            crossed=crossed,
            is_exact=meeting.is_exact,
        )

    def unfinished(self, pending: Pending, entry: Entry) -> Conflict | None:
        """The conflict of a copy that may be pending still with an access of any thread, its own
        included. Copies of one scope are on their way together, and no wait stands between them;
        what its bulk stores write must not meet."""
        earlier, later = pending.access, entry.access
        crossed = entry.crossed_from(pending)
        if earlier.queue is None or (
            share_scope(earlier, later, crossed)
            and not earlier.queue is later.queue is BULK_WRITES  # those that meet are in no order
        ):
            return None
        if then(pending.after, entry.before).completed(earlier.queue) is not None:
            return None
        if earlier.agent is later.agent is Agent.WGMMA and are_private(earlier):
            return None  # products of one accumulator stay in order (PTX ISA, "wgmma.fence")
        if earlier.queue is Completion.COPY_GROUP and later.reach is Reach.END:
            return None  # a thread's own copies keep nobody from the end (decision 0263)
        if not any(mine.overlaps(other) for mine in earlier.roots for other in later.roots):
            return None
        is_phase = isinstance(earlier.queue, Loads) or earlier.queue is Completion.MBARRIER
        is_filled = is_phase and earlier.kind is not AccessKind.READ
        if not is_filled and self.are_elsewhere(earlier, later, crossed):
            return None  # of phases each is waited for once, whatever it brings
        return Conflict(
            earlier=earlier,
            later=later,
            earlier_threads=earlier.footprint.threads,
            later_threads=later.footprint.threads,
            crossed=crossed,
            is_exact=False,
        )


def _uncovered(meeting: Meeting, order: Coverage, units: tuple[int, ...]) -> Pair | None:
    for first, second in meeting.classes:
        for unit in units:
            mine, other = first & unit, second & unit
            if mine and other:
                found = order.uncovered(mine, other)
                if found is not None:
                    return found
    return None
