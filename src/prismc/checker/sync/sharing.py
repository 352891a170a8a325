"""Whose memory two accesses touch: that of one unit of threads or of several, bytes that two arrays
have in common, pieces of a narrowing.

What is found here narrows a `Meeting`: pairs of threads that have memory of their own do not meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from prismc.checker.sync.forms import Coefficient
from prismc.checker.sync.graph import Access, Crossings, Root
from prismc.checker.sync.meetings import NEVER, Meeting

Pairs = tuple[tuple[int, int], ...]
# Starts of arrays of single units that are compared with one another, at most.
_MOST_STARTS = 1 << 12


def numbered_memory(accesses: Iterable[Access]) -> dict[Root, int]:
    """Number the roots so that roots which may be the same memory have one number."""
    numbers: dict[Root, int] = {}
    for access in accesses:
        for root in access.roots:
            numbers.setdefault(root, len(numbers))
    roots = list(numbers)
    joined = [access.roots for access in accesses if len(access.roots) > 1]
    joined += [
        (mine, other)
        for index, mine in enumerate(roots)
        for other in roots[index + 1 :]
        if mine.overlaps(other)
    ]
    for group in joined:
        old = {numbers[root] for root in group}
        for root, number in numbers.items():
            if number in old:
                numbers[root] = min(old)
    return numbers


def on_common_bytes(earlier: Access, later: Access) -> Pairs:
    """Pairs of sets of threads whose own arrays share bytes."""
    everyone = (earlier.footprint.threads, later.footprint.threads)
    found: dict[tuple[int, int], None] = {}
    for mine, other in product(earlier.roots, later.roots):
        if mine.overlaps(other):
            first, second = _by_start(mine.start), _by_start(other.start)
            if len(first) * len(second) > _MOST_STARTS:
                return (everyone,)
            for (start, threads), (begin, others) in product(first.items(), second.items()):
                if start < begin + other.size and begin < start + mine.size:
                    found[threads, others] = None
    return in_both((everyone,), tuple(found))


def _by_start(start: Coefficient) -> dict[int, int]:
    """The threads by where their arrays start; all of them by one number."""
    if isinstance(start, int):
        return {start: -1}
    found: dict[int, int] = {}
    for thread, byte in enumerate(start):
        found[byte] = found.get(byte, 0) | 1 << thread
    return found


def in_both(first: Pairs, second: Pairs) -> Pairs:
    """Pairs of different threads that both have."""
    pairs = ((a & c, b & d) for (a, b), (c, d) in product(first, second))
    several = (each for each in pairs if all(each) and (each[0] | each[1]).bit_count() > 1)
    return tuple(dict.fromkeys(several))


def have_common_elements(earlier: Access, later: Access) -> bool:
    """Whether element i of the one is element i of the other, whatever i."""
    if len(earlier.roots) > 1 or len(later.roots) > 1:
        return False
    mine, other = earlier.roots[0], later.roots[0]
    return mine.low == other.low and mine.element == other.element > 0


def inside_copies(meeting: Meeting, root: Root) -> Meeting:
    """Drop pairs of threads whose units have memory of their own, whatever the indices."""
    own = root.base if isinstance(root.piece, int) else root.piece
    if isinstance(own, int) or not meeting.classes:
        return meeting
    copies: dict[int, int] = {}
    for thread, first in enumerate(own):
        copies[first] = copies.get(first, 0) | 1 << thread
    pairs = (
        (first & copy, second & copy)
        for first, second in meeting.classes
        for copy in copies.values()
    )
    classes = dict.fromkeys(
        (mine, other) for mine, other in pairs if mine and other and (mine | other).bit_count() > 1
    )
    return Meeting(classes=tuple(classes), is_exact=meeting.is_exact, element=meeting.element)


def inside_pieces(meeting: Meeting, size: int) -> Meeting:
    """Drop pairs of threads that own different pieces, of `size` threads, of one view: they stay
    in their own, unless it is certain that they do not (the paper's piece discipline)."""
    if size == 0:
        return meeting
    if size == 1:
        return NEVER
    classes = same_unit(meeting, size)
    return Meeting(classes=classes, is_exact=False, element=meeting.element)


def same_unit(meeting: Meeting, size: int) -> tuple[tuple[int, int], ...]:
    """The pairs of different threads that are in one aligned unit of `size` threads."""
    classes: dict[tuple[int, int], None] = {}
    piece = (1 << size) - 1
    for first, second in meeting.classes:
        start = 0
        while (first | second) >> start:
            mine, other = first & piece << start, second & piece << start
            if mine and other and (mine != other or mine & (mine - 1)):
                classes[mine, other] = None
            start += size
    return tuple(classes)


def shared_piece(earlier: Access, later: Access, crossed: Crossings) -> int:
    """Threads of the smallest piece that both accesses go through in one execution of its
    narrowing; 0 if there is none below a block."""
    loops = [loop for loop, _ in crossed]
    sizes = [
        mine.size
        for mine in earlier.views
        for other in later.views
        if mine.view == other.view and mine.size and mine.keeps_pieces(loops)
    ]
    return min(sizes, default=0)


def are_apart(earlier: Access, later: Access, crossed: Crossings) -> bool:
    """Whether they lie in two executions of a narrowing whose pieces never meet."""
    loops = {loop for loop, _ in crossed}
    return any(
        mine.is_disjoint and mine.view == other.view and not loops.isdisjoint(mine.loops)
        for mine in earlier.views
        for other in later.views
    )


def share_scope(earlier: Access, later: Access, crossed: Crossings) -> bool:
    """Whether two copies belong to one execution of one asynchronous scope. No scope of a function
    shows what its `async` parameters name: it runs in one of its caller's."""
    loops = [loop for loop, _ in crossed]
    scopes = {use.view for use in later.views if use.is_async}
    if not scopes and not any(use.is_async for use in earlier.views):
        return later.is_async and any(root.is_shown for root in later.roots)
    return any(
        use.is_async and use.view in scopes and not any(loop in use.loops for loop in loops)
        for use in earlier.views
    )
