"""Which pairs of accesses need an order, and for which threads (paper-notes A43, A51, A52).

Two accesses conflict if they may touch the same memory, one of them writes, and the threads differ:
a thread's own accesses are in order by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self

from prismc.checker.sync.asked import Question, is_proved
from prismc.checker.sync.coverage import BULK_WRITES, Coverage, Queue, then
from prismc.checker.sync.elsewhere import are_elsewhere
from prismc.checker.sync.forms import BLOCK_WIDE
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
from prismc.checker.sync.meetings import FAR, NEVER, Between, Meeting, meet
from prismc.checker.sync.near import Neighbours
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.sharing import (
    are_apart,
    have_common_elements,
    in_both,
    inside_copies,
    inside_pieces,
    numbered_memory,
    on_common_bytes,
    same_unit,
    share_scope,
    shared_piece,
)
from prismc.checker.sync.split import LoadPhase, Loads
from prismc.checker.sync.tables import Known
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
        return _are_private(self.earlier)

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


class Conflicts:
    """Judges pairs of accesses of one function; what it has worked out once it remembers.

    `steps` keeps the summaries of steps, which never change, `looked` those of nodes. `has_others`
    tells that threads of the block run beside `everyone`, as for a function of a warp: an order
    among all threads here is then none for the caller's, so no access is ever done with.
    `has_copies` tells that asynchronous copies of a caller may be pending anywhere: no barrier
    completes them. `block` are the threads of a block, 0 if that is not known.
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
        self._everyone = everyone
        self.block = block
        self.has_others = has_others
        self.has_copies = has_copies
        self._known: dict[tuple[int, int, Crossings, int], Meeting] = (
            {} if like is None else like._known
        )
        self._uncovered: dict[tuple[Meeting, Coverage, tuple[int, ...]], Pair | None] = {}
        self._settled: dict[tuple[Access, Coverage], bool] = {}
        self._meetings: dict[object, Meeting] = {} if like is None else like._meetings
        self._tables: Known = {} if like is None else like._tables
        self._elsewhere: dict[tuple[int, int, Crossings], bool] = (
            {} if like is None else like._elsewhere
        )
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
        if order is None or _are_private(access):
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
        meeting = self.meeting(earlier, later, pending.crossed, units)
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
            crossed=pending.crossed,
            is_exact=meeting.is_exact,
        )

    def unfinished(self, pending: Pending, entry: Entry) -> Conflict | None:
        """The conflict of a copy that may be pending still with an access of any thread, its own
        included. Copies of one scope are on their way together, and no wait stands between them;
        what its bulk stores write must not meet."""
        earlier, later = pending.access, entry.access
        if earlier.queue is None or (
            share_scope(earlier, later, pending.crossed)
            and not earlier.queue is later.queue is BULK_WRITES  # those that meet are in no order
        ):
            return None
        if then(pending.after, entry.before).completed(earlier.queue) is not None:
            return None
        if earlier.agent is later.agent is Agent.WGMMA and _are_private(earlier):
            return None  # products of one accumulator stay in order (PTX ISA, "wgmma.fence")
        if earlier.queue is Completion.COPY_GROUP and later.reach is Reach.END:
            return None  # a thread's own copies keep nobody from the end (decision 0263)
        if not any(mine.overlaps(other) for mine in earlier.roots for other in later.roots):
            return None
        is_phase = isinstance(earlier.queue, Loads) or earlier.queue is Completion.MBARRIER
        is_filled = is_phase and earlier.kind is not AccessKind.READ
        if not is_filled and self.are_elsewhere(earlier, later, pending.crossed):
            return None  # of phases each is waited for once, whatever it brings
        return Conflict(
            earlier=earlier,
            later=later,
            earlier_threads=earlier.footprint.threads,
            later_threads=later.footprint.threads,
            crossed=pending.crossed,
            is_exact=False,
        )

    def are_elsewhere(self, earlier: Access, later: Access, crossed: Crossings) -> bool:
        """Whether two accesses have no element in common, not even for one thread."""
        if len(earlier.roots) != 1 or earlier.roots != later.roots:
            return False
        key = (earlier.number, later.number, crossed)
        known = self._elsewhere.get(key)
        if known is None:
            known = self._elsewhere[key] = are_apart(earlier, later, crossed) or are_elsewhere(
                earlier.footprint,
                later.footprint,
                _between(crossed),
                self._tables,
                width=self.wide(self._everyone.bit_count()),
                assume_rows=_is_row_of_matrix(earlier, later),
            )
        return known

    def meeting(
        self, earlier: Access, later: Access, crossed: Crossings, units: tuple[int, ...]
    ) -> Meeting:
        """For whom the two accesses may meet inside a unit, order aside."""
        width = units[0].bit_count()
        key = (earlier.number, later.number, crossed, width)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._compare(earlier, later, crossed, width)
        return known

    def _compare(self, earlier: Access, later: Access, crossed: Crossings, width: int) -> Meeting:
        if _are_private(earlier) or _are_private(later):
            return NEVER
        reaches = (earlier.reach, later.reach)
        is_far = Reach.CLUSTER in reaches
        if Reach.END in reaches and not is_far:
            return NEVER
        found = self._compare_places(earlier, later, crossed, width)
        is_local = all(root.is_local for root in (*earlier.roots, *later.roots))
        is_local = not is_far and (is_local or Reach.BLOCK in reaches)
        if not is_local or not 0 < self.block < self._everyone.bit_count():
            return found
        classes = same_unit(found, self.block)
        return Meeting(classes=classes, is_exact=found.is_exact, element=found.element)

    def _compare_places(
        self, earlier: Access, later: Access, crossed: Crossings, width: int
    ) -> Meeting:
        """The same without regard to whose memory the roots are."""
        if not any(root in later.roots for root in earlier.roots):
            return self._overlaid(earlier, later, crossed, width)
        piece = shared_piece(earlier, later, crossed)
        if piece == 1 and not (_may_be_exact(earlier) and _may_be_exact(later)):
            return NEVER
        found = self._met(
            earlier, later, crossed, width, assume_rows=_is_row_of_matrix(earlier, later)
        )
        if len(earlier.roots) > 1 or len(later.roots) > 1:
            found = Meeting(classes=found.classes, is_exact=False, element=found.element)
        elif Reach.CLUSTER not in (earlier.reach, later.reach):
            found = inside_copies(found, earlier.roots[0])
        if found.is_exact:
            return found
        wide = self.wide(width)
        if are_apart(earlier, later, crossed) or _is_proved(earlier, later, crossed, wide):
            return NEVER
        return inside_pieces(found, piece)

    def _overlaid(self, earlier: Access, later: Access, crossed: Crossings, width: int) -> Meeting:
        """Different arrays meet where their bytes do; where both begin at one byte and have
        elements of one size, where their elements do. (In a cluster arrays lie at blocks, too.)"""
        classes = on_common_bytes(earlier, later)
        is_cluster = 0 < self.block < self._everyone.bit_count()
        if not classes or is_cluster or not have_common_elements(earlier, later):
            return Meeting(classes=classes, is_exact=False) if classes else NEVER
        found = self._met(earlier, later, crossed, width, assume_rows=False)
        return Meeting(
            classes=in_both(found.classes, classes), is_exact=False, element=found.element
        )

    def _met(
        self, earlier: Access, later: Access, crossed: Crossings, width: int, *, assume_rows: bool
    ) -> Meeting:
        """Where the elements meet, as if both were of one array."""
        first, second = earlier.footprint, later.footprint
        if first.plain is not None and second.plain is not None:
            first, second = first.plain, second.plain
        wide = self.wide(width)
        key = (first, second, crossed, wide, assume_rows)
        found = self._meetings.get(key)
        if found is None:
            found = self._meetings[key] = meet(
                first,
                second,
                _between(crossed),
                self._tables,
                width=wide,
                assume_rows=assume_rows,
            )
        return found

    def wide(self, width: int) -> int:
        """How far a symbol has to be one value for units of `width` threads."""
        return width // self.block * BLOCK_WIDE if 0 < self.block < width else width


