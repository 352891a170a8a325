"""Which accesses may meet at all: a look-up, where comparing all pairs would take too long.

Unrolled code makes thousands of accesses whose indices differ in constants only. Those that have
the same symbols, settled for the whole function, meet only at a common known element.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prismc.checker.sync.coverage import threads_in
from prismc.checker.sync.footprints import Footprint
from prismc.checker.sync.forms import ONE, Monomial
from prismc.checker.sync.graph import Access, Root

_Frame = tuple[Root, frozenset[tuple[Monomial, int]]]


class Neighbours:
    """The accesses of one function by memory, symbols and known elements. `width` is how many
    threads the function has; `memory` numbers roots as `Conflicts.memory_of` does."""

    def __init__(self, accesses: Iterable[Access], memory: Mapping[Root, int], width: int) -> None:
        self._width = width
        roots: dict[int, int] = {}
        for number in memory.values():
            roots[number] = roots.get(number, 0) + 1
        # Overlaid arrays meet by their bytes, not by their elements.
        self._alone = frozenset(root for root, number in memory.items() if roots[number] == 1)
        self._elements: dict[int, frozenset[int]] = {}
        self._at: dict[_Frame, dict[int, list[frozenset[int]]]] = {}
        self._like: dict[tuple[_Frame, frozenset[int]], list[int]] = {}
        self._others: dict[_Frame | None, list[int]] = {}
        for access in accesses:
            self._add(access)

    def _add(self, access: Access) -> None:
        frame = self.frame(access)
        self._others.setdefault(frame, []).append(access.number)
        if frame is None:
            return
        elements = frozenset(known_elements(access.footprint))
        self._elements[access.number] = elements
        alike = self._like.setdefault((frame, elements), [])
        if not alike:
            at = self._at.setdefault(frame, {})
            for element in elements:
                at.setdefault(element, []).append(elements)
        alike.append(access.number)

    def frame(self, access: Access) -> _Frame | None:
        """What is equal for accesses that meet only at a common known element; None if the access
        may meet others elsewhere."""
        footprint = access.footprint
        if len(access.roots) != 1 or access.roots[0] not in self._alone:
            return None
        if not footprint.points or footprint.varying:
            return None
        atoms = (atom for monomial in footprint.common for atom in monomial)
        if any(atom.loops or atom.width < self._width for atom in atoms):
            return None
        return access.roots[0], frozenset(footprint.common.items())

    def of(self, access: Access) -> list[int] | None:
        """The numbers of the accesses that may meet this one; None: any."""
        frame, own = self.frame(access), self._elements.get(access.number)
        if frame is None or own is None:
            return None
        at = self._at[frame]
        sets = {elements: None for element in own for elements in at[element]}
        found = [number for elements in sets for number in self._like[frame, elements]]
        for other, numbers in self._others.items():
            if other != frame and (other is None or other[0] is frame[0]):
                found += numbers
        return found


def known_elements(footprint: Footprint) -> dict[int, None]:
    """The known parts of all indices, in the order of the threads."""
    found: dict[int, None] = {}
    for point in footprint.points:
        offset = point.form.get(ONE, 0)
        starts: Iterable[int]
        if isinstance(offset, int):
            starts = (offset,)
        elif point.threads.bit_count() == len(offset):
            starts = offset
        else:
            starts = [offset[thread] for thread in threads_in(point.threads)]
        if footprint.lanes == 1:
            found |= dict.fromkeys(starts)
        else:
            found |= dict.fromkeys(s + lane for s in starts for lane in range(footprint.lanes))
    return found
