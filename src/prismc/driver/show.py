"""Any tree of records as text, a node a line, for `prismc dump`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prismc.source.files import Files
from prismc.source.record import Record
from prismc.source.span import Span

LEFT_OUT = frozenset({"id", "span", "header"})


def show_tree(root: Record, files: Files) -> str:
    """`root` and the records in its fields, each with its place and its plain fields."""
    return "\n".join(_lines(root, "", "", files)) + "\n"


def _lines(node: Record, label: str, indent: str, files: Files) -> Iterator[str]:
    plain = []
    nested: list[tuple[str, Record]] = []
    for field in node.__fields__:
        value = getattr(node, field)
        if field in LEFT_OUT:
            continue
        inner = list(_records(value))
        if inner:
            nested += [(field, record) for record in inner]
        elif value not in ((), None):
            plain.append(f"{field}={_shown(value)}")
    words = [f"{label}{type(node).__name__}", *plain]
    if place := _place(getattr(node, "span", None), files):
        words.append(place)
    yield indent + " ".join(words)
    for field, record in nested:
        yield from _lines(record, f"{field}: ", indent + "  ", files)


def _records(value: object) -> Iterator[Record]:
    """The records that a field holds, in order: itself, or the members of a tuple."""
    if isinstance(value, Record):
        yield value
    elif isinstance(value, tuple) and not isinstance(value, Span):
        members: Iterable[object] = value
        for member in members:
            yield from _records(member)


def _shown(value: object) -> str:
    if isinstance(value, tuple) and type(value) is tuple:
        return "(" + ", ".join(map(_shown, value)) + ")"
    return str(value) if hasattr(type(value), "_fields") else repr(value)


def _place(span: object, files: Files) -> str:
    if not isinstance(span, Span) or not span.file:
        return ""
    start = files.position(span)
    end = files.position(Span(span.file, span.end, span.end))
    return f"[{start.line}:{start.column}-{end.line}:{end.column}]"
