"""Synchronisation as people read it: the graph of accesses, and the plan with its reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prismc.checker.sync.coverage import ranges_of
from prismc.checker.sync.footprints import Footprint
from prismc.checker.sync.forms import show_form
from prismc.checker.sync.graph import (
    Access,
    Arms,
    Choice,
    Graph,
    Jump,
    Loop,
    Node,
    Region,
    Sequence,
    Step,
    Summary,
)
from prismc.checker.sync.plan import MBARRIER_KINDS, WAITS, Edge, SyncOperation, SyncPlan
from prismc.checker.sync.plan import Access as PlanAccess
from prismc.checker.types import typed
from prismc.diagnostics.words import counted
from prismc.hardware.primitives import instruction_of
from prismc.hardware.targets import Target
from prismc.source.files import Files
from prismc.source.span import Span


def show_plan(program: typed.Program, plan: SyncPlan, files: Files, target: Target) -> str:
    """The operations of each function: where they stand, who takes part, and what needs them."""
    places = {
        statement.id: statement.span
        for body in program.bodies.values()
        for statement in body.all_statements
    }
    lines: list[str] = []
    for symbol, instance in plan.instances.items():
        lines.append(f"{symbol}: {_count(len(instance.operations))}")
        for operation in instance.operations:
            lines.append(_operation(operation, places, files, target))
            lines += [_edge(edge, files) for edge in operation.edges]
    return "\n".join(lines) + "\n"


def _count(number: int) -> str:
    return {0: "no synchronisation", 1: "1 operation"}.get(number, f"{number} operations")


def _operation(
    operation: SyncOperation, places: dict[int, Span], files: Files, target: Target
) -> str:
    position = operation.position
    line = files.position(places[position.anchor]).line
    kind = operation.kind.value
    details = f"{kind} of {operation.participants.perspective} ({instruction_of(kind, target)})"
    if operation.kind in WAITS.values():
        details += f", {counted(operation.count, 'group')} may stay pending"
    if operation.kind in MBARRIER_KINDS:
        details += f", mbarrier {operation.barrier}, {counted(operation.count, 'arrival')}"
    elif operation.barrier:
        details += f", from barrier {operation.barrier}, {operation.count} threads each"
    return f"  #{operation.number} {position.where.value} line {line}: {details}"


def _edge(edge: Edge, files: Files) -> str:
    around = (
        ""
        if edge.around_loop is None
        else (f", around the loop of line {files.position(edge.around_loop).line}")
    )
    earlier, later = _side(edge.earlier, files), _side(edge.later, files)
    return f"      {edge.hazard} {edge.earlier.root}: {earlier} -> {later}{around}"


def _side(access: PlanAccess, files: Files) -> str:
    threads = ""
    if access.participants.ranges:
        ranges = access.participants.ranges
        threads = " by threads " + ", ".join(_range(start, end) for start, end in ranges)
    return f"line {files.position(access.at).line}{threads}"


def _range(start: int, end: int) -> str:
    return str(start) if end == start + 1 else f"{start}..{end - 1}"


def show_graph(graphs: Iterable[Graph], files: Files) -> str:
    """The nodes of each function in program order, with what they touch."""
    lines: list[str] = []
    for graph in graphs:
        lines.append(f"{graph.symbol}: {graph.top.perspective}, {_threads(graph.everyone)}")
        lines += _sequence(graph.top.body, files, "  ")
    return "\n".join(lines) + "\n"


def _sequence(nodes: Sequence, files: Files, indent: str) -> Iterator[str]:
    for node in nodes:
        yield from _node(node, files, indent)


def _node(node: Node, files: Files, indent: str) -> Iterator[str]:
    line = f"{indent}{files.position(node.span).line}: "
    deeper = indent + "  "
    match node:
        case Step(events=events):
            yield line + ("; ".join(_event(event) for event in events))
        case Jump(exit=exit_):
            yield line + exit_.value
        case Choice(head=head, arms=arms):
            yield line + "if" + _part(head)
            yield from _sequence(arms[0], files, deeper)
            if arms[1]:
                yield f"{indent}else"
                yield from _sequence(arms[1], files, deeper)
        case Loop(head=head, test=test, body=body):
            yield line + "loop" + _part(head) + _part(test)
            yield from _sequence(body, files, deeper)
        case Region(perspective=perspective, body=body):
            yield line + f"{perspective} for {_threads(node.threads)}"
            yield from _sequence(body, files, deeper)
        case Arms(regions=regions):
            yield line + "side by side"
            for region in regions:
                yield from _node(region, files, deeper)


def _part(step: Step) -> str:
    return " " + "; ".join(_event(event) for event in step.events) if step.events else ""


def _event(event: Access | Summary) -> str:
    if isinstance(event, Access):
        return _access(event)
    accesses = {entry.access.number: entry.access for entry in event.entries}
    order = ""
    for _, flow in event.exits:
        accesses |= {item.access.number: item.access for item in flow.pending}
        order = ", with a barrier" if flow.through.classes else ""
    inside = "; ".join(_access(access) for _, access in sorted(accesses.items()))
    return f"call{order}({inside})"


def _access(access: Access) -> str:
    roots = " or ".join(root.name for root in access.roots)
    return f"{access.kind.value} {roots}[{_footprint(access.footprint)}]"


def _footprint(footprint: Footprint) -> str:
    if not footprint.points:
        return "?" if footprint.threads else "never"
    first = show_form(footprint.points[0].form)
    more = f" and {len(footprint.points) - 1} more" if len(footprint.points) > 1 else ""
    lanes = f" x{footprint.lanes}" if footprint.lanes > 1 else ""
    return f"{first}{lanes}{more}"


def _threads(mask: int) -> str:
    return "threads " + ", ".join(_range(start, end) for start, end in ranges_of(mask))
