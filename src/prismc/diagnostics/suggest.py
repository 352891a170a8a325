"""Spelling suggestions: the nearest of the names that are there."""

from __future__ import annotations

from collections.abc import Iterable

from prismc.diagnostics.problem import Fix
from prismc.source.span import Span


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that a typing slip most likely meant, or None if none is near.

    A third of the letters may differ, one at least, but never all; the first in order wins ties.
    """
    best: str | None = None
    allowed = min(max(1, len(name) // 3), len(name) - 1)
    for candidate in candidates:
        if abs(len(candidate) - len(name)) > allowed or candidate == name:
            continue
        distance = _distance(name.lower(), candidate.lower())
        if distance <= allowed and (best is None or distance < allowed):
            best, allowed = candidate, distance
    return best


def _distance(one: str, other: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours (optimal string alignment)."""
    before: list[int] = []
    previous = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        row = [i]
        for j, right in enumerate(other, 1):
            cost = min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (left != right))
            if i > 1 and j > 1 and left == other[j - 2] and one[i - 2] == right:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, previous = previous, row
    return previous[-1]


def did_you_mean(name: str, candidates: Iterable[str], otherwise: str) -> str:
    """The advice for an unknown name: the nearest candidate, or `otherwise`."""
    found = nearest(name, candidates)
    return f"did you mean `{found}`?" if found else otherwise


def spelling_fix(at: Span, name: str, candidates: Iterable[str]) -> tuple[Fix, ...]:
    """The fix that `did_you_mean` gives as advice, if it gives one: nobody knows what was meant."""
    found = nearest(name, candidates)
    if found is None:
        return ()
    return (Fix(at=at, text=found, title=f"write `{found}`", is_certain=False),)
