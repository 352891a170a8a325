"""Commits and waits of one function: no wait too many, and none that costs a barrier of its own.

A wait just before the first touch lets the most copies overlap, but then the barrier behind it
stands apart from the one that lets the next copies overwrite what was read. Where only scopes that
issue copies lie between, an earlier wait for fewer pending groups lets one barrier do both. And a
wait that a loop or a call has for its own copies is no place for the barrier that others need
behind it: they get a wait in front of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from prismc.checker.sync.balance import with_balance
from prismc.checker.sync.conflicts import Conflict, Conflicts
from prismc.checker.sync.coverage import BULK_WRITES, Queue
from prismc.checker.sync.fuse import with_fused_scopes
from prismc.checker.sync.graph import (
    Arms,
    Choice,
    Commit,
    Graph,
    Loop,
    Node,
    Region,
    Sequence,
    Step,
    Summary,
    Wait,
    nodes_in,
)
from prismc.checker.sync.path import Pair
from prismc.checker.sync.place import place_barriers
from prismc.checker.sync.plan import WAITS
from prismc.checker.sync.straight import Planned
from prismc.checker.sync.uncounted import uncounted_commits
from prismc.checker.sync.waits import (
    is_tried,
    summary_of,
    unfinished,
    wait_before,
    with_waits,
)
from prismc.hardware.asynchronous import Completion
from prismc.source.record import Record, replace

Change = Callable[[Sequence], Sequence]
# The conflicts that ask for each wait.
Asked = dict[Step, tuple[Conflict, ...]]


class Groups(Record):
    """A function with its waits, each with the conflicts that it alone settles, the conflicts that
    no wait can settle, and the barriers of the function."""

    graph: Graph
    reasons: Mapping[Step, tuple[Conflict, ...]]
    left: tuple[Conflict, ...]
    placed: Planned

    @property
    def operations(self) -> int:
        """How many commits, waits and barriers there are, before any of these is left out."""
        nodes = nodes_in(self.graph.top.body)
        own = sum(isinstance(node, Commit | Wait) for node in nodes)
        return own + len(self.placed.insertions)


def late_waits(left: Iterable[Conflict]) -> frozenset[Pair]:
    """Of what barriers have left the accesses behind copies that each thread waits for by itself:
    it does so where no barrier can stand behind it."""
    return frozenset(
        (one.earlier.number, one.later.number)
        for one in left
        if one.earlier.queue in WAITS or one.earlier.queue is BULK_WRITES
    )


def plan_groups(
    graph: Graph,
    conflicts: Conflicts,
    early: Collection[Pair] = (),
    *,
    balances: bool = True,
    has_callers: bool = True,
) -> Groups:
    """Place waits for asynchronous copies, those for `early` accesses in front of the node that
    has the later one; a function without any stays as it is. With `balances` bulk loads are waited
    for once on every path, also where nothing touches what they bring; `has_callers` tells that
    others may wait for what the function has issued."""
    if not any(access.is_async for access in graph.accesses):
        placed = place_barriers(graph.top, conflicts)
        return Groups(graph=graph, reasons={}, left=(), placed=placed)
    tops = (graph.top, _changed(graph.top, _with_equal_iterations(graph)))
    plans = [
        _planned(
            replace(graph, top=top), conflicts, early, balances=balances, has_callers=has_callers
        )
        for top in dict.fromkeys(tops)
    ]
    return min(plans, key=lambda plan: (len(plan.left), plan.operations))


def _with_equal_iterations(graph: Graph) -> Change:
    """Do not tell apart the iterations of loops with copies: of what several of them issue, a wait
    for all may then do for two."""
    apart = {
        loop
        for access in graph.accesses
        if isinstance(access.queue, Completion)
        for loop in access.footprint.loops
    }

    def change(nodes: Sequence) -> Sequence:
        return tuple(
            replace(node, is_told_apart=False)
            if isinstance(node, Loop) and node.loop in apart
            else node
            for node in nodes
        )

    return change


def _planned(
    graph: Graph,
    conflicts: Conflicts,
    early: Collection[Pair],
    *,
    balances: bool,
    has_callers: bool,
) -> Groups:
    """The waits of a function whose loops are told apart by their iterations, or are not."""
    counted = with_waits(with_fused_scopes(graph.top, conflicts, _changed), conflicts, early)
    top, asked = counted.top, dict(counted.asked)
    kept = frozenset[Wait]()
    if balances:
        top, kept = with_balance(top, has_callers=has_callers)
    left = unfinished(top, conflicts, early)
    is_small = is_tried(top, len(asked))
    for item in _waits(top) if is_small else ():
        if item in kept:
            continue
        trial = _changed(top, _without((item,)))
        if len(unfinished(trial, conflicts, early)) == len(left):
            top = trial
    idle = frozenset[Commit]() if has_callers else uncounted_commits(top)
    top = _changed(top, _without(idle))
    top, placed = _coalesced(top, conflicts, len(left), asked, one_by_one=is_small)
    for item in _waits(top) if is_small else ():
        missing = unfinished(_changed(top, _without((item,))), conflicts, early)
        asked[item] = tuple(conflict for conflict in missing if conflict not in left)
    reasons: dict[Step, tuple[Conflict, ...]] = {item: asked.get(item, ()) for item in _waits(top)}
    return Groups(graph=replace(graph, top=top), reasons=reasons, left=left, placed=placed)


def _waits(top: Region) -> Iterator[Wait]:
    return (node for node in nodes_in(top.body) if isinstance(node, Wait))


def _coalesced(
    top: Region, conflicts: Conflicts, left: int, asked: Asked, *, one_by_one: bool
) -> tuple[Region, Planned]:
    """With each wait moved up over scopes that only issue copies, if that saves a barrier: all of
    them where each saves one, else one after the other (`one_by_one`). And the barriers."""
    placed = place_barriers(top, conflicts)
    count = len(placed.insertions)
    together, moved = top, 0
    for item in tuple(_waits(top)):
        trial = _changed(together, _hoist(item, conflicts, top, asked))
        moved += trial is not together
        together = trial
    is_right = moved > 0 and len(unfinished(together, conflicts)) == left
    if is_right:
        fewer = place_barriers(together, conflicts)
        if len(fewer.insertions) == count - moved:
            return together, fewer
    for item in tuple(_waits(top)) if one_by_one else ():
        trial = _changed(top, _hoist(item, conflicts, top, asked))
        if trial is top or len(unfinished(trial, conflicts)) != left:
            continue
        fewer = place_barriers(trial, conflicts)
        if len(fewer.insertions) < len(placed.insertions):
            top, placed = trial, fewer
    return top, placed


# --------------------------------------------------------------------------- changes to code


def _without(left_out: Collection[Node]) -> Change:
    return lambda nodes: tuple(node for node in nodes if node not in left_out)


def _hoist(item: Wait, conflicts: Conflicts, top: Region, asked: Asked) -> Change:
    """Move a wait in front of the issuing nodes before it, as far as its count allows; what has
    `asked` for it asks for the moved one."""

    def change(nodes: Sequence) -> Sequence:
        at = next((index for index, node in enumerate(nodes) if node is item), 0)
        start, groups = at, item.groups
        while start:
            commits = _issues(summary_of(nodes[start - 1], top, conflicts), item.queue)
            if not commits or commits > groups:
                break
            start, groups = start - 1, groups - commits
        if start == at:
            return nodes
        first = nodes[start]
        moved = wait_before(
            first.before, first.span, item.queue, groups, item.registers, item.order,
            conflicts.load_waits.get(item.queue), item.acquired,
        )  # fmt: skip
        asked[moved] = asked[item]
        return (*nodes[:start], moved, *nodes[start:at], *nodes[at + 1 :])

    return change


def _issues(summary: Summary, queue: Queue) -> int:
    """The groups that a node commits if it only issues operations of one queue; 0 if it does
    anything else."""
    if len(summary.exits) != 1:
        return 0
    flow = summary.exits[0][1]
    accesses = [entry.access for entry in summary.entries]
    accesses += [item.access for item in flow.pending]
    groups = flow.through.groups(queue)
    does_more = flow.through.classes or groups.waits or len(flow.through.queues) > 1
    return 0 if does_more or not all(one.queue == queue for one in accesses) else groups.commits


def _changed(top: Region, change: Change) -> Region:
    """The code with every sequence changed; what stays the same keeps its identity."""
    body = _sequence(top.body, change)
    return top if body is top.body else replace(top, body=body)


def _sequence(nodes: Sequence, change: Change) -> Sequence:
    made = tuple(_node(node, change) for node in nodes)
    if all(mine is other for mine, other in zip(made, nodes, strict=True)):
        made = nodes
    changed = change(made)
    return made if changed == made else changed


def _node(node: Node, change: Change) -> Node:
    match node:
        case Region():
            return _changed(node, change)
        case Loop(body=body):
            changed = _sequence(body, change)
            return node if changed is body else replace(node, body=changed)
        case Arms(regions=regions):
            arms = tuple(_changed(arm, change) for arm in regions)
            return node if arms == regions else replace(node, regions=arms)
        case Choice(arms=(first, second)):
            sides = (_sequence(first, change), _sequence(second, change))
            return node if sides == (first, second) else replace(node, arms=sides)
        case _:
            return node
