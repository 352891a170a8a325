"""Code with further nodes in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from prismc.checker.sync.graph import Arms, Choice, Loop, Node, Region, Sequence
from prismc.source.record import Record, replace

_NONE: Mapping[Node, Sequence] = MappingProxyType({})


class Edits(Record):
    """Nodes to put in front of and behind others, and at the end of loops' bodies; nodes to take
    out."""

    before: Mapping[Node, Sequence] = _NONE
    after: Mapping[Node, Sequence] = _NONE
    ends: Mapping[Node, Sequence] = _NONE
    without: Collection[Node] = ()


def edited(nodes: Sequence, edits: Edits) -> Sequence:
    """A sequence with the edits in it and in all that it holds."""
    return tuple(
        one
        for node in nodes
        if node not in edits.without
        for one in (*edits.before.get(node, ()), _node(node, edits), *edits.after.get(node, ()))
    )


def _node(node: Node, edits: Edits) -> Node:
    match node:
        case Region(body=body):
            return replace(node, body=edited(body, edits))
        case Loop(body=body):
            return replace(node, body=(*edited(body, edits), *edits.ends.get(node, ())))
        case Arms(regions=regions):
            arms = tuple(replace(arm, body=edited(arm.body, edits)) for arm in regions)
            return replace(node, regions=arms)
        case Choice(arms=(first, second)):
            return replace(node, arms=(edited(first, edits), edited(second, edits)))
        case _:
            return node
