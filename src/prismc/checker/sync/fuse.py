"""Asynchronous scopes side by side that are one group: a commit less.

A scope's commit lets a wait tell its copies from those of the next scope. Where no wait does, the
copies of both may as well complete together. To see that, the first commit is moved in front of
its own copies: these are then complete with the next scope's only, and all others count as many
scopes as before. If all waits stay the same, none told the two scopes apart. (They do not where
one of the first scope's copies is among the youngest that a wait is for.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import pairwise

from prismc.checker.sync.conflicts import Conflicts
from prismc.checker.sync.coverage import Queue
from prismc.checker.sync.graph import (
    Commit,
    Node,
    Region,
    Sequence,
    Step,
    Wait,
    nodes_in,
    sequences_in,
)
from prismc.checker.sync.plan import Position
from prismc.checker.sync.units import accesses_of
from prismc.checker.sync.waits import is_tried, with_waits
from prismc.hardware.asynchronous import Completion

Change = Callable[[Sequence], Sequence]
Changed = Callable[[Region, Change], Region]


def with_fused_scopes(top: Region, conflicts: Conflicts, changed: Changed) -> Region:
    """The code without the commits that no wait needs; `changed` changes every sequence of it."""
    candidates = _candidates(top)
    if not candidates:
        return top
    placed, moved = with_waits(top, conflicts), list[Commit]()
    counts = _counts(placed.top)
    free = [
        commit
        for commit, scope in candidates.items()
        if placed.decisive.isdisjoint(access.number for access in accesses_of((scope,)))
    ]
    for tried in [[each] for each in free] if is_tried(top, len(free)) else [free]:
        trial = changed(top, _to_front(tried))
        if _counts(with_waits(trial, conflicts).top) == counts:
            top = trial
            moved += tried
    return changed(top, lambda nodes: tuple(node for node in nodes if node not in moved))


def _candidates(top: Region) -> dict[Commit, Node]:
    """The commits of scopes that another scope of their queue follows at once, with the scopes."""
    found: dict[Commit, Node] = {}
    for nodes in sequences_in(top.body):
        scopes = [node for node in nodes if type(node) is not Step or node.events]
        for first, second in pairwise(scopes):
            mine, other = _commit_of(first), _commit_of(second)
            if mine is not None and other is not None and mine.queue == other.queue:
                found[mine] = first
    return found


def _commit_of(node: Node) -> Commit | None:
    """The one commit that ends a scope; copies that complete at an mbarrier have none."""
    if not isinstance(node, Region) or not node.body:
        return None
    commits = [each for each in nodes_in(node.body) if isinstance(each, Commit)]
    last = node.body[-1]
    if len(commits) != 1 or not isinstance(last, Commit):
        return None
    return last if isinstance(last.queue, Completion) else None


def _to_front(commits: Collection[Commit]) -> Change:
    def change(nodes: Sequence) -> Sequence:
        is_end = bool(nodes) and nodes[-1] in commits
        return (nodes[-1], *nodes[:-1]) if is_end else nodes

    return change


def _counts(top: Region) -> list[tuple[Position, Queue, int]]:
    """Where threads wait, and for how many groups not."""
    waits = (node for node in nodes_in(top.body) if isinstance(node, Wait))
    return [(node.before, node.queue, node.groups) for node in waits]
