"""A plan as a Graphviz graph: lines that touch memory, the operations between them, the orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prismc.driver.sync.account import Function, Operation, Reason, Side
from prismc.driver.sync.text import memory_words
from prismc.source.files import Files
from prismc.source.resources import portable_name


def show_dot(functions: Sequence[Function], files: Files) -> str:
    """One digraph with a cluster for each function; ends with a line end.

    An order runs from the earlier access through the operation that makes it to the later one; it
    is dashed where the path goes around a loop, and bold where no other operation makes it.
    """
    lines = ["digraph sync {", "  rankdir=TB;", '  node [fontname="monospace", fontsize=10];']
    for number, function in enumerate(functions):
        lines += _cluster(function, number, files)
    return "\n".join([*lines, "}"]) + "\n"


def _cluster(function: Function, number: int, files: Files) -> Iterator[str]:
    yield f"  subgraph cluster_{number} {{"
    yield f"    label={_quoted(f'{function.title}: {function.count}')};"
    accesses: dict[tuple[str, int], Side] = {}
    for operation in function.operations:
        for reason in operation.merged:
            for side in (reason.earlier, reason.later):
                accesses.setdefault((side.file, side.line), side)
    for side in sorted(accesses.values(), key=lambda each: (each.file, each.line)):
        text = files.known(side.file).line(side.line).strip()
        yield f"    {_access(number, side)} [shape=box, label={_quoted(f'{side.line}: {text}')}];"
    for operation in function.operations:
        label = f"#{operation.number} {operation.title}\n{operation.instruction}"
        yield f"    {_name(operation)} [shape=octagon, style=bold, label={_quoted(label)}];"
        yield from _orders(operation, number)
    yield "  }"


def _orders(operation: Operation, number: int) -> Iterator[str]:
    needed = {_key(reason) for reason in operation.needed}
    for reason in operation.merged:
        styles = ["dashed"] if reason.loop else []
        styles += ["bold"] if _key(reason) in needed else []
        style = f", style={_quoted(','.join(styles))}" if styles else ""
        label = _quoted(f"{reason.label} {memory_words(reason)}")
        yield f"    {_access(number, reason.earlier)} -> {_name(operation)} [label={label}{style}];"
        yield f"    {_name(operation)} -> {_access(number, reason.later)} [label={label}{style}];"


def _key(reason: Reason) -> tuple[str, str, int, int, int]:
    earlier, later = reason.earlier, reason.later
    return reason.hazard, earlier.root, earlier.line, later.line, reason.loop


def _access(number: int, side: Side) -> str:
    return _quoted(f"{number}:{portable_name(side.file)}:{side.line}")


def _name(operation: Operation) -> str:
    return f"op{operation.number}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
