"""Going through a tree, whatever its nodes mean. Nothing here recurses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from prismc.frontend.ast import Node

N = TypeVar("N", bound=Node)


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below `node`, in the order of its fields."""
    for field in node.__fields__:
        value = getattr(node, field)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            for item in value:
                if isinstance(item, Node):
                    yield item


def walk(node: Node) -> Iterator[Node]:
    """`node` and all nodes below it, each before its parts."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(list(children(node)))


def find(node: Node, kind: type[N]) -> Iterator[N]:
    """All nodes of a class in the tree below and including `node`."""
    return (found for found in walk(node) if isinstance(found, kind))


def deepest(nodes: Iterable[Node]) -> tuple[int, Node]:
    """The deepest node below `nodes`, which are not none, and on what level it stands, from 1."""
    level = list(nodes)
    depth = 0
    while level:
        depth += 1
        last = level
        level = [child for node in level for child in children(node)]
    return depth, last[0]
