"""The call graph: callees before callers, and recursion, which is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prismc.checker.types import typed
from prismc.checker.types.call_errors import (
    Recursion,
)
from prismc.diagnostics.problem import Related
from prismc.diagnostics.sink import Sink
from prismc.source.span import Span

Calls = Mapping[typed.Instance, Sequence[tuple[typed.Instance, Span]]]


def ordered(
    bodies: Mapping[typed.Instance, typed.Body], calls: Calls, sink: Sink
) -> tuple[list[typed.Instance], list[typed.Instance]]:
    """The instances with callees first, and those that are on a circle of calls.

    Depth first with a stack of its own: call chains may be longer than Python's recursion.
    """
    order: list[typed.Instance] = []
    cyclic: list[typed.Instance] = []
    done: set[typed.Instance] = set()
    for root in bodies:
        if root not in done:
            _visit(root, bodies, calls, sink, order, cyclic, done)
    return order, cyclic


def _visit(
    root: typed.Instance,
    bodies: Mapping[typed.Instance, typed.Body],
    calls: Calls,
    sink: Sink,
    order: list[typed.Instance],
    cyclic: list[typed.Instance],
    done: set[typed.Instance],
) -> None:
    path: list[typed.Instance] = [root]
    positions: dict[typed.Instance, int] = {root: 0}
    waiting = [iter(calls.get(root, ()))]
    while path:
        for callee, at in waiting[-1]:
            if callee in positions:
                circle = path[positions[callee] :]
                _report(circle, at, sink)
                cyclic += circle
            elif callee not in done and callee in bodies:
                positions[callee] = len(path)
                path.append(callee)
                waiting.append(iter(calls.get(callee, ())))
                break
        else:
            waiting.pop()
            instance = path.pop()
            del positions[instance]
            done.add(instance)
            order.append(instance)


def _report(circle: list[typed.Instance], at: Span, sink: Sink) -> None:
    names = [instance.name for instance in (*circle, circle[0])]
    notes = tuple(
        Related(at=instance.span, message=f"`{instance.name}` is declared here")
        for instance in circle
    )
    sink.report(Recursion(at=at, cycle=" -> ".join(names), related=notes))