def _are_private(access: Access) -> bool:
    """Whether an access touches registers only."""
    return bool(access.roots) and all(root.is_private for root in access.roots)


def _between(crossed: Crossings) -> Between:
    ended = frozenset(loop for loop, how in crossed if not how.most)
    for loop, how in crossed:
        if how.most:
            return Between(loop=loop, least=how.least, most=how.most, ended=ended)
    return Between(ended=ended)


def _uncovered(meeting: Meeting, order: Coverage, units: tuple[int, ...]) -> Pair | None:
    for first, second in meeting.classes:
        for unit in units:
            mine, other = first & unit, second & unit
            if mine and other:
                found = order.uncovered(mine, other)
                if found is not None:
                    return found
    return None


def _is_row_of_matrix(earlier: Access, later: Access) -> bool:
    """One store that a loop repeats, into a kernel's argument: a run-time factor of its index is
    the length of a row, and rows do not overlap (decision 0061)."""
    return (
        earlier is later
        and earlier.kind is AccessKind.WRITE
        and all(root.is_global for root in earlier.roots)
    )


def _may_be_exact(access: Access) -> bool:
    footprint = access.footprint
    return bool(footprint.points) and footprint.is_certain and not footprint.varying


def _is_proved(earlier: Access, later: Access, crossed: Crossings, width: int) -> bool:
    """Whether a prover, if there is one, has shown that the two never meet."""
    if earlier.asked is None or later.asked is None:
        return False
    between = _between(crossed)
    question = Question(
        earlier=earlier.asked,
        later=later.asked,
        width=width,
        around=between.loop,
        least=between.least,
        most=0 if between.most == FAR else between.most,
        ended=between.ended,
    )
    return is_proved(question)
