"""What a thread knows of other blocks: immutable vectors of stamps, shared between threads.

A *view* maps a block's linear index to an array with one stamp for each of its threads: all that
the thread did before that stamp happened before. Views are numbered; number 0 knows nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from prismc.emulator.semantics.registry import Lanes

View = dict[int, Lanes]


class Views:
    """All views of a launch, and their joins."""

    def __init__(self) -> None:
        self._views: list[View] = [{}]
        self._joins: dict[tuple[int, int], int] = {}

    def __getitem__(self, number: int) -> View:
        return self._views[number]

    def add(self, view: View) -> int:
        """The number of a new view."""
        if not view:
            return 0
        self._views.append(view)
        return len(self._views) - 1

    def join(self, first: int, second: int) -> int:
        """The view that knows what both know."""
        if first == second or not second:
            return first
        if not first:
            return second
        key = (min(first, second), max(first, second))
        if key not in self._joins:
            self._joins[key] = self._joined(*key)
        return self._joins[key]

    def join_all(self, numbers: Iterable[int]) -> int:
        """The view that knows what all know."""
        result = 0
        for number in sorted(set(numbers)):
            result = self.join(result, number)
        return result

    def _joined(self, first: int, second: int) -> int:
        left, right = self._views[first], self._views[second]
        if _covers(left, right):
            return first
        if _covers(right, left):
            return second
        joined = dict(left)
        for block, stamps in right.items():
            joined[block] = np.maximum(joined[block], stamps) if block in joined else stamps
        return self.add(joined)


def _covers(view: View, other: View) -> bool:
    return all(
        block in view and (view[block] is stamps or bool((view[block] >= stamps).all()))
        for block, stamps in other.items()
    )
