"""Copies of one asynchronous scope that fill one array: looked at as one access.

They are on their way together and complete together, and unrolled code makes dozens of them, each
to be compared with all others. Where nothing but constants tells their indices apart, one footprint
with the elements of all is as good.
"""

from __future__ import annotations

from itertools import chain, combinations

from prismc.checker.sync.coverage import BULK_WRITES
from prismc.checker.sync.elsewhere import are_elsewhere
from prismc.checker.sync.footprints import footprint_of
from prismc.checker.sync.graph import (
    Access,
    Arms,
    Choice,
    Loop,
    Node,
    Region,
    Sequence,
    Step,
    nodes_in,
)
from prismc.checker.sync.meetings import Between
from prismc.checker.sync.plan import AccessKind
from prismc.source.record import replace


def with_joined_copies(nodes: Sequence, made: list[Access]) -> Sequence:
    """The nodes of a scope with one access for all copies that are alike; `made` are the accesses
    of the function by number."""
    alike: dict[object, list[Access]] = {}
    for node in nodes_in(nodes):
        for event in node.events if type(node) is Step else ():
            if isinstance(event, Access) and event.queue is not None and event.footprint.points:
                alike.setdefault(_likeness(event), []).append(event)
    joined: dict[int, Access | None] = {}
    for group in alike.values():
        if len(group) > 1 and not _write_twice(group):
            joined.update((access.number, None) for access in group)
            made[group[0].number] = joined[group[0].number] = _joined(group)
    return _with(nodes, joined) if joined else nodes


def _write_twice(group: list[Access]) -> bool:
    """Whether bulk stores of one scope write an element twice, in no order: each is looked at."""
    if group[0].queue is not BULK_WRITES or group[0].kind is AccessKind.READ:
        return False
    pairs = combinations([access.footprint for access in group], 2)
    together = Between()
    return not all(are_elsewhere(*pair, together, {}, width=1, assume_rows=False) for pair in pairs)


def _likeness(access: Access) -> object:
    """What is equal for copies that one footprint can describe."""
    footprint = access.footprint
    return (
        (access.kind, access.roots, access.views, access.queue, access.agent),
        (access.loops, access.own_loops, footprint.loops, footprint.lanes, footprint.varying),
        (frozenset(footprint.common.items()), frozenset(footprint.cycles.items())),
    )


def _joined(group: list[Access]) -> Access:
    footprints = [access.footprint for access in group]
    first = footprints[0]
    points = tuple(chain.from_iterable(footprint.points for footprint in footprints))
    is_certain = all(footprint.is_certain for footprint in footprints)
    whole = footprint_of(
        points,
        first.loops,
        first.lanes,
        is_certain=is_certain,
        cycles=first.cycles,
        tile=first.tile,
    )
    return replace(group[0], footprint=whole, asked=None)


def _with(nodes: Sequence, joined: dict[int, Access | None]) -> Sequence:
    return tuple(_node_with(node, joined) for node in nodes)


def _node_with(node: Node, joined: dict[int, Access | None]) -> Node:
    """The node with a joined access in place of the first of its copies, and without the others."""
    match node:
        case Region(body=body) | Loop(body=body):
            return replace(node, body=_with(body, joined))
        case Choice(arms=(first, second)):
            return replace(node, arms=(_with(first, joined), _with(second, joined)))
        case Arms(regions=regions):
            return replace(node, regions=tuple(_node_with(arm, joined) for arm in regions))
        case Step() if type(node) is Step:
            return _step_with(node, joined)
        case _:
            return node


def _step_with(node: Step, joined: dict[int, Access | None]) -> Step:
    events = tuple(
        each
        for event in node.events
        for each in (joined.get(event.number, event) if isinstance(event, Access) else event,)
        if each is not None
    )
    return node if events == node.events else replace(node, events=events)
