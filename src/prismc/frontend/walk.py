"""Going through a tree, whatever its nodes mean. Nothing here recurses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from prismc.frontend.ast import Node
from prismc.source.span import Span

N = TypeVar("N", bound=Node)


def children(node: Node) -> list[Node]:
    """The nodes directly below `node`, in the order of its fields."""
    found: list[Node] = []
    for field in node.__fields__:
        value = getattr(node, field)
        if type(value) is tuple:  # not a span
            found += [item for item in value if isinstance(item, Node)]
        elif isinstance(value, Node):
            found.append(value)
    return found


def walk(node: Node) -> Iterator[Node]:
    """`node` and all nodes below it, each before its parts."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(children(node))


def is_same(left: Node, right: Node) -> bool:
    """Whether two trees say the same: they may differ in ids and places."""
    pairs: list[tuple[object, object]] = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, Node) and isinstance(other, Node):
            if type(one) is not type(other):
                return False
            fields = [field for field in one.__fields__ if field != "id"]
            pairs += [(getattr(one, field), getattr(other, field)) for field in fields]
        elif isinstance(one, Span) and isinstance(other, Span):
            continue
        elif isinstance(one, tuple) and isinstance(other, tuple):
            if len(one) != len(other):
                return False
            pairs += zip(one, other, strict=True)
        elif one != other:
            return False
    return True


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
