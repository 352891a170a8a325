"""Asynchronous scopes side by side that are one group: a commit less.

A scope's commit lets a wait tell its copies from those of the next scope. Where no wait does, the
copies of both may as well complete together. To see that, the first commit is moved in front of
its own copies: these are then complete with the next scope's only, and all others count as many
scopes as before. If all waits stay the same, none told the two scopes apart.
"""

from __future__ import annotations

from collections.abc import Callable
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
from prismc.checker.sync.waits import with_waits
from prismc.hardware.asynchronous import Completion

Change = Callable[[Sequence], Sequence]
Changed = Callable[[Region, Change], Region]


def with_fused_scopes(top: Region, conflicts: Conflicts, changed: Changed) -> Region:
    """The code without the commits that no wait needs; `changed` changes every sequence of it."""
    candidates = _candidates(top)
    if not candidates:
        return top
    counts, moved = _counts(top, conflicts), []
    for commit in candidates:
        trial = changed(top, _to_front(commit))
        if _counts(trial, conflicts) == counts:
            top = trial
            moved.append(commit)
    return changed(top, lambda nodes: tuple(node for node in nodes if node not in moved))


def _candidates(top: Region) -> list[Commit]:
    """The commits of scopes that another scope of their queue follows at once."""
    found: list[Commit] = []
    for nodes in sequences_in(top.body):
        scopes = [node for node in nodes if type(node) is not Step or node.events]
        for first, second in pairwise(scopes):
            mine, other = _commit_of(first), _commit_of(second)
            if mine is not None and other is not None and mine.queue == other.queue:
                found.append(mine)
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


def _to_front(commit: Commit) -> Change:
    def change(nodes: Sequence) -> Sequence:
        is_end = bool(nodes) and nodes[-1] is commit
        return (commit, *nodes[:-1]) if is_end else nodes

    return change


def _counts(top: Region, conflicts: Conflicts) -> list[tuple[Position, Queue, int]]:
    """Where threads wait, and for how many groups not."""
    nodes = nodes_in(with_waits(top, conflicts).body)
    return [(node.before, node.queue, node.groups) for node in nodes if isinstance(node, Wait)]
