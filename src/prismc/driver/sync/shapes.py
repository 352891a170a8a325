"""How pipelines are written, in words: for `prismc sync` and `prismc build --report`."""

from __future__ import annotations

from collections.abc import Iterator

from prismc.checker.results import CheckedProgram
from prismc.checker.sync.plan import Pipeline, SyncKind, Where
from prismc.checker.sync.weight import LARGE, loops_in, unrolled_work
from prismc.checker.types import typed
from prismc.checker.types.walk import statements_in
from prismc.driver.pipeline_report import PipelineReport
from prismc.source.files import Files
from prismc.source.record import Record
from prismc.source.span import Span

# What makes threads wait; all else arrives, fences or ends a group.
_WAITING = (
    SyncKind.BLOCK_BARRIER,
    SyncKind.WARP_BARRIER,
    SyncKind.NAMED_BARRIER,
    SyncKind.CLUSTER_BARRIER,
    SyncKind.CLUSTER_WAIT,
    SyncKind.NAMED_WAIT,
    SyncKind.MBARRIER,
    SyncKind.MBARRIER_WAIT,
    SyncKind.WAIT_GROUP,
    SyncKind.WAIT_BULK,
    SyncKind.WAIT_BULK_WRITES,
    SyncKind.WAIT_PRODUCTS,
)


class Shaped(Record):
    """How the loop of the pipeline in line `line` is written, and why. So many iterations are
    filled `ahead` in the text, None where other warps fill as far ahead as there is room. Unrolled
    it is about so many `instructions`."""

    line: int
    slots: int
    is_one_step: bool
    words: str
    ahead: int | None
    instructions: int


def pipeline_reports(
    checked: CheckedProgram, target: str, files: Files
) -> tuple[PipelineReport, ...]:
    """The pipelines of a program with what they wait at, in the order of its functions."""
    bodies = checked.program.bodies
    return tuple(
        PipelineReport(
            function=symbol if bodies[symbol].instance.is_kernel else bodies[symbol].instance.name,
            target=target,
            words=shaped_words(shaped(one, checked.program, symbol, files)) + waits,
        )
        for symbol, plan in checked.plan.instances.items()
        for one in plan.pipelines
        for waits in (_waits(checked, symbol, one, files),)
    )


def shaped(pipeline: Pipeline, program: typed.Program, symbol: str, files: Files) -> Shaped:
    """A pipeline of the function `symbol` in lines and numbers."""
    shape, loop = pipeline.shape, _loop(pipeline, program.bodies[symbol])
    is_ahead = loop.turns is not None and loop.turns.has_tail
    return Shaped(
        line=files.position(pipeline.at).line,
        slots=pipeline.slots,
        is_one_step=shape.is_rolled,
        words=shape.value,
        ahead=pipeline.slots - 1 if is_ahead else None,
        instructions=unrolled_work(loop, program.bodies),
    )


def _loop(pipeline: Pipeline, body: typed.Body) -> typed.For:
    (loop,) = (one for one in loops_in(body) if one.id == pipeline.loop)
    return loop


def shaped_words(pipeline: Shaped) -> str:
    """`the pipeline of line 9 (4 slots, 3 iterations filled ahead) is unrolled: its steps are few
    and small (unrolled about 60 instructions, of 1000 at most)`."""
    number = pipeline.ahead
    lead = "filled by other warps, as far ahead as there is room"
    if number is not None:
        lead = f"{number} iteration{'s' if number > 1 else ''} filled ahead"
    return (
        f"the pipeline of line {pipeline.line} ({pipeline.slots} slots, {lead}) is "
        f"{pipeline.words} (unrolled about {pipeline.instructions} "
        f"instructions, of {LARGE} at most)"
    )


def _waits(checked: CheckedProgram, symbol: str, pipeline: Pipeline, files: Files) -> str:
    """`; waits: mbarrier wait (lines 12, 20), wait products (line 22)`, of one step: the others are
    alike."""
    lines: dict[str, dict[int, None]] = {}
    for kind, line in _waits_of(checked, symbol, pipeline, files):
        lines.setdefault(kind.value, {})[line] = None
    told = (
        f"{kind} (line{'s' if len(found) > 1 else ''} {', '.join(map(str, sorted(found)))})"
        for kind, found in lines.items()
    )
    return f"; waits: {', '.join(told)}" if lines else "; nothing waits in it"


def _waits_of(
    checked: CheckedProgram, symbol: str, pipeline: Pipeline, files: Files
) -> Iterator[tuple[SyncKind, int]]:
    """What makes threads wait in a pipeline's loop, and the line of each."""
    loop = _loop(pipeline, checked.program.bodies[symbol])
    spans = {one.id: one.span for one in statements_in(loop.body)}
    for one in checked.plan.instances[symbol].operations:
        if one.kind in _WAITING and one.position.anchor in spans:
            span = spans[one.position.anchor]
            is_after = one.position.where is Where.AFTER
            yield one.kind, last_line(span, files) if is_after else files.position(span).line


def last_line(span: Span, files: Files) -> int:
    """The line that a span ends in."""
    return files.known(span.file).position(max(span.start, span.end - 1)).line
