"""The tree as text, for `prismc dump --after ast`.

One node a line, below the node that holds it and two spaces deeper: the field it stands in, its
line and column, its class, and its simple fields. Names stand with the simple fields.
"""

from __future__ import annotations

from prismc.frontend.ast import Name, Node
from prismc.source.files import SourceFile
from prismc.source.span import Span


def show_tree(node: Node, file: SourceFile) -> str:
    """The tree below `node`, which comes from `file`; every line ends with a line break."""
    lines: list[str] = []
    stack = [("", 0, node)]
    while stack:
        label, depth, node = stack.pop()
        simple: list[str] = []
        parts: list[tuple[str, int, Node]] = []
        for field in node.__fields__:
            value = getattr(node, field)
            items = value if isinstance(value, tuple) else (value,)
            nodes = [item for item in items if isinstance(item, Node)]
            if nodes and not isinstance(nodes[0], Name):
                parts += [(f"{field} ", depth + 1, item) for item in nodes]
            elif _is_stated(field, value):
                simple.append(f" {field}={_simple(value)}")
        line, column = file.position(node.span.start)
        name = type(node).__name__
        lines.append(f"{'  ' * depth}{label}{line}:{column} {name}{''.join(simple)}\n")
        stack += reversed(parts)
    return "".join(lines)


def _is_stated(field: str, value: object) -> bool:
    """Whether a simple field says something: not an id, a place, or that something is absent."""
    if field == "id" or value is None or value == () or isinstance(value, Span):
        return False
    return value is not False or not field.startswith("is_")


def _simple(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_simple, value))
    return value.text if isinstance(value, Name) else repr(value)
