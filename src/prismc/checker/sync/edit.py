"""Code with further nodes in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from prismc.checker.sync.graph import Arms, Choice, Loop, Node, Region, Sequence
from prismc.source.record import Record, replace

_NONE: Mapping[Node, Sequence] = MappingProxyType({})
_SAME: Mapping[Node, Node] = MappingProxyType({})


class Edits(Record):
    """Nodes to put in front of and behind others, and at the end of loops' bodies; nodes to take
    out, and steps to put in the places of others."""

    before: Mapping[Node, Sequence] = _NONE
    after: Mapping[Node, Sequence] = _NONE
    ends: Mapping[Node, Sequence] = _NONE
    without: Collection[Node] = ()
    instead: Mapping[Node, Node] = _SAME


def joined_edits(edits: Iterable[Edits]) -> Edits:
    """All of these edits; of nodes at one place the first come first."""
    before: dict[Node, Sequence] = {}
    after: dict[Node, Sequence] = {}
    ends: dict[Node, Sequence] = {}
    without: list[Node] = []
    instead: dict[Node, Node] = {}
    for one in edits:
        for joined, new in ((before, one.before), (after, one.after), (ends, one.ends)):
            for node, nodes in new.items():
                joined[node] = (*joined.get(node, ()), *nodes)
        without += one.without
        instead |= one.instead
    return Edits(before=before, after=after, ends=ends, without=without, instead=instead)


def edited(nodes: Sequence, edits: Edits) -> Sequence:
    """A sequence with the edits in it and in all that it holds."""
    return edited_with(nodes, edits)[0]


def edited_with(nodes: Sequence, edits: Edits) -> tuple[Sequence, Mapping[Node, Node]]:
    """The same, and what has become of each node that holds others."""
    editor = _Editor(edits)
    return editor.sequence(nodes), editor.moved


class _Editor:
    def __init__(self, edits: Edits) -> None:
        self._edits = edits
        self.moved: dict[Node, Node] = {}

    def sequence(self, nodes: Sequence) -> Sequence:
        edits = self._edits
        return tuple(
            one
            for node in nodes
            if node not in edits.without
            for one in (*edits.before.get(node, ()), self._node(node), *edits.after.get(node, ()))
        )

    def _node(self, node: Node) -> Node:
        made = self._inside(node)
        if made is not node:
            self.moved[node] = made
        return made

    def _inside(self, node: Node) -> Node:
        match node:
            case Region():
                return self._region(node)
            case Loop(body=body):
                ends = self._edits.ends.get(node, ())
                return replace(node, body=(*self.sequence(body), *ends))
            case Arms(regions=regions):
                return replace(node, regions=tuple(map(self._region, regions)))
            case Choice(arms=(first, second)):
                return replace(node, arms=(self.sequence(first), self.sequence(second)))
            case _:
                return self._edits.instead.get(node, node)

    def _region(self, region: Region) -> Region:
        made = replace(region, body=self.sequence(region.body))
        self.moved[region] = made
        return made
