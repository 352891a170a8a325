"""Register arrays that operations have after they return: accumulators of products in flight.

Each thread has an array for itself, so no barrier concerns it; but touching one needs a wait for
the operations that may still write or read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prismc.checker.sync.summaries import FunctionSummary
from prismc.checker.types import typed
from prismc.checker.types.conversions import root_variable
from prismc.checker.types.model import ArrayType
from prismc.hardware.asynchronous import Completion

# Operations that use shared memory, or write registers, after they were issued.
_OUTLIVING = (Completion.BULK_GROUP, Completion.PRODUCT_GROUP, Completion.MBARRIER)


def shown_registers(
    body: typed.Body, callees: Mapping[str, FunctionSummary]
) -> tuple[typed.Variable, ...]:
    """The arrays, parameters among them, that a body or what it calls shows to operations."""
    sources = {
        view.variable: root_variable(view.source)
        for statement in body.all_statements
        if isinstance(statement, typed.Narrow)
        for view in statement.views
        if isinstance(view.variable.type, ArrayType)
    }
    found: dict[typed.Variable, None] = {}
    for variable in (*sources, *_shown_by_signature(body), *_shown_by_calls(body, callees)):
        outer: typed.Variable | None = variable
        while outer in sources:
            outer = sources[outer]
        if outer is not None:
            found[outer] = None
    return tuple(found)


def _shown_by_signature(body: typed.Body) -> Iterator[typed.Variable]:
    for parameter in body.instance.parameters:
        if isinstance(parameter.type, ArrayType) and parameter.type.is_async:
            yield parameter


def _shown_by_calls(
    body: typed.Body, callees: Mapping[str, FunctionSummary]
) -> Iterator[typed.Variable]:
    for call in body.calls:
        summary = callees.get(call.callee.symbol)
        for position in sorted(summary.registers) if summary is not None else ():
            variable = root_variable(call.arguments[position])
            if variable is not None:
                yield variable


def leaves_open(body: typed.Body, callees: Mapping[str, FunctionSummary]) -> bool:
    """Whether something that must not outlive the body's memory may be on its way at its end."""
    for call in body.calls:
        effects, summary = call.callee.effects, callees.get(call.callee.symbol)
        if effects is not None and effects.completes in _OUTLIVING:
            return True
        pending = () if summary is None else summary.summary.exits
        if any(item.access.queue in _OUTLIVING for _, flow in pending for item in flow.pending):
            return True
    return False
