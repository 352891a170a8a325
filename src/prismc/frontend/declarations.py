"""Declarations as their authors wrote them: the head without the body, the comment above."""

from __future__ import annotations

from prismc.frontend import ast


def declaration_text(node: ast.Node, text: str) -> str:
    """A declaration as it is written in `text`, without its body and its comments."""
    if isinstance(node, ast.Function | ast.Kernel):
        lines = text[node.span.start : node.header.end].rstrip().rstrip(":").split("\n")
        return "\n".join(line.split("#")[0].rstrip() for line in lines)
    return text[node.span.start : node.span.end].split("#")[0].rstrip()


def comment_above(text: str, offset: int) -> str:
    """The comment lines right above the line of a place, without their `#`."""
    lines = text[: text.rfind("\n", 0, offset) + 1].split("\n")[:-1]
    found: list[str] = []
    while lines and lines[-1].startswith("#"):
        found.insert(0, lines.pop().lstrip("#").removeprefix(" "))
    return "\n".join(found)


def comment_of_module(text: str) -> str:
    """The comment that a file begins with, if a blank line or the end follows it."""
    lines = text.split("\n")
    count = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if count < len(lines) and lines[count].strip():
        return ""
    return "\n".join(line.lstrip("#").removeprefix(" ") for line in lines[:count])
