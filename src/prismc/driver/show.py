"""The typed tree as text, a record a line, for `prismc dump --after types`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from prismc.source.files import Files
from prismc.source.record import Record
from prismc.source.span import Span

LEFT_OUT = frozenset({"id", "span", "header"})


Inline = Callable[[Record], str | None]


def _never(record: Record) -> str | None:
    del record
    return None


def show_records(root: Record, files: Files, inline: Inline = _never) -> str:
    """`root` and the records in its fields, each with its place and its plain fields.

    `inline` gives the text of records that stand within a line (types). A record that was printed
    already (a variable that is used again) is named only.
    """
    return "\n".join(_Tree(files, inline).lines(root, "", "")) + "\n"


class _Tree:
    def __init__(self, files: Files, inline: Inline) -> None:
        self.files = files
        self.inline = inline
        self.seen: set[int] = set()

    def lines(self, node: Record, label: str, indent: str) -> Iterator[str]:
        head = f"{indent}{label}{type(node).__name__}"
        if id(node) in self.seen:
            yield f"{head} {getattr(node, 'name', '(as above)')}"
            return
        self.seen.add(id(node))
        plain = []
        nested: list[tuple[str, Record]] = []
        for field in node.__fields__:
            value = getattr(node, field)
            if field in LEFT_OUT or value in ((), None) or isinstance(value, Span):
                continue
            inner = [record for record in _records(value) if self.inline(record) is None]
            nested += [(field, record) for record in inner]
            if not inner:
                plain.append(f"{field}={self.text(value)}")
        place = self.place(getattr(node, "span", None))
        yield " ".join([head, *plain, *place])
        for field, record in nested:
            yield from self.lines(record, f"{field}: ", indent + "  ")

    def text(self, value: object) -> str:
        """A field that holds no tree."""
        if isinstance(value, Record):
            return self.inline(value) or "?"
        if isinstance(value, Enum):
            return str(value.value)
        if type(value) is tuple:
            return "(" + ", ".join(map(self.text, value)) + ")"
        return str(value) if hasattr(type(value), "_fields") else repr(value)

    def place(self, span: object) -> list[str]:
        if not isinstance(span, Span) or not span.file:
            return []
        start = self.files.position(span)
        end = self.files.position(Span(span.file, span.end, span.end))
        return [f"[{start.line}:{start.column}-{end.line}:{end.column}]"]


def _records(value: object) -> Iterator[Record]:
    """The records that a field holds, in order: itself, or the members of a tuple."""
    if isinstance(value, Record):
        yield value
    elif isinstance(value, tuple) and not isinstance(value, Span):
        members: Iterable[object] = value
        for member in members:
            yield from _records(member)
