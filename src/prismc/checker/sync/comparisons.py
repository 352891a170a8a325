"""Where two accesses may meet, whatever orders them: the places that they touch, compared."""

from __future__ import annotations

from prismc.checker.sync.asked import Question, is_proved
from prismc.checker.sync.elsewhere import are_elsewhere
from prismc.checker.sync.footprints import Footprint
from prismc.checker.sync.forms import BLOCK_WIDE
from prismc.checker.sync.graph import ANY, Access, Crossings, Reach
from prismc.checker.sync.meetings import FAR, NEVER, Between, Meeting, meet
from prismc.checker.sync.plan import AccessKind
from prismc.checker.sync.sharing import (
    are_apart,
    have_common_elements,
    in_both,
    inside_copies,
    inside_pieces,
    on_common_bytes,
    same_unit,
    shared_piece,
)
from prismc.checker.sync.tables import Known


class Comparisons:
    """Compares accesses of one function; what it has worked out once it remembers.

    `block` are the threads of a block, 0 if that is not known.
    """

    def __init__(self, everyone: int, block: int, like: Comparisons | None) -> None:
        """`like` has compared some of the same accesses; no other has the number of one of them."""
        self._everyone = everyone
        self.block = block
        self._known: dict[tuple[int, int, Crossings, int], Meeting] = (
            {} if like is None else like._known
        )
        self._meetings: dict[object, Meeting] = {} if like is None else like._meetings
        self._tables: Known = {} if like is None else like._tables
        self._in_iteration: dict[tuple[Footprint, int, int], Footprint] = (
            {} if like is None else like._in_iteration
        )
        self._elsewhere: dict[tuple[int, int, Crossings], bool] = (
            {} if like is None else like._elsewhere
        )

    def are_elsewhere(self, earlier: Access, later: Access, crossed: Crossings) -> bool:
        """Whether two accesses have no element in common, not even for one thread."""
        if len(earlier.roots) != 1 or earlier.roots != later.roots:
            return False
        key = (earlier.number, later.number, crossed)
        known = self._elsewhere.get(key)
        if known is None:
            first, second = self._parts(earlier.footprint, later.footprint, crossed)
            known = self._elsewhere[key] = are_apart(earlier, later, crossed) or are_elsewhere(
                first,
                second,
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
        if are_private(earlier) or are_private(later):
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
        first, second = self._parts(first, second, crossed)
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

    def _parts(
        self, earlier: Footprint, later: Footprint, crossed: Crossings
    ) -> tuple[Footprint, Footprint]:
        """The footprints of two accesses in the iterations that are known."""
        for loop, how in crossed:
            earlier = self._part(earlier, loop, how.earlier)
            later = self._part(later, loop, how.later)
        return earlier, later

    def _part(self, footprint: Footprint, loop: int, iteration: int) -> Footprint:
        if iteration == ANY:
            return footprint
        key = (footprint, loop, iteration)
        if key not in self._in_iteration:
            self._in_iteration[key] = footprint.part(loop, iteration)
        return self._in_iteration[key]

    def wide(self, width: int) -> int:
        """How far a symbol has to be one value for units of `width` threads."""
        return width // self.block * BLOCK_WIDE if 0 < self.block < width else width


def are_private(access: Access) -> bool:
    """Whether an access touches registers only."""
    return bool(access.roots) and all(root.is_private for root in access.roots)


def _between(crossed: Crossings) -> Between:
    ended = frozenset(loop for loop, how in crossed if not how.most)
    for loop, how in crossed:
        if how.most:
            return Between(loop=loop, least=how.least, most=how.most, ended=ended)
    return Between(ended=ended)


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
