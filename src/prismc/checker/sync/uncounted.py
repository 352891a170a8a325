"""Groups of threads' copies that no wait counts, and that need no commit.

A wait counts the groups that its thread has committed before. Behind the last wait of a kernel a
commit tells nobody anything: the copies are complete when the kernel is. (A function's callers may
wait for its copies, and copies of other kinds are waited for before the kernel ends.)
"""

from __future__ import annotations

from prismc.checker.sync.graph import (
    Commit,
    Loop,
    Node,
    Region,
    Sequence,
    Step,
    Summary,
    nodes_in,
    sequences_of,
)
from prismc.hardware.asynchronous import Completion

_COPIES = Completion.COPY_GROUP


def uncounted_commits(top: Region) -> frozenset[Commit]:
    """The commits of threads' copies in a kernel from which no path leads to a wait for such."""
    return frozenset(_uncounted(top.body, set(), is_counted=False)[0])


def _uncounted(
    nodes: Sequence, found: set[Commit], *, is_counted: bool
) -> tuple[set[Commit], bool]:
    """Add those of some nodes to `found`; `is_counted` tells whether a wait follows, the result
    whether one does from their start."""
    for node in reversed(nodes):
        if isinstance(node, Commit) and node.queue is _COPIES and not is_counted:
            found.add(node)
        if isinstance(node, Loop):  # each iteration may be followed by another
            is_counted = is_counted or any(map(_waits, nodes_in((node,))))
        starts = [
            _uncounted(inner, found, is_counted=is_counted)[1] for inner in sequences_of(node)
        ]
        is_counted = is_counted or any(starts) or _waits(node)
    return found, is_counted


def _waits(node: Node) -> bool:
    """Whether a node itself, or something that it calls, waits for copies of the thread."""
    steps = (getattr(node, "head", None), getattr(node, "test", None), node)
    events = (event for step in steps if isinstance(step, Step) for event in step.events)
    return any(isinstance(event, Summary) and _has_wait(event) for event in events)


def _has_wait(summary: Summary) -> bool:
    orders = [entry.before for entry in summary.entries]
    for _, flow in summary.exits:
        orders += [flow.through, *(item.after for item in flow.pending)]
    return any(order.groups(_COPIES).waits for order in orders)
