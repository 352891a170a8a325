"""What a stretch of a path orders, for the accesses that lie before it.

An access learns of the orders behind it where its memory is touched again. In a ring of many slots
that is once around, so that the orders of all other slots lie between.
"""

from __future__ import annotations

from prismc.checker.sync.coverage import NONE, Coverage, then


class Passage:
    """The orders on a path, one after the other. What a stretch of it orders all in all is put
    together from stretches of powers of two, each worked out once."""

    def __init__(self) -> None:
        self._orders: list[Coverage] = []
        self._known: dict[tuple[int, int], Coverage] = {}

    def __len__(self) -> int:
        return len(self._orders)

    def add(self, order: Coverage) -> None:
        """Go past an order."""
        self._orders.append(order)

    def copy(self) -> Passage:
        """The same path, to go on from in another way."""
        other = Passage()
        other._orders, other._known = list(self._orders), dict(self._known)
        return other

    def since(self, start: int) -> Coverage:
        """All orders from number `start` on as one."""
        order, end = NONE, len(self._orders)
        while start < end:
            size = 1 << (end - start).bit_length() - 1
            if start:
                size = min(size, start & -start)
            order = then(order, self._stretch(start, size))
            start += size
        return order

    def _stretch(self, start: int, size: int) -> Coverage:
        if size == 1:
            return self._orders[start]
        known = self._known.get((start, size))
        if known is None:
            half = size // 2
            known = then(self._stretch(start, half), self._stretch(start + half, half))
            self._known[start, size] = known
        return known
