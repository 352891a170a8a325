"""The synchronisation of the plan, by line and in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prismc.checker.sync.plan import Deed, Edge, SyncOperation, Where
from prismc.checker.types import typed
from prismc.hardware.primitives import instruction_of
from prismc.hardware.targets import Target
from prismc.lsp.analysis import Analysis
from prismc.lsp.facts import FileFacts
from prismc.source.files import Files
from prismc.source.record import Record
from prismc.source.span import Span

_MOST = 2  # reasons that are told of one operation
_VERBS = {
    Deed.READ: "read",
    Deed.WRITE: "written",
    Deed.UPDATE: "updated",
    Deed.ARRIVE: "arrived at",
    Deed.WAIT: "waited for",
    Deed.INITIALISE: "initialised",
    Deed.END: "gone",
}
_SLOT = re.compile(r"\[\d+\]$")


class Planned(Record):
    """An operation of the plan at a line, from 1, in words; `span` is its anchor's."""

    line: int
    where: str
    title: str
    instruction: str
    reason: str
    span: Span


def planned(
    analysis: Analysis, facts: FileFacts, bodies: Iterable[typed.Body]
) -> Iterator[Planned]:
    """The synchronisation that stands in some instances of a file."""
    files, target = analysis.files, analysis.target
    for body in bodies:
        plan = facts.checked.plan.instances.get(body.instance.symbol)
        if plan is None or not plan.operations:
            continue
        spans = {statement.id: statement.span for statement in body.all_statements}
        for operation in plan.operations:
            span = spans.get(operation.position.anchor)
            if span is not None and span.file == facts.module.file:
                yield _planned(operation, span, files, target)


def _planned(operation: SyncOperation, span: Span, files: Files, target: Target) -> Planned:
    is_before = operation.position.where is Where.BEFORE
    at = span.start if is_before else max(span.start, span.end - 1)
    return Planned(
        line=files.known(span.file).position(at).line,
        where=operation.position.where.value,
        title=f"{operation.kind.value} of {operation.participants.perspective}",
        instruction=instruction_of(operation.kind.value, target),
        reason=_reasons(operation, files),
        span=span,
    )


def _reasons(operation: SyncOperation, files: Files) -> str:
    """The first reasons of an operation, slots of one array told once."""
    told = list(dict.fromkeys(_reason(edge, files) for edge in operation.edges))
    rest = [f"and {len(told) - _MOST} more"] if len(told) > _MOST else []
    return "; ".join([*told[:_MOST], *rest]) or "for what is ordered elsewhere"


def _reason(edge: Edge, files: Files) -> str:
    first, second = (files.position(side.at).line for side in (edge.earlier, edge.later))
    earlier, later = (_VERBS[side.deed] for side in (edge.earlier, edge.later))
    around = " of the loop's last round" if edge.around_loop is not None else ""
    root = _SLOT.sub("", edge.earlier.root)
    return f"`{root}` is {earlier} in line {first}{around}, {later} in line {second}"
